/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/igmp.c - IGMP (RFC 1112, 2236 and 9776), and RGMP (RFC 3488), which has the same
 * format.
 *
 * Suricata 8.0 does not decode IGMP. So a message has no payload here, none is invalid, and only
 * the keywords of IGMP read its header. */
#include "packet/decode/decode_private.h"

#include "base/text/bytes.h"

#define IGMP_HEADER       8u
#define V3_QUERY_HEADER  12u
#define V3_RECORD_HEADER 8u
#define IP_HEADER_ROUTER_ALERT 24u      /* RFC 2113: what IGMP is sent with */
#define MEMBERSHIP_QUERY 0x11
#define V3_REPORT        0x22

/* Header of a query of version 3 with its sources (RFC 9776 section 4.1); 0: malformed, *event says
 * how. */
static uint32_t query_len(struct bytes in, uint32_t len, enum packet_event *event)
{
    uint32_t header;

    if (len < V3_QUERY_HEADER)
        return IGMP_HEADER;
    (void)take_slice(&in, V3_QUERY_HEADER - 2);
    header = V3_QUERY_HEADER + 4u * take_be16(&in);
    if (header <= len)
        return header;
    *event = header < UINT16_MAX - IP_HEADER_ROUTER_ALERT ? EVENT_IGMP_V3_PKT_TOO_SMALL
                                                          : EVENT_IGMP_MALFORMED;
    return 0;
}

/* Header of a report of version 3 with its records (RFC 9776 section 4.2). A record has 8 bytes
 * at least, so the message bounds the loop. */
static uint32_t report_len(struct bytes in, uint32_t len, enum packet_event *event)
{
    unsigned records;

    (void)take_slice(&in, IGMP_HEADER - 2);
    records = take_be16(&in);
    for (unsigned i = 0; i < records && !in.failed; i++) {
        uint32_t words;

        if (bytes_left(&in) < V3_RECORD_HEADER)
            *event = EVENT_IGMP_V3_PKT_TOO_SMALL;
        (void)take_u8(&in);
        words = take_u8(&in);
        words += take_be16(&in);
        (void)take_slice(&in, 4 + 4 * words);
    }
    return in.failed ? 0 : len - (uint32_t)bytes_left(&in);
}

bool decode_igmp(struct decoder *d UNUSED, struct packet *p, const uint8_t *at, uint32_t len)
{
    struct bytes in = bytes_of(at, len);
    enum packet_event event = EVENT_IGMP_MALFORMED;
    uint32_t header;

    if (len < IGMP_HEADER) {
        packet_set_event(p, EVENT_IGMP_PKT_TOO_SMALL);
        return true;
    }
    header = at[0] == MEMBERSHIP_QUERY ? query_len(in, len, &event)
             : at[0] == V3_REPORT ? report_len(in, len, &event) : IGMP_HEADER;
    if (header == 0 || header > UINT16_MAX) {
        packet_set_event(p, event);
        return true;
    }
    p->l4 = (uint8_t *)at;
    p->l4_len = len;
    p->l4_header_len = (uint16_t)header;
    return true;
}
