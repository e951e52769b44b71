/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/ip_fragment.h - an IPv4 packet larger than the way out takes, as fragments: the
 * kernel puts those that came together before it deals packets to threads. */
#ifndef CAPTURE_IP_FRAGMENT_H
#define CAPTURE_IP_FRAGMENT_H

#include "packet/packet.h"

/* struct virtio_net_hdr; Ethernet with tags, IPv4 with options. */
#define FRAGMENT_VNET_HDR_LEN 10
#define IP_FRAGMENT_HEAD_MAX (FRAGMENT_VNET_HDR_LEN + 14 + 16 + 60)

/* Is the frame IPv4 and larger than mtu, and may it be cut: its sender allows it, or it is larger
 * than what can have come in at once, so that it came in pieces? */
bool ip_fragment_can(const struct packet *p, uint32_t mtu, uint32_t mtu_in);

/* The fragment that begins `at` bytes behind the IPv4 header: an empty vnet header and the headers,
 * then *body, which is in the packet. Returns the length of the head. */
uint32_t ip_fragment(const struct packet *p, uint32_t mtu, uint32_t at,
                   uint8_t head[IP_FRAGMENT_HEAD_MAX], struct slice *body);

#endif
