/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/script.h - scripts in rules, as keyword and as transform.
 *
 * Each use in a rule is a struct lua_script in the ruleset. Each detect thread has its own sandbox
 * for each of them, created when it gets the ruleset. */
#ifndef DETECT_LUA_SCRIPT_H
#define DETECT_LUA_SCRIPT_H

#include "base/memory/buf.h"
#include "base/report/counters.h"
#include "detect/rule/keyword.h"

#define LUA_ARGS_MAX 10

enum lua_need {
    LUA_NEED_PACKET  = 1u << 0,
    LUA_NEED_PAYLOAD = 1u << 1,
    LUA_NEED_JA3     = 1u << 2,
    LUA_NEED_JA3S    = 1u << 3,
};

struct lua_script {
    const char *path;
    const struct rule *rule;            /* NULL: a transform */
    uint32_t index;                     /* in the ruleset's list */
    uint64_t max_bytes, max_instructions;
    bool open;                          /* security.lua.allow-restricted-functions */
    bool negated;
    uint8_t needs;                      /* enum lua_need */
    const char *buffer_name;            /* "buffer", or the name from init() */
    const char *arg[LUA_ARGS_MAX];
    unsigned arg_count;
};

/* Reads settings and file, and runs the script once: its init() declares what it needs. NULL after
 * rule_error(). name: as written in the rule. */
struct lua_script *lua_script_new(struct rule_parser *p, struct text name, bool transform);

struct lua_thread;
struct program_work;
/* NULL when no rule has a script. */
struct lua_thread *lua_thread_new(struct ruleset *set, struct counters *counters);
void lua_thread_free(struct lua_thread *lt);

/* For whom a script runs. */
struct lua_caller {
    struct lua_thread *lua;
    uint64_t epoch;                     /* incremented for each packet */
    struct program_work *work;          /* what the packet pays for */
    enum direction side;                /* match_side(); only for lua_script_match() */
};

/* True if match(args) returns 1. buffer: the inspected buffer; data NULL: none. */
bool lua_script_match(const struct lua_script *script, const struct lua_caller *caller,
                      const struct match_input *in, struct slice buffer, uint64_t offset);
/* Runs transform(input, args); on failure the output is the input. */
void lua_script_transform(const struct lua_script *script, const struct lua_caller *caller,
                          struct slice in, struct buf *out);

#endif
