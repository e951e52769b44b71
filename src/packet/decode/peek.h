/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/peek.h - finds the flow of a frame without decoding it.
 *
 * One thread scans a file that several threads inspect, and assigns each frame to the thread of
 * its flow. For a plain frame a few bytes are enough: Ethernet, at most one VLAN tag, IPv4
 * without options or IPv6 without extension headers, unfragmented TCP or UDP, no tunnel. The
 * result is the same as the decoder's: such a frame becomes exactly one packet, with this flow
 * hash. All other frames need the decoder. */
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
