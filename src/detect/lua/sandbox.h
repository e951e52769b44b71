/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/sandbox.h - a Lua state with limits, and the context that its script can read.
 *
 * A rule's script runs in a sandbox: no files, no other modules, a limit on memory over all its
 * calls, and a limit on instructions per call. Scripts are loaded as text only, because Lua does
 * not verify bytecode. One sandbox belongs to one thread and to one use in one rule. Scripts of
 * outputs run in sandboxes with `open` set, under their owner's lock. Objects that libraries pass
 * to scripts hold no pointers: they refer to the current context, and are invalid after the
 * call. */
#ifndef DETECT_LUA_SANDBOX_H
#define DETECT_LUA_SANDBOX_H

#include "app/tx.h"
#include "base/err.h"
#include "base/report/counters.h"
#include "packet/packet.h"

#include <lauxlib.h>
#include <lua.h>

struct rule;
struct ruleset;
struct dataset_table;

/* The event or packet that the script runs for; members that do not apply are NULL. */
struct lua_context {
    uint64_t epoch;                      /* incremented for each call */
    struct packet *packet;
    enum direction side;                /* like match_side(); for logs the packet's direction */
    struct flow *flow;
    struct app_tx *tx;
    struct app_file *file;
    const struct rule *rule;
    const uint64_t *byte_vars;          /* values by rule->info->var_names */
    struct dataset_table *datasets;
    struct ruleset *ruleset;            /* within init(): the set that is being loaded */
    const char *log_dir;
    unsigned flowvars, flowints;        /* registered so far */
};

/* The memory of all scripts together; shared by threads, atomic. */
struct lua_total {
    uint64_t used, limit;               /* bytes; limit 0: none */
};

struct lua_limits {
    uint64_t max_bytes, max_instructions;       /* 0: none */
    struct lua_total *total;            /* borrowed; NULL: none */
    bool open;                          /* no restrictions on Lua functions */
};

struct lua_sandbox {
    lua_State *state;
    struct lua_limits limits;
    uint64_t bytes, bytes_limit, instructions;
    uint64_t granted;                   /* instructions of lua_sandbox_run(), beside the limit */
    uint64_t own_bytes;      /* libraries and code, which do not count towards the script's limit */
    uint64_t before_input;              /* bytes before this call's input was pushed */
    uint64_t reserved;                  /* of limits.total */
    bool out_of_memory, out_of_instructions, blocked;   /* why the last call failed */
    bool may_fail;                      /* within a protected call, where an allocation may fail */
    uint64_t written;                   /* bytes that open scripts have written in this call */
    struct lua_context context;
};

/* NULL: out of memory. */
struct lua_sandbox *lua_sandbox_new(const struct lua_limits *limits);
void lua_sandbox_free(struct lua_sandbox *sandbox);                 /* NULL is allowed */
/* Reads and runs the file. -1 with err set. */
int lua_sandbox_load(struct lua_sandbox *sandbox, const char *path, struct err *err);
bool lua_sandbox_has_function(struct lua_sandbox *sandbox, const char *name);

/* Values pushed between these two calls do not count towards the script's limit. */
void lua_sandbox_prepare(struct lua_sandbox *sandbox);
/* Runs the function below `args` arguments; the stack then has `results`. -1: the stack has the
 * error's text instead. */
int lua_sandbox_call(struct lua_sandbox *sandbox, int args, int results);

/* The same for scripts that packets run. `push` pushes the function and its arguments and returns
 * their number; running out of memory there is handled like an error of the script. */
struct lua_run {
    int (*push)(lua_State *state, const void *arg);
    const void *arg;
    int results;
};
int lua_sandbox_run(struct lua_sandbox *sandbox, const struct lua_run *run);

/* --- for libraries ------------------------------------------------------------------------ */

struct lua_sandbox *lua_sandbox_of(lua_State *state);
static inline struct lua_context *lua_context_of(lua_State *state)
{
    return &lua_sandbox_of(state)->context;
}

/* Work in C counts as instructions of the script, so many for what takes their time. Raises an
 * error in the script at its limit. */
void lua_sandbox_charge(lua_State *state, uint64_t instructions);
/* Whether the script may have so many bytes more. */
bool lua_sandbox_has_space(lua_State *state, uint64_t bytes);
#define LUA_READ_PER_STEP 16    /* bytes that a function reads in the time of an instruction */
/* What is left below the limit of the call; UINT64_MAX: there is none. */
uint64_t lua_sandbox_left(lua_State *state);

/* Objects: the library's get function creates them, each method checks them. */
int lua_object_push(lua_State *state, const char *class_name, int64_t value);
/* Returns the object that is the first argument. Raises an error in the script when it comes from
 * an earlier call or is of another class. */
int64_t lua_object_check(lua_State *state, const char *class_name);
/* Creates a library: pushes a table of its functions; the class gets the methods. */
int lua_library(lua_State *state, const luaL_Reg *functions, const char *class_name,
                const luaL_Reg *methods);

int lua_push_slice(lua_State *state, struct slice s);
/* Pushes nil and the reason, the convention for functions that can fail. */
int lua_push_failure(lua_State *state, const char *why);
/* Pushes "11/24/2009-18:57:25.179869" and "2009-11-24T18:57:25.179869+0000", in local time. */
int lua_push_legacy_time(lua_State *state, uint64_t time_us);
int lua_push_iso_time(lua_State *state, uint64_t time_us);
int lua_push_address(lua_State *state, const struct ip *ip);

/* Returns the current transaction if it is of that protocol. */
struct app_tx *lua_tx_of(lua_State *state, const char *proto);
/* Pushes the buffer that a protocol declares under this name; nil when it is absent. */
int lua_push_buffer(lua_State *state, struct app_tx *tx, const char *name, enum direction d);
bool lua_find_buffer(struct app_tx *tx, const char *name, enum direction d, unsigned index,
                     struct slice *out);
/* Registers that rules with this script need a feature of the protocol (JA3). */
void lua_require_buffer(lua_State *state, const char *proto, const char *name);

/* libraries.c */
bool lua_library_push(lua_State *state, const char *name);
void lua_libraries_preload(lua_State *state);

#endif
