/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/packet.c - packets that follow a rule with `tag`. */
#include "output/eve/eve.h"

static bool tagged_wants(const struct packet *p)
{
    return p->flags & PACKET_TAGGED && p->data != NULL;
}

static void tagged_packet(struct render *r, const struct eve *eve, void *settings,
                          struct packet *p)
{
    struct json j;

    (void)settings;
    eve_begin(r, eve, &j, p, EVE_AS_PACKET, "packet", EVE_NO_TX);
    eve_packet_bytes(&j, p);
    eve_end(r, eve, &j, p);
}

/* Not a type of its own in the configuration: `alert` turns it on with tagged-packets. */
const struct eve_type eve_type_packet = {
    .name = "packet",
    .wants = tagged_wants,
    .packet = tagged_packet,
};
