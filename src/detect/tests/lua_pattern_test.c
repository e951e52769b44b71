/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns and other functions in C: they do what Lua's do, and end at the script's limit. */
#include "config.h"

#ifdef HAVE_LUA
#include "base/test.h"
#include "detect/lua/sandbox.h"
#include "detect/tests/lua_plain.h"

#include <stdio.h>
#include <string.h>

/* --- the same results ------------------------------------------------------------------------- */

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static struct text joined(uint64_t *seed, char *out, const struct text *parts, uint32_t count)
{
    size_t n = 0;

    for (uint32_t k = draw(seed, 9); k > 0; k--) {
        struct text part = parts[draw(seed, count)];

        memcpy(out + n, part.p, part.n);
        n += part.n;
    }
    return (struct text){ out, n };
}

#define PART(s) { s, sizeof(s) - 1 }

static const struct text pattern_parts[] = {
    PART("a"), PART("b"), PART("c"), PART("."), PART("%a"), PART("%d"), PART("%W"), PART("%s"),
    PART("%u"), PART("%x"), PART("%p"), PART("%c"), PART("%z"), PART("%g"), PART("[ab]"),
    PART("[^ab]"), PART("[a-c]"), PART("[%a-]"), PART("[]]"), PART("[^]]"), PART("[%]b]"),
    PART("[a-%]"), PART("[-a]"), PART("[%d-z]"), PART("*"), PART("+"), PART("-"), PART("?"),
    PART("*"), PART("-"), PART("("), PART(")"), PART("(a"), PART(".)"), PART("()"), PART("%1"),
    PART("%2"), PART("%0"), PART("%b()"), PART("%bab"), PART("%f[a]"), PART("%f[^a]"),
    PART("%f[%z]"), PART("^"), PART("$"), PART("%"), PART("["), PART("[a"), PART("[^"), PART("%f"),
    PART("%b"), PART("%ba"), PART("%%"), PART("%]"), PART("\0"), PART("]"),
};
static const struct text subject_parts[] = {
    PART("a"), PART("ab"), PART("b"), PART("c"), PART("("), PART(")"), PART("1"), PART(" "),
    PART("]"), PART("-"), PART("%"), PART("\0"), PART("A"), PART("aab"), PART("\xff"), PART("^a"),
};
static const struct text replacement_parts[] = {
    PART("x"), PART("%0"), PART("%1"), PART("%2"), PART("%%"), PART("%"), PART("%a"), PART("\0"),
};

/* An error leaves several functions at once, inside a library that ThreadSanitizer does not see. It
 * takes them for open calls, of which it can record 65,535. */
#ifdef __SANITIZE_THREAD__
#define PATTERNS 1000
#else
#define PATTERNS 30000
#endif

TEST(lua_patterns_as_in_lua)
{
    struct lua_plain *both = lua_plain_new();
    uint64_t seed = 1;
    char out[3][128];

    for (unsigned i = 0; i < PATTERNS; i++) {
        struct text s = joined(&seed, out[0], subject_parts, ARRAY_LEN(subject_parts));
        struct text p = joined(&seed, out[1], pattern_parts, ARRAY_LEN(pattern_parts));
        struct text r = joined(&seed, out[2], replacement_parts, ARRAY_LEN(replacement_parts));
        bool same = lua_plain_same(both, s, p, r);

        CHECK(same);
        if (!same)
            break;
    }
    lua_plain_free(both);
}

/* Lua allows 200 levels and 32 captures. */
TEST(lua_patterns_at_their_limits)
{
    struct lua_plain *both = lua_plain_new();
    char many[512];

    for (unsigned n = 195; n < 205; n++) {
        for (unsigned i = 0; i < n; i++)
            memcpy(many + 2 * i, "a?", 2);
        CHECK(lua_plain_same(both, TEXT_LITERAL(""), (struct text){ many, 2 * n },
                             TEXT_LITERAL("")));
        for (unsigned i = 0; i < n; i++)
            memcpy(many + 2 * i, "a-", 2);
        CHECK(lua_plain_same(both, TEXT_LITERAL("b"), (struct text){ many, 2 * n },
                             TEXT_LITERAL("%1")));
    }
    for (unsigned n = 30; n < 35; n++) {
        for (unsigned i = 0; i < n; i++)
            memcpy(many + 2 * i, "()", 2);
        CHECK(lua_plain_same(both, TEXT_LITERAL("ab"), (struct text){ many, 2 * n },
                             TEXT_LITERAL("%9")));
    }
    lua_plain_free(both);
}

/* --- the count -------------------------------------------------------------------------------- */

static const char *const costly[] = {
    "string.find(string.rep('a', 400), 'a.-a.-a.-a.-b')",
    "string.match(string.rep('a', 400), '.*.*.*.*b')",
    "for x in string.gmatch(string.rep('a', 400), 'a-a-a-a-b') do end",
    "string.gsub(string.rep('a', 400), '(a*)(a*)(a*)%1%2%3b', '')",
    "string.gsub(string.rep('(', 20000), '%b()', '')",
    "string.find(string.rep('a', 20000), '[b-z][b-z]*[b-z][^' .. string.rep('xyz', 100) .. ']')"
    " string.match(string.rep('a', 20000), '[' .. string.rep('xyz', 100) .. ']')",
    "string.rep('', 1000000000)",
    "table.concat({}, '', 1, 1000000000)",
    "table.concat({}, '', math.mininteger, math.maxinteger)",
    "table.move({}, 1, 1000000000, 2)",
    "local t = {} for i = 1, 5000 do t[i] = i end"
    " for i = 1, 500 do table.insert(t, 1, i) end",
    "local s = string.rep('a', 60000) for i = 1, 4900 do s:upper() end",
    "local s = string.rep('a', 60000) for i = 1, 4900 do local x = s .. i end",
    "local s = string.rep('a', 60000) for i = 1, 4900 do string.format('%s', s) end",
    "local s, t = string.rep('a', 4000), {} for i = 1, 40 do t[i] = s .. i end"
    " for i = 1, 100 do table.sort(t) end",
    "local s = string.rep('a', 60000) for i = 1, 4900 do utf8.len(s) end",
};

enum outcome { DONE, AT_LIMIT, FAILED };

static enum outcome outcome_of(const char *text)
{
    const struct lua_limits limits = { .max_bytes = 500000, .max_instructions = 500000 };
    struct lua_sandbox *sandbox = lua_sandbox_new(&limits);
    enum outcome how = DONE;

    lua_sandbox_prepare(sandbox);
    if (luaL_loadstring(sandbox->state, text) != LUA_OK || lua_sandbox_call(sandbox, 0, 0) < 0)
        how = sandbox->out_of_instructions ? AT_LIMIT : FAILED;
    if (how == FAILED)
        fprintf(stderr, "%s: %s\n", text, lua_tostring(sandbox->state, -1));
    lua_sandbox_free(sandbox);
    return how;
}

TEST(lua_work_in_c_is_counted)
{
    for (unsigned i = 0; i < ARRAY_LEN(costly); i++)
        CHECK_INT(outcome_of(costly[i]), AT_LIMIT);
}

/* What ordinary scripts do with a body stays far from the limit. */
TEST(lua_ordinary_work_is_cheap)
{
    CHECK(DONE == outcome_of("local s = string.rep('The quick brown fox, x=1; ', 1000)"
                         " assert(not s:find('user=(.-)&'))"
                         " assert(select(2, s:gsub('%s+', ' ')) == 5000)"
                         " assert(s:lower():find('fox, x=(%d)'))"
                         " for w in s:gmatch('%d') do assert(w == '1') end"));
    CHECK(DONE == outcome_of("local t = {} for i = 1, 2000 do t[i] = 2000 - i end table.sort(t)"
                         " assert(t[1] == 0 and #table.concat(t, ' ') > 2000)"
                         " table.sort(t, function(a, b) return a > b end) assert(t[1] == 1999)"));
}
#endif
