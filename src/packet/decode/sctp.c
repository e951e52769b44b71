/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/sctp.c - the common header of SCTP, RFC 9260, and where its chunks are. */
#include "packet/decode/decode_private.h"
#include "packet/sctp.h"

#define CHUNKS_COMMON 16u               /* with more, of all or of DATA, Suricata 9 is suspicious */

/* What the events of chunks depend on. */
struct chunk_counts {
    unsigned all, init, init_ack, data;
    unsigned complete_data;             /* DATA chunks with all their numbers */
    size_t left;                        /* bytes that were left before the last attempt */
};

/* RFC 9260 section 8.5.1: INIT has the verification tag 0, and only INIT has. Section 6.10: INIT
 * and INIT ACK are alone in their packet. */
static void set_chunk_events(struct packet *p, const struct chunk_counts *n)
{
    bool has_tag = get_be32(p->l4 + 4) != 0;

    if (p->sctp.malformed)
        packet_set_event(p, n->left < SCTP_CHUNK_HEADER ? EVENT_SCTP_CHUNK_TOO_SMALL
                                                        : EVENT_SCTP_CHUNK_LEN_INVALID);
    if (n->init > 0 && has_tag)
        packet_set_event(p, EVENT_SCTP_INIT_WITH_NON_ZERO_VTAG);
    if (n->data > 0 && !has_tag)
        packet_set_event(p, EVENT_SCTP_DATA_WITH_ZERO_VTAG);
    if (n->init + n->init_ack > 0 && n->all > 1)
        packet_set_event(p, EVENT_SCTP_INIT_CHUNK_BUNDLED);
    if (n->all > CHUNKS_COMMON)
        packet_set_event(p, EVENT_SCTP_TOO_MANY_CHUNKS);
    if (n->complete_data > CHUNKS_COMMON)
        packet_set_event(p, EVENT_SCTP_TOO_MANY_DATA_CHUNKS);
}

/* Rules look at chunks many times, and a packet may have thousands: they are walked here, once.
 * Suricata 8.0 does not look at them, so a malformed one does not make the packet invalid. */
static void find_chunks(struct packet *p)
{
    struct bytes in = bytes_of(p->l4, p->l4_len);
    struct chunk_counts n = { 0 };
    struct sctp_chunk chunk;

    (void)take_slice(&in, SCTP_HEADER);
    p->sctp.chunks = p->sctp.data = 0;
    for (n.left = bytes_left(&in); sctp_take_chunk(&in, &chunk); n.left = bytes_left(&in)) {
        size_t offset = (size_t)(chunk.all.data - p->l4);

        n.all++;
        n.init += chunk.type == SCTP_INIT;
        n.init_ack += chunk.type == SCTP_INIT_ACK;
        n.data += chunk.type == SCTP_DATA;
        n.complete_data += chunk.type == SCTP_DATA && chunk.all.len >= SCTP_DATA_HEADER;
        p->sctp.chunks++;
        if (chunk.type == SCTP_DATA && chunk.all.len > SCTP_DATA_HEADER &&
            p->sctp.data < PACKET_SCTP_DATA_MAX && offset <= UINT16_MAX)
            p->sctp_data[p->sctp.data++] = (uint16_t)offset;
    }
    p->sctp.malformed = in.failed;
    set_chunk_events(p, &n);
}

/* Sets no payload for a packet without user data, or with a truncated chunk, as Suricata 9 does. */
static void take_user_data(struct packet *p)
{
    struct sctp_chunk chunk;
    struct bytes in = bytes_of(p->l4, p->l4_len);

    p->payload_len = 0;
    if (p->sctp.malformed || p->sctp.data == 0)
        return;
    (void)take_slice(&in, p->sctp_data[0]);
    if (!sctp_take_chunk(&in, &chunk))
        return;
    p->payload = (uint8_t *)(uintptr_t)chunk.all.data + SCTP_DATA_HEADER;
    p->payload_len = chunk.all.len - SCTP_DATA_HEADER;
}

bool decode_sctp(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len)
{
    COUNT(d, sctp);
    if (UNLIKELY(len < SCTP_HEADER))
        return decode_invalid(p, EVENT_SCTP_PKT_TOO_SMALL);
    p->l4 = (uint8_t *)at;
    p->l4_len = len;
    p->l4_header_len = SCTP_HEADER;
    p->payload = (uint8_t *)at + SCTP_HEADER;
    p->payload_len = len - SCTP_HEADER;
    p->ip_proto = 132;
    p->src_port = get_be16(at);
    p->dst_port = get_be16(at + 2);
    find_chunks(p);
    if (UNLIKELY(d->conf->suricata_9))
        take_user_data(p);
    decode_set_flow(d, p);
    return true;
}
