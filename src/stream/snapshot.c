/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/snapshot.c - copies a TCP session as it was after one packet, for records that show it:
 * later packets change the session before the record is rendered on another thread. */
#include "stream/snapshot.h"

#include "base/array.h"
#include "base/memory/lib_memory.h"
#include "flow/flow.h"
#include "stream/blocks.h"
#include "stream/segment.h"
#include "stream/stream_conf.h"
#include "stream/tcp_session.h"

/* Words of Suricata's stream EVE records. */
const struct stream_word stream_pkt_flag_words[] = {
    { STREAM_PKT_RETRANSMISSION, "retransmission" },
    { STREAM_PKT_SPURIOUS_RETRANSMISSION, "spurious_retransmission" },
    { STREAM_PKT_KEEPALIVE, "keepalive" },
    { STREAM_PKT_KEEPALIVE_ACK, "keepalive_ack" },
    { STREAM_PKT_WINDOW_UPDATE, "window_update" },
    { STREAM_PKT_EVENT_SET, "event_set" },
    { STREAM_PKT_STATE_UPDATE, "state_update" },
    { STREAM_PKT_DUP_ACK, "dup_ack" },
    { STREAM_PKT_DSACK, "dsack" },
    { STREAM_PKT_ACK_UNSEEN_DATA, "ack_unseen_data" },
    { STREAM_PKT_SESSION_REUSE, "tcp_session_reuse" },
    { STREAM_PKT_ZERO_WINDOW_PROBE, "zero_window_probe" },
    { STREAM_PKT_ZERO_WINDOW_PROBE_ACK, "zero_window_probe_ack" },
    { 0, NULL },
};

/* "sackok" follows the client's option only, as these records have always shown it. */
const struct stream_word session_flag_words[] = {
    { SSN_MIDSTREAM, "midstream" },
    { SSN_MIDSTREAM_ESTABLISHED, "midstream_established" },
    { SSN_MIDSTREAM_SYNACK, "midstream_synack" },
    { SSN_TIMESTAMP, "timestamp" },
    { SSN_SERVER_WSCALE, "server_wscale" },
    { SSN_CLOSED_BY_RST, "closed_by_rst" },
    { SSN_4WHS, "4whs" },
    { SSN_EVASION, "detect_evasion_attempt" },
    { SSN_CLIENT_SACK_OK, "client_sackok" },
    { SSN_CLIENT_SACK_OK, "sackok" },
    { SSN_3WHS_CONFIRMED, "3whs_confirmed" },
    { SSN_FAST_OPEN, "tcp_fast_open" },
    { SSN_FAST_OPEN_IGNORED, "tfo_data_ignored" },
    { 0, NULL },
};

const struct stream_word dir_flag_words[] = {
    { STREAM_GAP, "has_gap" },
    { STREAM_NO_REASSEMBLY, "noreassembly" },
    { STREAM_KEEPALIVE, "keepalive" },
    { STREAM_DEPTH_REACHED, "depth_reached" },
    { STREAM_TIMESTAMP, "timestamp" },
    { STREAM_ZERO_TIMESTAMP, "zero_timestamp" },
    { STREAM_RST_RECEIVED, "rst_recv" },
    { 0, NULL },
};

const char *tcp_snapshot_state(uint8_t state)
{
    return tcp_state_name((enum tcp_state)state);
}

/* Copies plain values only, so the record needs no access to the session later. */
static void dir_take(struct tcp_dir_snapshot *out, const struct tcp_stream *s)
{
    *out = (struct tcp_dir_snapshot){
        .isn = s->isn, .next_seq = s->next_seq, .last_ack = s->last_ack, .next_win = s->next_win,
        .base_seq = s->base_seq, .right_edge = s->right_edge, .window = s->window,
        .segments = s->segments_merged + (s->holes != NULL ? s->holes->segments_out : 0u),
        .buffer_size = s->buffer != NULL ? block_size(s->block_class) : 0,
        .flags = s->flags, .wscale = s->wscale,
        .reassembled = !(s->flags & STREAM_NO_REASSEMBLY),
    };
}

/* False: the flow has no session (any more). */
bool tcp_snapshot_of(const struct flow *flow, struct tcp_snapshot *out)
{
    const struct tcp_session *ssn = flow != NULL ? flow->tcp : NULL;

    if (ssn == NULL)
        return false;
    out->flags = ssn->flags;
    out->state = ssn->state;
    out->former_state = ssn->former_state;
    for (unsigned dir = 0; dir < 2; dir++)
        dir_take(&out->ds[dir], &ssn->stream[dir]);
    return true;
}

/* At load time, by outputs. */
void stream_conf_require_snapshots(struct stream_conf *conf, uint16_t flags)
{
    conf->snapshots |= flags;
}

/* Costs a copy, so only for packets that an output may show. */
void stream_snapshot(const struct stream_conf *conf, struct packet *p)
{
    struct stream_slot *slot = stream_slot(p);

    for (unsigned i = 0; i < p->event_count; i++)
        if (packet_event_is_stream((enum packet_event)p->event[i]))
            slot->flags |= STREAM_PKT_EVENT_SET;
    if (conf->snapshots != STREAM_PKT_ALL && !(slot->flags & conf->snapshots))
        return;
    if (!buf_reserve(&p->memory[PACKET_MEMORY_SESSION], sizeof(struct tcp_snapshot)))
        return;
    if (tcp_snapshot_of(p->flow, packet_session(p)))
        slot->flags |= STREAM_PKT_SNAPSHOT;
}
