/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/script.c - scripts of rules. Each is loaded once with the rules, to see what
 * it needs, and then runs in one sandbox per thread. */
#include "config.h"

#include "detect/lua/script.h"

#include "detect/rule/program_limits.h"
#include "detect/rule/ruleset_private.h"

#ifdef HAVE_LUA
#include "base/report/counters.h"
#include "base/report/log.h"
#include "detect/lua/libraries.h"
#include "detect/lua/sandbox.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Defaults of security.lua. The first two are Suricata's: memory of one sandbox, instructions of
 * one call. The others bound all scripts on all threads, and all calls for one packet. */
#define MAX_BYTES 500000
#define MAX_INSTRUCTIONS 500000
#define MAX_TOTAL_BYTES ((uint64_t)256 << 20)
#define MAX_PACKET_INSTRUCTIONS 5000000

/* --- loading ------------------------------------------------------------------------------ */

/* Looks in default-rule-path, then in the directory of the rule file. */
static const char *script_path(struct rule_parser *p, struct text name)
{
    const char *dir = conf_string(p->ruleset->conf, "default-rule-path", NULL);
    const char *file = p->at.file, *slash = file != NULL ? strrchr(file, '/') : NULL;
    const char *path = arena_text(p->arena, name), *first;

    if (name.n > 0 && name.p[0] == '/')
        return path;
    first = dir != NULL ? arena_printf(p->arena, "%s/%s", dir, path) : path;
    if (access(first, R_OK) != 0 && slash != NULL) {
        const char *beside = arena_printf(p->arena, "%.*s/%s", (int)(slash - file), file, path);

        if (access(beside, R_OK) == 0)
            return beside;
    }
    return first;
}

/* The two limits for everything are the ruleset's, so each script sets them to the same
 * values. */
static void script_limits(struct rule_parser *p, struct lua_script *s)
{
    const struct conf_node *conf = conf_find(p->ruleset->conf, "security.lua");

    s->max_bytes = conf_u64(conf, "max-bytes", MAX_BYTES);
    s->max_instructions = conf_u64(conf, "max-instructions", MAX_INSTRUCTIONS);
    s->open = conf_bool(conf, "allow-restricted-functions", false);
    if (p->ruleset->lua_total == NULL)
        p->ruleset->lua_total = arena_zalloc(&p->ruleset->arena, sizeof(struct lua_total));
    p->ruleset->lua_total->limit = conf_size(conf, "max-total-bytes", MAX_TOTAL_BYTES);
    p->ruleset->lua_packet_instructions =
        conf_u64(conf, "max-packet-instructions", MAX_PACKET_INSTRUCTIONS);
}

static struct lua_sandbox *script_sandbox(const struct ruleset *set, const struct lua_script *s)
{
    struct lua_limits limits = { .max_bytes = s->max_bytes, .total = set->lua_total,
                                 .max_instructions = s->max_instructions, .open = s->open };

    return lua_sandbox_new(&limits);
}

/* The keys of the table that init() returns. False: the key is unknown. */
static bool need_of(const char *key, struct lua_script *s)
{
    static const struct { const char *key; uint8_t need; } needs[] = {
        { "packet", LUA_NEED_PACKET }, { "payload", LUA_NEED_PAYLOAD }, { "ja3", LUA_NEED_JA3 },
        { "ja3s", LUA_NEED_JA3S },
    };

    for (unsigned i = 0; i < ARRAY_LEN(needs); i++) {
        if (strcmp(needs[i].key, key) == 0) {
            s->needs |= needs[i].need;
            return true;
        }
    }
    if (strcmp(key, "buffer") == 0 || strcmp(key, "stream") == 0) {
        s->buffer_name = key[0] == 'b' ? "buffer" : "stream";
        return true;
    }
    return false;
}

/* Former ways in which scripts required a protocol, before it had a library. */
static bool is_former_need(const char *key)
{
    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const char *name = app_proto_by_id(id)->name;

        if (strncmp(key, name, strlen(name)) == 0 && lua_library_is_known(name))
            return true;
    }
    return false;
}

/* needs["flowvar"] = { "a", "b" }: registers these names by the library's register(). At
 * most 100 of them, so that a script cannot fill the table of names. */
static int register_names(lua_State *state, const char *key)
{
    unsigned count = 0;

    if (!lua_istable(state, -1))
        return 0;
    lua_getglobal(state, "require");
    lua_pushfstring(state, "suricata.%s", key);
    if (lua_pcall(state, 1, 1, 0) != LUA_OK)
        return -1;
    lua_getfield(state, -1, "register");
    lua_replace(state, -2);
    lua_pushnil(state);
    while (lua_next(state, -3)) {
        lua_pushvalue(state, -3);
        lua_insert(state, -2);
        if (!lua_isstring(state, -1) || lua_pcall(state, 1, 0, 0) != LUA_OK || ++count > 100)
            return -1;
    }
    lua_pop(state, 1);
    return 0;
}

/* Reads the table that init() returned, which is on top of the stack. */
static int read_needs(struct rule_parser *p, lua_State *state, struct lua_script *s)
{
    lua_pushnil(state);
    while (lua_next(state, -2)) {
        const char *key = lua_type(state, -2) == LUA_TSTRING ? lua_tostring(state, -2) : NULL;
        bool required = lua_toboolean(state, -1);

        if (key != NULL && (strcmp(key, "flowvar") == 0 || strcmp(key, "flowint") == 0)) {
            if (register_names(state, key) < 0)
                return rule_error(p, "lua: too many %ss registered, or not by name", key);
        } else if (key != NULL && required && !need_of(key, s)) {
            return rule_error(p, is_former_need(key)
                                     ? "data type %s no longer supported, use rule hooks"
                                     : "unsupported data type %s", key);
        }
        lua_pop(state, 1);
    }
    return 0;
}

/* The log has Suricata's text; the rule's error names the script. */
static int script_failed(struct rule_parser *p, const struct lua_script *s, const char *what,
                         const char *why)
{
    log_error("detect-lua", "%s%s%s", what, why != NULL ? ": " : "", why != NULL ? why : "");
    return rule_error(p, "%s: the script %s cannot be used", p->keyword->name, s->path);
}

/* Suricata requires init() to return a table; so do we. */
static int script_init(struct rule_parser *p, struct lua_sandbox *sandbox, struct lua_script *s)
{
    if (!lua_sandbox_has_function(sandbox, "init"))
        return script_failed(p, s, "no init function in script", NULL);
    lua_sandbox_prepare(sandbox);
    lua_getglobal(sandbox->state, "init");
    lua_newtable(sandbox->state);
    if (lua_sandbox_call(sandbox, 1, 1) < 0)
        return script_failed(p, s, "couldn't run script 'init' function",
                             lua_tostring(sandbox->state, -1));
    if (!lua_istable(sandbox->state, -1))
        return script_failed(p, s, "init function in script should return table, returned is not "
                             "table", NULL);
    return read_needs(p, sandbox->state, s);
}

/* Runs once per rule on the loading thread. Its sandbox is freed: threads make their own. */
static int script_try(struct rule_parser *p, struct lua_script *s, bool transform)
{
    struct lua_sandbox *sandbox = script_sandbox(p->ruleset, s);
    struct err err = { 0 };
    int r;

    if (sandbox == NULL)
        return rule_error(p, "%s: no memory for a Lua state", p->keyword->name);
    sandbox->context.rule = s->rule;
    sandbox->context.ruleset = p->ruleset;
    if (lua_sandbox_load(sandbox, s->path, &err) < 0)
        r = script_failed(p, s, err.text, NULL);
    else if (!transform)
        r = script_init(p, sandbox, s);
    else if (!lua_sandbox_has_function(sandbox, "transform"))
        r = script_failed(p, s, "no transform function in script", NULL);
    else
        r = 0;
    lua_sandbox_free(sandbox);
    return r;
}

/* NULL with the error set. `transform`: the script changes buffers and has no init(). */
struct lua_script *lua_script_new(struct rule_parser *p, struct text name, bool transform)
{
    struct lua_script *s;

    if (rule_bind(p) < 0)
        return NULL;
    s = arena_zalloc(p->arena, sizeof(*s));
    if (!conf_bool(p->ruleset->conf, "security.lua.allow-rules", true)) {
        rule_error(p, "Lua rules disabled by security configuration: security.lua.allow-rules");
        return NULL;
    }
    s->path = script_path(p, name);
    s->rule = transform ? NULL : p->rule;
    s->buffer_name = "buffer";
    script_limits(p, s);
    if (script_try(p, s, transform) < 0)
        return NULL;
    s->index = (uint32_t)p->ruleset->scripts.count;
    ARRAY_PUSH(&p->ruleset->scripts, s);
    return s;
}

/* --- the sandboxes of a thread ------------------------------------------------------------ */

/* Why a call failed; each kind has a counter and is logged once. */
enum failure { FAILED_OTHER, FAILED_BLOCKED, FAILED_INSTRUCTIONS, FAILED_MEMORY, FAILURE_COUNT };

struct script_state {
    struct lua_sandbox *sandbox;                /* NULL: it failed to start here */
    uint8_t logged;                     /* bit per enum failure */
};

/* Owned by the detect thread, for one ruleset. */
struct lua_thread {
    struct counters *counters;
    counter_id errors, failed[FAILURE_COUNT];
    unsigned count;
    struct script_state *at;            /* by script index */
    uint64_t epoch;                     /* of the packet for which scripts have run last */
    uint64_t instructions, max_instructions;    /* of all of them for it; 0: no limit */
};

/* NULL: it failed here, and the rule does not match, negated or not. thread_init() is optional. */
static struct lua_sandbox *thread_sandbox(struct ruleset *set, const struct lua_script *s)
{
    struct lua_sandbox *sandbox = script_sandbox(set, s);
    struct err err = { 0 };

    if (sandbox == NULL)
        return NULL;
    sandbox->context.rule = s->rule;
    sandbox->context.datasets = set->datasets;
    if (lua_sandbox_load(sandbox, s->path, &err) < 0) {
        log_error("detect-lua", "%s", err.text);
        goto fail;
    }
    if (!lua_sandbox_has_function(sandbox, "thread_init"))
        return sandbox;
    lua_sandbox_prepare(sandbox);
    lua_getglobal(sandbox->state, "thread_init");
    if (lua_sandbox_call(sandbox, 0, 0) == 0)
        return sandbox;
    log_error("detect-lua", "couldn't run script 'thread_init' function: %s",
              lua_tostring(sandbox->state, -1));

fail:
    lua_sandbox_free(sandbox);
    return NULL;
}

/* NULL when no rule has a script. The counters are registered in any case, so that EVE
 * shows them. */
struct lua_thread *lua_thread_new(struct ruleset *set, struct counters *counters)
{
    struct lua_thread *lt;

    struct lua_thread fresh = {
        .counters = counters,
        .errors = counter_register("detect.lua.errors", COUNTER_SUM),
        .failed = {
            [FAILED_BLOCKED] = counter_register("detect.lua.blocked_function_errors", COUNTER_SUM),
            [FAILED_INSTRUCTIONS] = counter_register("detect.lua.instruction_limit_errors",
                                                     COUNTER_SUM),
            [FAILED_MEMORY] = counter_register("detect.lua.memory_limit_errors", COUNTER_SUM),
        },
    };

    if (set->scripts.count == 0)
        return NULL;
    lt = xcalloc(1, sizeof(*lt));
    *lt = fresh;
    lt->count = (unsigned)set->scripts.count;
    lt->max_instructions = set->lua_packet_instructions;
    lt->at = xcalloc(lt->count, sizeof(*lt->at));
    for (unsigned i = 0; i < lt->count; i++)
        lt->at[i].sandbox = thread_sandbox(set, set->scripts.at[i]);
    return lt;
}

void lua_thread_free(struct lua_thread *lt)
{
    if (lt == NULL)
        return;
    for (unsigned i = 0; i < lt->count; i++)
        lua_sandbox_free(lt->at[i].sandbox);
    free(lt->at);
    free(lt);
}

/* --- running ------------------------------------------------------------------------------ */

/* Scripts may take so many for each packet. More of them are paid for like the steps of programs,
 * one of which takes as long as so many. */
#define INSTRUCTIONS_FREE 100000u
#define INSTRUCTIONS_BY_STEP 24u

/* What the packet has left for scripts; 0: nothing. */
static uint64_t instructions_left(const struct lua_thread *lt, struct program_work *work)
{
    const uint64_t free = INSTRUCTIONS_FREE - MIN(lt->instructions, INSTRUCTIONS_FREE);
    uint64_t left = lt->max_instructions > 0
                        ? lt->max_instructions - MIN(lt->instructions, lt->max_instructions)
                        : UINT64_MAX;

    if (left <= free || work->pay == NULL)
        return left;
    if (work->most == 0)
        work->pay(work->arg, work);
    return MIN(left, free + INSTRUCTIONS_BY_STEP * (work->most - MIN(work->used, work->most)));
}

static void count_instructions(struct lua_thread *lt, struct program_work *work, uint64_t more)
{
    const uint64_t paid = MAX(lt->instructions, INSTRUCTIONS_FREE);

    lt->instructions += more;
    if (lt->instructions > paid && work->most > 0)
        work->used += (lt->instructions - paid) / INSTRUCTIONS_BY_STEP;
}

/* Like lua_sandbox_run(); limits the instructions of all scripts per packet. */
static int script_run(const struct lua_caller *caller, struct lua_sandbox *sandbox,
                      const struct lua_run *run)
{
    struct lua_thread *lt = caller->lua;
    int r;

    if (lt->epoch != caller->epoch) {
        lt->epoch = caller->epoch;
        lt->instructions = 0;
    }
    sandbox->granted = instructions_left(lt, caller->work);
    if (sandbox->granted == 0) {
        sandbox->out_of_memory = sandbox->blocked = false;
        sandbox->out_of_instructions = true;
        return -1;
    }
    r = lua_sandbox_run(sandbox, run);
    count_instructions(lt, caller->work, sandbox->instructions);
    return r;
}

/* Counts each error and logs one per thread, script and kind: its author has to see the
 * reason, and traffic must not fill the log. */
static void script_error(struct lua_thread *lt, struct script_state *st)
{
    const struct lua_sandbox *sandbox = st->sandbox;
    enum failure kind = sandbox->blocked ? FAILED_BLOCKED :
                        sandbox->out_of_instructions ? FAILED_INSTRUCTIONS :
                        sandbox->out_of_memory ? FAILED_MEMORY : FAILED_OTHER;
    const char *why = NULL;

    counter_inc(lt->counters, lt->errors);
    if (kind != FAILED_OTHER)
        counter_inc(lt->counters, lt->failed[kind]);
    if (st->logged & (1u << kind))
        return;
    st->logged |= (uint8_t)(1u << kind);
    if (kind == FAILED_MEMORY)
        why = "memory limit exceeded";
    else if (kind == FAILED_INSTRUCTIONS)
        why = "instruction limit exceeded";
    else if (lua_type(sandbox->state, -1) == LUA_TSTRING)
        why = lua_tostring(sandbox->state, -1);
    log_warning("detect-lua", "Lua script failed to run successfully: %s",
                why != NULL ? why : "no reason given");
}

static void context_of_match(struct lua_context *c, const struct match_input *in,
                             enum direction side)
{
    c->packet = in->packet;
    c->side = side;
    c->flow = in->flow;
    c->tx = in->tx;
    c->rule = in->rule;
    c->byte_vars = in->byte_vars;
}

/* A packet rule may request the transaction; it gets the flow's latest. */
static struct app_tx *tx_at_hand(const struct match_input *in)
{
    if (in->tx != NULL || in->flow == NULL || in->flow->app == NULL)
        return in->tx;
    return in->flow->app->last;
}

/* A script that fails does not match, negated or not. One that could not be loaded on this
 * thread acts as if it returned 0. */
struct match_call { const struct lua_script *script; struct slice buffer; uint64_t offset; };

static int push_match(lua_State *state, const void *arg)
{
    const struct match_call *call = arg;

    lua_getglobal(state, "match");
    lua_newtable(state);
    if (call->buffer.data != NULL) {
        lua_pushinteger(state, (lua_Integer)call->offset + 1);
        lua_setfield(state, -2, "offset");
        lua_push_slice(state, call->buffer);
        lua_setfield(state, -2, call->script->buffer_name);
    }
    return 1;
}

bool lua_script_match(const struct lua_script *s, const struct lua_caller *caller,
                      const struct match_input *in, struct slice buffer, uint64_t offset)
{
    struct lua_thread *lt = caller->lua;
    struct script_state *st = &lt->at[s->index];
    const struct match_call call = { s, buffer, offset };
    const struct lua_run run = { push_match, &call, 1 };
    lua_State *state;
    bool yes;

    if (st->sandbox == NULL)
        return false;
    state = st->sandbox->state;
    lua_sandbox_prepare(st->sandbox);
    context_of_match(&st->sandbox->context, in, caller->side);
    st->sandbox->context.tx = tx_at_hand(in);
    if (script_run(caller, st->sandbox, &run) < 0) {
        script_error(lt, st);
        return false;
    }
    yes = lua_type(state, -1) == LUA_TNUMBER && lua_tointeger(state, -1) == 1;
    return yes != s->negated;
}

/* On any failure the buffer stays as it was. */
struct transform_call { const struct lua_script *script; struct slice in; };

static int push_transform(lua_State *state, const void *arg)
{
    const struct transform_call *call = arg;

    lua_getglobal(state, "transform");
    lua_push_slice(state, call->in);
    lua_newtable(state);
    for (unsigned i = 0; i < call->script->arg_count; i++) {
        lua_pushstring(state, call->script->arg[i]);
        lua_rawseti(state, -2, i + 1);
    }
    return 2;
}

void lua_script_transform(const struct lua_script *s, const struct lua_caller *caller,
                          struct slice in, struct buf *out)
{
    struct lua_thread *lt = caller->lua;
    struct script_state *st = &lt->at[s->index];
    const struct transform_call call = { s, in };
    const struct lua_run run = { push_transform, &call, 2 };
    lua_State *state;
    const char *data;
    size_t has = 0;

    buf_add(out, in.data, in.len);
    if (in.len == 0 || st->sandbox == NULL)
        return;
    state = st->sandbox->state;
    lua_sandbox_prepare(st->sandbox);
    if (script_run(caller, st->sandbox, &run) < 0) {
        script_error(lt, st);
        return;
    }
    if (!lua_isstring(state, -2))
        return;
    data = lua_tolstring(state, -2, &has);
    if (lua_tointeger(state, -1) <= 0)
        return;
    buf_clear(out);
    buf_add(out, data, MIN((size_t)lua_tointeger(state, -1), has));
}

#else

struct lua_script *lua_script_new(struct rule_parser *p, struct text name, bool transform UNUSED)
{
    rule_error(p, "%s: \"%.*s\" cannot be run: this is a build without Lua", p->keyword->name,
               TEXT(name));
    return NULL;
}

struct lua_thread *lua_thread_new(struct ruleset *set UNUSED, struct counters *counters UNUSED)
{
    return NULL;
}

void lua_thread_free(struct lua_thread *lt UNUSED)
{
}

bool lua_script_match(const struct lua_script *script UNUSED,
                      const struct lua_caller *caller UNUSED, const struct match_input *in UNUSED,
                      struct slice buffer UNUSED, uint64_t offset UNUSED)
{
    return false;
}

void lua_script_transform(const struct lua_script *script UNUSED,
                          const struct lua_caller *caller UNUSED, struct slice in, struct buf *out)
{
    buf_add(out, in.data, in.len);
}
#endif
