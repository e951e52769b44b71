/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of patterns in a sandbox and in Lua itself, side by side. For tests and fuzz
 * targets. */
#ifndef DETECT_TESTS_LUA_PLAIN_H
#define DETECT_TESTS_LUA_PLAIN_H

#include "base/text/text.h"

struct lua_plain;

struct lua_plain *lua_plain_new(void);
void lua_plain_free(struct lua_plain *both);
/* True if all functions give the same results, or both an error. What exceeds the sandbox's limit
 * is not compared. */
bool lua_plain_same(struct lua_plain *both, struct text subject, struct text pattern,
                    struct text replacement);

#endif
