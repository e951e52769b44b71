/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/pattern.h - Lua's patterns, matched with a count of the work.
 *
 * Lua's own functions match in C, where no instruction is counted: `a.-a.-a.-a.-b` takes minutes
 * on 400 letters `a`. This matcher has the meaning that Lua's manual gives patterns (6.4.1),
 * counts each byte that it compares as an instruction of the script, and ends the script at its
 * limit. */
#ifndef DETECT_LUA_PATTERN_H
#define DETECT_LUA_PATTERN_H

#include "base/base.h"

#include <lua.h>

#define LUA_PATTERN_CAPTURES 32

struct lua_capture {
    const char *at;
    ptrdiff_t len;              /* or one of the two below */
};
#define LUA_CAPTURE_OPEN (-1)
#define LUA_CAPTURE_POSITION (-2)

struct lua_pattern {
    lua_State *state;
    const char *subject, *subject_end;
    const char *pattern, *pattern_end;          /* without the anchor */
    uint64_t left, given;       /* steps; `given` is what was left at the start */
    unsigned depth, count;
    struct lua_capture capture[LUA_PATTERN_CAPTURES];
};

/* Both texts stay where they are; bytes behind their ends are not read. */
void lua_pattern_init(struct lua_pattern *m, lua_State *state);
/* The end of a match that begins at `at`; NULL: there is none. */
const char *lua_pattern_match(struct lua_pattern *m, const char *at);
/* The first place from `at` on where a match may begin, as far as the first byte tells. */
const char *lua_pattern_candidate(struct lua_pattern *m, const char *at);
/* Counts the steps so far in the sandbox. Raises an error in the script at its limit. */
void lua_pattern_charge(struct lua_pattern *m);

/* Pushes capture number i of a match; without captures number 0 is the match itself. */
void lua_pattern_push(struct lua_pattern *m, unsigned i, const char *at, const char *end);
/* Pushes all; `entire`: the match itself if there are none. Returns the number. */
int lua_pattern_push_all(struct lua_pattern *m, bool entire, const char *at, const char *end);

#endif
