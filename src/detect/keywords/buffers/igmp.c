/* SPDX-License-Identifier: GPL-2.0-or-later */
/* igmp.hdr - the message of IGMP: in version 3 with the sources of a query, the records of a
 * report. */
#include "detect/keywords/buffers/list.h"

#define PROTO_IGMP 2

static bool igmp_hdr_get(const struct packet *p, enum direction side, struct slice *out)
{
    (void)side;
    if (p->l4 == NULL || p->ip_proto != PROTO_IGMP)
        return false;
    *out = (struct slice){ p->l4, p->l4_header_len };
    return true;
}

const struct packet_buffer buffer_igmp_hdr = {
    .name = "igmp.hdr",
    .doc = "the header of IGMP",
    .get = igmp_hdr_get,
    .ip_proto = PROTO_IGMP,
};
