/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/string_lib.c - find, match, gmatch and gsub with the matcher that counts
 * (pattern.h). Arguments, results and errors are those of Lua's manual, 6.4. */
#include "config.h"

#ifdef HAVE_LUA
#include "detect/lua/counted.h"
#include "detect/lua/pattern.h"
#include "detect/lua/sandbox.h"

#include <ctype.h>
#include <lualib.h>
#include <string.h>

/* Takes both texts from the stack, where they stay. */
static void subject_and_pattern(struct lua_pattern *m, lua_State *state, int subject, int pattern)
{
    size_t n;

    m->subject = luaL_checklstring(state, subject, &n);
    m->subject_end = m->subject + n;
    m->pattern = luaL_checklstring(state, pattern, &n);
    m->pattern_end = m->pattern + n;
    lua_pattern_init(m, state);
}

/* find, match and gsub are anchored by ^; gmatch is not. */
static bool take_anchor(struct lua_pattern *m)
{
    bool anchored = m->pattern < m->pattern_end && *m->pattern == '^';

    m->pattern += anchored;
    return anchored;
}

/* The offset that argument i asks for, 1 without it; negative ones count from the end. It may be
 * beyond the end. */
static size_t offset_of(lua_State *state, int i, size_t len)
{
    lua_Integer at = luaL_optinteger(state, i, 1);

    if (at > 0)
        return (size_t)at - 1;
    return at == 0 || at < -(lua_Integer)len ? 0 : len - (size_t)-at;
}

/* --- find and match --------------------------------------------------------------------------- */

static bool is_plain(const struct lua_pattern *m)
{
    for (const char *p = m->pattern; p < m->pattern_end; p++)
        if (memchr("^$*+?.([%-", *p, 10) != NULL)
            return false;
    return true;
}

static int find_plain(struct lua_pattern *m, const char *at)
{
    size_t len = (size_t)(m->pattern_end - m->pattern), has = (size_t)(m->subject_end - at);
    const char *found = len == 0 ? at : memmem(at, has, m->pattern, len);

    lua_sandbox_charge(m->state, ((found != NULL ? (size_t)(found - at) : has) + len) /
                                     LUA_READ_PER_STEP);
    if (found == NULL) {
        luaL_pushfail(m->state);
        return 1;
    }
    lua_pushinteger(m->state, found - m->subject + 1);
    lua_pushinteger(m->state, found - m->subject + (lua_Integer)len);
    return 2;
}

static int push_found(struct lua_pattern *m, bool find, const char *at, const char *end)
{
    lua_pattern_charge(m);
    if (!find)
        return lua_pattern_push_all(m, true, at, end);
    lua_pushinteger(m->state, at - m->subject + 1);
    lua_pushinteger(m->state, end - m->subject);
    return 2 + lua_pattern_push_all(m, false, at, end);
}

static int search(lua_State *state, bool find)
{
    struct lua_pattern m;
    const char *at, *end;
    size_t offset;
    bool anchored;

    subject_and_pattern(&m, state, 1, 2);
    offset = offset_of(state, 3, (size_t)(m.subject_end - m.subject));
    if (offset > (size_t)(m.subject_end - m.subject)) {
        luaL_pushfail(state);
        return 1;
    }
    at = m.subject + offset;
    if (find && (lua_toboolean(state, 4) || is_plain(&m)))
        return find_plain(&m, at);
    anchored = take_anchor(&m);
    while (anchored || (at = lua_pattern_candidate(&m, at)) != NULL) {
        if ((end = lua_pattern_match(&m, at)) != NULL)
            return push_found(&m, find, at, end);
        if (anchored)
            break;
        at++;
    }
    lua_pattern_charge(&m);
    luaL_pushfail(state);
    return 1;
}

static int string_find(lua_State *state) { return search(state, true); }
static int string_match(lua_State *state) { return search(state, false); }

/* --- gmatch ----------------------------------------------------------------------------------- */

/* Upvalues of the iterator: the subject, the pattern, the offset to go on from, and the offset of
 * the last match's end, -1 before the first. An empty match there would be that match again. */
enum { GMATCH_SUBJECT = 1, GMATCH_PATTERN, GMATCH_NEXT, GMATCH_LAST };

static void set_offset(lua_State *state, int upvalue, lua_Integer offset)
{
    lua_pushinteger(state, offset);
    lua_replace(state, lua_upvalueindex(upvalue));
}

static int gmatch_next(lua_State *state)
{
    struct lua_pattern m;
    const char *at, *last, *end;
    lua_Integer before = lua_tointeger(state, lua_upvalueindex(GMATCH_LAST));

    subject_and_pattern(&m, state, lua_upvalueindex(GMATCH_SUBJECT),
                        lua_upvalueindex(GMATCH_PATTERN));
    at = m.subject + lua_tointeger(state, lua_upvalueindex(GMATCH_NEXT));
    last = before < 0 ? NULL : m.subject + before;
    while ((at = lua_pattern_candidate(&m, at)) != NULL) {
        end = lua_pattern_match(&m, at);
        if (end != NULL && end != last) {
            lua_pattern_charge(&m);
            set_offset(state, GMATCH_NEXT, end - m.subject);
            set_offset(state, GMATCH_LAST, end - m.subject);
            return lua_pattern_push_all(&m, true, at, end);
        }
        at++;
    }
    lua_pattern_charge(&m);
    return 0;
}

static int string_gmatch(lua_State *state)
{
    size_t len;

    luaL_checklstring(state, 1, &len);
    luaL_checkstring(state, 2);
    lua_settop(state, 3);
    lua_pushinteger(state, (lua_Integer)MIN(offset_of(state, 3, len), len + 1));
    lua_replace(state, 3);
    lua_pushinteger(state, -1);
    lua_pushcclosure(state, gmatch_next, 4);
    return 1;
}

/* --- gsub ------------------------------------------------------------------------------------- */

/* A string as the replacement: %0 is the match, %1 to %9 captures, %% a per cent sign. */
static void add_text(struct lua_pattern *m, luaL_Buffer *out, const char *at, const char *end)
{
    size_t n;
    const char *p = lua_tolstring(m->state, 3, &n), *stop = p + n, *mark;

    lua_sandbox_charge(m->state, n / LUA_READ_PER_STEP + 1);
    while ((mark = memchr(p, '%', (size_t)(stop - p))) != NULL) {
        const unsigned char c = mark + 1 < stop ? (unsigned char)mark[1] : 0;

        luaL_addlstring(out, p, (size_t)(mark - p));
        p = mark + 1 < stop ? mark + 2 : stop;
        if (c == '%') {
            luaL_addchar(out, '%');
        } else if (c == '0') {
            luaL_addlstring(out, at, (size_t)(end - at));
        } else if (isdigit(c)) {
            if (c - '1' > 0 && (unsigned)(c - '1') >= m->count)
                luaL_error(m->state, "invalid capture index %%%d in replacement string", c - '0');
            lua_pattern_push(m, c - '1', at, end);
            luaL_addvalue(out);
        } else {
            luaL_error(m->state, "invalid use of '%%' in replacement string");
        }
    }
    luaL_addlstring(out, p, (size_t)(stop - p));
}

/* A table is asked for the first capture, a function is called with all; false and nil keep the
 * match as it is. */
static void add_result(struct lua_pattern *m, luaL_Buffer *out, const char *at, const char *end)
{
    lua_State *state = m->state;

    if (lua_type(state, 3) == LUA_TTABLE) {
        lua_pattern_push(m, 0, at, end);
        lua_gettable(state, 3);
    } else {
        lua_pushvalue(state, 3);
        lua_call(state, lua_pattern_push_all(m, true, at, end), 1);
    }
    if (!lua_toboolean(state, -1)) {
        lua_pop(state, 1);
        luaL_addlstring(out, at, (size_t)(end - at));
    } else if (!lua_isstring(state, -1)) {
        luaL_error(state, "invalid replacement value (a %s)", luaL_typename(state, -1));
    } else {
        luaL_addvalue(out);
    }
}

/* The replacement may be a function, which uses instructions of the same limit. */
static void add_replacement(struct lua_pattern *m, luaL_Buffer *out, const char *at,
                            const char *end)
{
    const int type = lua_type(m->state, 3);

    lua_pattern_charge(m);
    if (type == LUA_TNUMBER || type == LUA_TSTRING)
        add_text(m, out, at, end);
    else
        add_result(m, out, at, end);
    m->left = m->given = lua_sandbox_left(m->state);
}

static lua_Integer replace_all(struct lua_pattern *m, luaL_Buffer *out, lua_Integer most)
{
    const bool anchored = take_anchor(m);
    const char *at = m->subject, *last = NULL, *end;
    lua_Integer n = 0;

    while (n < most) {
        end = lua_pattern_match(m, at);
        if (end != NULL && end != last) {
            n++;
            add_replacement(m, out, at, end);
            at = last = end;
        } else if (at < m->subject_end) {
            luaL_addchar(out, *at++);
        } else {
            break;
        }
        if (anchored)
            break;
    }
    lua_pattern_charge(m);
    luaL_addlstring(out, at, (size_t)(m->subject_end - at));
    return n;
}

static int string_gsub(lua_State *state)
{
    struct lua_pattern m;
    luaL_Buffer out;
    lua_Integer most, n;
    int type;

    subject_and_pattern(&m, state, 1, 2);
    type = lua_type(state, 3);
    luaL_argexpected(state, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TTABLE ||
                                type == LUA_TFUNCTION, 3, "string/function/table");
    most = luaL_optinteger(state, 4, m.subject_end - m.subject + 1);
    if (type == LUA_TNUMBER)
        lua_tolstring(state, 3, NULL);          /* once, where it stands */
    luaL_buffinit(state, &out);
    n = replace_all(&m, &out, most);
    luaL_pushresult(&out);
    lua_pushinteger(state, n);
    return 2;
}

void lua_count_patterns(lua_State *state)
{
    static const luaL_Reg functions[] = {
        { "find", string_find }, { "match", string_match }, { "gmatch", string_gmatch },
        { "gsub", string_gsub }, { NULL, NULL },
    };

    lua_getglobal(state, LUA_STRLIBNAME);
    luaL_setfuncs(state, functions, 0);
    lua_pop(state, 1);
}
#endif
