/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/reject.h - creates the packet that rejects another one: a TCP reset, or an ICMP
 * unreachable message. It reads only the layers of the packet. RFC 9293 section 3.5.2, RFC 792,
 * RFC 4443. */
#ifndef PACKET_REJECT_H
#define PACKET_REJECT_H

#include "packet/packet.h"

#define REJECT_SIZE_MAX 256

/* Writes the packet for the sender of p (to_src), or for its receiver in the sender's name. The
 * result is an IP packet; with_link adds p's link header, reversed for the sender. Returns the
 * length. 0: p must not be rejected (a reset, an ICMP error, multicast), or its link header
 * cannot be used. `out` has REJECT_SIZE_MAX bytes. */
size_t reject_build(const struct packet *p, bool to_src, bool with_link, uint8_t *out);

#endif
