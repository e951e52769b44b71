/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules by port against asking each of them, for every port. */
#include "base/test.h"
#include "detect/prefilter/port_lists.h"
#include "match/port.h"
#include "match/spm_literal.h"

#include <string.h>

static const struct set_vars no_vars = { NULL, NULL };

static const struct port_set *set_of(struct port_table *table, const char *text)
{
    struct err err;

    return text != NULL ? port_set_get(table, text_of(text), &no_vars, (struct where){ 0 }, &err)
                        : NULL;
}

TEST(port_lists_have_the_rules_of_each_port)
{
    static const struct { const char *src, *dst; } ports[] = {
        { NULL, "80" }, { NULL, "[80,8080,50000:50100]" }, { NULL, "1024:" }, { "53", NULL },
        { "!53", NULL }, { NULL, "!80" }, { NULL, NULL }, { "any", "any" }, { "1:3", "255:256" },
    };
    struct rule rules[ARRAY_LEN(ports)];
    struct anchored_entry entry[ARRAY_LEN(ports)];
    struct port_lists lists;
    struct port_table table;
    struct candidates found;
    struct arena arena;
    unsigned wrong = 0;

    arena_init(&arena, 4096, 0);
    port_table_init(&table, &arena);
    memset(rules, 0, sizeof(rules));
    for (unsigned i = 0; i < ARRAY_LEN(ports); i++) {
        rules[i].src_port = set_of(&table, ports[i].src);
        rules[i].dst_port = set_of(&table, ports[i].dst);
        rules[i].index = i;
        entry[i] = (struct anchored_entry){ .rule = &rules[i] };
    }
    memset(&lists, 0, sizeof(lists));
    port_lists_build(&lists, entry, ARRAY_LEN(ports));
    candidates_init(&found, ARRAY_LEN(ports));
    for (unsigned port = 0; port < 65536; port++) {
        uint16_t src = (uint16_t)(port * 7), dst = (uint16_t)port;

        port_lists_collect(&lists, src, dst, (struct slice){ NULL, 0 }, &found);
        for (unsigned i = 0; i < ARRAY_LEN(ports); i++) {
            const struct port_set *by_dst = rules[i].dst_port, *by_src = rules[i].src_port;
            bool there = by_dst != NULL && !by_dst->any ? port_set_has(by_dst, dst)
                         : by_src == NULL || by_src->any || port_set_has(by_src, src);

            wrong += candidates_has(&found, i) != there;
        }
        candidates_clear(&found);
    }
    CHECK_INT(wrong, 0);
    candidates_fini(&found);
    port_lists_fini(&lists);
    port_table_fini(&table);
    arena_fini(&arena);
}

/* At one port: three rules, two of which want something of the payload. */
TEST(port_lists_check_anchored_literals)
{
    static const struct { const char *payload, *found; } cases[] = {
        { "", "2" }, { "x", "2" }, { "xabc", "02" }, { "xab", "02" }, { "abx", "2" },
        { "xa", "2" }, { "___Q____", "12" }, { "q", "12" }, { "____q", "2" }, { "xabq", "012" },
    };
    struct rule rules[3];
    struct anchored_entry entry[3] = {
        { &rules[0], { .bytes = "ab", .len = 2, .from = 1, .to = 3 } },
        { &rules[1], { .bytes = "q", .len = 1, .nocase = true, .to = 4 } },
        { &rules[2], { .bytes = "z", .len = 1, .to = UINT32_MAX } },    /* anywhere: not asked */
    };
    struct candidates found;
    struct port_lists lists;
    struct port_table table;
    struct arena arena;

    arena_init(&arena, 4096, 0);
    port_table_init(&table, &arena);
    memset(rules, 0, sizeof(rules));
    for (unsigned i = 0; i < 3; i++) {
        rules[i].index = i;
        rules[i].dst_port = set_of(&table, "80");
    }
    memset(&lists, 0, sizeof(lists));
    port_lists_build(&lists, entry, 3);
    candidates_init(&found, 3);
    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice payload = { (const uint8_t *)cases[i].payload,
                                 (uint32_t)strlen(cases[i].payload) };

        port_lists_collect(&lists, 1, 81, payload, &found);
        CHECK_INT(found.count, 0);
        port_lists_collect(&lists, 1, 80, payload, &found);
        CHECK_INT(found.count, strlen(cases[i].found));
        for (unsigned k = 0; k < 3; k++)
            CHECK(candidates_has(&found, k) ==
                  (strchr(cases[i].found, (int)('0' + k)) != NULL));
        candidates_clear(&found);
    }
    candidates_fini(&found);
    port_lists_fini(&lists);
    port_table_fini(&table);
    arena_fini(&arena);
}

/* From few bytes, so that literals are often there, in pieces or whole. */
static uint8_t some_byte(uint64_t *state)
{
    static const uint8_t bytes[] = "abAB\x9c\xff x";

    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return bytes[(*state >> 33) % (sizeof(bytes) - 1)];
}

/* Literals without bounds against asking each of them: of two bytes and more, at the ends of
 * payloads, with and without case, from some byte on. */
static void check_anywhere(struct test *t, unsigned count)
{
    enum { RULES = 60, PAYLOADS = 4000 };
    static const char *const ports[] = { "80", "[80,443]", "!80", NULL };
    struct rule rules[RULES];
    struct anchored_entry entry[RULES];
    struct candidates found;
    struct port_lists lists;
    struct port_table table;
    struct arena arena;
    uint8_t payload[200];
    uint64_t state = 7;
    unsigned wrong = 0, there = 0;

    arena_init(&arena, 4096, 0);
    port_table_init(&table, &arena);
    memset(rules, 0, sizeof(rules));
    for (unsigned i = 0; i < count; i++) {
        struct anchored_literal l = { .len = (uint8_t)(2 + i % 3), .nocase = i % 5 == 0,
                                      .from = i % 7 == 0 ? 3 : 0, .to = UINT32_MAX };

        for (unsigned k = 0; k < l.len; k++)
            l.bytes[k] = l.nocase ? ascii_lower(some_byte(&state)) : some_byte(&state);
        rules[i].index = i;
        rules[i].dst_port = set_of(&table, ports[i % ARRAY_LEN(ports)]);
        entry[i] = (struct anchored_entry){ &rules[i], l };
    }
    memset(&lists, 0, sizeof(lists));
    port_lists_build(&lists, entry, count);
    candidates_init(&found, RULES);
    for (unsigned n = 0; n < PAYLOADS; n++) {
        struct slice data = { payload, n % sizeof(payload) };
        uint16_t port = n % 2 == 0 ? 80 : 443;

        for (unsigned i = 0; i < data.len; i++)
            payload[i] = i % 9 < 1 + n % 5 ? some_byte(&state) : (uint8_t)(n * 3 + i);
        port_lists_collect(&lists, 1, port, data, &found);
        for (unsigned i = 0; i < count; i++) {
            bool wanted = (rules[i].dst_port == NULL || port_set_has(rules[i].dst_port, port)) &&
                          anchored_literal_matches(&entry[i].literal, data);

            wrong += candidates_has(&found, i) != wanted;
            there += wanted;
        }
        candidates_clear(&found);
    }
    CHECK_INT(wrong, 0);
    CHECK(there > count * 10);
    candidates_fini(&found);
    port_lists_fini(&lists);
    port_table_fini(&table);
    arena_fini(&arena);
}

/* Few are looked for one by one, more by pairs of bytes. */
TEST(port_lists_find_literals_anywhere)
{
    check_anywhere(t, 3);
    check_anywhere(t, 60);
}
