/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/ip_fragment.h - splits an IPv4 packet larger than the MTU into fragments: the
 * kernel reassembles fragments before it distributes packets to threads. */
#ifndef CAPTURE_IP_FRAGMENT_H
#define CAPTURE_IP_FRAGMENT_H

#include "packet/packet.h"

/* struct virtio_net_hdr; Ethernet with tags, IPv4 with options. */
#define FRAGMENT_VNET_HDR_LEN 10
#define IP_FRAGMENT_HEAD_MAX (FRAGMENT_VNET_HDR_LEN + 14 + 16 + 60)

/* True if the frame is IPv4, larger than mtu, and may be fragmented: its sender allows it, or it is
 * larger than one received frame can be, so it arrived in fragments. */
bool ip_fragment_can(const struct packet *p, uint32_t mtu, uint32_t mtu_in);

/* The fragment that begins `at` bytes after the IPv4 header: an empty vnet header and the headers,
 * then *body, which is in the packet. Returns the length of the headers. */
uint32_t ip_fragment(const struct packet *p, uint32_t mtu, uint32_t at,
                   uint8_t head[IP_FRAGMENT_HEAD_MAX], struct slice *body);

#endif
