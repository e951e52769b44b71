/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/sctp.c - the common header of SCTP, RFC 9260. */
#include "packet/decode/decode_private.h"

#define SCTP_HEADER 12u

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
    decode_set_flow(d, p);
    return true;
}
