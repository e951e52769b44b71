/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/resume.c - flows that go on in another process.
 *
 * The bytes of an exchange are kept until it is over, up to the protocol's limit. The process that
 * takes over parses them again, and then what follows. So its parser is in the same state, and no
 * parser needs a second format for it. Exactly one process inspects and logs a transaction: the one
 * that sees its end. The alerts that the other one has raised come along and are not repeated.
 * Nothing is kept unless another process can take over the capture.
 *
 * Of other flows the protocol is known, but not the position within a message. So each direction
 * waits for a chunk that begins as the protocol's messages do, by the protocol's own patterns and
 * probes; bytes before it are dropped. Only the beginning of a chunk counts: bytes within a body
 * that look like a message are data that a peer has chosen. */
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/log.h"
#include "flow/flow_export.h"

#include <string.h>
#include <strings.h>

#define RESUME_MAX 1024u                    /* bytes that may wait for more, to be recognised */
#define STEP_HEAD 5u                        /* kind, length */
#define THREAD_MAX (32u << 20)              /* bytes that all flows of a thread keep */
#define OPEN_MAX 64u                        /* unfinished transactions of a flow that go along */
#define ALERTS_MAX 64u

/* --- steps ------------------------------------------------------------------------------------ */

bool app_step_take(struct bytes *in, struct app_step *out)
{
    if (bytes_left(in) == 0)
        return false;
    out->kind = take_u8(in);
    out->data = take_slice(in, take_be32(in));
    return !in->failed;
}

static void step_add(struct buf *out, unsigned kind, const void *data, uint32_t len)
{
    uint8_t head[STEP_HEAD] = { (uint8_t)kind };
    size_t at = out->len;

    put_be32(head + 1, len);
    buf_add(out, head, sizeof(head));
    buf_add(out, data, len);
    (void)buf_cut_failed(out, at);
}

void app_prelude_add(struct buf *out, enum direction d, const void *data, uint32_t len)
{
    step_add(out, d, data, len);
}

void app_prelude_add_state(struct buf *out, struct slice state)
{
    step_add(out, STEP_STATE, state.data, state.len);
}

static void step_add_numbers(struct buf *out, unsigned kind, uint32_t first, uint32_t second)
{
    uint8_t data[8];

    put_be32(data, first);
    put_be32(data + 4, second);
    step_add(out, kind, data, sizeof(data));
}

/* --- what was heard --------------------------------------------------------------------------- */

static const struct app_handover_ops *ops_of(const struct app_session *s)
{
    return s->flow.proto != NULL ? s->flow.proto->handover : NULL;
}

void app_handover_free(struct app_session *s)
{
    struct app_thread *at = s->flow.thread;
    struct app_handover *h = app_handover_of(s);

    if (h == NULL)
        return;
    at->handover_bytes -= h->heard.len;
    app_buf_release(at, &h->heard);
    app_buf_release(at, &h->alerts);
    pool_put(&at->handovers, h);
    s->hears = false;
}

void app_handover_lose(struct app_session *s)
{
    app_handover_free(s);
    s->untold = true;
}

/* A fresh parser must know what the peers have agreed on before this point. */
void app_handover_begin(struct app_session *s)
{
    const struct app_handover_ops *ops = ops_of(s);
    struct app_thread *at = s->flow.thread;
    struct app_handover *h = ops != NULL ? pool_get(&at->handovers) : NULL;

    if (h == NULL) {
        s->untold = true;
        return;
    }
    *h = (struct app_handover){ .heard = app_buf_take(at, 0), .last = SIZE_MAX,
                                .first_tx = s->flow.next_tx_id };
    *app_handover_slot(s) = h;
    s->hears = true;
    if (ops->prelude != NULL)
        ops->prelude(&s->flow, &h->heard);
    at->handover_bytes += h->heard.len;
}

/* Bytes of one direction in a row are one step. */
static void append(struct app_handover *h, enum direction d, struct slice data)
{
    uint8_t *head = h->last != SIZE_MAX ? h->heard.data + h->last : NULL;

    if (head != NULL && head[0] == d) {
        if (buf_add(&h->heard, data.data, data.len))
            put_be32(h->heard.data + h->last + 1, get_be32(h->heard.data + h->last + 1) + data.len);
        return;
    }
    h->last = h->heard.len;
    step_add(&h->heard, d, data.data, data.len);
}

void app_handover_heard(struct app_session *s, enum direction d, struct slice data)
{
    const struct app_handover_ops *ops = ops_of(s);
    struct app_thread *at = s->flow.thread;
    struct app_handover *h = app_handover_of(s);
    size_t before;

    if (h == NULL || data.len == 0)
        return;                         /* closed by a parser that stops, or nothing new */
    before = h->heard.len;
    if (ops == NULL || s->off || s->flow.encrypted || before + STEP_HEAD + data.len > ops->limit ||
        at->handover_bytes + data.len > THREAD_MAX) {
        app_handover_lose(s);
        return;
    }
    append(h, d, data);
    at->handover_bytes += h->heard.len - before;
    if (UNLIKELY(h->heard.failed || h->heard.len == before))
        app_handover_lose(s);
}

static bool is_between(const struct app_session *s)
{
    const struct app_handover_ops *ops = ops_of(s);

    return ops != NULL && ops->is_between != NULL && s->flow.first == NULL &&
           ops->is_between(&s->flow);
}

void app_handover_rest(struct app_session *s)
{
    if (!is_between(s))
        return;
    app_handover_free(s);
    s->untold = false;
}

/* --- the end ---------------------------------------------------------------------------------- */

static bool is_unfinished(const struct app_tx *tx)
{
    return !app_tx_done(tx, TO_SERVER, tx->flow->proto) ||
           !app_tx_done(tx, TO_CLIENT, tx->flow->proto);
}

static bool is_withheld(const struct app_tx *tx)
{
    return tx->no_log && tx->no_inspect[TO_SERVER] && tx->no_inspect[TO_CLIENT];
}

/* Bytes whose protocol is not known yet go along, too. */
static bool can_be_told(struct app_session *s)
{
    unsigned count = 0;
    uint64_t bytes;

    if (s->off || s->changing || s->untold || s->flow.encrypted || s->transport != TRANSPORT_TCP ||
        s->ds[0].lost != 0 || s->ds[1].lost != 0)
        return false;
    bytes = (uint64_t)s->ds[0].len + s->ds[1].len;
    if (s->flow.proto == NULL)
        return s->flow.flow->app_proto == APP_PROTO_UNKNOWN && bytes > 0 &&
               bytes <= FLOW_REPLAY_MAX / 2;
    if (!s->hears && is_between(s))
        app_handover_begin(s);
    if (!s->hears || bytes + app_handover_of(s)->heard.len > FLOW_REPLAY_MAX / 2)
        return false;
    for (const struct app_tx *tx = s->flow.first; tx != NULL && count <= OPEN_MAX; tx = tx->next)
        count += is_unfinished(tx);
    return count <= OPEN_MAX;
}

/* The parser's state goes along, where bytes that were heard cannot: the other process goes on
 * behind the last byte here. */
static bool state_can_go(const struct app_session *s)
{
    const struct app_handover_ops *ops = ops_of(s);

    return ops != NULL && ops->adopt != NULL && !s->off && !s->changing && !s->flow.encrypted &&
           s->transport == TRANSPORT_TCP && s->ds[0].lost == 0 && s->ds[1].lost == 0;
}

bool app_handover_keeps(struct app_session *s)
{
    return app_handover_withhold(s) || state_can_go(s);
}

/* Data of the flow's last packets may become too much after a first call. */
bool app_handover_withhold(struct app_session *s)
{
    bool told = can_be_told(s);

    for (struct app_tx *tx = s->flow.first; tx != NULL && (told || s->withheld); tx = tx->next)
        if (is_unfinished(tx))
            tx->no_log = tx->no_inspect[TO_SERVER] = tx->no_inspect[TO_CLIENT] = told;
    s->withheld = told;
    return told;
}

/* Some records are due before the transaction is over, such as that of a mail before its reply. */
static bool is_logged(const struct app_tx *tx)
{
    const struct app_log *const *log = tx->flow->proto->logs;
    bool any = false;

    for (; log != NULL && *log != NULL; log++) {
        if ((*log)->is_used != NULL && !(*log)->is_used(tx->flow))
            continue;
        for (unsigned d = 0; d < 2; d++)
            if (tx->progress[d] < (*log)->progress[d])
                return false;
        any = true;
    }
    return any;
}

/* What rules and logs need comes first. */
static void write_txs(const struct app_session *s, struct buf *out)
{
    const struct app_handover *h = app_handover_of(s);

    step_add_numbers(out, STEP_TXS, (uint32_t)(s->flow.next_tx_id - h->first_tx), 0);
    for (const struct app_tx *tx = s->flow.first; tx != NULL; tx = tx->next)
        if (is_withheld(tx))
            step_add_numbers(out, STEP_OPEN, (uint32_t)(tx->id - h->first_tx), is_logged(tx));
    buf_add(out, h->alerts.data, h->alerts.len);
}

static void write_pending(const struct app_session *s, struct buf *out)
{
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if (s->ds[d].len > 0)
            step_add(out, d, s->ds[d].data, s->ds[d].len);
}

/* What could not be kept is over here. A prelude may still bring another parser into the state in
 * which the rest makes sense. */
static void write_prelude(const struct app_session *s, struct buf *out)
{
    const struct app_handover_ops *ops = ops_of(s);

    if (s->off || s->changing || ops == NULL || ops->prelude == NULL ||
        (ops->adopt != NULL && !state_can_go(s)))
        return;
    ops->prelude(&s->flow, out);
    if (ops->adopt != NULL && out->len > 0)
        write_pending(s, out);
}

void app_handover_write(struct app_session *s)
{
    struct buf *out = &s->flow.thread->handover;

    buf_clear(out);
    if (!s->withheld) {
        write_prelude(s, out);
    } else {
        if (s->hears) {
            write_txs(s, out);
            buf_add(out, app_handover_of(s)->heard.data, app_handover_of(s)->heard.len);
        }
        write_pending(s, out);
    }
    if (out->failed || out->len > FLOW_REPLAY_MAX)
        buf_clear(out);
}

/* --- transactions that span a hand-over ------------------------------------------------------- */

/* The steps before the first bytes. */
static bool next_fact(struct bytes *in, struct app_step *out)
{
    return app_step_take(in, out) && out->kind > STEP_TO_CLIENT;
}

static uint32_t number_of(const struct app_step *step, unsigned index)
{
    struct bytes in = bytes_of_slice(step->data);

    take_skip(&in, 4 * (size_t)index);
    return take_be32(&in);
}

void app_handover_tx(struct app_tx *tx)
{
    struct bytes in = bytes_of_slice(flow_replay(tx->flow->flow));
    bool is_finished = false, is_logged = false;
    struct app_step step;

    while (next_fact(&in, &step)) {
        if (step.kind == STEP_TXS)
            is_finished = is_logged = tx->id < number_of(&step, 0);
        if (step.kind != STEP_OPEN || number_of(&step, 0) != tx->id)
            continue;
        is_finished = false;
        is_logged = number_of(&step, 1) != 0;
    }
    tx->no_log |= is_logged;
    tx->no_inspect[TO_SERVER] |= is_finished;
    tx->no_inspect[TO_CLIENT] |= is_finished;
}

/* More than a few on one exchange are not worth the memory. */
void app_tx_alerted(struct app_tx *tx, uint32_t gid, uint32_t sid)
{
    struct app_session *s = app_session_of(tx->flow);
    struct app_handover *h = app_handover_of(s);
    uint8_t data[12];

    if (LIKELY(h == NULL))
        return;
    if (h->alerts.data == NULL)
        h->alerts = app_buf_take(s->flow.thread, 0);
    put_be32(data, (uint32_t)(tx->id - h->first_tx));
    put_be32(data + 4, gid);
    put_be32(data + 8, sid);
    step_add(&h->alerts, STEP_ALERT, data, sizeof(data));
    if (h->alerts.len > ALERTS_MAX * (STEP_HEAD + sizeof(data)))
        app_handover_lose(s);
}

bool app_tx_was_alerted(const struct app_tx *tx, uint32_t gid, uint32_t sid)
{
    struct bytes in;
    struct app_step step;

    if (LIKELY(!app_session_of(tx->flow)->replayed))
        return false;
    in = bytes_of_slice(flow_replay(tx->flow->flow));
    while (next_fact(&in, &step))
        if (step.kind == STEP_ALERT && number_of(&step, 0) == tx->id &&
            number_of(&step, 1) == gid && number_of(&step, 2) == sid)
            return true;
    return false;
}

/* --- the process that stops ------------------------------------------------------------------- */

/* A name that does not fit is none: its flow is recognised again. */
static void export_name(char out[APP_EXPORT_NAME], uint16_t id)
{
    const char *name = app_proto_name((enum app_proto_id)id);

    memset(out, 0, APP_EXPORT_NAME);
    if (id != APP_PROTO_UNKNOWN && strlen(name) < APP_EXPORT_NAME)
        memcpy(out, name, strlen(name));
}

/* While a change of protocol is under way, the next one is not known. app_packet() has written what
 * was heard. */
void app_export(const struct flow *f, struct app_export *out, struct slice *heard)
{
    const struct app_session *s = f->app != NULL ? app_session_of(f->app) : NULL;

    memset(out, 0, sizeof(*out));
    *heard = (struct slice){ 0 };
    if (s != NULL && s->changing)
        return;
    export_name(out->proto[0], f->app_proto);
    export_name(out->proto[1], f->app_proto_dir[TO_SERVER]);
    export_name(out->proto[2], f->app_proto_dir[TO_CLIENT]);
    out->is_over = s != NULL && (s->off || s->flow.encrypted);
    if (s != NULL)
        *heard = buf_slice(&s->flow.thread->handover);
}

uint16_t app_exported_proto(const char *name)
{
    const struct app_proto *proto = app_proto_by_name(name);

    if (proto != NULL)
        return (uint16_t)proto->id;
    return strcmp(name, app_proto_name(APP_PROTO_FAILED)) == 0 ? APP_PROTO_FAILED
                                                                 : APP_PROTO_UNKNOWN;
}

/* --- the process that goes on ----------------------------------------------------------------- */

static bool is_enabled(const struct app_session *s, uint16_t id)
{
    const struct app_proto_conf *pc = &s->flow.thread->conf->proto[id];

    return id == APP_PROTO_FAILED || (pc->proto != NULL && pc->enabled[s->transport]);
}

/* A subprotocol has no parser of its own: its flows begin as those of the other one. */
static void find_parser(struct flow *f)
{
    const struct app_proto *proto = app_proto_by_id((enum app_proto_id)f->app_proto);

    if (proto != NULL && proto->subprotocol_of != 0)
        f->app_proto = f->app_proto_dir[TO_SERVER] = f->app_proto_dir[TO_CLIENT] =
            (uint16_t)proto->subprotocol_of;
}

/* Rules on the protocol have matched in the other process, so it is not signalled once more. */
bool app_resume(struct app_session *s)
{
    struct flow *f = s->flow.flow;
    bool is_over = f->app_resume == FLOW_APP_OVER, replays = f->app_resume == FLOW_APP_REPLAYS;

    f->app_resume = 0;
    if (f->app_proto == APP_PROTO_UNKNOWN)
        return replays;
    find_parser(f);
    if (!is_enabled(s, f->app_proto)) {
        f->app_proto = f->app_proto_dir[TO_SERVER] = f->app_proto_dir[TO_CLIENT] =
            APP_PROTO_UNKNOWN;
        return false;
    }
    app_session_set_proto(s, (enum app_proto_id)f->app_proto);
    s->first_sender = FIRST_SENDER_PARSED;
    if (s->transport == TRANSPORT_TCP)
        s->ds[TO_SERVER].detected = s->ds[TO_CLIENT].detected = true;
    if (f->app_proto == APP_PROTO_FAILED || is_over)
        app_stop_parsing(s);
    else if (s->transport == TRANSPORT_TCP && !replays)
        s->resume = APP_BOTH;
    return replays && !s->off;
}

static bool bytes_equal(const struct app_pattern *p, const uint8_t *data, size_t len)
{
    if (p->nocase)
        return strncasecmp((const char *)data, p->bytes, len) == 0;
    return memcmp(data, p->bytes, len) == 0;
}

static enum app_probe_result ask_pattern(const struct app_pattern *p, struct slice data,
                                         const struct app_session *s, enum direction d)
{
    size_t len = p->len != 0 ? p->len : strlen(p->bytes);
    size_t end = p->depth != 0 ? p->depth : p->offset + len;
    bool hit = false;

    for (size_t at = p->offset; at + len <= end && !hit; at++) {
        if (at >= data.len)
            return APP_PROBE_MORE;
        hit = bytes_equal(p, data.data + at, MIN(len, data.len - at));
        if (hit && data.len - at < len)
            return APP_PROBE_MORE;
    }
    if (!hit || p->confirm == NULL)
        return hit ? APP_PROBE_YES : APP_PROBE_NO;
    if (data.len < p->confirm_min)
        return APP_PROBE_MORE;
    return p->confirm(bytes_of_slice(data), d, s->flow.flow);
}

static enum app_probe_result ask_probe(const struct app_probe *p, struct slice data,
                                       const struct app_session *s, enum direction d)
{
    if (data.len < p->min)
        return APP_PROBE_MORE;
    return p->probe(bytes_of_slice(data), d, s->flow.flow);
}

/* All of the protocol's patterns and probes for this direction. */
struct answers {
    unsigned asked;
    bool yes, more;
};

static void add_answer(struct answers *a, enum app_probe_result answer)
{
    a->asked++;
    a->yes |= answer == APP_PROBE_YES;
    a->more |= answer == APP_PROBE_MORE;
}

static struct answers ask_all(const struct app_session *s, enum direction d, struct slice data)
{
    const struct app_proto *proto = app_proto_by_id((enum app_proto_id)s->flow.flow->app_proto);
    struct answers a = { 0, false, false };

    for (const struct app_pattern *p = proto->patterns; p != NULL && p->bytes != NULL; p++)
        if ((p->transport & APP_TCP) != 0 && (p->directions & APP_DIRECTION_BIT(d)) != 0)
            add_answer(&a, ask_pattern(p, data, s, d));
    for (const struct app_probe *p = proto->probes; p != NULL && p->probe != NULL; p++)
        if ((p->transport & APP_TCP) != 0 && (p->directions & APP_DIRECTION_BIT(d)) != 0)
            add_answer(&a, ask_probe(p, data, s, d));
    return a;
}

/* Nothing recognises a direction of some protocols. Its messages answer those of the other
 * direction, so it begins after that one. */
static struct answers begins(const struct app_session *s, enum direction d)
{
    const struct app_dir *ds = &s->ds[d];
    struct answers a = ask_all(s, d, (struct slice){ ds->data, ds->len });

    if (a.asked == 0)
        a.yes = (s->resume & APP_DIRECTION_BIT(OTHER_DIRECTION(d))) == 0;
    return a;
}

/* Bytes that waited were no beginning: they go, and the chunk that followed may be one. Until a
 * parser runs, `need` is the number of bytes that waited. */
static struct answers ask(const struct app_session *s, struct app_dir *ds, enum direction d)
{
    struct answers a = begins(s, d);

    if (a.yes || a.more || ds->need == 0 || ds->need >= ds->len)
        return a;
    ds->data += ds->need;
    ds->len -= ds->need;
    ds->offset += ds->need;
    return begins(s, d);
}

bool app_resume_at(struct app_session *s, enum direction d, bool end)
{
    struct app_dir *ds = &s->ds[d];
    struct answers a = ask(s, ds, d);

    ds->need = 0;
    if (ds->len > 0 && a.yes && ds->lost == 0) {
        s->resume &= (uint8_t)~APP_DIRECTION_BIT(d);
        return true;
    }
    if (!a.more || end || ds->len > RESUME_MAX || ds->lost > 0)
        app_dir_drop(s, d);
    else
        ds->need = ds->len;
    return end;
}
