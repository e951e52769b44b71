/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/pseudo_headers.h - headers for packets that the engine makes up, for rules and logs that
 * look at them. */
#ifndef PACKET_PSEUDO_HEADERS_H
#define PACKET_PSEUDO_HEADERS_H

#include "packet/packet.h"

/* Bare IP by the packet's addresses and ip_proto; with_tcp: and TCP by its ports and p->tcp. */
void packet_make_pseudo_headers(struct packet *p, bool with_tcp);
/* The last packet of a flow, whose ends have just been exchanged: the headers follow them. */
void packet_remake_pseudo_headers(struct packet *p);

#endif
