/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test.h"
#include "base/array.h"
#include "detect/prefilter/anchored_lists.h"
#include "match/spm_literal.h"

#include <string.h>

#define RULES 48

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void random_bytes(uint8_t *out, size_t n, const char *alphabet, uint32_t *state)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)alphabet[next_random(state) % strlen(alphabet)];
}

static struct anchored_literal random_literal(uint32_t *state)
{
    struct anchored_literal l = { .to = UINT32_MAX };

    l.len = (uint8_t)(next_random(state) % 4);
    l.nocase = next_random(state) & 1;
    random_bytes(l.bytes, l.len, l.nocase ? "ab@`" : "aAbB@`", state);
    if (next_random(state) % 3 == 0)
        l.from = next_random(state) % 8;
    if (next_random(state) % 3 == 0)
        l.to = l.from + l.len + next_random(state) % 8;
    return l;
}

static bool stands_plainly(const struct anchored_literal *l, const uint8_t *data, uint32_t len)
{
    uint32_t to = MIN(l->to, len);

    return l->len == 0 || (l->from <= to && spm_find_plain(data + l->from, to - l->from,
                                                               l->bytes, l->len, l->nocase));
}

/* The first `searched` bytes alone, then all with those marked as searched. */
static bool lists_agree(const struct anchored_lists *lists, const struct anchored_entry *entry,
                        struct slice data, uint32_t searched, struct candidates *found)
{
    bool agree = true;

    for (unsigned i = 0; i < lists->count; i++) {
        anchored_section_collect(&lists->section[i], (struct slice){ data.data, searched }, 0,
                                 found);
        anchored_section_collect(&lists->section[i], data, searched, found);
    }
    for (unsigned i = 0; i < RULES; i++)
        agree &= candidates_has(found, i) ==
                 stands_plainly(&entry[i].literal, data.data, data.len);
    candidates_clear(found);
    return agree;
}

TEST(anchored_lists_do_not_search_twice)
{
    const struct anchored_literal l = { .bytes = "abc", .len = 3, .from = 1, .to = 9 };
    const struct slice data = { (const uint8_t *)"xabcxabcx", 9 };

    CHECK(anchored_literal_is_new(&l, (struct slice){ data.data, 4 }, 3));
    CHECK(!anchored_literal_is_new(&l, (struct slice){ data.data, 4 }, 4));
    CHECK(anchored_literal_is_new(&l, data, 7));
    CHECK(!anchored_literal_is_new(&l, data, 8));
}

TEST(anchored_lists_find_literals_at_their_offset)
{
    uint32_t state = 11;
    struct candidates found;

    candidates_init(&found, RULES);
    for (unsigned round = 0; round < 300; round++) {
        static struct rule rule[RULES];
        struct anchored_entry entry[RULES];
        struct anchored_lists lists;

        for (unsigned i = 0; i < RULES; i++) {
            rule[i].index = i;
            rule[i].app_proto = (uint8_t)(i % 2);       /* two sections */
            entry[i] = (struct anchored_entry){ &rule[i], random_literal(&state) };
        }
        anchored_lists_build(&lists, entry, RULES);
        CHECK(lists.count == 2);
        for (unsigned i = 0; i < 20; i++) {
            uint8_t data[40];
            uint32_t len = next_random(&state) % sizeof(data);

            random_bytes(data, len, "aAbB@`[{", &state);
            CHECK(lists_agree(&lists, entry, (struct slice){ data, len },
                              next_random(&state) % (len + 1), &found));
        }
        anchored_lists_fini(&lists);
    }
    candidates_fini(&found);
}
