/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of match/port. */
#include "base/test.h"
#include "match/port.h"

static const char *find_var(void *arg UNUSED, struct text name)
{
    return text_equal(name, "HTTP") ? "[80,8080]" : NULL;
}

static const struct set_vars vars = { find_var, NULL };

TEST(port_set_membership)
{
    static const struct { const char *set; uint16_t in, out; } cases[] = {
        { "80", 80, 81 },           { "1024:", 65535, 1023 },
        { ":1023", 0, 1024 },       { "80:90", 90, 91 },
        { "[80,443]", 443, 444 },   { "!80", 81, 80 },
        { "[1:100,!80]", 81, 80 },  { "[1:80,![2,4]]", 3, 4 },
        { "$HTTP", 8080, 81 },      { "!$HTTP", 81, 8080 },
        { "[$HTTP, 9000]", 9000, 1 }, { "![80,81]", 82, 81 },
    };
    struct arena arena;
    struct port_table table;
    struct err err;

    arena_init(&arena, 4096, 0);
    port_table_init(&table, &arena);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct port_set *set = port_set_get(&table, text_of(cases[i].set), &vars,
                                                  (struct where){ 0 }, &err);

        if (set == NULL || !port_set_has(set, cases[i].in) || port_set_has(set, cases[i].out))
            test_fail(t, __FILE__, __LINE__, "%s: %u in, %u out", cases[i].set, cases[i].in,
                      cases[i].out);
    }
    CHECK(port_set_get(&table, text_of("any"), &vars, (struct where){ 0 }, &err)->any);
    CHECK(port_set_get(&table, text_of("0:65535"), &vars, (struct where){ 0 }, &err)->any);
    port_table_fini(&table);
    arena_fini(&arena);
}

TEST(port_set_errors)
{
    static const struct { const char *set, *text; } cases[] = {
        { "70000", "not a port (0-65535), port range, group or variable: \"70000\"" },
        { "http", "not a port (0-65535), port range, group or variable: \"http\"" },
        { "90:80", "this port range ends before it begins: \"90:80\"" },
        { "80:!90", "not a port (0-65535), port range, group or variable: \"80:!90\"" },
        { "!any", "every port is negated, the rule could never match: \"!any\"" },
        { "[80,!80]", "no port is left once the negated ones are taken away: \"[80,!80]\"" },
        { "$NO", "Variable \"NO\" is not defined in configuration file: vars.port-groups has none "
          "of this name" },
    };
    struct arena arena;
    struct port_table table;
    struct err err;

    arena_init(&arena, 4096, 0);
    port_table_init(&table, &arena);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK(port_set_get(&table, text_of(cases[i].set), &vars, (struct where){ 0 }, &err) ==
              NULL);
        CHECK_STRING(err.text, cases[i].text);
    }
    port_table_fini(&table);
    arena_fini(&arena);
}
