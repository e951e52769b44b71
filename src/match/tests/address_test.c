/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of match/address and of the grammar of sets. */
#include "base/test.h"
#include "match/address.h"

#include <stdio.h>
#include <string.h>

/* $D0 is an address, each other of $D1 to $D9 and $DA to $DT names the one before twice. */
static const char *doubling(char name)
{
    static const char order[] = "0123456789ABCDEFGHIJKLMNOPQRST";
    static char text[sizeof(order)][16];
    const char *at = strchr(order, name);

    if (at == NULL || at == order)
        return "1.1.1.1";
    snprintf(text[at - order], sizeof(text[0]), "[$D%c,$D%c]", at[-1], at[-1]);
    return text[at - order];
}

static const char *find_var(void *arg UNUSED, struct text name)
{
    if (name.n == 2 && name.p[0] == 'D')
        return doubling(name.p[1]);
    if (text_equal(name, "HOME"))
        return "[192.168.0.0/16,10.0.0.0/8]";
    if (text_equal(name, "EXTERNAL"))
        return "!$HOME";
    if (text_equal(name, "LOOP"))
        return "[1.1.1.1,$LOOP]";
    if (text_equal(name, "EMPTY"))
        return " ";
    if (text_equal(name, "BAD"))
        return "1.2.3.400";
    return NULL;
}

static const struct set_vars vars = { find_var, NULL };

struct fixture {
    struct arena arena;
    struct address_table table;
    struct err err;
};

static void open_fixture(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    arena_init(&f->arena, 4096, 0);
    address_table_init(&f->table, &f->arena);
}

static void close_fixture(struct fixture *f)
{
    address_table_fini(&f->table);
    arena_fini(&f->arena);
}

static const struct address_set *get(struct fixture *f, const char *text)
{
    return address_set_get(&f->table, text_of(text), &vars, (struct where){ "x.rules", 3, 11 },
                           &f->err);
}

static bool has(const struct address_set *set, const char *address)
{
    struct ip ip;

    return ip_parse(text_of(address), &ip) && address_set_has(set, &ip);
}

TEST(address_set_membership)
{
    static const struct { const char *set, *in, *out; } cases[] = {
        { "10.0.0.1", "10.0.0.1", "10.0.0.2" },
        { "10.0.0.0/8", "10.255.255.255", "11.0.0.0" },
        { "10.1.2.3/8", "10.0.0.0", "9.255.255.255" },
        { "10.0.0.0/255.255.0.0", "10.0.9.9", "10.1.0.0" },
        { "1.2.3.4-1.2.3.9", "1.2.3.9", "1.2.3.10" },
        { "[1.1.1.1, 2.2.2.2]", "2.2.2.2", "1.1.1.2" },
        { "1.1.1.1,2.2.2.2", "2.2.2.2", "1.1.1.2" },
        { "!10.0.0.0/8", "11.0.0.0", "10.0.0.0" },
        { "!10.0.0.0/8", "1.2.3.4", "::1" },
        { "[10.0.0.0/8,!10.1.0.0/16]", "10.2.0.0", "10.1.3.3" },
        { "[10.0.0.0/8,![10.1.0.0/16,!10.1.1.0/24]]", "10.1.1.9", "10.1.2.9" },
        { "[any,!1.1.1.1]", "::1", "1.1.1.1" },
        { "$HOME", "192.168.3.4", "192.169.0.0" },
        { "!$HOME", "192.169.0.0", "10.0.0.1" },
        { "$EXTERNAL", "8.8.8.8", "10.3.3.3" },
        { "!$EXTERNAL", "10.3.3.3", "8.8.8.8" },
        { "[$HOME,!10.0.0.0/8]", "192.168.1.1", "10.0.0.1" },
        { "fe80::/10", "fe80::1", "fec0::1" },
        { "2001:db8::1-2001:db8::9", "2001:db8::5", "2001:db8::a" },
        { "!fe80::/10", "::1", "fe80::2" },
        { "0.0.0.0/0", "255.255.255.255", "::1" },
        { "[!1.1.1.1,!2.2.2.2]", "3.3.3.3", "2.2.2.2" },
    };
    struct fixture f;

    open_fixture(&f);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct address_set *set = get(&f, cases[i].set);

        if (set == NULL || !has(set, cases[i].in) || has(set, cases[i].out))
            test_fail(t, __FILE__, __LINE__, "%s: %s in, %s out", cases[i].set, cases[i].in,
                      cases[i].out);
    }
    close_fixture(&f);
}

TEST(address_set_any_has_all)
{
    struct ip none = { .version = 0 };
    struct fixture f;

    open_fixture(&f);
    CHECK(get(&f, "any")->any);
    CHECK(address_set_has(get(&f, "any"), &none));
    CHECK(get(&f, "ANY")->any);
    CHECK(get(&f, "[any]") == get(&f, "any"));
    CHECK(!get(&f, "0.0.0.0/0")->any);
    close_fixture(&f);
}

TEST(address_set_errors_name_the_location)
{
    static const struct { const char *set, *text; unsigned column; } cases[] = {
        { "1.2.3", "not an IP address, prefix, range, group or variable: \"1.2.3\"", 11 },
        { "[1.1.1.1,x]", "not an IP address, prefix, range, group or variable: \"x\"", 20 },
        { "1.2.3.4/33", "the prefix length must be 0-32: \"1.2.3.4/33\"", 11 },
        { "::1/129", "the prefix length must be 0-128: \"::1/129\"", 11 },
        { "1.2.3.4/255.0.255.0",
          "the netmask must be ones followed by zeros: \"1.2.3.4/255.0.255.0\"", 11 },
        { "2.2.2.2-1.1.1.1", "this address range ends before it begins: \"2.2.2.2-1.1.1.1\"",
          11 },
        { "1.1.1.1-::1", "expected two IP addresses of one kind around the \"-\": \"1.1.1.1-::1\"",
          11 },
        { "!any", "every address is negated, the rule could never match: \"!any\"", 11 },
        { "[1.1.1.1,!1.1.1.1]", "no address is left once the negated ones are taken away: "
          "\"[1.1.1.1,!1.1.1.1]\"", 11 },
        { "$NO", "Variable \"NO\" is not defined in configuration file: vars.address-groups has "
          "none of this name", 11 },
        { "$EMPTY", "variable $EMPTY is empty (a value that begins with \"!\" must stand in "
          "quotes)", 11 },
        { "[1.1.1.1,$BAD]", "not an IP address, prefix, range, group or variable: \"1.2.3.400\" "
          "(in the value of $BAD)", 20 },
        { "$LOOP", "address groups or variables stand too deep in each other: "
          "\"[1.1.1.1,$LOOP]\" (in the value of $LOOP)", 11 },
        { "[1.1.1.1", "brackets of this address group do not pair: \"[1.1.1.1\"", 11 },
        { "1.1.1.1]", "brackets of this address group do not pair: \"1.1.1.1]\"", 11 },
        { "[1.1.1.1,,2.2.2.2]", "an element of this address list is missing: \"\"", 20 },
        { "[]", "an element of this address list is missing: \"\"", 12 },
        { "!", "an element of this address list is missing: \"\"", 11 },
    };
    struct fixture f;

    open_fixture(&f);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK(get(&f, cases[i].set) == NULL);
        CHECK_STRING(f.err.text, cases[i].text);
        CHECK_INT(f.err.at.column, cases[i].column);
        CHECK_INT(f.err.at.line, 3);
    }
    close_fixture(&f);
}

TEST(address_sets_are_shared)
{
    struct fixture f;

    open_fixture(&f);
    CHECK(get(&f, "[1.1.1.1,1.1.1.2]") == get(&f, "1.1.1.1-1.1.1.2"));
    CHECK(get(&f, "![1.1.1.1,1.1.1.2]") == get(&f, "!1.1.1.1-1.1.1.2"));
    CHECK_INT(f.table.count, 2);
    CHECK(get(&f, "$HOME") != get(&f, "!$EXTERNAL"));
    CHECK(!get(&f, "$HOME")->negates && get(&f, "!$EXTERNAL")->negates);
    CHECK_INT(f.table.count, 4);
    close_fixture(&f);
}

TEST(address_variables_have_a_limit)
{
    struct fixture f;

    open_fixture(&f);
    CHECK(get(&f, "$D9") != NULL);
    CHECK(get(&f, "$DI") == NULL);
    CHECK(strstr(f.err.text, "variables of address groups name each other too often") != NULL);
    close_fixture(&f);
}
