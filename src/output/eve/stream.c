/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/stream.c - the record type `stream`: TCP packets with the state of the
 * session after them. */
#include <stdlib.h>

#include "base/array.h"
#include "output/eve/eve.h"
#include "stream/snapshot.h"
#include "stream/stream.h"

struct stream_settings {
    uint16_t flags;             /* packets with one of these; STREAM_PKT_ALL: all there are */
};

/* Snapshots of sessions cost time per packet, so the stream module takes only the required ones. */
static void *stream_configure(const struct conf_node *node, const struct eve *eve,
                              struct err *err)
{
    static const struct { const char *key; uint16_t flags; } asks[] = {
        { "event-set", STREAM_PKT_EVENT_SET },
        { "state-update", STREAM_PKT_STATE_UPDATE },
        { "spurious-retransmission", STREAM_PKT_SPURIOUS_RETRANSMISSION },
        { "tcp-session-reuse", STREAM_PKT_SESSION_REUSE },
        { "all", STREAM_PKT_ALL },
    };
    struct stream_settings *s = xcalloc(1, sizeof(*s));

    (void)err;
    for (unsigned i = 0; i < ARRAY_LEN(asks); i++)
        if (conf_bool(node, asks[i].key, false))
            s->flags |= asks[i].flags;
    stream_conf_require_snapshots(eve->request->stream, s->flags);
    return s;
}

static bool stream_condition(const struct packet *p)
{
    return packet_is_tcp(p) && !(p->flags & PACKET_BYPASSED);
}

/* Names of the bits that are set. */
static void words(struct json *j, const char *key, const struct stream_word *all, uint32_t bits)
{
    json_array(j, key);
    for (const struct stream_word *w = all; w->name != NULL; w++)
        if (bits & w->bit)
            json_string(j, NULL, w->name);
    json_array_end(j);
}

/* Keys are Suricata's, so that records of both engines compare. */
static void put_direction(struct json *j, const char *key, const struct tcp_dir_snapshot *s)
{
    json_object(j, key);
    json_u64(j, "isn", s->isn);
    json_u64(j, "next_seq", s->next_seq);
    json_u64(j, "last_ack", s->last_ack);
    json_u64(j, "next_win", s->next_win);
    if (s->reassembled) {
        json_u64(j, "base_seq", s->base_seq);
        json_u64(j, "segs_right_edge", s->right_edge);
    }
    json_u64(j, "window", s->window);
    json_u64(j, "wscale", s->wscale);
    words(j, "flags", dir_flag_words, s->flags);
    json_u64(j, "seg_cnt", s->segments);
    json_u64(j, "sb_region_size", s->buffer_size);
    json_object_end(j);
}

/* The snapshot was taken by the stream module right after this packet. */
static void session(struct json *j, const struct packet *p)
{
    const struct tcp_snapshot *s = packet_session(p);

    json_string(j, "state", tcp_snapshot_state(s->state));
    if (stream_slot(p)->flags & STREAM_PKT_STATE_UPDATE)
        json_string(j, "pstate", tcp_snapshot_state(s->former_state));
    json_object(j, "flags");
    words(j, "flags", session_flag_words, s->flags);
    json_object_end(j);
    put_direction(j,"client", &s->ds[TO_SERVER]);
    put_direction(j,"server", &s->ds[TO_CLIENT]);
}

static void events(struct json *j, const struct packet *p)
{
    json_array(j, "events");
    for (unsigned i = 0; i < p->event_count; i++)
        if (packet_event_is_stream((enum packet_event)p->event[i]))
            json_string(j, NULL, packet_event_name((enum packet_event)p->event[i]));
    json_array_end(j);
}

/* What the last packet of a flow stands for differs by side. */
struct shown_packet {
    enum eve_order order;
    enum direction direction;
    uint32_t seq;
};

static struct shown_packet as_sent(const struct packet *p)
{
    return (struct shown_packet){ EVE_AS_PACKET, packet_direction(p), p->tcp.seq };
}

static void stream_record(struct render *r, const struct eve *eve, const struct packet *p,
                          struct shown_packet shown)
{
    struct json j;

    eve_begin(r, eve, &j, p, (struct eve_head){ shown.order, "stream_tcp", EVE_NO_TX });
    if (p->flow != NULL)
        json_string(&j, "direction",
                    shown.direction == TO_SERVER ? "to_server" : "to_client");
    json_object(&j, "stream_tcp");
    json_object(&j, "packet");
    eve_ip_header(&j, p);
    eve_tcp_header(&j, p, shown.seq);
    words(&j, "flags", stream_pkt_flag_words, stream_slot(p)->flags);
    json_object_end(&j);
    json_object(&j, "session");
    if (stream_slot(p)->flags & STREAM_PKT_SNAPSHOT)
        session(&j, p);
    json_object_end(&j);
    if (stream_slot(p)->flags & STREAM_PKT_EVENT_SET)
        events(&j, p);
    if (p->drop_reason != DROP_NONE)
        json_string(&j, "reason", drop_reason_text((enum drop_reason)p->drop_reason));
    json_object_end(&j);
    eve_end_limited(r, eve, &j, p);
}

/* The last pseudo packet of a flow represents one packet from each side that has data left. */
static void stream_last(struct render *r, const struct eve *eve, const struct packet *p)
{
    enum direction other = OTHER_DIRECTION(packet_direction(p));

    if (r->inspection->last_sides & INSPECT_OWN_SIDE)
        stream_record(r, eve, p, as_sent(p));
    if (r->inspection->last_sides & INSPECT_OTHER_SIDE)
        stream_record(r, eve, p, (struct shown_packet){
            .order = other == TO_SERVER ? EVE_TO_SERVER : EVE_TO_CLIENT, .direction = other,
            .seq = packet_session(p)->ds[TO_CLIENT].next_seq });
}

/* STREAM_PKT_ALL: every packet; otherwise those with a required flag. */
static void stream_packet(struct render *r, const struct eve *eve, void *settings,
                          struct packet *p)
{
    const struct stream_settings *s = settings;

    if (s->flags != STREAM_PKT_ALL && !(stream_slot(p)->flags & s->flags))
        return;
    if (p->source != PACKET_STREAM_END)
        stream_record(r, eve, p, as_sent(p));
    else if (stream_slot(p)->flags & STREAM_PKT_SNAPSHOT)
        stream_last(r, eve, p);
}

const struct eve_type eve_type_stream = {
    .name = "stream",
    .configure = stream_configure,
    .condition = stream_condition,
    .packet = stream_packet,
};
