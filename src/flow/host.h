/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/host.h - what is remembered about an address, or a pair of addresses: xbits, hostbits, and
 * data of tags and thresholds.
 *
 * Shared by all threads, as the packets of an address come to all of them: 64 shards, each with
 * its lock, taken only by rules that ask for it. Packet time decides what has expired. */
#ifndef FLOW_HOST_H
#define FLOW_HOST_H

#include "base/ip.h"
#include "conf/conf.h"

struct host_table;

/* name: "host" or "ippair", the section with memcap and hash-size. */
struct host_table *host_table_new(const struct conf_node *root, const char *name);
void host_table_free(struct host_table *table);

/* b NULL: of one address. A pair is the same in either order. Bits are ids of var_name_id().
 * expires_us: when the bit ends; UINT64_MAX never. False when the memcap refuses. */
bool host_bit_set(struct host_table *table, const struct ip *a, const struct ip *b, uint32_t id,
                  uint64_t now_us, uint64_t expires_us);
bool host_bit_is_set(struct host_table *table, const struct ip *a, const struct ip *b,
                     uint32_t id, uint64_t now_us);
void host_bit_unset(struct host_table *table, const struct ip *a, const struct ip *b,
                    uint32_t id);

/* Other families keep a pointer each. `visit` runs under the shard's lock and may read and
 * replace *data; what it leaves there is freed with the host, by `release`. */
enum host_data { HOST_TAG, HOST_THRESHOLD, HOST_DATA_COUNT };
void host_data_release(struct host_table *table, enum host_data kind, void (*release)(void *data));
/* make: create the host when absent. False: absent, or refused by the memcap. */
bool host_data_visit(struct host_table *table, const struct ip *a, const struct ip *b,
                     enum host_data kind, bool make, uint64_t now_us,
                     void (*visit)(void **data, void *arg), void *arg);

uint64_t host_table_memuse(const struct host_table *table);
uint64_t host_table_refused(const struct host_table *table);

#endif
