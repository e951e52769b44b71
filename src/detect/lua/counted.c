/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/counted.c - Lua's own functions, with a price. The hook sees instructions only, and a
 * single call may repeat a text a thousand million times. What they allocate, the allocator counts
 * (sandbox.c); this counts what they read and how often they loop. */
#include "config.h"

#ifdef HAVE_LUA
#include "base/array.h"
#include "detect/lua/counted.h"
#include "detect/lua/sandbox.h"

#include <lualib.h>

typedef uint64_t price_of(lua_State *state);

/* --- prices ----------------------------------------------------------------------------------- */

static uint64_t text_len(lua_State *state, int i)
{
    return lua_type(state, i) == LUA_TSTRING ? lua_rawlen(state, i) : 0;
}

static uint64_t all_texts(lua_State *state)
{
    uint64_t sum = 0;

    for (int i = 1; i <= lua_gettop(state); i++)
        sum += text_len(state, i);
    return sum / LUA_READ_PER_STEP;
}

/* The first is a format, read letter by letter. */
static uint64_t format_text(lua_State *state)
{
    return text_len(state, 1);
}

static uint64_t positive(lua_Integer n)
{
    return n > 0 ? (uint64_t)n : 0;
}

/* From one number to another, both included. All numbers of Lua are one more than fits. */
static uint64_t between(lua_Integer from, lua_Integer to)
{
    uint64_t steps = (uint64_t)to - (uint64_t)from;

    return to < from ? 0 : steps + (steps < UINT64_MAX);
}

/* A text that does not fit into the script's memory is refused before it is made. */
static uint64_t repeats(lua_State *state)
{
    uint64_t times = positive(lua_tointeger(state, 2)), bytes;

    if (__builtin_mul_overflow(times, text_len(state, 1) + text_len(state, 3), &bytes) ||
        !lua_sandbox_has_space(state, bytes))
        return 0;
    return times;
}

/* The elements i to j of the table, by default all. */
static uint64_t joined(lua_State *state)
{
    lua_Integer from = luaL_optinteger(state, 3, 1);

    if (lua_type(state, 1) != LUA_TTABLE)
        return 0;
    return between(from, lua_isnoneornil(state, 4) ? luaL_len(state, 1)
                                                   : luaL_checkinteger(state, 4));
}

static uint64_t unpacked(lua_State *state)
{
    lua_Integer from = luaL_optinteger(state, 2, 1);

    if (lua_isnoneornil(state, 3) && lua_type(state, 1) != LUA_TTABLE)
        return 0;
    return between(from, lua_isnoneornil(state, 3) ? luaL_len(state, 1)
                                                   : luaL_checkinteger(state, 3));
}

static uint64_t moved(lua_State *state)
{
    return between(luaL_checkinteger(state, 2), luaL_checkinteger(state, 3));
}

/* The elements behind the place, which make room or close the gap. */
static uint64_t shifted(lua_State *state, int argument)
{
    if (lua_type(state, 1) != LUA_TTABLE || !lua_isinteger(state, argument))
        return 0;
    return between(lua_tointeger(state, argument), luaL_len(state, 1));
}

static uint64_t inserted(lua_State *state)
{
    return lua_gettop(state) == 3 ? shifted(state, 2) : 0;
}

static uint64_t removed(lua_State *state)
{
    return shifted(state, 2);
}

/* utf8.offset() walks so many characters, forwards or backwards, but not beyond the text. */
static uint64_t walked(lua_State *state)
{
    lua_Integer n = lua_tointeger(state, 2);

    return MIN(4 * (n < 0 ? 0 - (uint64_t)n : (uint64_t)n), text_len(state, 1));
}

static uint64_t nothing(lua_State *state UNUSED)
{
    return 0;
}

/* --- the functions ---------------------------------------------------------------------------- */

/* All of them count their results as well: one call may return ten thousand. */
static const struct counted {
    const char *library, *name;
    price_of *price;
} counted[] = {
    { LUA_STRLIBNAME, "rep", repeats },
    { LUA_STRLIBNAME, "byte", nothing },
    { LUA_STRLIBNAME, "char", nothing },
    { LUA_STRLIBNAME, "format", all_texts },
    { LUA_STRLIBNAME, "lower", all_texts },
    { LUA_STRLIBNAME, "upper", all_texts },
    { LUA_STRLIBNAME, "reverse", all_texts },
    { LUA_STRLIBNAME, "pack", format_text },
    { LUA_STRLIBNAME, "packsize", format_text },
    { LUA_STRLIBNAME, "unpack", format_text },
    { LUA_TABLIBNAME, "concat", joined },
    { LUA_TABLIBNAME, "insert", inserted },
    { LUA_TABLIBNAME, "move", moved },
    { LUA_TABLIBNAME, "pack", nothing },
    { LUA_TABLIBNAME, "remove", removed },
    { LUA_TABLIBNAME, "unpack", unpacked },
    { LUA_UTF8LIBNAME, "char", nothing },
    { LUA_UTF8LIBNAME, "codepoint", nothing },
    { LUA_UTF8LIBNAME, "len", all_texts },
    { LUA_UTF8LIBNAME, "offset", walked },
    { LUA_GNAME, "select", nothing },
    { LUA_GNAME, "tonumber", all_texts },
};

/* Runs in the frame of the function that it replaces, so that arguments, results and the names in
 * errors are the same. None of these functions has upvalues of its own. */
static int counted_call(lua_State *state)
{
    lua_CFunction own = lua_tocfunction(state, lua_upvalueindex(1));
    const struct counted *c = lua_touserdata(state, lua_upvalueindex(2));
    int results;

    lua_sandbox_charge(state, c->price(state));
    results = own(state);
    lua_sandbox_charge(state, (uint64_t)results);
    return results;
}

/* --- table.sort ------------------------------------------------------------------------------- */

static int counted_less(lua_State *state)
{
    lua_sandbox_charge(state, 1 + MIN(text_len(state, 1), text_len(state, 2)) / LUA_READ_PER_STEP);
    lua_pushboolean(state, lua_compare(state, 1, 2, LUA_OPLT));
    return 1;
}

/* A function in C as the order. */
static int counted_order(lua_State *state)
{
    lua_sandbox_charge(state, 1);
    lua_settop(state, 2);
    lua_pushvalue(state, lua_upvalueindex(1));
    lua_insert(state, 1);
    lua_call(state, 2, 1);
    return 1;
}

/* Sorts with an order that counts each comparison. The hook counts an order written in Lua. */
static int counted_sort(lua_State *state)
{
    lua_CFunction own = lua_tocfunction(state, lua_upvalueindex(1));

    if (lua_isnoneornil(state, 2)) {
        lua_settop(state, 1);
        lua_pushcfunction(state, counted_less);
    } else if (lua_iscfunction(state, 2)) {
        lua_settop(state, 2);
        lua_pushcclosure(state, counted_order, 1);
    }
    return own(state);
}

/* --- in their place --------------------------------------------------------------------------- */

/* Leaves functions that are blocked, or that this Lua does not have. */
static void put_counted(lua_State *state, const struct counted *c, lua_CFunction by)
{
    lua_getglobal(state, c->library);
    if (lua_istable(state, -1) && lua_getfield(state, -1, c->name) == LUA_TFUNCTION) {
        lua_pushlightuserdata(state, (void *)(uintptr_t)c);
        lua_pushcclosure(state, by, 2);
        lua_setfield(state, -2, c->name);
    }
    lua_settop(state, 0);
}

void lua_count_functions(lua_State *state)
{
    static const struct counted sort = { LUA_TABLIBNAME, "sort", nothing };

    for (unsigned i = 0; i < ARRAY_LEN(counted); i++)
        put_counted(state, &counted[i], counted_call);
    put_counted(state, &sort, counted_sort);
}
#endif
