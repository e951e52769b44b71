/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/proto/dns_lib.c - the library suricata.dns: the current transaction, which is one
 * message. */
#include "config.h"

#ifdef HAVE_LUA
#include "app/proto/dns/dns.h"
#include "detect/lua/sandbox.h"
#include "detect/lua/libraries.h"

#include <ctype.h>
#include <stdio.h>

#define DNS_CLASS "suricata:dns:tx"

/* The object holds no data: its methods read the transaction of the current call. */
static int dns_get_tx(lua_State *state)
{
    if (lua_tx_of(state, "dns") == NULL)
        return lua_push_failure(state, "error: protocol not dns");
    return lua_object_push(state, DNS_CLASS, 0);
}

/* Raises an error when the object is from an earlier call. */
static const struct dns_message *message_of(lua_State *state)
{
    lua_object_check(state, DNS_CLASS);
    return dns_message_of(lua_context_of(state)->tx);
}

static int dns_txid(lua_State *state)
{
    lua_pushinteger(state, message_of(state)->id);
    return 1;
}

/* The name of the first question; a message without one gives nil. */
static int dns_rrname(lua_State *state)
{
    const struct dns_message *m = message_of(state);

    if (m->question_count > 0)
        return lua_push_slice(state, m->question[0].name.text);
    lua_pushnil(state);
    return 1;
}

static int dns_rcode_number(lua_State *state)
{
    lua_pushinteger(state, dns_rcode(message_of(state)));
    return 1;
}

/* "NXDOMAIN"; a number without a name as digits. */
static int push_upper(lua_State *state, const struct app_name *names, int64_t value)
{
    char text[32];

    for (; names->name != NULL && names->value != value; names++)
        ;
    if (names->name == NULL) {
        snprintf(text, sizeof(text), "%lld", (long long)value);
    } else {
        size_t n = 0;

        for (; names->name[n] != '\0' && n + 1 < sizeof(text); n++)
            text[n] = (char)toupper((unsigned char)names->name[n]);
        text[n] = '\0';
    }
    lua_pushstring(state, text);
    return 1;
}

static int dns_rcode_string(lua_State *state)
{
    return push_upper(state, dns_rcodes, dns_rcode(message_of(state)));
}

static int dns_recursion_desired(lua_State *state)
{
    lua_pushboolean(state, message_of(state)->flags & DNS_FLAG_RD);
    return 1;
}

static void push_type(lua_State *state, uint16_t type)
{
    char text[DNS_TYPE_SIZE];

    lua_pushstring(state, dns_type_text(type, text));
    lua_setfield(state, -2, "type");
}

/* Rows are numbered from 0, as in Suricata, and not from 1 as in Lua. */
static int dns_queries(lua_State *state)
{
    const struct dns_message *m = message_of(state);

    lua_newtable(state);
    for (unsigned i = 0; i < m->question_count; i++) {
        lua_newtable(state);
        push_type(state, m->question[i].type);
        lua_push_slice(state, m->question[i].name.text);
        lua_setfield(state, -2, "rrname");
        lua_rawseti(state, -2, i);
    }
    return 1;
}

/* The strings of a TXT record, joined with blanks. */
static void push_texts(lua_State *state, struct slice data)
{
    struct bytes in = bytes_of(data.data, data.len);
    struct slice text;
    luaL_Buffer b;

    luaL_buffinit(state, &b);
    for (bool first = true; dns_take_text(&in, &text); first = false) {
        if (!first)
            luaL_addchar(&b, ' ');
        luaL_addlstring(&b, (const char *)text.data, text.len);
    }
    luaL_pushresult(&b);
}

/* All kinds of data have the key "addr", as in Suricata. An empty one is left out. */
static void push_data(lua_State *state, const struct dns_record *r)
{
    char text[DNS_ADDRESS_SIZE];

    switch (r->type) {
    case DNS_A:
    case DNS_AAAA:
        dns_address(r->data, text);
        lua_pushstring(state, text);
        break;
    case DNS_CNAME:
    case DNS_NS:
    case DNS_PTR:
    case DNS_MX:
    case DNS_SRV:
    case DNS_SOA:
        lua_push_slice(state, r->target.text);
        break;
    case DNS_TXT:
        push_texts(state, r->data);
        break;
    default:
        lua_push_slice(state, r->data);
        break;
    }
    if (lua_rawlen(state, -1) > 0)
        lua_setfield(state, -2, "addr");
    else
        lua_pop(state, 1);
}

/* One table per record; numbered from 0. */
static int push_section(lua_State *state, const struct dns_section *section)
{
    lua_newtable(state);
    for (unsigned i = 0; i < section->count; i++) {
        const struct dns_record *r = &section->at[i];

        lua_newtable(state);
        push_type(state, r->type);
        lua_pushinteger(state, r->ttl);
        lua_setfield(state, -2, "ttl");
        lua_push_slice(state, r->name.text);
        lua_setfield(state, -2, "rrname");
        push_data(state, r);
        lua_rawseti(state, -2, i);
    }
    return 1;
}

static int dns_answers(lua_State *state)
{
    return push_section(state, &message_of(state)->answers);
}

static int dns_authorities(lua_State *state)
{
    return push_section(state, &message_of(state)->authorities);
}

int lua_open_dns(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_tx", dns_get_tx }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "answers", dns_answers },
        { "authorities", dns_authorities },
        { "queries", dns_queries },
        { "rcode", dns_rcode_number },
        { "rcode_string", dns_rcode_string },
        { "recursion_desired", dns_recursion_desired },
        { "rrname", dns_rrname },
        { "txid", dns_txid },
        { NULL, NULL },
    };

    return lua_library(state, functions, DNS_CLASS, methods);
}
#endif
