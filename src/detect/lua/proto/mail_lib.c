/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/proto/mail_lib.c - the libraries suricata.smtp and suricata.ssh. */
#include "config.h"

#ifdef HAVE_LUA
#include "app/lib/mime/mime.h"
#include "app/proto/smtp/smtp.h"
#include "app/proto/ssh/ssh.h"
#include "detect/lua/sandbox.h"
#include "detect/lua/libraries.h"

#include <ctype.h>

#define SMTP_CLASS "suricata:smtp:tx"
#define SSH_CLASS "suricata:ssh:tx"
#define FIELD_NAME_MAX 128 /* longer names cannot be found */

/* --- SMTP --------------------------------------------------------------------------------- */

static int smtp_get_tx(lua_State *state)
{
    if (lua_tx_of(state, "smtp") == NULL)
        return lua_push_failure(state, "error: protocol not SMTP");
    return lua_object_push(state, SMTP_CLASS, 0);
}

static const struct smtp_tx *smtp_tx_of(lua_State *state)
{
    lua_object_check(state, SMTP_CLASS);
    return (const struct smtp_tx *)(const void *)lua_context_of(state)->tx;
}

/* The parser keeps names in lower case, so the argument is converted. */
static int smtp_mime_field(lua_State *state)
{
    const struct smtp_tx *tx = smtp_tx_of(state);
    const char *name = luaL_checkstring(state, 2);
    char lower[FIELD_NAME_MAX];
    struct slice value;
    size_t n = 0;

    if (tx->message == NULL)
        return lua_push_failure(state, "no mime state");
    for (; name[n] != '\0' && n + 1 < sizeof(lower); n++)
        lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = '\0';
    if (mime_field_find(tx->message, lower, &value))
        return lua_push_slice(state, value);
    return lua_push_failure(state, "request mime field not found");
}

/* Continuation lines have no name and are left out. */
static int smtp_mime_list(lua_State *state)
{
    const struct smtp_tx *tx = smtp_tx_of(state);
    const struct mime_field *f;
    int n = 1;

    if (tx->message == NULL)
        return lua_push_failure(state, "no mime state");
    lua_newtable(state);
    for (f = mime_fields(tx->message); f != NULL; f = f->next) {
        if (f->name.len == 0)
            continue;
        lua_push_slice(state, f->name);
        lua_rawseti(state, -2, n++);
    }
    return 1;
}

static int smtp_mail_from(lua_State *state)
{
    const struct smtp_tx *tx = smtp_tx_of(state);

    if (tx->mail_from.len > 0)
        return lua_push_slice(state, tx->mail_from);
    lua_pushnil(state);
    return 1;
}

static int smtp_rcpt_list(lua_State *state)
{
    const struct smtp_tx *tx = smtp_tx_of(state);
    int n = 1;

    lua_newtable(state);
    for (const struct smtp_recipient *r = tx->recipients; r != NULL; r = r->next) {
        lua_push_slice(state, r->address);
        lua_rawseti(state, -2, n++);
    }
    return 1;
}

int lua_open_smtp(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_tx", smtp_get_tx }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "get_mime_field", smtp_mime_field },
        { "get_mime_list", smtp_mime_list },
        { "get_mail_from", smtp_mail_from },
        { "get_rcpt_list", smtp_rcpt_list },
        { NULL, NULL },
    };

    return lua_library(state, functions, SMTP_CLASS, methods);
}

/* --- SSH ---------------------------------------------------------------------------------- */

static int ssh_get_tx(lua_State *state)
{
    if (lua_tx_of(state, "ssh") == NULL)
        return lua_push_failure(state, "error: protocol not ssh");
    return lua_object_push(state, SSH_CLASS, 0);
}

/* Called from init(): the parser computes HASSH only if it is required. */
static int ssh_enable_hassh(lua_State *state)
{
    lua_require_buffer(state, "ssh", "ssh.hassh");
    return 0;
}

/* TO_CLIENT is what the server sent. */
static const struct ssh_dir *ssh_dir_of(lua_State *state, enum direction d)
{
    lua_object_check(state, SSH_CLASS);
    return &ssh_tx_of(lua_context_of(state)->tx)->ds[d];
}

/* Pushes nil for what has not been seen yet. */
static int push_known(lua_State *state, struct slice s)
{
    if (s.len > 0)
        return lua_push_slice(state, s);
    lua_pushnil(state);
    return 1;
}

#define SSH_METHOD(name, direction, member)                          \
    static int ssh_##name(lua_State *state)                          \
    {                                                                \
        return push_known(state, ssh_dir_of(state, direction)->member); \
    }
SSH_METHOD(server_proto, TO_CLIENT, proto)
SSH_METHOD(server_software, TO_CLIENT, software)
SSH_METHOD(server_hassh, TO_CLIENT, hassh)
SSH_METHOD(server_hassh_string, TO_CLIENT, hassh_string)
SSH_METHOD(client_proto, TO_SERVER, proto)
SSH_METHOD(client_software, TO_SERVER, software)
SSH_METHOD(client_hassh, TO_SERVER, hassh)
SSH_METHOD(client_hassh_string, TO_SERVER, hassh_string)

int lua_open_ssh(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_tx", ssh_get_tx },
                                          { "enable_hassh", ssh_enable_hassh }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "server_proto", ssh_server_proto },
        { "server_software", ssh_server_software },
        { "client_proto", ssh_client_proto },
        { "client_software", ssh_client_software },
        { "client_hassh", ssh_client_hassh },
        { "server_hassh", ssh_server_hassh },
        { "client_hassh_string", ssh_client_hassh_string },
        { "server_hassh_string", ssh_server_hassh_string },
        { NULL, NULL },
    };

    return lua_library(state, functions, SSH_CLASS, methods);
}
#endif
