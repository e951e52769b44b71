/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/port.h - sets of ports, as rules write them. Equal sets are shared. Most are one or two
 * ranges; the others are bitmaps. */
#ifndef MATCH_PORT_H
#define MATCH_PORT_H

#include "base/memory/arena.h"
#include "base/containers/map.h"
#include "match/range_set.h"

struct port_range { uint16_t lo, hi; };

#define PORT_RANGES_FEW 2

struct port_set {
    bool any;
    uint32_t count;                     /* number of ranges */
    struct port_range few[PORT_RANGES_FEW];     /* all ranges; a single one is there twice */
    const struct port_range *range;     /* sorted; ranges neither overlap nor touch */
    const uint64_t *bits;               /* 65536 bits; NULL: `few` is the complete set */
    const char *text;
};

struct port_table {
    struct arena *arena;                /* borrowed; owns the sets */
    struct map by_text, by_content, by_other;
    unsigned count;                     /* distinct sets */
};

void port_table_init(struct port_table *table, struct arena *arena);
void port_table_fini(struct port_table *table);

/* Parses "any", "80", "1024:", ":1023", "[80,8000:8100,!8080,$HTTP_PORTS]". Returns the shared set,
 * or NULL with err set. */
const struct port_set *port_set_get(struct port_table *table, struct text in,
                                    const struct set_vars *vars, struct where at,
                                    struct err *err);

/* Returns this table's copy of a set of another table. */
const struct port_set *port_set_copy(struct port_table *table, const struct port_set *other);

static inline bool port_range_has(struct port_range r, uint16_t port)
{
    return port >= r.lo && port <= r.hi;
}

static inline bool port_set_has(const struct port_set *set, uint16_t port)
{
    if (set->bits == NULL)
        return port_range_has(set->few[0], port) || port_range_has(set->few[1], port);
    return set->bits[port >> 6] >> (port & 63) & 1;
}

#endif
