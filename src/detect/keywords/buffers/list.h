/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/buffers/list.h - the packet buffers: one line each, X(symbol) for
 * `const struct packet_buffer buffer_<symbol>` in this directory. */
#ifndef DETECT_BUFFERS_LIST_H
#define DETECT_BUFFERS_LIST_H

#include "detect/rule/buffer.h"
#include "packet/inspection.h"

#define PACKET_BUFFER_LIST(X) \
    X(ether_hdr)              \
    X(tcp_hdr)                \
    X(udp_hdr)                \
    X(ipv4_hdr)               \
    X(ipv6_hdr)               \
    X(icmpv4_hdr)             \
    X(icmpv6_hdr)             \
    X(igmp_hdr)               \
    X(sctp_hdr)               \
    X(sctp_chunk_data)        \
    X(ip_src)                 \
    X(ip_dst)

#define X(symbol) extern const struct packet_buffer buffer_##symbol;
PACKET_BUFFER_LIST(X)
#undef X

#endif
