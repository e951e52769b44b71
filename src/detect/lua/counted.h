/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/counted.h - puts functions that count their work in the place of Lua's own, in a
 * sandbox whose instructions are limited. */
#ifndef DETECT_LUA_COUNTED_H
#define DETECT_LUA_COUNTED_H

#include <lauxlib.h>
#include <lua.h>

void lua_count_patterns(lua_State *state);      /* string_lib.c: find, match, gmatch, gsub */
void lua_count_functions(lua_State *state);     /* others whose work grows with their arguments */

#endif
