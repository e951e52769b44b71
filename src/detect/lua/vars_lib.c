/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/vars_lib.c - the libraries suricata.flowvar, flowint and bytevar: variables
 * of the flow and of the rule. A script gets a handle once per thread, in thread_init().
 * The handle holds the variable's number and stays valid. */
#include "config.h"

#ifdef HAVE_LUA
#include "detect/lua/sandbox.h"
#include "detect/lua/libraries.h"
#include "detect/rule/rule.h"
#include "flow/vars.h"

#include <string.h>

#define FLOWVAR_CLASS "suricata:flowvar"
#define FLOWINT_CLASS "suricata:flowint"
#define BYTEVAR_CLASS "suricata:bytevar"
#define REGISTERED_MAX 15 /* Suricata's limit */

/* Makes a handle. */
static int push_number(lua_State *state, const char *class_name, uint32_t id)
{
    uint32_t *handle = lua_newuserdatauv(state, sizeof(*handle), 0);

    *handle = id;
    luaL_setmetatable(state, class_name);
    return 1;
}

static uint32_t number_of(lua_State *state, const char *class_name)
{
    return *(const uint32_t *)luaL_checkudata(state, 1, class_name);
}

/* Raises an error in a call about a packet without a flow. */
static struct flow *flow_needed(lua_State *state)
{
    struct flow *f = lua_context_of(state)->flow;

    if (f == NULL)
        luaL_error(state, "no flow");
    return f;
}

/* --- flowvar ------------------------------------------------------------------------------ */

/* Registers a name while rules are loaded. The limit counts per script. */
static int flowvar_register(lua_State *state)
{
    uint32_t id = var_name_id(VAR_FLOWVAR, luaL_checkstring(state, 1));

    if (lua_context_of(state)->flowvars++ == REGISTERED_MAX)
        return luaL_error(state, "too many flowvars registered");
    return push_number(state, FLOWVAR_CLASS, id);
}

static int flowvar_get(lua_State *state)
{
    return push_number(state, FLOWVAR_CLASS,
                       var_name_id(VAR_FLOWVAR, luaL_checkstring(state, 1)));
}

struct flowvar_search { uint32_t id; struct slice value; bool found; };

/* Skips values that have a key. */
static bool flowvar_visit(const struct flow_var_view *v, void *arg)
{
    struct flowvar_search *s = arg;

    if (v->kind != VAR_FLOWVAR || v->id != s->id || v->key.len > 0)
        return true;
    s->value = v->value;
    s->found = true;
    return false;
}

static int flowvar_value(lua_State *state)
{
    struct flowvar_search s = { .id = number_of(state, FLOWVAR_CLASS) };

    flow_vars_each(flow_needed(state), flowvar_visit, &s);
    if (s.found)
        return lua_push_slice(state, s.value);
    lua_pushnil(state);
    return 1;
}

/* The length is a separate argument, as in Suricata. */
static int flowvar_set(lua_State *state)
{
    uint32_t id = number_of(state, FLOWVAR_CLASS);
    size_t has;
    const char *value = luaL_checklstring(state, 2, &has);
    lua_Integer len = luaL_checkinteger(state, 3);

    if (len < 0 || (size_t)len > has || len > UINT16_MAX)
        return luaL_error(state, "flowvar: the length is not that of the value");
    lua_sandbox_charge(state, (uint64_t)len / LUA_READ_PER_STEP);
    flowvar_put(flow_needed(state), id, (struct slice){ NULL, 0 },
                (struct slice){ (const uint8_t *)value, (uint32_t)len });
    return 0;
}

int lua_open_flowvar(lua_State *state)
{
    static const luaL_Reg functions[] = { { "register", flowvar_register },
                                          { "get", flowvar_get }, { NULL, NULL } };
    static const luaL_Reg methods[] = { { "value", flowvar_value }, { "set", flowvar_set },
                                        { NULL, NULL } };

    return lua_library(state, functions, FLOWVAR_CLASS, methods);
}

/* --- flowint ------------------------------------------------------------------------------ */

static int flowint_register(lua_State *state)
{
    uint32_t id = var_name_id(VAR_FLOWINT, luaL_checkstring(state, 1));

    if (lua_context_of(state)->flowints++ == REGISTERED_MAX)
        return luaL_error(state, "too many flowints registered");
    return push_number(state, FLOWINT_CLASS, id);
}

static int flowint_handle(lua_State *state)
{
    return push_number(state, FLOWINT_CLASS,
                       var_name_id(VAR_FLOWINT, luaL_checkstring(state, 1)));
}

static int flowint_value(lua_State *state)
{
    uint32_t id = number_of(state, FLOWINT_CLASS), value;

    if (flowint_get(flow_needed(state), id, &value))
        lua_pushinteger(state, value);
    else
        lua_pushnil(state);
    return 1;
}

/* Returns the new value. */
static int flowint_store(lua_State *state, uint32_t id, uint32_t value)
{
    flowint_put(flow_needed(state), id, value);
    lua_pushinteger(state, value);
    return 1;
}

static int flowint_set(lua_State *state)
{
    lua_Integer value = luaL_checkinteger(state, 2);

    return flowint_store(state, number_of(state, FLOWINT_CLASS), (uint32_t)value);
}

/* Stops at the ends of 32 bits, unlike the keyword flowint, which wraps. A variable that
 * is not set starts at 0. */
static int flowint_step(lua_State *state, bool up)
{
    uint32_t id = number_of(state, FLOWINT_CLASS), value = 0;

    (void)flowint_get(flow_needed(state), id, &value);
    if (up)
        value += value < UINT32_MAX;
    else
        value -= value > 0;
    return flowint_store(state, id, value);
}

static int flowint_incr(lua_State *state) { return flowint_step(state, true); }
static int flowint_decr(lua_State *state) { return flowint_step(state, false); }

int lua_open_flowint(lua_State *state)
{
    static const luaL_Reg functions[] = { { "register", flowint_register },
                                          { "get", flowint_handle }, { NULL, NULL } };
    static const luaL_Reg methods[] = { { "value", flowint_value }, { "set", flowint_set },
                                        { "incr", flowint_incr }, { "decr", flowint_decr },
                                        { NULL, NULL } };

    return lua_library(state, functions, FLOWINT_CLASS, methods);
}

/* --- bytevar ------------------------------------------------------------------------------ */

/* -1: the rule has no such variable. Numbers are those of the rule, so handles belong to
 * it. */
static int var_index(const struct rule *rule, const char *name)
{
    for (unsigned i = 0; rule != NULL && i < rule->var_count; i++)
        if (strcmp(rule_info(rule)->var_names[i], name) == 0)
            return (int)i;
    return -1;
}

/* Called from init(): checks at load time that the rule defines the variable. */
static int bytevar_map(lua_State *state)
{
    const char *name = luaL_checkstring(state, -1);

    if (var_index(lua_context_of(state)->rule, name) < 0)
        return luaL_error(state, "unknown byte_extract or byte_math variable: %s", name);
    return 0;
}

static int bytevar_get(lua_State *state)
{
    const char *name = luaL_checkstring(state, 1);
    int i = var_index(lua_context_of(state)->rule, name);

    if (i < 0)
        return luaL_error(state, "unknown bytevar: %s", name);
    return push_number(state, BYTEVAR_CLASS, (uint32_t)i);
}

/* Only a call in the course of a rule's evaluation has values. */
static int bytevar_value(lua_State *state)
{
    uint32_t i = number_of(state, BYTEVAR_CLASS);
    const struct lua_context *c = lua_context_of(state);

    if (c->byte_vars == NULL || c->rule == NULL || i >= c->rule->var_count)
        return lua_push_failure(state, "no byte variables here");
    lua_pushinteger(state, (lua_Integer)c->byte_vars[i]);
    return 1;
}

int lua_open_bytevar(lua_State *state)
{
    static const luaL_Reg functions[] = { { "map", bytevar_map }, { "get", bytevar_get },
                                          { NULL, NULL } };
    static const luaL_Reg methods[] = { { "value", bytevar_value }, { NULL, NULL } };

    return lua_library(state, functions, BYTEVAR_CLASS, methods);
}
#endif
