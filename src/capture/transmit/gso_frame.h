/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/gso_frame.h - joins consecutive TCP segments into one frame, which the kernel
 * splits again: one call and one way through its queues instead of one for each segment.
 *
 * The frames sent equal the frames received, bit for bit; where they would not, nothing is joined.
 * Frames with VLAN tags are sent one by one. */
#ifndef CAPTURE_GSO_FRAME_H
#define CAPTURE_GSO_FRAME_H

#include "packet/packet.h"

/* struct virtio_net_hdr; Ethernet, IPv6, TCP with options. */
#define GSO_VNET_HDR_LEN 10
#define GSO_FRAME_HEAD_MAX (GSO_VNET_HDR_LEN + 14 + 40 + 60)

/* How many packets, from the first on, one frame can stand for; 1: the first is sent alone. Each is
 * a frame with the kernel's vnet header in front. */
unsigned gso_frame_count(struct packet *const *p, unsigned count);

/* Writes the vnet header and the headers of the frame for so many packets; their payloads follow.
 * Returns the length. */
uint32_t gso_frame_head(struct packet *const *p, unsigned count,
                         uint8_t out[GSO_FRAME_HEAD_MAX]);

#endif
