/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/address_cases.c - finds the set of addresses that most rules name, and the cases
 * in which a rule can match. The ranges of two sets decide what they have in common, so the text of
 * a variable does not matter. */
#include "detect/compile/address_cases.h"
#include "base/array.h"
#include "base/containers/map.h"
#include "match/address.h"

#include <stdlib.h>
#include <string.h>

enum { INSIDE = 1u, OUTSIDE = 2u };

typedef unsigned __int128 address;

/* Both families as numbers of one kind: an IPv4 range is one of IPv6 here. */
struct range_at { address lo, hi; };

static struct range_at v4_at(const struct address_set *set, uint32_t i)
{
    return (struct range_at){ set->v4[i].lo, set->v4[i].hi };
}

static struct range_at v6_at(const struct address_set *set, uint32_t i)
{
    const struct v6_range *r = &set->v6[i];

    return (struct range_at){ (address)r->lo[0] << 64 | r->lo[1],
                              (address)r->hi[0] << 64 | r->hi[1] };
}

/* The ranges of one family of a set. */
struct family {
    const struct address_set *set;
    uint32_t count;
    struct range_at (*at)(const struct address_set *set, uint32_t i);
};

/* INSIDE: an address of `set` is in `home`. OUTSIDE: one is not. Ranges are sorted and do not touch
 * each other, so a range that is in `home` is in one of its ranges. */
static unsigned relation(struct family set, struct family home)
{
    unsigned found = 0;
    uint32_t k = 0;

    for (uint32_t i = 0; i < set.count && found != (INSIDE | OUTSIDE); i++) {
        struct range_at r = set.at(set.set, i), h;

        while (k < home.count && home.at(home.set, k).hi < r.lo)
            k++;
        if (k == home.count || (h = home.at(home.set, k)).lo > r.hi) {
            found |= OUTSIDE;
            continue;
        }
        found |= INSIDE;
        if (r.lo < h.lo || r.hi > h.hi)
            found |= OUTSIDE;
    }
    return found;
}

static unsigned relation_of(const struct address_set *set, const struct address_set *home)
{
    if (set == NULL || set->any || home == NULL)
        return INSIDE | OUTSIDE;
    return relation((struct family){ set, set->v4_count, v4_at },
                    (struct family){ home, home->v4_count, v4_at }) |
           relation((struct family){ set, set->v6_count, v6_at },
                    (struct family){ home, home->v6_count, v6_at });
}

/* --- the set that most rules name ----------------------------------------------------------- */

struct set_use { const struct address_set *set; unsigned rules; };
typedef ARRAY_OF(struct set_use *) set_uses;

static void use_add(struct map *uses, set_uses *list, const struct address_set *set)
{
    struct set_use *use;

    if (set == NULL || set->any)
        return;
    use = map_get(uses, &set, sizeof(set));
    if (use == NULL) {
        use = xcalloc(1, sizeof(*use));
        use->set = set;
        map_put(uses, &use->set, sizeof(use->set), use);
        ARRAY_PUSH(list, use);
    }
    use->rules++;
}

static const struct address_set *most_named(struct rule *const *rule, unsigned count)
{
    const struct address_set *most = NULL;
    struct map uses = { 0 };
    set_uses list = { 0 };
    unsigned rules = 0;

    for (unsigned i = 0; i < count; i++) {
        use_add(&uses, &list, rule[i]->src);
        use_add(&uses, &list, rule[i]->dst);
    }
    for (size_t i = 0; i < list.count; i++) {
        if (list.at[i]->rules > rules) {
            rules = list.at[i]->rules;
            most = list.at[i]->set;
        }
        free(list.at[i]);
    }
    ARRAY_FREE(&list);
    map_fini(&uses);
    return most;
}

static struct rule header_on(const struct address_set *src, const struct address_set *dst,
                             uint8_t id)
{
    struct rule r = { .src = src, .dst = dst, .header_id = id };

    memset(r.ip_proto, 0xff, sizeof(r.ip_proto));
    return r;
}

void address_cases_init(struct address_cases *cases, struct rule *const *rule, unsigned count)
{
    const struct address_set *home = most_named(rule, count);

    cases->home = home;
    cases->sender = header_on(home, NULL, HEADER_ID_SENDER);
    cases->receiver = header_on(NULL, home, HEADER_ID_RECEIVER);
}

/* A rule over both directions of a transaction has the header of the first one. */
unsigned address_cases_of(const struct address_cases *cases, const struct rule *rule)
{
    unsigned src = relation_of(rule->src, cases->home), dst = relation_of(rule->dst, cases->home);
    unsigned found = 0;

    if (rule->flags & RULE_TX_BOTH)
        return ADDRESS_CASES_ALL;
    for (unsigned i = 0; i < ADDRESS_CASES; i++)
        if ((src & (i & 2u ? INSIDE : OUTSIDE)) && (dst & (i & 1u ? INSIDE : OUTSIDE)))
            found |= 1u << i;
    return found;
}

/* --- cases that share a list ---------------------------------------------------------------- */

/* A list this short costs as much as a shorter one. */
#define SHORT_LIST 4u

static unsigned count_of(const uint8_t *bits, unsigned count, unsigned mask)
{
    unsigned n = 0;

    for (unsigned i = 0; i < count; i++)
        n += (bits[i] & mask) != 0;
    return n;
}

/* An empty list is the best one: it saves the whole search. */
static bool are_alike(const uint8_t *bits, unsigned count, unsigned a, unsigned b)
{
    unsigned n_a = count_of(bits, count, a), n_b = count_of(bits, count, b);
    unsigned both = count_of(bits, count, a | b), less = MIN(n_a, n_b);

    if (both == less)
        return true;            /* equal ones, also if both are empty */
    return less > 0 && (both <= SHORT_LIST || both <= less + less / 4);
}

void case_lists_choose(struct case_lists *lists, const uint8_t *bits, unsigned count)
{
    for (unsigned i = 0; i < ADDRESS_CASES; i++) {
        lists->of[i] = (uint8_t)i;
        lists->mask[i] = (uint8_t)(1u << i);
    }
    for (unsigned i = 1; i < ADDRESS_CASES; i++)
        for (unsigned k = 0; k < i && lists->of[i] == i; k++)
            if (lists->of[k] == k && are_alike(bits, count, lists->mask[k], lists->mask[i])) {
                lists->of[i] = (uint8_t)k;
                lists->mask[k] |= lists->mask[i];
            }
    for (unsigned i = 0; i < ADDRESS_CASES; i++)
        lists->mask[i] = lists->mask[lists->of[i]];
}
