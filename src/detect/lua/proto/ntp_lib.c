/* SPDX-License-Identifier: GPL-2.0-or-later */
/* suricata.ntp: the datagram of the current transaction. */
#include "config.h"

#ifdef HAVE_LUA
#include "app/proto/ntp/ntp.h"
#include "detect/lua/libraries.h"
#include "detect/lua/sandbox.h"

#define NTP_CLASS "suricata:ntp:tx"

static int ntp_get_tx(lua_State *state)
{
    if (lua_tx_of(state, "ntp") == NULL)
        return lua_push_failure(state, "error: protocol not ntp");
    return lua_object_push(state, NTP_CLASS, 0);
}

static const struct ntp_tx *datagram_of(lua_State *state)
{
    lua_object_check(state, NTP_CLASS);
    return ntp_tx_of(lua_context_of(state)->tx);
}

static int ntp_version(lua_State *state)
{
    lua_pushinteger(state, datagram_of(state)->version);
    return 1;
}

static int ntp_mode(lua_State *state)
{
    lua_pushinteger(state, datagram_of(state)->mode);
    return 1;
}

static int ntp_stratum(lua_State *state)
{
    lua_pushinteger(state, datagram_of(state)->stratum);
    return 1;
}

static int ntp_reference_id(lua_State *state)
{
    const struct ntp_tx *t = datagram_of(state);

    return lua_push_slice(state, (struct slice){ t->reference, sizeof(t->reference) });
}

int lua_open_ntp(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_tx", ntp_get_tx }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "mode", ntp_mode },
        { "reference_id", ntp_reference_id },
        { "stratum", ntp_stratum },
        { "version", ntp_version },
        { NULL, NULL },
    };

    return lua_library(state, functions, NTP_CLASS, methods);
}
#endif
