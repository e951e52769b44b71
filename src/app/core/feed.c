/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/feed.c - the parser of a flow: its state from open() to close(), and the calls with
 * bytes, gaps and the end. The driver says when. */
#include "app/core/feed.h"

#include "app/core/frames.h"
#include "app/core/settings.h"
#include "base/memory/traffic_memory.h"

#include <string.h>

#define BUFFER_LIMIT_DEFAULT (128u << 10)

static const struct app_proto_counters *found_counters(const struct app_session *s)
{
    const struct app_conf *conf = s->flow.thread->conf;

    return &conf->counter[s->transport][s->flow.flow->app_proto];
}

/* Once per flow, also when the protocol changes sides or is confirmed twice. */
void app_count_flow(struct app_session *s)
{
    if (s->counted)
        return;
    s->counted = true;
    app_count(s->flow.thread->counters, found_counters(s)->flow, 1);
}

/* --- the parser's state ----------------------------------------------------------------------- */

/* Transactions go first: tx_close() of a protocol may still use the parser's state. */
void app_close_parser(struct app_session *s)
{
    struct app_flow *af = &s->flow;

    app_handover_free(s);
    if (af->proto == NULL)
        return;
    app_tx_index_free(af);
    for (struct app_tx *tx = af->first, *next; tx != NULL; tx = next) {
        next = tx->next;
        app_tx_free(tx);
    }
    af->first = af->last = af->due = af->due_last = NULL;
    if (af->ext != NULL) {
        af->ext->later[TO_SERVER] = af->ext->later[TO_CLIENT] = NULL;
        af->ext->oldest_open = NULL;
    }
    af->tx_count = 0;
    af->tx_memory = 0;
    if (af->proto->close != NULL)
        af->proto->close(af);
    if (af->state != NULL)
        pool_put(&af->thread->proto[app_pool_of(af->proto)].state, af->state);
    af->state = NULL;
    af->proto = NULL;
}

/* False without memory, or when open() refuses; the caller then fails the flow. */
static bool open_parser(struct app_session *s, const struct app_proto_conf *pc)
{
    struct app_flow *af = &s->flow;

    af->proto = pc->proto;
    af->settings = pc->settings;
    af->thread_data = af->thread->proto[pc->proto->id].data;
    if (pc->proto->state_size > 0) {
        af->state = pool_get(&af->thread->proto[pc->proto->id].state);
        if (af->state == NULL) {
            af->proto = NULL;           /* nothing of it is there to be closed */
            return false;
        }
        memset(af->state, 0, app_state_size(pc->proto));
    }
    return pc->proto->open == NULL || pc->proto->open(af);
}

/* For protocols that share a parser and differ after the first message: only between a protocol and
 * its declared subprotocol. False: not enabled, or not related. */
bool app_set_subprotocol(struct app_tx *tx, enum app_proto_id to)
{
    struct app_flow *af = tx->flow;
    const struct app_proto_conf *pc = &af->thread->conf->proto[to];
    struct flow *f = af->flow;

    if (pc->proto == NULL || !pc->parses[app_session_of(af)->transport] ||
        (af->proto->id != to && af->proto->id != pc->proto->subprotocol_of))
        return false;
    if (af->proto->id != to) {
        af->proto = pc->proto;
        f->app_proto_orig = f->app_proto;
        f->app_proto = f->app_proto_dir[TO_SERVER] = f->app_proto_dir[TO_CLIENT] = (uint16_t)to;
        app_tx_mark_all(af);
    }
    if (af->thread->hooks.tx_renewed != NULL)
        af->thread->hooks.tx_renewed(tx);
    return true;
}

/* The state may point to the session, whose thread data and settings are the new protocol's by now.
 * While it is closed they are those of the old one. */
static void close_replaced(struct app_session *s, struct app_session *old)
{
    struct app_flow *af = &s->flow;
    void *thread_data = af->thread_data;
    const void *settings = af->settings;

    af->thread_data = old->flow.thread_data;
    af->settings = old->flow.settings;
    app_close_parser(old);
    af->thread_data = thread_data;
    af->settings = settings;
}

/* After a change of protocol the old parser's state lives until the new parser has read it:
 * STARTTLS and CONNECT pass information on. Meanwhile the transactions point to a copy of the
 * session on the stack. */
static bool replace_parser(struct app_session *s, const struct app_proto_conf *pc)
{
    struct app_flow *af = &s->flow;
    struct app_session old;
    bool opened = true;

    app_handover_free(s);                   /* the new one hears other things */
    s->untold = false;
    old = *s;
    for (struct app_tx *tx = old.flow.first; tx != NULL; tx = tx->next)
        tx->flow = &old.flow;
    app_tx_index_free(af);
    if (af->ext != NULL) {
        af->ext->later[TO_SERVER] = af->ext->later[TO_CLIENT] = NULL;
        af->ext->oldest_open = NULL;
    }
    app_frames_free(s);                     /* their types are those of the old one */
    af->proto = NULL;
    af->state = NULL;
    af->first = af->last = af->due = af->due_last = NULL;
    af->tx_count = 0;
    af->tx_memory = 0;
    af->next_tx_id = 0;
    af->end[0] = af->end[1] = false;
    af->encrypted = false;
    s->ds[0].started = s->ds[1].started = false;
    if (pc->parses[s->transport]) {
        af->thread->previous = &old.flow;
        opened = open_parser(s, pc);
        af->thread->previous = NULL;
    }
    close_replaced(s, &old);
    return opened;
}

const struct app_flow *app_previous(const struct app_flow *af)
{
    return af->thread->previous;
}

static bool ensure_parser(struct app_session *s, const struct app_proto_conf *pc)
{
    if (s->replace) {
        s->replace = false;
        return replace_parser(s, pc);
    }
    if (s->flow.proto != NULL || !pc->parses[s->transport])
        return true;
    return open_parser(s, pc);
}

/* --- feeding ---------------------------------------------------------------------------------- */

/* A parser that failed is not called again, because it has lost the message boundaries. Over UDP
 * each datagram is a message, so the next one is parsed. The configured exception policy decides
 * about packet and flow. */
static int parse_failed(struct app_session *s, struct app_counter counter)
{
    struct app_thread *at = s->flow.thread;
    enum exception_policy policy = at->conf->error_policy;

    app_count(at->counters, counter, 1);
    app_count(at->counters, found_counters(s)->policy[policy], 1);
    app_count(at->counters, at->conf->policy_total[policy], 1);
    exception_policy_apply(policy, s->flow.thread->packet, DROP_APP_ERROR, at->conf->is_inline);
    if (s->transport == TRANSPORT_TCP)
        app_stop_parsing(s);
    return -1;
}

/* A parser to which memory was refused has left incomplete transactions: they are freed, with all
 * that they own. */
COLD int app_no_memory(struct app_session *s)
{
    s->no_memory = false;
    (void)parse_failed(s, found_counters(s)->alloc);
    app_close_parser(s);
    return -1;
}

static COLD int parse_stopped(struct app_session *s)
{
    return s->no_memory ? app_no_memory(s) : parse_failed(s, found_counters(s)->parser);
}

static enum parse_status call_parser(struct app_session *s, struct app_input *in)
{
    struct app_flow *af = &s->flow;
    uint64_t txs = af->next_tx_id, refusals;
    enum parse_status status;

    in->is_udp = s->transport == TRANSPORT_UDP;
    in->now_us = s->flow.thread->packet->time_us;
    in->packet = s->flow.thread->packet;
    in->consumed = in->len;
    if (in->len > 0 || in->gap > 0)
        s->first_sender = FIRST_SENDER_PARSED;
    refusals = traffic_memory_refusals();
    status = af->proto->parse(af, in);
    if (UNLIKELY(traffic_memory_refusals() != refusals)) {
        s->no_memory = true;
        return PARSE_STOP;
    }
    if (af->next_tx_id > txs && !af->proto->single_tx)
        app_count(af->thread->counters, found_counters(s)->tx, af->next_tx_id - txs);
    return status;
}

/* Passes the number of missing bytes to the parser, in parts of at most 4 GiB. A parser that does
 * not handle gaps fails here, as in Suricata. */
static int feed_gap(struct app_session *s, struct app_dir *ds, enum direction d)
{
    app_handover_lose(s);
    if (!s->flow.proto->handles_gaps) {
        s->flow.disrupted[d] = true;
        app_trigger_raw_inspection(&s->flow, TO_CLIENT);       /* whichever side it is */
        return parse_failed(s, found_counters(s)->gap);
    }
    while (ds->lost > 0) {
        struct app_input in = { .offset = ds->offset, .direction = d, .start = !ds->started,
                                .gap = (uint32_t)MIN(ds->lost, UINT32_MAX) };

        ds->started = true;
        ds->offset += in.gap;
        ds->lost -= in.gap;
        if (call_parser(s, &in) == PARSE_STOP)
            return parse_stopped(s);
    }
    ds->need = 0;
    return 0;
}

/* For a process that takes over, from here on. */
static bool keeps_what_is_heard(const struct app_session *s)
{
    return s->flow.thread->conf->hands_over && !s->hears && !s->untold;
}

/* One call of the parser. 1: call it again at once, 0: it waits or is done, -1: it failed. A parser
 * that consumes more bytes than it got is a bug of the engine, counted as internal. */
static int feed_once(struct app_session *s, struct app_dir *ds, enum direction d, bool end)
{
    struct app_input in = { .data = ds->data,
                            .len = ds->len,
                            .offset = ds->offset,
                            .start = !ds->started,
                            .end = end,
                            .truncated = end && ds->depth_reached,
                            .direction = d };
    enum parse_status status;

    app_frames_stream(s, d, &in);
    ds->started = true;
    if (UNLIKELY(keeps_what_is_heard(s)))
        app_handover_begin(s);
    status = call_parser(s, &in);
    if (status == PARSE_STOP)
        return parse_stopped(s);
    if (in.consumed > in.len)
        return parse_failed(s, found_counters(s)->internal);
    if (UNLIKELY(s->hears))
        app_handover_heard(s, d, (struct slice){ ds->data, in.consumed });
    app_dir_advance(ds, in.consumed);
    ds->need = status == PARSE_MORE ? in.need : 0;
    return status == PARSE_OK && in.consumed > 0 && ds->len > 0;
}

/* The maximum of bytes that a parser may leave unread. It bounds the memory of a message that never
 * ends. */
static uint32_t buffer_limit(const struct app_session *s)
{
    return s->flow.proto->buffer_limit != 0 ? s->flow.proto->buffer_limit : BUFFER_LIMIT_DEFAULT;
}

/* Calls the parser until it wants more than there is. Below `need` bytes it is not called at all: a
 * record in many small segments is looked at once. */
static int feed_all(struct app_session *s, struct app_dir *ds, enum direction d, bool end)
{
    int more = 1;

    if (!end && (ds->len == 0 || ds->len < ds->need))
        more = 0;
    while (more > 0 && !s->off && !s->changing)
        more = feed_once(s, ds, d, end);
    if (more < 0)
        return -1;
    if (!end && ds->len > buffer_limit(s) && !s->changing)
        return parse_failed(s, found_counters(s)->parser);
    return 0;
}

/* Passes buffered bytes to the parser. `fed` tells rules whether a direction can have new data.
 * Bytes that wait for more have changed nothing yet, unless they are the first. */
int app_feed(struct app_session *s, enum direction d, bool end)
{
    const struct app_proto_conf *pc = app_session_conf(s);
    struct app_dir *ds = app_dir_of(s, d);
    uint64_t before = ds->offset;
    bool first = !ds->started;
    int result = 0;

    if (s->off) {
        s->flow.fed[d] = true;
        return 0;
    }
    if (!ensure_parser(s, pc))
        return app_no_memory(s);
    if (!pc->parses[s->transport]) {
        s->off = true;
        app_count_flow(s);
        app_dir_drop(s, d);
        return 0;
    }
    if (end)
        s->flow.end[d] = true;
    if (ds->lost > 0)
        result = feed_gap(s, ds, d);
    if (result == 0 && !ds->eof_sent)
        result = feed_all(s, ds, d, end);
    if (end)
        ds->eof_sent = true;
    s->flow.fed[d] |= first || end || s->off || ds->offset != before;
    if (ds->eof_sent || s->off)
        app_dir_drop(s, d);
    return result;
}

int app_adopt(struct app_session *s, struct slice state)
{
    const struct app_proto_conf *pc = app_session_conf(s);
    uint64_t refusals = traffic_memory_refusals();

    if (s->off || s->flow.proto != NULL || pc->proto == NULL || !pc->parses[s->transport] ||
        pc->proto->handover == NULL || pc->proto->handover->adopt == NULL)
        return 0;
    if (!ensure_parser(s, pc))
        return app_no_memory(s);
    pc->proto->handover->adopt(&s->flow, bytes_of_slice(state));
    return traffic_memory_refusals() != refusals ? app_no_memory(s) : 0;
}
