/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/proto/dnp3_lib.c - the library suricata.dnp3: the current message, as one table.
 * The table is a copy, so it stays valid after the call. The keys are Suricata's. */
#include "config.h"

#ifdef HAVE_LUA
#include "app/proto/dnp3/dnp3.h"
#include "detect/lua/sandbox.h"
#include "detect/lua/libraries.h"

/* The table is on top of the stack. */
static void set_integer(lua_State *state, const char *key, uint64_t value)
{
    lua_pushinteger(state, (lua_Integer)value);
    lua_setfield(state, -2, key);
}

static void set_boolean(lua_State *state, const char *key, bool value)
{
    lua_pushboolean(state, value);
    lua_setfield(state, -2, key);
}

/* One value of an object, with its fields. Their number depends on group and variation. */
static void push_point(lua_State *state, const struct dnp3_point *point)
{
    lua_newtable(state);
    set_integer(state, "index", point->index);
    for (unsigned i = 0; i < point->count; i++) {
        const struct dnp3_value *v = &point->value[i];

        if (v->kind == DNP3_NUMBER)
            lua_pushinteger(state, (lua_Integer)v->number);
        else if (v->kind == DNP3_REAL)
            lua_pushnumber(state, v->real);
        else
            lua_push_slice(state, v->bytes);
        lua_setfield(state, -2, v->name);
    }
}

/* The points are decoded again for each call: they are not kept. */
static void push_points(lua_State *state, const struct dnp3_object *o)
{
    struct dnp3_points points = dnp3_points_of(o);
    struct dnp3_point point;

    lua_newtable(state);
    for (int n = 1; dnp3_next_point(&points, &point); n++) {
        push_point(state, &point);
        lua_rawseti(state, -2, n);
    }
}

static void push_objects(lua_State *state, const struct dnp3_object *o)
{
    lua_newtable(state);
    for (int n = 1; o != NULL; o = o->next, n++) {
        lua_newtable(state);
        set_integer(state, "group", o->group);
        set_integer(state, "variation", o->variation);
        push_points(state, o);
        lua_setfield(state, -2, "points");
        lua_rawseti(state, -2, n);
    }
}

/* The header of the data link layer. */
static void push_link(lua_State *state, const struct dnp3_link *link)
{
    lua_newtable(state);
    set_integer(state, "len", link->length);
    set_integer(state, "control", link->control);
    set_integer(state, "dst", link->destination);
    set_integer(state, "src", link->source);
    set_integer(state, "crc", link->crc);
}

static void push_message(lua_State *state, const struct dnp3_tx *t)
{
    lua_newtable(state);
    set_boolean(state, "done", t->done);
    set_boolean(state, "complete", t->complete);
    push_link(state, &t->link);
    lua_setfield(state, -2, "link_header");
    set_integer(state, "transport_header", t->transport);
    lua_newtable(state);
    set_integer(state, "control", t->control);
    set_integer(state, "function_code", t->function);
    lua_setfield(state, -2, "application_header");
    if (!t->is_request)
        set_integer(state, "indicators", t->indications);
    push_objects(state, t->objects);
    lua_setfield(state, -2, "objects");
}

/* tx_num counts from 1, as in Suricata. nil and a text when the flow is not DNP3. */
static int dnp3_get_tx(lua_State *state)
{
    const struct app_tx *tx = lua_tx_of(state, "dnp3");
    const struct dnp3_tx *t;

    if (tx == NULL)
        return lua_push_failure(state, "error: protocol not dnp3");
    t = dnp3_tx_of(tx);
    lua_newtable(state);
    set_integer(state, "tx_num", tx->id + 1);
    set_boolean(state, "is_request", t->is_request);
    push_message(state, t);
    lua_setfield(state, -2, t->is_request ? "request" : "response");
    return 1;
}

int lua_open_dnp3(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_tx", dnp3_get_tx }, { NULL, NULL } };

    luaL_newlib(state, functions);
    return 1;
}
#endif
