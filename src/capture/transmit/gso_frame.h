/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/gso_frame.h - segments of TCP that stand in a row, as one frame for a kernel
 * that takes it apart again: one call, one way through its queues, in place of one for each
 * segment.
 *
 * What comes out is what came in, bit for bit; where it would not be, nothing is joined. Frames
 * with VLAN tags go one by one. */
#ifndef CAPTURE_GSO_FRAME_H
#define CAPTURE_GSO_FRAME_H

#include "packet/packet.h"

/* struct virtio_net_hdr; Ethernet, IPv6, TCP with options. */
#define GSO_VNET_HDR_LEN 10
#define GSO_FRAME_HEAD_MAX (GSO_VNET_HDR_LEN + 14 + 40 + 60)

/* How many packets, from the first on, one frame can stand for; 1: the first goes alone. Each is a
 * frame before which stands the kernel's vnet header. */
unsigned gso_frame_count(struct packet *const *p, unsigned count);

/* The vnet header and the headers of the one frame for so many packets; their payloads follow.
 * Returns the length. */
uint32_t gso_frame_head(struct packet *const *p, unsigned count,
                         uint8_t out[GSO_FRAME_HEAD_MAX]);

#endif
