/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/session.c - one packet of a flow: pending bytes, the parser called on them, and the end.
 * The parser reads the bytes of a chunk where they are. Only what it leaves (or what recognition
 * does not understand yet) is copied into the side's `buffered`, in front of the next chunk. */
#include "app/core/session.h"

#include "app/core/detect_proto.h"
#include "app/core/expectations.h"
#include "app/core/file.h"
#include "app/core/frames.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "base/memory/lib_memory.h"
#include "base/memory/traffic_memory.h"
#include "stream/slot.h"

#include <string.h>

#define BUFFER_LIMIT_DEFAULT (128u << 10)

/* The settings of the recognised protocol; a subprotocol's after app_set_subprotocol(). */
static const struct app_proto_conf *found_conf(const struct app_session *s)
{
    return &s->flow.thread->conf->proto[s->flow.flow->app_proto];
}

static const struct app_proto_counters *found_counters(const struct app_session *s)
{
    const struct app_conf *conf = s->flow.thread->conf;

    return &conf->counter[s->transport][s->flow.flow->app_proto];
}

/* --- pending bytes --------------------------------------------------------------------------- */

static void dir_advance(struct app_dir *ds, uint32_t n)
{
    if (n == 0)
        return;
    ds->data += n;
    ds->len -= n;
    ds->offset += n;
}

/* Skips all pending bytes, and bytes known to be lost, so that offsets stay right. */
void app_dir_drop(struct app_session *s, enum direction d)
{
    struct app_dir *ds = &s->ds[d];

    dir_advance(ds, ds->len);
    ds->offset += ds->lost;
    ds->lost = 0;
    ds->need = 0;
}

/* False: no memory to append to the buffered bytes. */
static bool dir_add(struct app_dir *ds, const uint8_t *data, uint32_t len)
{
    if (ds->len == 0) {
        ds->data = data;
        ds->len = len;
        ds->borrowed = true;
        return true;
    }
    if (!buf_add(&ds->buffered, data, len))
        return false;
    ds->data = ds->buffered.data;
    ds->len = (uint32_t)ds->buffered.len;
    return true;
}

/* Before the packet is released, pending bytes must be in memory of the session's own. */
static bool app_dir_buffer_rest(struct app_session *s, struct app_dir *ds)
{
    if (ds->len == 0) {
        app_buf_release(s->flow.thread, &ds->buffered);
        ds->data = NULL;
    } else if (ds->borrowed) {
        if (ds->buffered.data == NULL)
            ds->buffered = app_buf_take(s->flow.thread);
        buf_clear(&ds->buffered);
        if (!buf_add(&ds->buffered, ds->data, ds->len))
            return false;
    } else {
        buf_drop_front(&ds->buffered, ds->buffered.len - ds->len);
    }
    ds->borrowed = false;
    if (ds->len > 0)
        ds->data = ds->buffered.data;
    return true;
}

/* --- the parser's state ----------------------------------------------------------------------- */

/* Transactions go first: tx_close() of a protocol may still use the parser's state. */
static void close_parser(struct app_session *s)
{
    struct app_flow *af = &s->flow;

    if (af->proto == NULL)
        return;
    app_tx_index_free(af);
    for (struct app_tx *tx = af->first, *next; tx != NULL; tx = next) {
        next = tx->next;
        app_tx_free(tx);
    }
    af->first = af->last = af->due = af->due_last = NULL;
    if (af->ext != NULL)
        af->ext->later[TO_SERVER] = af->ext->later[TO_CLIENT] = NULL;
    af->tx_count = 0;
    af->tx_memory = 0;
    if (af->proto->close != NULL)
        af->proto->close(af);
    if (af->state != NULL)
        pool_put(&af->thread->proto[app_pool_of(af->proto)].state, af->state);
    af->state = NULL;
    af->proto = NULL;
}

void app_session_over(struct app_session *s)
{
    close_parser(s);
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
        memset(af->state, 0, pc->proto->state_size);
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

/* After a change of protocol the old parser's state lives until the new parser has read it:
 * STARTTLS and CONNECT pass information on. Meanwhile the transactions point to a copy of the
 * session on the stack. */
static bool replace_parser(struct app_session *s, const struct app_proto_conf *pc)
{
    struct app_session old = *s;
    struct app_flow *af = &s->flow;
    bool opened = true;

    for (struct app_tx *tx = old.flow.first; tx != NULL; tx = tx->next)
        tx->flow = &old.flow;
    app_tx_index_free(af);
    if (af->ext != NULL)
        af->ext->later[TO_SERVER] = af->ext->later[TO_CLIENT] = NULL;
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
    close_parser(&old);
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

/* The parser is not called any more. Pending bytes stay until buffer_rest(): callers on the stack
 * may still point into them. */
void app_stop_parsing(struct app_session *s)
{
    s->off = true;
    s->flow.stopped = true;
    s->flow.end[TO_SERVER] = s->flow.end[TO_CLIENT] = true;
}

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
static COLD int no_memory(struct app_session *s)
{
    s->no_memory = false;
    (void)parse_failed(s, found_counters(s)->alloc);
    close_parser(s);
    return -1;
}

static COLD int parse_stopped(struct app_session *s)
{
    return s->no_memory ? no_memory(s) : parse_failed(s, found_counters(s)->parser);
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
static int feed_gap(struct app_session *s, enum direction d)
{
    struct app_dir *ds = &s->ds[d];

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

/* One call of the parser. 1: call it again at once, 0: it waits or is done, -1: it failed. A parser
 * that consumes more bytes than it got is a bug of the engine, counted as internal. */
static int feed_once(struct app_session *s, enum direction d, bool end)
{
    struct app_dir *ds = &s->ds[d];
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
    status = call_parser(s, &in);
    if (status == PARSE_STOP)
        return parse_stopped(s);
    if (in.consumed > in.len)
        return parse_failed(s, found_counters(s)->internal);
    dir_advance(ds, in.consumed);
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
static int feed_all(struct app_session *s, enum direction d, bool end)
{
    struct app_dir *ds = &s->ds[d];
    int more = 1;

    if (!end && (ds->len == 0 || ds->len < ds->need))
        more = 0;
    while (more > 0 && !s->off && !s->changing)
        more = feed_once(s, d, end);
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
    const struct app_proto_conf *pc = found_conf(s);
    struct app_dir *ds = &s->ds[d];
    uint64_t before = ds->offset;
    bool first = !ds->started;
    int result = 0;

    if (s->off) {
        s->flow.fed[d] = true;
        return 0;
    }
    if (!ensure_parser(s, pc))
        return no_memory(s);
    if (!pc->parses[s->transport]) {
        s->off = true;
        app_count_flow(s);
        app_dir_drop(s, d);
        return 0;
    }
    if (end)
        s->flow.end[d] = true;
    if (ds->lost > 0)
        result = feed_gap(s, d);
    if (result == 0 && !ds->eof_sent)
        result = feed_all(s, d, end);
    if (end)
        ds->eof_sent = true;
    s->flow.fed[d] |= first || end || s->off || ds->offset != before;
    if (ds->eof_sent || s->off)
        app_dir_drop(s, d);
    return result;
}

/* --- requests of parsers --------------------------------------------------------------------- */

/* A change of protocol, such as STARTTLS. It takes effect with the next packet, after rules have
 * seen this one; until then bytes are only buffered. `port` replaces the server's port for protocol
 * detection. False over UDP or while another change is under way. */
bool app_change_protocol(struct app_flow *af, enum app_proto_id expected, uint16_t port)
{
    struct app_session *s = app_session_of(af);
    struct flow *f = af->flow;

    if (s->changing || s->transport != TRANSPORT_TCP)
        return false;
    s->changing = s->change_fresh = true;
    s->change_port = port;
    f->app_proto_expected = (uint16_t)expected;
    f->app_proto_orig = f->app_proto;
    for (unsigned d = 0; d < 2; d++) {
        af->end[d] = true;
        if (f->app_proto_dir[d] == APP_PROTO_UNKNOWN)
            f->app_proto_dir[d] = f->app_proto;
    }
    return true;
}

void app_trigger_raw_inspection(struct app_flow *af, enum direction direction)
{
    af->raw_triggered[direction] = true;
}

/* A parser's request for less work on its flow; each bit of `what` is one kind. Requests go through
 * flow_request(), because another thread may own the transport state. */
void app_stop(struct app_flow *af, unsigned what)
{
    uint32_t requests = 0;

    if ((what & APP_STOP_PAYLOAD) != 0) {
        requests |= FLOW_REQ_NO_PAYLOAD;
        af->flow->switched_off |= FLOW_NO_PAYLOAD_INSPECTION;
    }
    if ((what & APP_STOP_REASSEMBLY) != 0) {
        requests |= FLOW_REQ_NO_STREAM_TS | FLOW_REQ_NO_STREAM_TC;
        af->flow->switched_off |= FLOW_NO_REASSEMBLY;
    }
    if ((what & APP_STOP_BYPASS) != 0)
        requests |= FLOW_REQ_BYPASS;
    if (requests != 0)
        flow_request(af->flow, requests);
    if ((what & APP_STOP_PARSER) != 0) {
        app_trigger_raw_inspection(af, TO_SERVER);
        app_trigger_raw_inspection(af, TO_CLIENT);
        app_session_of(af)->parser_stopped = true;
        app_stop_parsing(app_session_of(af));
    }
}

/* --- the session ------------------------------------------------------------------------------ */

/* f->app owns the session from here on; app_flow_free() frees it. */
struct app_session *app_session_new(struct app_thread *at, struct flow *f, unsigned transport)
{
    struct app_session *s = pool_get(&at->sessions);

    if (s == NULL)
        return NULL;
    memset(s, 0, sizeof(*s));
    s->transport = (uint8_t)transport;
    s->flow.thread = at;
    s->flow.flow = f;
    f->app = &s->flow;
    return s;
}

static COLD void ext_free(struct app_session *s)
{
    app_frames_free(s);
    buf_fini(&s->flow.ext->buffered);
    expectation_data_free(&s->flow.ext->expected);
    lib_free(s->flow.ext);
    s->flow.ext = NULL;
}

/* Called by the thread that owns the flow's inspection, when the flow ends. */
void app_flow_free(struct flow *flow)
{
    struct app_session *s = flow->app != NULL ? app_session_of(flow->app) : NULL;
    struct app_thread *at;

    if (s == NULL)
        return;
    at = s->flow.thread;
    close_parser(s);
    if (UNLIKELY(s->flow.ext != NULL))
        ext_free(s);
    for (unsigned d = 0; d < 2; d++)
        app_buf_release(at, &s->ds[d].buffered);
    pool_put(&at->sessions, s);
    flow->app = NULL;
}

/* The depth of the stream applies unless the protocol has its own. Then within_depth() truncates,
 * and the stream module delivers without limit. */
void app_session_set_proto(struct app_session *s, enum app_proto_id id)
{
    const struct app_proto_conf *pc = &s->flow.thread->conf->proto[id];

    s->flow.flow->app_proto = (uint16_t)id;
    if (s->transport == TRANSPORT_TCP && pc->own_depth)
        flow_request(s->flow.flow, FLOW_REQ_DEPTH_FREE_TS | FLOW_REQ_DEPTH_FREE_TC);
}

/* Once per flow, also when the protocol changes sides or is confirmed twice. */
void app_count_flow(struct app_session *s)
{
    if (s->counted)
        return;
    s->counted = true;
    app_count(s->flow.thread->counters, found_counters(s)->flow, 1);
}

/* Events live until app_cleanup() after the same packet. */
void app_layer_event(struct app_session *s, unsigned event)
{
    s->events |= 1u << event;
}

bool app_flow_has_events(const struct app_flow *af)
{
    return app_session_of(af)->events != 0;
}

bool app_flow_has_event(const struct app_flow *af, unsigned event)
{
    return (app_session_of(af)->events & 1u << event) != 0;
}

/* In IDS mode, a TCP segment is recognised when its ACK comes, so the rules on protocols are due
 * with the next packet in that direction. Inline and for UDP it is recognised with its own packet,
 * so they are due with this one too. */
void app_signal_proto_detected(struct flow *f, const struct app_thread *at, enum direction d)
{
    f->detect_flags |= FLOW_PROTO_DETECTED(d);
    if ((at->conf->is_inline || f->key.proto != 6) && at->packet != NULL &&
        packet_direction(at->packet) == d)
        at->packet->flags |= PACKET_PROTO_DETECTED;
}

/* Moves the flow's mark to a packet, once. A pseudo packet does not take it. */
static void take_proto_detected(struct flow *f, struct packet *p)
{
    enum direction d = packet_direction(p);

    if (LIKELY(!(f->detect_flags & FLOW_PROTO_DETECTED(d))) || (p->flags & PACKET_PSEUDO))
        return;
    f->detect_flags &= (uint8_t)~FLOW_PROTO_DETECTED(d);
    p->flags |= PACKET_PROTO_DETECTED;
}

/* A direction without a protocol is FAILED: rules on "failed" match, and recognition is over. */
static void fail_direction(struct app_session *s, enum direction d)
{
    struct flow *f = s->flow.flow;

    if (f->app_proto_dir[d] == APP_PROTO_FAILED)
        return;
    if (f->app_proto_dir[d] == APP_PROTO_UNKNOWN)
        f->app_proto_dir[d] = APP_PROTO_FAILED;
    app_signal_proto_detected(f, s->flow.thread, d);
}

/* Protocol detection or a change of protocol has failed. Frees the parser's state, its transactions
 * and the frames at once. */
void app_disable(struct app_session *s)
{
    struct flow *f = s->flow.flow;

    close_parser(s);
    app_frames_free(s);
    app_stop_parsing(s);
    s->changing = s->replace = false;
    s->first_sender = FIRST_SENDER_PARSED;
    f->app_proto = APP_PROTO_FAILED;
    app_count_flow(s);
    fail_direction(s, TO_SERVER);
    fail_direction(s, TO_CLIENT);
}

/* --- packets ---------------------------------------------------------------------------------- */

/* The parser gets the bytes up to the protocol's own depth, the last of them with `end`. */
static uint32_t within_depth(struct app_session *s, enum direction d,
                             const struct stream_chunk *c, bool *end)
{
    const struct app_proto_conf *pc = found_conf(s);

    *end = c->depth_reached;
    if (!pc->own_depth || c->offset + c->len < pc->stream_depth)
        return c->len;
    *end = true;
    s->ds[d].depth_reached = true;
    return c->offset >= pc->stream_depth ? 0 : (uint32_t)(pc->stream_depth - c->offset);
}

/* Chunks arrive in stream order. CHUNK_REINSPECT repeats bytes for rules that the parser has had. A
 * gap makes pending bytes useless: they count as lost with it. */
static void take_chunk(struct app_session *s, const struct stream_chunk *c)
{
    enum direction d = (enum direction)c->direction;
    struct app_dir *ds = &s->ds[d];
    bool end = false;
    uint32_t len;

    if (s->off || ds->eof_sent || c->kind == CHUNK_REINSPECT)
        return;
    if (c->kind == CHUNK_GAP) {
        ds->lost += ds->len + c->len;
        ds->len = 0;
        app_tcp_gap(s, d);
        return;
    }
    if (ds->len == 0 && ds->lost == 0)
        ds->offset = c->offset;
    len = within_depth(s, d, c, &end);
    if (len > 0) {
        app_frames_data(s, d, c->offset, (struct slice){ c->data, len });
        if (!dir_add(ds, c->data, len)) {
            no_memory(s);
            return;
        }
    }
    if (end) {
        ds->depth_reached = true;
        s->flow.disrupted[d] = true;
    }
    app_tcp_data(s, d, end);
}

/* Nearly always there is nothing: the parser took all bytes. */
static bool has_rest(const struct app_session *s)
{
    return s->off || s->ds[0].data != NULL || s->ds[1].data != NULL ||
           s->ds[0].buffered.data != NULL || s->ds[1].buffered.data != NULL;
}

static void buffer_rest(struct app_session *s)
{
    if (LIKELY(!has_rest(s)))
        return;
    for (unsigned d = 0; d < 2; d++) {
        if (s->off)
            app_dir_drop(s, (enum direction)d);
        if (UNLIKELY(!app_dir_buffer_rest(s, &s->ds[d]))) {
            no_memory(s);
            app_dir_drop(s, (enum direction)d);
            s->ds[d].borrowed = false;
        }
    }
}

/* Bytes that came after a change of protocol have waited until rules had seen the old protocol. */
static void resume_change(struct app_session *s)
{
    s->change_fresh = false;
    for (unsigned d = 0; d < 2; d++)
        if (s->changing && s->ds[d].len > 0)
            app_tcp_data(s, (enum direction)d, false);
}

/* True if the stream has ended, or the flow ends and these were its last data of this direction. */
static bool is_closed(const struct inspection *in, enum direction d)
{
    static const uint32_t end_flags[2] = { PACKET_END_TO_SERVER, PACKET_END_TO_CLIENT };

    return (in->packet->flags & end_flags[d]) != 0 ||
           (in->reason == INSPECT_LAST_DATA && d == packet_direction(in->packet));
}

/* The connection has closed, so bytes that still wait are complete now. The direction that this
 * packet acknowledges goes first. */
static void end_closed(struct app_session *s, const struct inspection *in)
{
    enum direction first = OTHER_DIRECTION(packet_direction(in->packet));

    for (unsigned i = 0; i < 2; i++) {
        enum direction d = i == 0 ? first : OTHER_DIRECTION(first);

        if (is_closed(in, d) && !s->off && !s->change_fresh && !s->ds[d].eof_sent)
            app_tcp_data(s, d, true);
    }
}

/* The flow ends (closed or timed out): every direction gets its last call, then the protocol may
 * finish transactions that waited for an answer. */
static void end_flow(struct app_session *s)
{
    struct app_flow *af = &s->flow;

    if (s->transport == TRANSPORT_TCP)
        for (unsigned d = 0; d < 2; d++)
            if (!s->off && !s->ds[d].eof_sent)
                app_tcp_data(s, (enum direction)d, true);
    af->end[TO_SERVER] = af->end[TO_CLIENT] = true;
    if (af->proto != NULL && af->proto->finish != NULL)
        af->proto->finish(af);
}

/* NULL for a flow without data so far: handshakes need no session. */
static struct app_session *tcp_session(struct app_thread *at, const struct inspection *in)
{
    struct flow *f = in->flow;
    struct app_session *s;

    if (f->app != NULL)
        return app_session_of(f->app);
    if (in->chunk_count == 0 && in->packet->payload_len == 0)
        return NULL;
    s = app_session_new(at, f, TRANSPORT_TCP);
    if (UNLIKELY(s == NULL)) {
        app_count(at->counters, at->conf->policy_total[at->conf->error_policy], 1);
        exception_policy_apply(at->conf->error_policy, in->packet, DROP_APP_ERROR,
                               at->conf->is_inline);
    }
    return s;
}

/* Suricata tells of a hole when a parser comes to it: not behind bytes whose protocol is not known,
 * nor in packets after the one in which the parser gave up. The counter tcp.reassembly_gap has all
 * holes. */
static COLD void tell_gap(struct app_session *s, struct packet *p, enum direction d)
{
    if (s->flow.proto != NULL || (!s->off && s->ds[d].len == 0))
        s->flow.flow->parser_gaps |= (1u << d) & 3u;
    else
        packet_clear_event(p, EVENT_STREAM_REASSEMBLY_SEQ_GAP);
}

/* Nothing is parsed any more, so no hole is told. */
static void pass_chunks(const struct inspection *in)
{
    if (LIKELY(in->packet->event_count == 0))
        return;
    for (unsigned i = 0; i < in->chunk_count; i++)
        if (in->chunk[i].kind == CHUNK_GAP)
            packet_clear_event(in->packet, EVENT_STREAM_REASSEMBLY_SEQ_GAP);
}

/* All work on a TCP packet by its flow's inspecting thread: chunks first, then ends. */
static void tcp_packet(struct app_thread *at, const struct inspection *in)
{
    struct app_session *s = tcp_session(at, in);
    struct packet *p = in->packet;

    if (s == NULL)
        return;
    s->parser_stopped = false;
    if (s->off) {
        pass_chunks(in);
        return;
    }
    s->flow.thread = at;
    at->packet = p;
    s->midstream |= (p->flags & PACKET_MIDSTREAM) != 0;
    if (s->first_sender == 0 && p->payload_len > 0)
        s->first_sender = APP_DIRECTION_BIT(packet_direction(p));
    if (s->changing)
        resume_change(s);
    if (UNLIKELY(p->flags & PACKET_UNIDIRECTIONAL))
        s->flow.disrupted[OTHER_DIRECTION(packet_direction(p))] = true;
    for (unsigned i = 0; i < in->chunk_count; i++) {
        if (UNLIKELY(in->chunk[i].kind == CHUNK_GAP))
            tell_gap(s, p, (enum direction)in->chunk[i].direction);
        take_chunk(s, &in->chunk[i]);
        buffer_rest(s);
    }
    if (UNLIKELY((p->flags & (PACKET_END_TO_SERVER | PACKET_END_TO_CLIENT)) != 0 ||
                 in->reason == INSPECT_LAST_DATA))
        end_closed(s, in);
}

bool app_data_waits(const struct app_flow *af, enum direction d)
{
    return app_session_of(af)->ds[d].len > 0;
}

bool app_is_changing(const struct flow *flow)
{
    return flow->app != NULL && app_session_of(flow->app)->changing;
}

/* A parser that stopped in an earlier packet has flushed already: such packets carry
 * NO_PAYLOAD_INSPECT. */
bool app_wants_detectlog_flush(const struct packet *p)
{
    const struct app_session *s = p->flow != NULL && p->flow->app != NULL && packet_is_tcp(p)
                                      ? app_session_of(p->flow->app) : NULL;

    return s != NULL && (s->changing || (s->parser_stopped &&
                                         !(p->flags & PACKET_NO_PAYLOAD_INSPECT)));
}

/* Entry for every packet of a flow. Direction first: client and server may be exchanged since the
 * packet was made. */
static void parse_packet(struct app_thread *at, const struct inspection *in)
{
    struct packet *p = in->packet;
    struct flow *f = in->flow;
    struct app_session *s;

    at->packet = NULL;
    at->place.list = NULL;                  /* parsers may free what it is in */
    if (f == NULL)
        return;
    if (UNLIKELY(f->swap != 0))
        flow_swap_packet(f, p);
    take_proto_detected(f, p);
    if (f->key.proto == 6)
        tcp_packet(at, in);
    else if (packet_is_udp(p) && (p->flags & PACKET_PSEUDO) == 0)
        app_udp_packet(at, p);
    if (f->app == NULL)
        return;
    s = app_session_of(f->app);
    if (inspection_ends_flow(in)) {
        at->packet = p;
        end_flow(s);
    }
    app_txs_due(s, p);
    buffer_rest(s);
    at->packet = NULL;
}

void app_packet(struct app_thread *at, struct inspection *in)
{
    parse_packet(at, in);
    in->direction = packet_direction(in->packet);
}

/* ---- ahead of its turn ---- */

void app_prefetch_flow(const struct app_flow *af)
{
    PREFETCH_ALL(af, sizeof(struct app_session));
}

void app_prefetch_tx(const struct app_flow *af)
{
    if (af == NULL || af->proto == NULL)
        return;
    PREFETCH_ALL(af->state, af->proto->state_size);
    PREFETCH_ALL(af->last, af->proto->tx_size);
    if (af->first != af->last)
        PREFETCH_ALL(af->first, sizeof(struct app_tx));
}

void app_prefetch_parser(const struct app_flow *af)
{
    if (af == NULL || af->proto == NULL || af->state == NULL)
        return;
    for (unsigned d = 0; af->last != NULL && d < 2; d++)
        PREFETCH_ALL(af->last->files[d], sizeof(struct app_file));
    if (af->proto->prefetch != NULL)
        af->proto->prefetch(af);
}

void app_prefetch_files(const struct app_flow *af)
{
    if (af == NULL || af->last == NULL)
        return;
    for (unsigned d = 0; d < 2; d++)
        if (af->last->files[d] != NULL)
            buf_prefetch_end(&af->last->files[d]->window);
}
