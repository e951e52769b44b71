/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/pattern.c - the matcher. It reads the pattern while it matches, so that a mistake in
 * a part that no subject reaches is no error, as in Lua. */
#include "config.h"

#ifdef HAVE_LUA
#include "detect/lua/pattern.h"

#include "detect/lua/sandbox.h"

#include <ctype.h>
#include <string.h>

#define DEPTH_MAX 200           /* Lua's own: beyond it a pattern is "too complex" */

/* One item without its repeat: a byte, a class or a set. */
struct item { const char *begin, *end; };

static const char *match_here(struct lua_pattern *m, const char *s, const char *p);

/* --- the count -------------------------------------------------------------------------------- */

void lua_pattern_charge(struct lua_pattern *m)
{
    uint64_t used = m->given - m->left;

    m->given = m->left;
    lua_sandbox_charge(m->state, used);
}

/* Out of line, because it happens once. */
static COLD void used_up(struct lua_pattern *m)
{
    m->left = 0;
    lua_sandbox_charge(m->state, m->given + 1);
    m->left = m->given = UINT64_MAX;    /* the sandbox has no limit */
}

static inline void step(struct lua_pattern *m, uint64_t n)
{
    if (UNLIKELY(m->left < n))
        used_up(m);
    m->left -= n;
}

void lua_pattern_init(struct lua_pattern *m, lua_State *state)
{
    m->state = state;
    m->left = m->given = lua_sandbox_left(state);
    m->depth = m->count = 0;
}

/* --- single items ----------------------------------------------------------------------------- */

/* %a and the like; a capital letter is the complement. Other bytes stand for themselves. */
static bool class_has(unsigned char class, unsigned char c)
{
    bool has;

    switch (tolower(class)) {
    case 'a': has = isalpha(c); break;
    case 'c': has = iscntrl(c); break;
    case 'd': has = isdigit(c); break;
    case 'g': has = isgraph(c); break;
    case 'l': has = islower(c); break;
    case 'p': has = ispunct(c); break;
    case 's': has = isspace(c); break;
    case 'u': has = isupper(c); break;
    case 'w': has = isalnum(c); break;
    case 'x': has = isxdigit(c); break;
    case 'z': has = c == 0; break;      /* of Lua 5.1, which 5.4 still accepts */
    default: return class == c;
    }
    return has != (bool)isupper(class);
}

/* The first byte of a set is never its end, so that []x] has a bracket. */
static const char *set_end(struct lua_pattern *m, const char *p)
{
    bool first = true;

    if (p < m->pattern_end && *p == '^')
        p++;
    for (; p < m->pattern_end; first = false) {
        if (*p == ']' && !first)
            return p + 1;
        p += *p == '%' && p + 1 < m->pattern_end ? 2 : 1;
    }
    luaL_error(m->state, "malformed pattern (missing ']')");
    return p;
}

static struct item item_at(struct lua_pattern *m, const char *p)
{
    if (*p == '[')
        return (struct item){ p, set_end(m, p + 1) };
    if (*p != '%')
        return (struct item){ p, p + 1 };
    if (p + 1 == m->pattern_end)
        luaL_error(m->state, "malformed pattern (ends with '%%')");
    return (struct item){ p, p + 2 };
}

static bool in_range(const char *p, unsigned char c)
{
    return (unsigned char)p[0] <= c && c <= (unsigned char)p[2];
}

/* Between the brackets: classes, ranges and bytes. */
static bool set_has(struct lua_pattern *m, struct item set, unsigned char c)
{
    const char *p = set.begin + 1, *last = set.end - 1;
    bool wanted = *p != '^';

    step(m, (uint64_t)(last - p));
    for (p += !wanted; p < last; p++) {
        if (*p == '%' && p + 1 < last) {
            if (class_has((unsigned char)*++p, c))
                return wanted;
        } else if (p + 2 < last && p[1] == '-') {
            if (in_range(p, c))
                return wanted;
            p += 2;
        } else if ((unsigned char)*p == c) {
            return wanted;
        }
    }
    return !wanted;
}

static inline bool item_has(struct lua_pattern *m, struct item item, const char *s)
{
    step(m, 1);
    if (s >= m->subject_end)
        return false;
    switch (*item.begin) {
    case '.': return true;
    case '%': return class_has((unsigned char)item.begin[1], (unsigned char)*s);
    case '[': return set_has(m, item, (unsigned char)*s);
    default: return *item.begin == *s;
    }
}

/* --- what takes a part of the subject by itself ----------------------------------------------- */

/* %bxy, with p at x: from an x to the y that balances it. */
static const char *balanced(struct lua_pattern *m, const char *s, const char *p)
{
    size_t open = 0;

    if (m->pattern_end - p < 2)
        luaL_error(m->state, "malformed pattern (missing arguments to '%%b')");
    if (s == m->subject_end || *s != p[0])
        return NULL;
    for (open = 1, s++; s < m->subject_end; s++) {
        step(m, 1);
        if (*s == p[1] && --open == 0)
            return s + 1;
        if (*s != p[1] && *s == p[0])
            open++;
    }
    return NULL;
}

/* %f[set], with p at the bracket: between a byte outside the set and one within. Both ends of the
 * subject count as a byte 0. */
static bool is_frontier(struct lua_pattern *m, const char *s, struct item set)
{
    unsigned char before = s == m->subject ? 0 : (unsigned char)s[-1];
    unsigned char after = s == m->subject_end ? 0 : (unsigned char)*s;

    return !set_has(m, set, before) && set_has(m, set, after);
}

/* %1 to %9: the text of an earlier capture again. A position has no text. */
static const char *same_again(struct lua_pattern *m, const char *s, unsigned char digit)
{
    const int i = digit - '1';
    const struct lua_capture *c = &m->capture[i < 0 ? 0 : i];

    if (i < 0 || (unsigned)i >= m->count || c->len == LUA_CAPTURE_OPEN)
        luaL_error(m->state, "invalid capture index %%%d", i + 1);
    if (c->len == LUA_CAPTURE_POSITION || m->subject_end - s < c->len)
        return NULL;
    step(m, (uint64_t)c->len / LUA_READ_PER_STEP + 1);
    return memcmp(c->at, s, (size_t)c->len) == 0 ? s + c->len : NULL;
}

/* --- what tries the rest of the pattern ------------------------------------------------------- */

static const char *rest(struct lua_pattern *m, const char *s, const char *p)
{
    const char *end;

    if (++m->depth >= DEPTH_MAX)
        luaL_error(m->state, "pattern too complex");
    end = match_here(m, s, p);
    m->depth--;
    return end;
}

static const char *open_capture(struct lua_pattern *m, const char *s, const char *p)
{
    const bool position = p + 1 < m->pattern_end && p[1] == ')';
    const char *end;

    if (m->count == LUA_PATTERN_CAPTURES)
        luaL_error(m->state, "too many captures");
    m->capture[m->count++] = (struct lua_capture){
        s, position ? LUA_CAPTURE_POSITION : LUA_CAPTURE_OPEN,
    };
    end = rest(m, s, p + 1 + position);
    m->count -= end == NULL;
    return end;
}

/* Of the captures that are open, the latest ends here. */
static const char *close_capture(struct lua_pattern *m, const char *s, const char *p)
{
    unsigned i = m->count;
    const char *end;

    while (i > 0 && m->capture[i - 1].len != LUA_CAPTURE_OPEN)
        i--;
    if (i == 0)
        luaL_error(m->state, "invalid pattern capture");
    m->capture[i - 1].len = s - m->capture[i - 1].at;
    end = rest(m, s, p + 1);
    if (end == NULL)
        m->capture[i - 1].len = LUA_CAPTURE_OPEN;
    return end;
}

/* What follows begins with one byte. Those with a meaning of their own, and those whose repeat may
 * be empty, tell nothing. */
static bool begins_with_byte(const struct lua_pattern *m, const char *p)
{
    if (p >= m->pattern_end || memchr("^$*+?.([%-)", *p, 11) != NULL)
        return false;
    return p + 1 == m->pattern_end || memchr("*?-", p[1], 3) == NULL;
}

static const char *find_byte(struct lua_pattern *m, const char *at, char byte)
{
    const char *found = memchr(at, byte, (size_t)(m->subject_end - at));

    step(m, (uint64_t)((found != NULL ? found : m->subject_end) - at) / LUA_READ_PER_STEP + 1);
    return found;
}

/* The place in the pattern of the byte that the rest has to begin with, behind ends of captures;
 * NULL: unknown. Then the rest is tried everywhere, and with it what is wrong with the pattern. */
static const char *next_byte(struct lua_pattern *m, const char *p)
{
    unsigned open = 0, levels = m->depth + 2;

    step(m, 1);
    for (unsigned i = 0; i < m->count; i++)
        open += m->capture[i].len == LUA_CAPTURE_OPEN;
    for (; p < m->pattern_end && *p == ')' && open > 0; open--, levels++)
        p++;
    return levels < DEPTH_MAX && begins_with_byte(m, p) ? p : NULL;
}

static bool may_go_on(const struct lua_pattern *m, const char *s, const char *byte)
{
    return byte == NULL || (s < m->subject_end && *s == *byte);
}

/* `*` and `+`: as many as there are, then fewer. */
static const char *longest(struct lua_pattern *m, const char *s, struct item item)
{
    const char *at = s, *least = s + (*item.end == '+'), *end;
    const char *byte = next_byte(m, item.end + 1);

    if (*item.begin == '.') {
        at = m->subject_end;
        step(m, (uint64_t)(at - s) / LUA_READ_PER_STEP + 1);
    }
    while (item_has(m, item, at))
        at++;
    for (; at >= least; at--)
        if (may_go_on(m, at, byte) && (end = rest(m, at, item.end + 1)) != NULL)
            return end;
    return NULL;
}

/* `-`: none, then more. */
static const char *shortest(struct lua_pattern *m, const char *s, struct item item)
{
    const char *byte = next_byte(m, item.end + 1), *end;

    for (;; s++) {
        if (byte != NULL && *item.begin == '.' && (s = find_byte(m, s, *byte)) == NULL)
            return NULL;
        if (may_go_on(m, s, byte) && (end = rest(m, s, item.end + 1)) != NULL)
            return end;
        if (!item_has(m, item, s))
            return NULL;
    }
}

/* An item with its repeat. *next NULL: the result is that of all that follows; else the pattern
 * goes on there. What may be absent, and is, takes no level: Lua has so many only for what is
 * there. */
static const char *repeated(struct lua_pattern *m, const char *s, struct item item,
                            const char **next)
{
    const char repeat = item.end < m->pattern_end ? *item.end : 0;
    const bool optional = repeat == '*' || repeat == '?' || repeat == '-';
    const char *end;

    *next = NULL;
    if (repeat == '+')
        return longest(m, s, item);
    if (!item_has(m, item, s)) {
        *next = item.end + 1;
        return optional ? s : NULL;
    }
    if (repeat == '*')
        return longest(m, s, item);
    if (repeat == '-')
        return shortest(m, s, item);
    if (repeat == '?' && (end = rest(m, s + 1, item.end + 1)) != NULL)
        return end;
    *next = item.end + (repeat == '?');
    return repeat == '?' ? s : s + 1;
}

/* %b, %f and %1; false: it is none of these. */
static bool special(struct lua_pattern *m, const char **s, const char **p)
{
    const char kind = m->pattern_end - *p > 1 ? (*p)[1] : 0;
    struct item set;

    if (kind == 'b') {
        *s = balanced(m, *s, *p + 2);
        *p += 4;
    } else if (kind == 'f') {
        if (m->pattern_end - *p < 3 || (*p)[2] != '[')
            luaL_error(m->state, "missing '[' after '%%f' in pattern");
        set = item_at(m, *p + 2);
        *s = is_frontier(m, *s, set) ? *s : NULL;
        *p = set.end;
    } else if (isdigit((unsigned char)kind)) {
        *s = same_again(m, *s, (unsigned char)kind);
        *p += 2;
    } else {
        return false;
    }
    return true;
}

static const char *match_here(struct lua_pattern *m, const char *s, const char *p)
{
    while (s != NULL && p != NULL && p < m->pattern_end) {
        step(m, 1);
        if (*p == '(')
            return open_capture(m, s, p);
        if (*p == ')')
            return close_capture(m, s, p);
        if (*p == '$' && p + 1 == m->pattern_end)
            return s == m->subject_end ? s : NULL;
        if (*p == '%' && special(m, &s, &p))
            continue;
        s = repeated(m, s, item_at(m, p), &p);
    }
    return s;
}

const char *lua_pattern_match(struct lua_pattern *m, const char *at)
{
    m->depth = m->count = 0;
    step(m, 1);
    return match_here(m, at, m->pattern);
}

/* --- where a match may begin ------------------------------------------------------------------ */

const char *lua_pattern_candidate(struct lua_pattern *m, const char *at)
{
    if (at > m->subject_end)
        return NULL;
    return begins_with_byte(m, m->pattern) ? find_byte(m, at, *m->pattern) : at;
}

/* --- captures --------------------------------------------------------------------------------- */

void lua_pattern_push(struct lua_pattern *m, unsigned i, const char *at, const char *end)
{
    const struct lua_capture *c = &m->capture[i];

    if (i >= m->count) {
        if (i > 0)
            luaL_error(m->state, "invalid capture index %%%d", i + 1);
        lua_pushlstring(m->state, at, (size_t)(end - at));
    } else if (c->len == LUA_CAPTURE_POSITION) {
        lua_pushinteger(m->state, c->at - m->subject + 1);
    } else {
        if (c->len == LUA_CAPTURE_OPEN)
            luaL_error(m->state, "unfinished capture");
        lua_pushlstring(m->state, c->at, (size_t)c->len);
    }
}

int lua_pattern_push_all(struct lua_pattern *m, bool entire, const char *at, const char *end)
{
    unsigned n = m->count == 0 && entire ? 1 : m->count;

    luaL_checkstack(m->state, (int)n, "too many captures");
    for (unsigned i = 0; i < n; i++)
        lua_pattern_push(m, i, at, end);
    return (int)n;
}
#endif
