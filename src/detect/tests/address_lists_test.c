/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules by address against asking each of them, around every end of a range. */
#include "base/test.h"
#include "base/text/bytes.h"
#include "detect/prefilter/address_lists.h"
#include "match/address.h"

#include <stdlib.h>
#include <string.h>

#define RULES 700

struct fixture {
    struct arena arena;
    struct rule *rule[RULES];
    struct address_set *set;            /* the source of each rule */
    struct v4_range *range;
    struct address_lists lists;
    struct candidates found;
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state ^ *state >> 15;
}

/* `spread`: the bits of an address that differ. With few of them ranges overlap. */
static void fixture_init(struct fixture *f, unsigned rules, uint32_t spread)
{
    uint32_t state = 7, ids[RULES];

    memset(f, 0, sizeof(*f));
    arena_init(&f->arena, 4096, 0);
    f->set = arena_zalloc(&f->arena, RULES * sizeof(*f->set));
    f->range = arena_zalloc(&f->arena, RULES * sizeof(*f->range));
    for (unsigned i = 0; i < rules; i++) {
        uint32_t lo = next_random(&state) & spread;

        f->range[i] = (struct v4_range){ lo, lo + (i % 3 == 0 ? 0 : next_random(&state) >> 24) };
        if (f->range[i].hi < lo || i == 0)
            f->range[i] = (struct v4_range){ UINT32_MAX - 3, UINT32_MAX };
        f->set[i] = (struct address_set){ .v4_count = 1, .v4 = &f->range[i] };
        f->rule[i] = arena_zalloc(&f->arena, sizeof(*f->rule[i]));
        *f->rule[i] = (struct rule){ .src = &f->set[i], .index = i };
        ids[i] = i;
    }
    address_lists_build(&f->lists, f->rule, ids, rules, &f->arena);
    candidates_init(&f->found, RULES);
}

static unsigned differences_at(struct fixture *f, unsigned rules, uint32_t address)
{
    struct ip src = { .version = 4 }, dst = { .version = 4 };
    unsigned wrong = 0;

    put_be32(src.b, address);
    address_lists_collect(&f->lists, &src, &dst, &f->found);
    for (unsigned i = 0; i < rules; i++)
        wrong += candidates_has(&f->found, i) !=
                 (address >= f->range[i].lo && address <= f->range[i].hi);
    candidates_clear(&f->found);
    return wrong;
}

TEST(address_lists_have_the_rules_of_each_address)
{
    static const struct { unsigned rules; uint32_t spread; } sets[] = {
        { 1, UINT32_MAX }, { 2, UINT32_MAX }, { 9, 0xfff }, { RULES, UINT32_MAX },
        { RULES, 0xffff }, { RULES, 0x0f0fff00 },
    };

    for (unsigned n = 0; n < ARRAY_LEN(sets); n++) {
        struct fixture *f = xcalloc(1, sizeof(*f));
        unsigned rules = sets[n].rules, wrong = 0;

        fixture_init(f, rules, sets[n].spread);
        for (unsigned i = 0; i < rules; i++)
            for (uint32_t k = 0; k < 3; k++)
                wrong += differences_at(f, rules, f->range[i].lo + k - 1) +
                         differences_at(f, rules, f->range[i].hi + k - 1);
        for (uint32_t i = 0; i <= 256; i++)
            wrong += differences_at(f, rules, i << 24) + differences_at(f, rules, (i << 24) - 1);
        CHECK_INT(wrong, 0);
        candidates_fini(&f->found);
        arena_fini(&f->arena);
        free(f);
    }
}
