/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/object.c - what all libraries need: objects, values, transactions. An object
 * holds no pointer into the engine, because a script can keep it. It holds the epoch of
 * the call that made it, and methods reject an object of an earlier call. */
#include "config.h"

#ifdef HAVE_LUA
#include "base/text/ip.h"
#include "detect/lua/sandbox.h"
#include "detect/rule/ruleset_private.h"

#include <string.h>
#include <time.h>

struct object { uint64_t epoch; int64_t value; }; /* `value` is the library's */

int lua_object_push(lua_State *state, const char *class_name, int64_t value)
{
    struct object *o = lua_newuserdatauv(state, sizeof(*o), 0);

    o->epoch = lua_context_of(state)->epoch;
    o->value = value;
    luaL_setmetatable(state, class_name);
    return 1;
}

int64_t lua_object_check(lua_State *state, const char *class_name)
{
    const struct object *o = luaL_checkudata(state, 1, class_name);

    if (o->epoch != lua_context_of(state)->epoch)
        luaL_error(state, "%s is no longer valid: get it again in each call", class_name);
    return o->value;
}

/* Leaves a table of functions on the stack. The metatable is found by its name later. */
int lua_library(lua_State *state, const luaL_Reg *functions, const char *class_name,
                const luaL_Reg *methods)
{
    if (class_name != NULL) {
        luaL_newmetatable(state, class_name);
        lua_pushvalue(state, -1);
        lua_setfield(state, -2, "__index");
        luaL_setfuncs(state, methods, 0);
        lua_pop(state, 1);
    }
    lua_newtable(state);
    luaL_setfuncs(state, functions, 0);
    return 1;
}

int lua_push_slice(lua_State *state, struct slice s)
{
    lua_pushlstring(state, s.len > 0 ? (const char *)s.data : "", s.len);
    return 1;
}

/* nil and a text: what Suricata's libraries return on failure. */
int lua_push_failure(lua_State *state, const char *why)
{
    lua_pushnil(state);
    lua_pushstring(state, why);
    return 2;
}

/* localtime_r(3) uses the engine's time zone, as EVE does. */
static int push_time(lua_State *state, uint64_t time_us, const char *format, bool zone)
{
    time_t second = (time_t)(time_us / 1000000);
    char text[64], offset[8] = "";
    struct tm tm;

    localtime_r(&second, &tm);
    strftime(text, sizeof(text), format, &tm);
    if (zone)
        strftime(offset, sizeof(offset), "%z", &tm);
    lua_pushfstring(state, "%s.", text);
    snprintf(text, sizeof(text), "%06u%s", (unsigned)(time_us % 1000000), offset);
    lua_pushstring(state, text);
    lua_concat(state, 2);
    return 1;
}

int lua_push_legacy_time(lua_State *state, uint64_t time_us)
{
    return push_time(state, time_us, "%m/%d/%Y-%H:%M:%S", false);
}

int lua_push_iso_time(lua_State *state, uint64_t time_us)
{
    return push_time(state, time_us, "%Y-%m-%dT%H:%M:%S", true);
}

int lua_push_address(lua_State *state, const struct ip *ip)
{
    char text[IP_TEXT_SIZE];
    size_t n = ip_format(ip, text);

    lua_pushlstring(state, text, n);
    return 1;
}

/* --- transactions ------------------------------------------------------------------------- */

/* NULL: the call is about no transaction, or about one of another protocol. */
struct app_tx *lua_tx_of(lua_State *state, const char *proto)
{
    struct app_tx *tx = lua_context_of(state)->tx;

    return tx != NULL && strcmp(tx->flow->proto->name, proto) == 0 ? tx : NULL;
}

static const struct app_buffer *buffer_of(const struct app_proto *proto, const char *name)
{
    for (unsigned i = 0; proto->buffers != NULL && proto->buffers[i] != NULL; i++)
        if (strcmp(proto->buffers[i]->name, name) == 0)
            return proto->buffers[i];
    return NULL;
}

/* A buffer exists once the transaction has made the progress that its declaration names.
 * Earlier reading would see half of it. */
bool lua_find_buffer(struct app_tx *tx, const char *name, enum direction d, unsigned index,
                     struct slice *out)
{
    const struct app_buffer *b = buffer_of(tx->flow->proto, name);

    return b != NULL && (b->directions & APP_DIRECTION_BIT(d)) && (index == 0 || b->multi) &&
           (tx->progress[d] >= b->progress[d] || app_tx_done(tx, d, tx->flow->proto)) &&
           app_buffer_get(b, tx, d, index, out);
}

int lua_push_buffer(lua_State *state, struct app_tx *tx, const char *name, enum direction d)
{
    struct slice data;

    if (lua_find_buffer(tx, name, d, 0, &data))
        return lua_push_slice(state, data);
    lua_pushnil(state);
    return 1;
}

/* Works only while rules are loaded (context.ruleset), because parsers compute only what rules or
 * outputs require. */
void lua_require_buffer(lua_State *state, const char *proto_name, const char *name)
{
    const struct app_proto *proto = app_proto_by_name(proto_name);
    const struct app_buffer *b = proto != NULL ? buffer_of(proto, name) : NULL;
    struct ruleset *set = lua_context_of(state)->ruleset;

    if (b == NULL || set == NULL)
        return;
    set->required.features[proto->id] |= b->feature;
    set->required.files |= b->files;
    if (b->files & APP_FILE_CONTENT)
        set->required.file_content[proto->id] |= APP_BOTH;
}
#endif
