/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/sctp.c - the common header of SCTP, RFC 9260, and where its chunks are. */
#include "packet/decode/decode_private.h"
#include "packet/sctp.h"

/* Rules look at chunks many times, and a packet may have thousands: they are walked here, once.
 * Suricata 8.0 does not look at them, so a malformed one is no event. */
static void find_chunks(struct packet *p)
{
    struct bytes in = bytes_of(p->l4, p->l4_len);
    struct sctp_chunk chunk;

    (void)take_slice(&in, SCTP_HEADER);
    p->sctp.chunks = p->sctp.data = 0;
    while (sctp_take_chunk(&in, &chunk)) {
        size_t offset = (size_t)(chunk.all.data - p->l4);

        p->sctp.chunks++;
        if (chunk.type == SCTP_DATA && chunk.all.len > SCTP_DATA_HEADER &&
            p->sctp.data < PACKET_SCTP_DATA_MAX && offset <= UINT16_MAX)
            p->sctp_data[p->sctp.data++] = (uint16_t)offset;
    }
    p->sctp.malformed = in.failed;
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
    if (UNLIKELY(d->conf->sctp_user_data))
        take_user_data(p);
    decode_set_flow(d, p);
    return true;
}
