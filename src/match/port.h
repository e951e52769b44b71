/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/port.h - sets of ports, as rules name them: a bitmap each, shared by equal sets. */
#ifndef MATCH_PORT_H
#define MATCH_PORT_H

#include "base/arena.h"
#include "base/map.h"
#include "match/range_set.h"

struct port_range { uint16_t lo, hi; };

struct port_set {
    bool any;
    uint32_t count;                     /* of ranges */
    const struct port_range *range;     /* sorted, apart from each other */
    const uint64_t *bits;               /* 65536 of them; NULL when any */
    const char *text;
};

struct port_table {
    struct arena *arena;                /* borrowed; the sets live there */
    struct map by_text, by_content;
    unsigned count;                     /* distinct sets */
};

void port_table_init(struct port_table *table, struct arena *arena);
void port_table_fini(struct port_table *table);

/* "any", "80", "1024:", ":1023", "[80,8000:8100,!8080,$HTTP_PORTS]". NULL with err set. */
const struct port_set *port_set_get(struct port_table *table, struct text in,
                                    const struct set_vars *vars, struct where at,
                                    struct err *err);

static inline bool port_set_has(const struct port_set *set, uint16_t port)
{
    return set->any || (set->bits[port >> 6] >> (port & 63) & 1);
}

#endif
