/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/address.h - sets of IP addresses, as rules and settings write them.
 *
 * Sets are immutable. IPv4 and IPv6 addresses are sorted arrays of ranges, searched by bisection. A
 * table has one set for each text and each content. So thousands of rules share a few sets, and
 * equal sets have equal pointers. */
#ifndef MATCH_ADDRESS_H
#define MATCH_ADDRESS_H

#include "base/memory/arena.h"
#include "base/text/ip.h"
#include "base/containers/map.h"
#include "match/range_set.h"

struct v4_range { uint32_t lo, hi; };           /* host order; both ends included */
struct v6_range { uint64_t lo[2], hi[2]; };     /* high half first */

struct address_set {
    bool any;                   /* contains everything, also a packet without addresses */
    bool negates;               /* it contains "!", or a variable that does */
    uint32_t v4_count, v6_count;
    const struct v4_range *v4;
    const struct v6_range *v6;
    const char *text;           /* the text that was parsed first */
};

struct address_table {
    struct arena *arena;        /* borrowed; owns the sets */
    struct map by_text, by_content, by_other;
    unsigned count;             /* distinct sets */
};

void address_table_init(struct address_table *table, struct arena *arena);
void address_table_fini(struct address_table *table);   /* the sets stay in the arena */

/* Parses "any", "10.0.0.0/8", "[$HOME_NET,!10.1.2.3,fe80::/10,1.2.3.4-1.2.3.9]". Returns the shared
 * set, or NULL with err set. */
const struct address_set *address_set_get(struct address_table *table, struct text in,
                                          const struct set_vars *vars, struct where at,
                                          struct err *err);
/* Returns this table's copy of a set of another table. */
const struct address_set *address_set_copy(struct address_table *table,
                                           const struct address_set *other);
bool address_set_has(const struct address_set *set, const struct ip *ip);

/* Parses one element without variables or groups: "10.0.0.0/8", "a-b", "fe80::1". */
bool address_element(struct text in, struct range_set *into, const char **why);

#endif
