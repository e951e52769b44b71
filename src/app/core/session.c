/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/session.c - the state of a flow between two packets, and what changes it without a call
 * of its parser: pending bytes, marks for rules, requests of parsers.
 *
 * The parser reads the bytes of a chunk where they are. Only what it leaves (or what recognition
 * does not understand yet) is copied into the side's `buffered`, in front of the next chunk. */
#include "app/core/session.h"

#include "app/core/file.h"
#include "app/core/settings.h"
#include "app/core/thread.h"

#include <string.h>

/* --- the session ------------------------------------------------------------------------------ */

/* f->app owns the session from here on; app_flow_free() frees it. */
struct app_session *app_session_new(struct app_thread *at, struct flow *f, unsigned transport)
{
    struct app_session *s = pool_get(&at->sessions[transport]);

    if (s == NULL)
        return NULL;
    memset(s, 0, app_session_size(transport));
    s->transport = transport & 63u;
    s->flow.thread = at;
    s->flow.flow = f;
    f->app = &s->flow;
    return s;
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

bool app_data_waits(const struct app_flow *af, enum direction d)
{
    return app_dir_of(app_session_of(af), d)->len > 0;
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

/* --- pending bytes --------------------------------------------------------------------------- */

void app_dir_advance(struct app_dir *ds, uint32_t n)
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
    struct app_dir *ds = app_dir_of(s, d);

    app_dir_advance(ds, ds->len);
    ds->offset += ds->lost;
    ds->lost = 0;
    ds->need = 0;
}

/* False: no memory to append to the buffered bytes. */
bool app_dir_add(struct app_dir *ds, const uint8_t *data, uint32_t len)
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
bool app_dir_buffer_rest(struct app_session *s, struct app_dir *ds)
{
    if (ds->len == 0) {
        app_buf_release(s->flow.thread, &ds->buffered);
        ds->data = NULL;
    } else if (ds->borrowed) {
        if (ds->buffered.data == NULL)
            ds->buffered = app_buf_take(s->flow.thread, ds->len);
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

/* The parser is not called any more. Pending bytes stay until buffer_rest(): callers on the stack
 * may still point into them. */
void app_stop_parsing(struct app_session *s)
{
    s->off = true;
    s->flow.stopped = true;
    s->flow.end[TO_SERVER] = s->flow.end[TO_CLIENT] = true;
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

/* --- ahead of its turn ------------------------------------------------------------------------ */

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
