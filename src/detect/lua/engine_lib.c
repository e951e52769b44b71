/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/engine_lib.c - the libraries suricata.rule, config, log, util and dataset:
 * the engine itself. */
#include "config.h"

#ifdef HAVE_LUA
#include "base/report/log.h"
#include "detect/state/dataset.h"
#include "detect/lua/sandbox.h"
#include "detect/lua/libraries.h"
#include "detect/rule/rule.h"
#include "sequencer/sequencer.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- rule --------------------------------------------------------------------------------- */

#define RULE_CLASS "suricata:rule"

/* Scripts of outputs run without a rule, except for alerts. */
static int rule_get_rule(lua_State *state)
{
    if (lua_context_of(state)->rule == NULL)
        return lua_push_failure(state, "internal error: no packet alert or signature");
    return lua_object_push(state, RULE_CLASS, 0);
}

static const struct rule *rule_of(lua_State *state)
{
    lua_object_check(state, RULE_CLASS);
    return lua_context_of(state)->rule;
}

static int rule_sid(lua_State *state)
{
    lua_pushinteger(state, rule_of(state)->sid);
    return 1;
}

static int rule_gid(lua_State *state)
{
    lua_pushinteger(state, rule_of(state)->gid);
    return 1;
}

static int rule_rev(lua_State *state)
{
    lua_pushinteger(state, rule_of(state)->rev);
    return 1;
}

static int rule_priority(lua_State *state)
{
    lua_pushinteger(state, rule_of(state)->priority);
    return 1;
}

static int rule_msg(lua_State *state)
{
    lua_pushstring(state, rule_info(rule_of(state))->msg);
    return 1;
}

static int rule_class_description(lua_State *state)
{
    lua_pushstring(state, rule_info(rule_of(state))->class_text);
    return 1;
}

/* Actions of the firewall have no name in Suricata's library, so they are "". */
static int rule_action_name(lua_State *state)
{
    const char *name = "";

    switch ((enum rule_action)rule_of(state)->action) {
    case RULE_PASS:        name = "pass"; break;
    case RULE_REJECT_SRC:
    case RULE_REJECT_DST:
    case RULE_REJECT_BOTH: name = "reject"; break;
    case RULE_DROP:        name = "drop"; break;
    case RULE_ALERT:       name = "alert"; break;
    default:               break;
    }
    lua_pushstring(state, name);
    return 1;
}

int lua_open_rule(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_rule", rule_get_rule }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "action", rule_action_name },
        { "class_description", rule_class_description },
        { "gid", rule_gid },
        { "msg", rule_msg },
        { "priority", rule_priority },
        { "rev", rule_rev },
        { "sid", rule_sid },
        { NULL, NULL },
    };

    return lua_library(state, functions, RULE_CLASS, methods);
}

/* --- config, log, util -------------------------------------------------------------------- */

/* Only scripts of outputs have a log directory. */
static int config_log_path(lua_State *state)
{
    if (lua_context_of(state)->log_dir == NULL)
        return lua_push_failure(state, "internal error: no log dir");
    lua_pushstring(state, lua_context_of(state)->log_dir);
    return 1;
}

int lua_open_config(lua_State *state)
{
    static const luaL_Reg functions[] = { { "log_path", config_log_path }, { NULL, NULL } };

    return lua_library(state, functions, NULL, NULL);
}

/* Logs with file and line of the script, like messages about rules. */
static int log_message(lua_State *state, enum log_level level)
{
    const char *text = luaL_checkstring(state, 1);
    lua_Debug at;

    if (lua_getstack(state, 1, &at) && lua_getinfo(state, "Sl", &at))
        log_at(level, "lua", (struct where){ at.short_src, (unsigned)MAX(at.currentline, 0), 0 },
               "%s", text);
    else
        log_at(level, "lua", NO_LOCATION, "%s", text);
    return 0;
}

static int log_info_(lua_State *state) { return log_message(state, LOG_LEVEL_INFO); }
static int log_notice_(lua_State *state) { return log_message(state, LOG_LEVEL_NOTICE); }
static int log_warning_(lua_State *state) { return log_message(state, LOG_LEVEL_WARNING); }
static int log_error_(lua_State *state) { return log_message(state, LOG_LEVEL_ERROR); }
static int log_debug_(lua_State *state) { return log_message(state, LOG_LEVEL_DEBUG); }
static int log_config_(lua_State *state) { return log_message(state, LOG_LEVEL_CONFIG); }
static int log_perf_(lua_State *state) { return log_message(state, LOG_LEVEL_PERF); }

int lua_open_log(lua_State *state)
{
    static const luaL_Reg functions[] = {
        { "info", log_info_ },
        { "notice", log_notice_ },
        { "warning", log_warning_ },
        { "error", log_error_ },
        { "debug", log_debug_ },
        { "config", log_config_ },
        { "perf", log_perf_ },
        { NULL, NULL },
    };

    return lua_library(state, functions, NULL, NULL);
}

/* group_name: the thread's name without its number, such as "W". */
static int util_thread_info(lua_State *state)
{
    char name[32] = "";

    pthread_getname_np(pthread_self(), name, sizeof(name));
    lua_newtable(state);
    lua_pushinteger(state, (lua_Integer)syscall(SYS_gettid));
    lua_setfield(state, -2, "id");
    lua_pushstring(state, name);
    lua_setfield(state, -2, "name");
    name[strcspn(name, "#-0123456789")] = '\0';
    lua_pushstring(state, name);
    lua_setfield(state, -2, "group_name");
    return 1;
}

int lua_open_util(lua_State *state)
{
    static const luaL_Reg functions[] = { { "thread_info", util_thread_info }, { NULL, NULL } };

    return lua_library(state, functions, NULL, NULL);
}

/* --- dataset ------------------------------------------------------------------------------ */

#define DATASET_CLASS "dataset::metatable"
#define DATASET_NAME_MAX 64

/* Holds the name, not a pointer: sets belong to a ruleset, which may be replaced. */
struct dataset_handle { char name[DATASET_NAME_MAX]; };

/* dataset.new() names no set yet; get() does. */
static int dataset_new(lua_State *state)
{
    struct dataset_handle *h = lua_newuserdatauv(state, sizeof(*h), 0);

    h->name[0] = '\0';
    luaL_setmetatable(state, DATASET_CLASS);
    return 1;
}

/* NULL: the ruleset has no such set. */
static struct dataset *dataset_named(lua_State *state, const char *name)
{
    struct dataset_table *table = lua_context_of(state)->datasets;

    return table != NULL && name[0] != '\0' ? dataset_find(table, name) : NULL;
}

/* A script may add values, so from here on the set counts as one that changes. */
static int dataset_get_ref(lua_State *state)
{
    struct dataset_handle *h = luaL_checkudata(state, 1, DATASET_CLASS);
    const char *name = luaL_checkstring(state, 2);

    if (strlen(name) >= sizeof(h->name) || dataset_named(state, name) == NULL)
        return lua_push_failure(state, "dataset not found");
    dataset_set_changes(dataset_named(state, name));
    memcpy(h->name, name, strlen(name) + 1);
    return 0;
}

/* 1 when the value is new, 0 when the set has it or is full. Waits for the packets before,
 * as the keyword `dataset` does. */
static int dataset_put(lua_State *state)
{
    const struct dataset_handle *h = luaL_checkudata(state, 1, DATASET_CLASS);
    size_t has;
    const char *value = luaL_checklstring(state, 2, &has);
    lua_Integer len = luaL_checkinteger(state, 3);
    struct dataset *set = dataset_named(state, h->name);

    if (set == NULL)
        return lua_push_failure(state, "dataset is not initialized");
    if (len < 0 || (size_t)len > has)
        return lua_push_failure(state, "the length is not that of the value");
    lua_sandbox_charge(state, (uint64_t)len / LUA_READ_PER_STEP);
    if (lua_context_of(state)->packet != NULL)
        packet_seq_wait(lua_context_of(state)->packet);
    lua_pushinteger(state, dataset_add(set, (struct slice){ (const uint8_t *)value,
                                                            (uint32_t)len }));
    return 1;
}

int lua_open_dataset(lua_State *state)
{
    static const luaL_Reg functions[] = { { "new", dataset_new }, { NULL, NULL } };
    static const luaL_Reg methods[] = { { "get", dataset_get_ref }, { "add", dataset_put },
                                        { NULL, NULL } };

    return lua_library(state, functions, DATASET_CLASS, methods);
}
#endif
