/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ether.hdr - addresses and type of the Ethernet frame, without tags of VLANs. */
#include "detect/keywords/buffers/list.h"

#define ETHERNET_HEADER 14

static bool ether_hdr_get(const struct packet *p, enum direction side, struct slice *out)
{
    (void)side;
    if (p->eth == NULL)
        return false;
    *out = (struct slice){ p->eth, ETHERNET_HEADER };
    return true;
}

const struct packet_buffer buffer_ether_hdr = {
    .name = "ether.hdr",
    .doc = "the header of Ethernet",
    .get = ether_hdr_get,
    .link = RULE_LINK_ETHER,
};
