/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/host_bits.h - named bits on hosts and pairs of hosts, with an end: xbits and hostbits.
 * Shared by all threads. */
#ifndef DETECT_HOST_BITS_H
#define DETECT_HOST_BITS_H

#include "conf/conf.h"
#include "packet/packet.h"

struct host_bits;
struct host_bits *host_bits_new(const struct conf_node *root);
void host_bits_free(struct host_bits *bits);

enum host_bit_track { HOST_BIT_SRC, HOST_BIT_DST, HOST_BIT_PAIR };

bool host_bit_is_set(struct host_bits *bits, const struct packet *p, enum host_bit_track track,
                     uint32_t id);
void host_bit_set(struct host_bits *bits, const struct packet *p, enum host_bit_track track,
                  uint32_t id, uint32_t seconds);
void host_bit_unset(struct host_bits *bits, const struct packet *p, enum host_bit_track track,
                    uint32_t id);
void host_bit_toggle(struct host_bits *bits, const struct packet *p, enum host_bit_track track,
                     uint32_t id, uint32_t seconds);

#endif
