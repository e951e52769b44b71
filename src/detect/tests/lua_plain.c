/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/tests/lua_plain.c - patterns in a sandbox beside those of Lua itself. */
#include "config.h"

#ifdef HAVE_LUA
#include "detect/tests/lua_plain.h"

#include "base/array.h"
#include "detect/lua/sandbox.h"

#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS 9

struct lua_plain {
    lua_State *plain;
    struct lua_sandbox *sandbox;
};

static const char script[] =
    "local function show(...)\n"
    "  local t = {}\n"
    "  for i = 1, select('#', ...) do t[i] = tostring((select(i, ...))) end\n"
    "  return table.concat(t, '|')\n"
    "end\n"
    "local function each(s, p, init)\n"
    "  local t = {}\n"
    "  for a, b, c in string.gmatch(s, p, init) do t[#t + 1] = show(a, b, c) end\n"
    "  return table.concat(t, ';')\n"
    "end\n"
    "local known = { a = 'A', b = false, c = 7, [1] = 'first', [3] = 'third' }\n"
    "local operation = {\n"
    "  function(s, p) return show(string.find(s, p)) end,\n"
    "  function(s, p) return show(string.find(s, p, -3)) end,\n"
    "  function(s, p) return show(string.match(s, p)) end,\n"
    "  function(s, p) return show(string.match(s, p, 2)) end,\n"
    "  function(s, p) return each(s, p) .. '/' .. each(s, p, 3) end,\n"
    "  function(s, p, r) return show(string.gsub(s, p, r)) end,\n"
    "  function(s, p, r) return show(string.gsub(s, p, r, 2)) end,\n"
    "  function(s, p) return show(string.gsub(s, p, known)) end,\n"
    "  function(s, p) return show(string.gsub(s, p, function(...)\n"
    "    return select('#', ...) % 2 == 1 and show(...) end)) end,\n"
    "}\n"
    "function match(i, ...) return operation[i](...) end\n";

static struct lua_sandbox *sandbox_with_script(void)
{
    const struct lua_limits limits = { .max_bytes = 16 << 20, .max_instructions = 1000000 };
    struct lua_sandbox *sandbox = lua_sandbox_new(&limits);

    if (sandbox == NULL || luaL_loadstring(sandbox->state, script) != LUA_OK ||
        lua_sandbox_call(sandbox, 0, 0) < 0)
        abort();
    return sandbox;
}

struct lua_plain *lua_plain_new(void)
{
    struct lua_plain *both = xcalloc(1, sizeof(*both));

    both->plain = luaL_newstate();
    luaL_openlibs(both->plain);
    if (luaL_dostring(both->plain, script) != LUA_OK)
        abort();
    both->sandbox = sandbox_with_script();
    return both;
}

void lua_plain_free(struct lua_plain *both)
{
    lua_close(both->plain);
    lua_sandbox_free(both->sandbox);
    free(both);
}

static int push_call(lua_State *state, int operation, const struct text *args)
{
    lua_getglobal(state, "match");
    lua_pushinteger(state, operation);
    for (unsigned i = 0; i < 3; i++)
        lua_pushlstring(state, args[i].n > 0 ? args[i].p : "", args[i].n);
    return 4;
}

static bool same_result(struct lua_plain *both, bool counted, bool plain)
{
    size_t n[2];
    const char *a, *b;

    if (!counted || !plain)
        return counted == plain;
    a = lua_tolstring(both->sandbox->state, -1, &n[0]);
    b = lua_tolstring(both->plain, -1, &n[1]);
    return n[0] == n[1] && memcmp(a, b, n[0]) == 0;
}

static void print_results(struct lua_plain *both, int operation, const struct text *args)
{
    const char *a = lua_tostring(both->sandbox->state, -1), *b = lua_tostring(both->plain, -1);

    fprintf(stderr, "operation %d, subject \"%.*s\", pattern \"%.*s\", replacement \"%.*s\":\n"
            "counted %s\nplain   %s\n", operation, TEXT(args[0]), TEXT(args[1]), TEXT(args[2]),
            a != NULL ? a : "-", b != NULL ? b : "-");
}

bool lua_plain_same(struct lua_plain *both, struct text subject, struct text pattern,
                    struct text replacement)
{
    const struct text args[] = { subject, pattern, replacement };

    for (int i = 1; i <= OPERATIONS; i++) {
        bool counted, plain;

        lua_sandbox_prepare(both->sandbox);
        counted = lua_sandbox_call(both->sandbox, push_call(both->sandbox->state, i, args), 1) == 0;
        if (both->sandbox->out_of_instructions || both->sandbox->out_of_memory)
            continue;
        lua_settop(both->plain, 0);
        plain = lua_pcall(both->plain, push_call(both->plain, i, args), 1, 0) == LUA_OK;
        if (!same_result(both, counted, plain)) {
            print_results(both, i, args);
            return false;
        }
    }
    return true;
}
#endif
