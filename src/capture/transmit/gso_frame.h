/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/gso_frame.h - joins consecutive TCP segments into one frame, which the kernel
 * splits again: one call and one path through its queues instead of one for each segment.
 *
 * Frames are only joined if the kernel will send frames that equal the received ones bit for bit.
 * Frames with VLAN tags are sent one by one. */
#ifndef CAPTURE_GSO_FRAME_H
#define CAPTURE_GSO_FRAME_H

#include "packet/packet.h"

/* struct virtio_net_hdr; Ethernet, IPv6, TCP with options. */
#define GSO_VNET_HDR_LEN 10
#define GSO_FRAME_HEAD_MAX (GSO_VNET_HDR_LEN + 14 + 40 + 60)

/* Returns how many packets, from the first on, one frame can replace; 1: the first is sent alone.
 * Each packet's frame follows a vnet header of the kernel. */
unsigned gso_frame_count(struct packet *const *p, unsigned count);

/* Writes the vnet header and the headers of the frame for `count` packets; their payloads follow.
 * Returns the length. */
uint32_t gso_frame_head(struct packet *const *p, unsigned count,
                         uint8_t out[GSO_FRAME_HEAD_MAX]);

#endif
