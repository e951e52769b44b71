/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/sandbox.h - a Lua state with bounds, and what a script in it may look at.
 *
 * A script of a rule runs in a sandbox: no files, no other modules, bounded memory over all its
 * calls and a bounded number of instructions a call. Scripts are read as text: Lua does not verify
 * bytecode. One box belongs to one thread and one use in one rule; scripts
 * of outputs run in open boxes under their owner's lock. Objects that libraries hand to scripts
 * hold no pointers: they mean what the context has at the moment, and are void after the call. */
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

/* The event or packet that the script runs for; what does not apply is NULL. */
struct lua_context {
    uint64_t epoch;                      /* one more each call */
    struct packet *packet;
    enum direction side;                /* as match_side(); for logs the packet's own */
    struct flow *flow;
    struct app_tx *tx;
    struct app_file *file;
    const struct rule *rule;
    const uint64_t *byte_vars;          /* values by rule->var_names */
    struct dataset_table *datasets;
    struct ruleset *ruleset;            /* within init(): being loaded */
    const char *log_dir;
    unsigned flowvars, flowints;        /* registered so far */
};

/* What all scripts hold together; shared by threads, atomics. */
struct lua_total {
    uint64_t used, limit;               /* bytes; limit 0: none */
};

struct lua_limits {
    uint64_t max_bytes, max_instructions;       /* 0: none */
    struct lua_total *total;            /* borrowed; NULL: none */
    bool open;                          /* everything that Lua can do */
};

struct lua_sandbox {
    lua_State *state;
    struct lua_limits limits;
    uint64_t bytes, bytes_limit, instructions;
    uint64_t own_bytes;                 /* libraries and code, which do not count as the script's */
    uint64_t before_input;              /* bytes before what this call gets was pushed */
    uint64_t reserved;                  /* of limits.total */
    bool out_of_memory, out_of_instructions, blocked;   /* why the last call failed */
    bool may_fail;                      /* allocating: within a protected call */
    struct lua_context context;
};

/* NULL when there is no memory. */
struct lua_sandbox *lua_sandbox_new(const struct lua_limits *limits);
void lua_sandbox_free(struct lua_sandbox *sandbox);                 /* NULL is fine */
/* Reads the file and runs it. -1 with err set. */
int lua_sandbox_load(struct lua_sandbox *sandbox, const char *path, struct err *err);
bool lua_sandbox_has_function(struct lua_sandbox *sandbox, const char *name);

/* What is pushed between these two does not count as the script's. */
void lua_sandbox_prepare(struct lua_sandbox *sandbox);
/* Runs the function below `args` arguments; the stack then has `results`. -1: the error's text is
 * on the stack in their place. */
int lua_sandbox_call(struct lua_sandbox *sandbox, int args, int results);

/* The same for scripts that packets run: what is pushed may find no memory, which is an error like
 * those of the script. `push` puts the function and its arguments, and gives their number. */
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

/* Objects: made by the library's get function, checked by each method. */
int lua_object_push(lua_State *state, const char *class_name, int64_t value);
/* The object that is the first argument; an error to the script when it is from an earlier call
 * or of another kind. */
int64_t lua_object_check(lua_State *state, const char *class_name);
/* A library: its functions on the stack, the methods in the class. */
int lua_library(lua_State *state, const luaL_Reg *functions, const char *class_name,
                const luaL_Reg *methods);

int lua_push_slice(lua_State *state, struct slice s);
/* nil and the reason, as scripts expect of what can fail. */
int lua_push_failure(lua_State *state, const char *why);
/* "11/24/2009-18:57:25.179869" and "2009-11-24T18:57:25.179869+0000", in local time. */
int lua_push_legacy_time(lua_State *state, uint64_t time_us);
int lua_push_iso_time(lua_State *state, uint64_t time_us);
int lua_push_address(lua_State *state, const struct ip *ip);

/* The transaction, if it is of that protocol. */
struct app_tx *lua_tx_of(lua_State *state, const char *proto);
/* What a protocol declares under this name; nil when it is not there. */
int lua_push_buffer(lua_State *state, struct app_tx *tx, const char *name, enum direction d);
bool lua_find_buffer(struct app_tx *tx, const char *name, enum direction d, unsigned index,
                     struct slice *out);
/* Rules that run this script want something of the protocol (JA3). */
void lua_require_buffer(lua_State *state, const char *proto, const char *name);

/* libraries.c */
bool lua_library_push(lua_State *state, const char *name);
void lua_libraries_preload(lua_State *state);

#endif
