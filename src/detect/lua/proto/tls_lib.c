/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/proto/tls_lib.c - the libraries suricata.tls and suricata.ja3: the handshake of both
 * sides. */
#include "config.h"

#ifdef HAVE_LUA
#include "app/proto/tls/tls.h"
#include "app/proto/tls/version.h"
#include "detect/lua/sandbox.h"
#include "detect/lua/libraries.h"

#define TLS_CLASS "suricata:tls"
#define JA3_CLASS "suricata:ja3:tx"

static int tls_get_tx(lua_State *state)
{
    if (lua_tx_of(state, "tls") == NULL)
        return lua_push_failure(state, "error: protocol not tls");
    return lua_object_push(state, TLS_CLASS, 0);
}

/* TO_CLIENT is what the server sent. */
static const struct tls_dir *dir_of(lua_State *state, enum direction d)
{
    lua_object_check(state, TLS_CLASS);
    return &tls_tx_of(lua_context_of(state)->tx)->ds[d];
}

/* Seconds since 1970, from the first certificate. */
static int push_date(lua_State *state, enum direction d, bool after)
{
    const struct tls_dir *s = dir_of(state, d);

    if (!s->has_certificate)
        return lua_push_failure(state, after ? "error: no certificate NotAfter"
                                             : "error: no certificate NotBefore");
    lua_pushinteger(state, after ? tls_certificate_of(s)->not_after
                                 : tls_certificate_of(s)->not_before);
    return 1;
}

static int push_version(lua_State *state, enum direction d)
{
    char text[TLS_VERSION_TEXT];

    lua_pushstring(state, tls_version_name(dir_of(state, d)->version, text));
    return 1;
}

static int push_serial(lua_State *state, enum direction d)
{
    const struct tls_dir *s = dir_of(state, d);

    if (!s->has_certificate || tls_certificate_of(s)->serial.len == 0)
        return lua_push_failure(state, "error: no certificate serial");
    return lua_push_slice(state, tls_certificate_of(s)->serial);
}

/* Version, subject, issuer and fingerprint; the version is always the server's, which
 * chose it. */
static int push_info(lua_State *state, enum direction d)
{
    const struct tls_dir *s = dir_of(state, d);

    if (!s->has_certificate)
        return lua_push_failure(state, "error: no cert");
    push_version(state, TO_CLIENT);
    lua_push_slice(state, tls_certificate_of(s)->subject);
    lua_push_slice(state, tls_certificate_of(s)->issuer);
    lua_push_slice(state, tls_certificate_of(s)->fingerprint);
    return 4;
}

/* The certificates in DER that the parser has stored, numbered from 0, as in Suricata. */
static int push_chain(lua_State *state, enum direction d)
{
    const struct tls_dir *s = dir_of(state, d);

    lua_newtable(state);
    for (unsigned i = 0; i < tls_chain_retained(s); i++) {
        lua_newtable(state);
        lua_pushinteger(state, s->chain->der[i].len);
        lua_setfield(state, -2, "length");
        lua_push_slice(state, s->chain->der[i]);
        lua_setfield(state, -2, "data");
        lua_rawseti(state, -2, i);
    }
    return 1;
}

/* Each method exists for the server and for the client. */
#define TLS_METHOD(name, push, ...)                                             \
    static int tls_##name(lua_State *state) { return push(state, __VA_ARGS__); }
TLS_METHOD(server_not_before, push_date, TO_CLIENT, false)
TLS_METHOD(client_not_before, push_date, TO_SERVER, false)
TLS_METHOD(server_not_after, push_date, TO_CLIENT, true)
TLS_METHOD(client_not_after, push_date, TO_SERVER, true)
TLS_METHOD(server_version, push_version, TO_CLIENT)
TLS_METHOD(client_version, push_version, TO_SERVER)
TLS_METHOD(server_serial, push_serial, TO_CLIENT)
TLS_METHOD(client_serial, push_serial, TO_SERVER)
TLS_METHOD(server_cert_info, push_info, TO_CLIENT)
TLS_METHOD(client_cert_info, push_info, TO_SERVER)
TLS_METHOD(server_cert_chain, push_chain, TO_CLIENT)
TLS_METHOD(client_cert_chain, push_chain, TO_SERVER)

static int tls_client_sni(lua_State *state)
{
    struct slice name;

    lua_object_check(state, TLS_CLASS);
    if (lua_find_buffer(lua_context_of(state)->tx, "tls.sni", TO_SERVER, 0, &name))
        return lua_push_slice(state, name);
    return lua_push_failure(state, "error: no server name indication");
}

/* Loading the library is enough to make the parser keep certificates. */
int lua_open_tls(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_tx", tls_get_tx }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "get_server_cert_not_before", tls_server_not_before },
        { "get_client_cert_not_before", tls_client_not_before },
        { "get_server_cert_not_after", tls_server_not_after },
        { "get_client_cert_not_after", tls_client_not_after },
        { "get_server_version", tls_server_version },
        { "get_client_version", tls_client_version },
        { "get_server_serial", tls_server_serial },
        { "get_client_serial", tls_client_serial },
        { "get_server_cert_info", tls_server_cert_info },
        { "get_client_cert_info", tls_client_cert_info },
        { "get_client_sni", tls_client_sni },
        { "get_client_cert_chain", tls_client_cert_chain },
        { "get_server_cert_chain", tls_server_cert_chain },
        { NULL, NULL },
    };

    lua_require_buffer(state, "tls", "tls.certs");
    return lua_library(state, functions, TLS_CLASS, methods);
}

/* --- JA3: of TLS or QUIC ------------------------------------------------------------------ */

/* Called from init(): the parsers compute JA3 only if it is required. */
static int ja3_enable(lua_State *state)
{
    static const char *const protos[] = { "tls", "quic" };
    static const char *const buffers[] = { "ja3.hash", "ja3.string", "ja3s.hash", "ja3s.string" };

    for (unsigned i = 0; i < ARRAY_LEN(protos); i++)
        for (unsigned k = 0; k < ARRAY_LEN(buffers); k++)
            lua_require_buffer(state, protos[i], buffers[k]);
    return 0;
}

static int ja3_get_tx(lua_State *state)
{
    if (lua_tx_of(state, "tls") == NULL && lua_tx_of(state, "quic") == NULL)
        return lua_push_failure(state, "error: protocol nor tls neither quic");
    return lua_object_push(state, JA3_CLASS, 0);
}

static int push_ja3(lua_State *state, const char *name, enum direction d)
{
    lua_object_check(state, JA3_CLASS);
    return lua_push_buffer(state, lua_context_of(state)->tx, name, d);
}

static int ja3_hash(lua_State *state) { return push_ja3(state, "ja3.hash", TO_SERVER); }
static int ja3_string(lua_State *state) { return push_ja3(state, "ja3.string", TO_SERVER); }
static int ja3s_hash(lua_State *state) { return push_ja3(state, "ja3s.hash", TO_CLIENT); }
static int ja3s_string(lua_State *state) { return push_ja3(state, "ja3s.string", TO_CLIENT); }

int lua_open_ja3(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_tx", ja3_get_tx }, { "enable_ja3", ja3_enable },
                                          { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "ja3_get_hash", ja3_hash },
        { "ja3_get_string", ja3_string },
        { "ja3s_get_hash", ja3s_hash },
        { "ja3s_get_string", ja3s_string },
        { NULL, NULL },
    };

    return lua_library(state, functions, JA3_CLASS, methods);
}
#endif
