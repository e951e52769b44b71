/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/checksum.h - the Internet checksum, RFC 1071. */
#ifndef PACKET_CHECKSUM_H
#define PACKET_CHECKSUM_H

#include "packet/packet.h"

/* Running sum over bytes in order; all pieces except the last have even length. */
uint64_t checksum_add(uint64_t sum, const void *data, size_t len);
/* The value for the header's field, in host order for put_be16-like writers; 0 when a sum over
 * data with a right checksum is folded. */
uint16_t checksum_fold(uint64_t sum);

/* Over header and payload of the packet's transport, with the pseudo header and the field's present
 * value: 0 when the checksum is right. */
uint16_t packet_l4_checksum(const struct packet *p);

/* Writes the right checksums into IP and transport headers, after the frame was modified. */
void packet_fix_checksums(struct packet *p);
/* Whether the field is as a sender leaves it to its network card: the sum over the pseudo
 * header. */
bool packet_checksum_is_open(const struct packet *p);
/* Writes the sum over the pseudo header into the transport's field, for a kernel that completes
 * it. */
void packet_begin_checksum(struct packet *p);

/* For packets that the engine creates: a transport of that length between two addresses. */
uint64_t checksum_pseudo_header(const struct ip *src, const struct ip *dst, uint8_t proto,
                                uint32_t len);

#endif
