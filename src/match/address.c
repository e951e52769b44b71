/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/address.c - sets of IP addresses, as rules and variables name them. */
#include "match/address.h"

#include "base/text/bytes.h"

#include <stdlib.h>
#include <string.h>

/* Addresses are numbers; IPv6 needs 128 bits (range_value). */
#define V4_MAX ((range_value)UINT32_MAX)
#define V6_MAX ((range_value)-1)
enum { V4, V6 };

static range_value value_of(const struct ip *ip)
{
    if (ip->version == 4)
        return get_be32(ip->b);
    return (range_value)get_be64(ip->b) << 64 | get_be64(ip->b + 8);
}

static unsigned family_of(const struct ip *ip)
{
    return ip->version == 4 ? V4 : V6;
}

/* Prefix length of a dotted netmask; -1 if it is not ones followed by zeros. */
static int mask_length(uint32_t mask)
{
    int n = mask == 0 ? 0 : 32 - __builtin_ctz(mask);

    return mask == (n == 0 ? 0 : UINT32_MAX << (32 - n)) ? n : -1;
}

/* Host bits of the address are ignored: 10.1.2.3/8 is 10.0.0.0/8. Shifting by the full width is
 * undefined in C, hence the two special cases. */
static bool add_prefix(const struct ip *ip, unsigned length, struct range_set *into)
{
    unsigned bits = ip->version == 4 ? 32 : 128;
    range_value max = ip->version == 4 ? V4_MAX : V6_MAX;
    range_value host = length == 0 ? max : length == bits ? 0 : max >> length;
    range_value lo = value_of(ip) & ~host;

    range_set_add(into, family_of(ip), lo, lo | host);
    return true;
}

/* "ADDRESS/LENGTH" or "ADDRESS/NETMASK"; *why is the message if it is neither. */
static bool add_masked(struct text address, struct text mask, struct range_set *into,
                       const char **why)
{
    struct ip ip, mask_ip;
    uint64_t length;
    int n;

    *why = "not an IP address before the \"/\"";
    if (!ip_parse(address, &ip))
        return false;
    *why = ip.version == 4 ? "the prefix length must be 0-32" : "the prefix length must be 0-128";
    if (ip.version == 4 && memchr(mask.p, '.', mask.n) != NULL) {
        *why = "the netmask must be ones followed by zeros";
        if (!ip_parse(mask, &mask_ip) || mask_ip.version != 4)
            return false;
        n = mask_length(get_be32(mask_ip.b));
        return n >= 0 && add_prefix(&ip, (unsigned)n, into);
    }
    if (text_starts_nocase(mask, "0x") ||
        !text_to_u64(mask, ip.version == 4 ? 32 : 128, &length))
        return false;
    return add_prefix(&ip, (unsigned)length, into);
}

/* "FIRST-LAST", both included. */
static bool add_span(struct text first, struct text last, struct range_set *into,
                     const char **why)
{
    struct ip a, b;

    *why = "expected two IP addresses of one kind around the \"-\"";
    if (!ip_parse(first, &a) || !ip_parse(last, &b) || a.version != b.version)
        return false;
    *why = "this address range ends before it begins";
    if (value_of(&a) > value_of(&b))
        return false;
    range_set_add(into, family_of(&a), value_of(&a), value_of(&b));
    return true;
}

static struct text before(struct text in, const char *p)
{
    return text_trim((struct text){ in.p, (size_t)(p - in.p) });
}

static struct text after(struct text in, const char *p)
{
    return text_trim(text_from(in, (size_t)(p - in.p) + 1));
}

/* One element of a list, without "!" and brackets. `any` is both families. */
bool address_element(struct text in, struct range_set *into, const char **why)
{
    const char *slash = memchr(in.p, '/', in.n), *dash = memchr(in.p, '-', in.n);
    struct ip ip;

    if (text_equal_nocase(in, "any")) {
        range_set_add(into, V4, 0, V4_MAX);
        range_set_add(into, V6, 0, V6_MAX);
        return true;
    }
    if (slash != NULL)
        return add_masked(before(in, slash), after(in, slash), into, why);
    if (dash != NULL)
        return add_span(before(in, dash), after(in, dash), into, why);
    *why = "not an IP address, prefix, range, group or variable";
    if (!ip_parse(in, &ip))
        return false;
    range_set_add(into, family_of(&ip), value_of(&ip), value_of(&ip));
    return true;
}

static const struct set_grammar address_grammar = {
    .what = "address",
    .families = 2,
    .max = { V4_MAX, V6_MAX },
    .element = address_element,
};

/* --- the table -------------------------------------------------------------------------------- */

void address_table_init(struct address_table *table, struct arena *arena)
{
    *table = (struct address_table){ .arena = arena };
}

void address_table_fini(struct address_table *table)
{
    map_fini(&table->by_text);
    map_fini(&table->by_content);
    map_fini(&table->by_other);
}

/* Ranges are sorted and do not overlap, so a lookup can search them by halving. The + 1 avoids an
 * allocation of 0 bytes. */
static struct address_set *set_of_ranges(struct arena *arena, const struct range_set *ranges)
{
    struct address_set *set = arena_zalloc(arena, sizeof(*set));
    size_t n4 = ranges->of[V4].count, n6 = ranges->of[V6].count;
    struct v4_range *v4 = arena_alloc(arena, n4 * sizeof(*v4) + 1);
    struct v6_range *v6 = arena_alloc(arena, n6 * sizeof(*v6) + 1);

    for (size_t i = 0; i < n4; i++)
        v4[i] = (struct v4_range){ (uint32_t)ranges->of[V4].at[i].lo,
                                   (uint32_t)ranges->of[V4].at[i].hi };
    for (size_t i = 0; i < n6; i++) {
        const struct range *r = &ranges->of[V6].at[i];

        v6[i] = (struct v6_range){ { (uint64_t)(r->lo >> 64), (uint64_t)r->lo },
                                   { (uint64_t)(r->hi >> 64), (uint64_t)r->hi } };
    }
    set->any = range_set_is_all(ranges, V4, V4_MAX) && range_set_is_all(ranges, V6, V6_MAX);
    set->v4 = v4;
    set->v6 = v6;
    set->v4_count = (uint32_t)n4;
    set->v6_count = (uint32_t)n6;
    return set;
}

/* Equal contents give one set, so that rules can be grouped by pointer. Sets with a "!" in their
 * text are kept apart, because `negates` belongs to the set. */
static const struct address_set *intern(struct address_table *table, struct text in,
                                        const struct range_set *ranges)
{
    size_t n4 = ranges->of[V4].count * sizeof(struct range);
    size_t n6 = ranges->of[V6].count * sizeof(struct range);
    size_t head = n4 << 1 | ranges->negates, size = sizeof(head) + n4 + n6;
    char *key = xmalloc(size);
    struct address_set *set;

    memcpy(key, &head, sizeof(head));
    if (n4 > 0)
        memcpy(key + sizeof(head), ranges->of[V4].at, n4);
    if (n6 > 0)
        memcpy(key + sizeof(head) + n4, ranges->of[V6].at, n6);
    set = map_get(&table->by_content, key, size);
    if (set == NULL) {
        set = set_of_ranges(table->arena, ranges);
        set->text = arena_text(table->arena, in);
        set->negates = ranges->negates;
        map_put(&table->by_content, key, size, set);
        table->count++;
    }
    free(key);
    return set;
}

/* NULL with *err. The set lives in the table's arena. Text that was seen before is not parsed
 * again: rules of a ruleset share few address lists. */
const struct address_set *address_set_get(struct address_table *table, struct text in,
                                          const struct set_vars *vars, struct where at,
                                          struct err *err)
{
    const struct address_set *set = map_get(&table->by_text, in.p, in.n);
    struct range_set ranges;

    if (set != NULL)
        return set;
    if (range_set_parse(&address_grammar, (struct set_text){ in, at }, vars, &ranges, err) < 0)
        return NULL;
    set = intern(table, in, &ranges);
    range_set_fini(&ranges);
    map_put(&table->by_text, in.p, in.n, (void *)set);
    return set;
}

static range_value joined(const uint64_t half[2])
{
    return (range_value)half[0] << 64 | half[1];
}

/* Rules compare sets by their pointers, so a copy is looked up by its content like any other. */
const struct address_set *address_set_copy(struct address_table *table,
                                           const struct address_set *other)
{
    const struct address_set *set = map_get(&table->by_other, &other, sizeof(other));
    struct range_set ranges = { .negates = other->negates };

    if (set != NULL)
        return set;
    for (uint32_t i = 0; i < other->v4_count; i++)
        range_set_add(&ranges, V4, other->v4[i].lo, other->v4[i].hi);
    for (uint32_t i = 0; i < other->v6_count; i++)
        range_set_add(&ranges, V6, joined(other->v6[i].lo), joined(other->v6[i].hi));
    range_set_normalise(&ranges);
    set = intern(table, text_of(other->text), &ranges);
    range_set_fini(&ranges);
    map_put(&table->by_other, &other, sizeof(other), (void *)(uintptr_t)set);
    return set;
}

/* --- lookup ----------------------------------------------------------------------------------- */

/* The first range that ends at or after the address; it contains the address or none does. */
static bool has_v4(const struct address_set *set, uint32_t ip)
{
    uint32_t lo = 0, hi = set->v4_count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (ip > set->v4[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < set->v4_count && ip >= set->v4[lo].lo;
}

static bool v6_above(const uint64_t a[2], const uint64_t b[2])
{
    return a[0] != b[0] ? a[0] > b[0] : a[1] > b[1];
}

static bool has_v6(const struct address_set *set, const uint64_t ip[2])
{
    uint32_t lo = 0, hi = set->v6_count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (v6_above(ip, set->v6[mid].hi))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < set->v6_count && !v6_above(set->v6[lo].lo, ip);
}

/* Called for each packet and candidate header: no allocation, O(log n). */
bool address_set_has(const struct address_set *set, const struct ip *ip)
{
    if (set->any)
        return true;
    if (ip->version == 4)
        return has_v4(set, get_be32(ip->b));
    if (ip->version == 6) {
        uint64_t halves[2] = { get_be64(ip->b), get_be64(ip->b + 8) };

        return has_v6(set, halves);
    }
    return false;
}
