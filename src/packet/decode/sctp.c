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
    decode_set_flow(d, p);
    return true;
}
