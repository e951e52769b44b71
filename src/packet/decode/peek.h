/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/peek.h - the flow of a frame, without decoding it.
 *
 * Several threads that read one file each see all of it, and most of what they see is another's.
 * For plain frames (Ethernet, at most one VLAN tag, IPv4 without options or IPv6 without
 * extension headers, whole TCP or UDP, no tunnel) a look at a few bytes tells whose it is. It
 * tells the same as the decoder would: such a frame becomes exactly one packet, with this flow
 * hash. Of all other frames nothing is said. */
#ifndef PACKET_PEEK_H
#define PACKET_PEEK_H

#include "packet/decode.h"

struct packet_peek {
    uint32_t flow_hash;
    const uint8_t *l3, *payload;
    uint32_t payload_len;
    bool is_v6, is_tcp;
};

/* False: it takes the decoder. */
bool packet_peek(const struct decode_conf *conf, enum datalink link, const uint8_t *at,
                 uint32_t len, struct packet_peek *out);

struct ip packet_peek_src(const struct packet_peek *peek);
struct ip packet_peek_dst(const struct packet_peek *peek);

#endif
