/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/checksum.h - the Internet checksum, RFC 1071. */
#ifndef PACKET_CHECKSUM_H
#define PACKET_CHECKSUM_H

#include "packet/packet.h"

/* Adds bytes to a running sum. All calls but the last add an even number of bytes. */
uint64_t checksum_add(uint64_t sum, const void *data, size_t len);
/* Returns the checksum field in host order, as put_be16() takes it. Returns 0 if the summed data
 * included a correct checksum. */
uint16_t checksum_fold(uint64_t sum);

/* Sums header and payload of the packet's transport, with the pseudo header and the checksum
 * field. Returns 0 when the checksum is correct. */
uint16_t packet_l4_checksum(const struct packet *p);

/* Writes correct checksums into the IP and transport headers after the frame was modified. */
void packet_fix_checksums(struct packet *p);
/* True if the field contains only the sum over the pseudo header, as a sender leaves it to its
 * network card. */
bool packet_checksum_is_open(const struct packet *p);
/* Writes the sum over the pseudo header into the transport's field, for a kernel that completes
 * it. */
void packet_begin_checksum(struct packet *p);

/* The sum over the pseudo header of a packet that the engine creates. */
uint64_t checksum_pseudo_header(const struct ip *src, const struct ip *dst, uint8_t proto,
                                uint32_t len);

#endif
