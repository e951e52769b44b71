/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/host_bits.h - named bits on hosts and pairs of hosts, with an expiry time: xbits and
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

/* A bit of a host or of a pair. The two addresses of a pair may be in either order. */
struct host_bit {
    const struct ip *host;
    const struct ip *peer;      /* NULL: the bit belongs to one host */
    uint32_t id;                /* id of its name */
};

/* As shard_table_has_space(): setting the bit does not depend on the bits of other hosts. */
bool host_bit_has_space(struct host_bits *bits, struct host_bit bit);
bool host_bit_is_set(struct host_bits *bits, struct host_bit bit, uint64_t now_us);
/* Returns the time at which the bit expires; 0: not set. */
uint64_t host_bit_ends_us(struct host_bits *bits, struct host_bit bit, uint64_t now_us);
void host_bit_set(struct host_bits *bits, struct host_bit bit, uint64_t now_us, uint64_t ends_us);
void host_bit_unset(struct host_bits *bits, struct host_bit bit, uint64_t now_us);

#endif
