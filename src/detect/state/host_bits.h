/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/host_bits.h - named bits on hosts and pairs of hosts, with an end: xbits and
 * hostbits. Shared by all threads. */
#ifndef DETECT_HOST_BITS_H
#define DETECT_HOST_BITS_H

#include "base/text/ip.h"
#include "conf/conf.h"

struct host_bits;
struct host_bits *host_bits_new(const struct conf_node *root);
void host_bits_free(struct host_bits *bits);
struct shard_table;
struct shard_table *host_bits_table(struct host_bits *bits);

/* Of the host `a`, or of the pair when b is not NULL: a pair is the same in either order. */
bool host_bit_is_set(struct host_bits *bits, const struct ip *a, const struct ip *b, uint32_t id,
                     uint64_t now_us);
/* When it ends; 0: it is not set. */
uint64_t host_bit_ends_us(struct host_bits *bits, const struct ip *a, const struct ip *b,
                          uint32_t id, uint64_t now_us);
void host_bit_set(struct host_bits *bits, const struct ip *a, const struct ip *b, uint32_t id,
                  uint64_t now_us, uint64_t ends_us);
void host_bit_unset(struct host_bits *bits, const struct ip *a, const struct ip *b, uint32_t id,
                    uint64_t now_us);

#endif
