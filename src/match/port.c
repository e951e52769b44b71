/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/port.c - sets of ports, as rules name them, shared by equal sets. */
#include "match/port.h"

#include <stdlib.h>
#include <string.h>

#define PORT_MAX UINT16_MAX

/* `otherwise` is the value of an empty text; UINT64_MAX: it must not be empty. */
static bool port_number(struct text in, uint64_t otherwise, uint64_t *out)
{
    if (in.n == 0) {
        *out = otherwise;
        return otherwise != UINT64_MAX;
    }
    return !text_starts_nocase(in, "0x") && text_to_u64(in, PORT_MAX, out);
}

/* A port, "LOW:HIGH", "LOW:" or ":HIGH". */
static bool port_element(struct text in, struct range_set *into, const char **why)
{
    const char *colon = memchr(in.p, ':', in.n);
    uint64_t lo = 0, hi = PORT_MAX;
    size_t n;

    *why = "not a port (0-65535), port range, group or variable";
    if (text_equal_nocase(in, "any")) {
        range_set_add(into, 0, 0, PORT_MAX);
        return true;
    }
    if (colon == NULL) {
        if (!port_number(in, UINT64_MAX, &lo))
            return false;
        range_set_add(into, 0, lo, lo);
        return true;
    }
    n = (size_t)(colon - in.p);
    if (!port_number(text_trim((struct text){ in.p, n }), 0, &lo) ||
        !port_number(text_trim(text_from(in, n + 1)), PORT_MAX, &hi))
        return false;
    *why = "this port range ends before it begins";
    if (lo > hi)
        return false;
    range_set_add(into, 0, lo, hi);
    return true;
}

static const struct set_grammar port_grammar = {
    .what = "port",
    .families = 1,
    .max = { PORT_MAX },
    .element = port_element,
};

void port_table_init(struct port_table *table, struct arena *arena)
{
    *table = (struct port_table){ .arena = arena };
}

void port_table_fini(struct port_table *table)
{
    map_fini(&table->by_text);
    map_fini(&table->by_content);
    map_fini(&table->by_other);
}

/* 8 KiB: one bit for each port. */
static const uint64_t *bitmap_of(struct arena *arena, const struct port_range *range, size_t count)
{
    uint64_t *bits = arena_zalloc(arena, (PORT_MAX + 1) / 8);

    for (size_t i = 0; i < count; i++)
        for (unsigned port = range[i].lo; port <= range[i].hi; port++)
            bits[port >> 6] |= UINT64_C(1) << (port & 63);
    return bits;
}

/* A few ranges are compared directly, more need the bitmap. `few` is filled up with the last range,
 * so that the comparison has no loop. */
static const struct port_set *intern(struct port_table *table, struct text in,
                                     const struct range_set *ranges)
{
    size_t count = ranges->of[0].count;
    struct port_range *range = xmalloc(count * sizeof(*range));
    struct port_set *set;

    for (size_t i = 0; i < count; i++)
        range[i] = (struct port_range){ (uint16_t)ranges->of[0].at[i].lo,
                                        (uint16_t)ranges->of[0].at[i].hi };
    set = map_get(&table->by_content, range, count * sizeof(*range));
    if (set == NULL) {
        set = arena_zalloc(table->arena, sizeof(*set));
        set->any = range_set_is_all(ranges, 0, PORT_MAX);
        set->count = (uint32_t)count;
        set->range = arena_copy(table->arena, range, count * sizeof(*range));
        if (count > PORT_RANGES_FEW)
            set->bits = bitmap_of(table->arena, range, count);
        for (size_t i = 0; i < PORT_RANGES_FEW; i++)
            set->few[i] = range[MIN(i, count - 1)];
        set->text = arena_text(table->arena, in);
        map_put(&table->by_content, range, count * sizeof(*range), set);
        table->count++;
    }
    free(range);
    return set;
}

/* As address_set_get(). */
const struct port_set *port_set_get(struct port_table *table, struct text in,
                                    const struct set_vars *vars, struct where at,
                                    struct err *err)
{
    const struct port_set *set = map_get(&table->by_text, in.p, in.n);
    struct range_set ranges;

    if (set != NULL)
        return set;
    if (range_set_parse(&port_grammar, (struct set_text){ in, at }, vars, &ranges, err) < 0)
        return NULL;
    set = intern(table, in, &ranges);
    range_set_fini(&ranges);
    map_put(&table->by_text, in.p, in.n, (void *)set);
    return set;
}

/* As address_set_copy(). */
const struct port_set *port_set_copy(struct port_table *table, const struct port_set *other)
{
    const struct port_set *set = map_get(&table->by_other, &other, sizeof(other));
    struct range_set ranges = { 0 };

    if (set != NULL)
        return set;
    for (uint32_t i = 0; i < other->count; i++)
        range_set_add(&ranges, 0, other->range[i].lo, other->range[i].hi);
    range_set_normalise(&ranges);
    set = intern(table, text_of(other->text), &ranges);
    range_set_fini(&ranges);
    map_put(&table->by_other, &other, sizeof(other), (void *)(uintptr_t)set);
    return set;
}
