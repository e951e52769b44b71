/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/pseudo_headers.h - headers for packets that the engine makes up, for rules and logs that
 * look at them. */
#ifndef PACKET_PSEUDO_HEADERS_H
#define PACKET_PSEUDO_HEADERS_H

#include "packet/packet.h"

/* Bare IP by the packet's addresses and ip_proto; with_tcp: and TCP by its ports and p->tcp. */
void packet_make_pseudo_headers(struct packet *p, bool with_tcp);
/* The last packet of a flow stands for both directions. `opposite` becomes the same packet with
 * its ends exchanged, and has headers of its own. It needs no packet_fini(). */
void packet_make_opposite(const struct packet *p, struct packet *opposite);

#endif
