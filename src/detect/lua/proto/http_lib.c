/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/proto/http_lib.c - the library suricata.http: the current transaction, through the
 * buffers that the protocol declares. A script sees the bytes that rules see. */
#include "config.h"

#ifdef HAVE_LUA
#include "app/proto.h"
#include "app/rules.h"
#include "detect/lua/libraries.h"
#include "detect/lua/sandbox.h"

#include <string.h>
#include <strings.h>

#define HTTP_CLASS "suricata:http:tx"

static int http_get_tx(lua_State *state)
{
    if (lua_tx_of(state, "http") == NULL)
        return lua_push_failure(state, "error: protocol not http");
    return lua_object_push(state, HTTP_CLASS, 0);
}

static struct app_tx *tx_of(lua_State *state)
{
    lua_object_check(state, HTTP_CLASS);
    return lua_context_of(state)->tx;
}

/* `missing`: the text for an empty buffer; NULL: only nil, as Suricata returns for this
 * method. */
static int push_buffer(lua_State *state, const char *buffer, enum direction d, const char *missing)
{
    struct slice data;

    if (lua_find_buffer(tx_of(state), buffer, d, 0, &data) && data.len > 0)
        return lua_push_slice(state, data);
    if (missing != NULL)
        return lua_push_failure(state, missing);
    lua_pushnil(state);
    return 1;
}

static int http_request_host(lua_State *state)
{
    return push_buffer(state, "http.host", TO_SERVER, NULL);
}

static int http_uri_raw(lua_State *state)
{
    return push_buffer(state, "http.uri.raw", TO_SERVER, NULL);
}

static int http_uri_normalized(lua_State *state)
{
    return push_buffer(state, "http.uri", TO_SERVER, "no normalized uri");
}

static int http_request_line(lua_State *state)
{
    return push_buffer(state, "http.request_line", TO_SERVER, NULL);
}

static int http_response_line(lua_State *state)
{
    return push_buffer(state, "http.response_line", TO_CLIENT, NULL);
}

static int http_request_headers_raw(lua_State *state)
{
    return push_buffer(state, "http.header.raw", TO_SERVER, "no raw headers");
}

static int http_response_headers_raw(lua_State *state)
{
    return push_buffer(state, "http.header.raw", TO_CLIENT, "no raw headers");
}

/* --- single headers ----------------------------------------------------------------------- */

/* The nth header, split at the colon. A line without one is a name with an empty value.
 * False: there is no nth. */
static bool header_nth(struct app_tx *tx, enum direction d, unsigned n, struct slice *name,
                       struct slice *value)
{
    const char *buffer = d == TO_SERVER ? "http.request_header" : "http.response_header";
    struct slice complete;
    const uint8_t *colon;

    if (!lua_find_buffer(tx, buffer, d, n, &complete))
        return false;
    colon = complete.len > 0 ? memchr(complete.data, ':', complete.len) : NULL;
    if (colon == NULL) {
        *name = complete;
        *value = (struct slice){ complete.data + complete.len, 0 };
        return true;
    }
    *name = (struct slice){ complete.data, (uint32_t)(colon - complete.data) };
    *value = (struct slice){ colon + 1, complete.len - name->len - 1 };
    while (value->len > 0 && value->data[0] == ' ') {
        value->data++;
        value->len--;
    }
    return true;
}

/* The first header of this name, in any case. A method's argument is on top of the stack. */
static int push_header(lua_State *state, enum direction d)
{
    struct app_tx *tx = tx_of(state);
    const char *target = lua_tostring(state, -1);
    struct slice name, value;

    if (target == NULL || target[0] == '\0')
        return lua_push_failure(state, "argument missing, empty or wrong type");
    for (unsigned i = 0; header_nth(tx, d, i, &name, &value); i++)
        if (name.len == strlen(target) && value.len > 0 &&
            strncasecmp((const char *)name.data, target, name.len) == 0)
            return lua_push_slice(state, value);
    return lua_push_failure(state, "header not found");
}

static int http_request_header(lua_State *state) { return push_header(state, TO_SERVER); }
static int http_response_header(lua_State *state) { return push_header(state, TO_CLIENT); }

/* Of several headers with one name the last wins, because they are keys of a table. */
static int push_headers(lua_State *state, enum direction d)
{
    struct app_tx *tx = tx_of(state);
    struct slice name, value;

    lua_newtable(state);
    for (unsigned i = 0; header_nth(tx, d, i, &name, &value); i++) {
        lua_push_slice(state, name);
        lua_push_slice(state, value);
        lua_settable(state, -3);
    }
    return 1;
}

static int http_request_headers(lua_State *state) { return push_headers(state, TO_SERVER); }
static int http_response_headers(lua_State *state) { return push_headers(state, TO_CLIENT); }

/* --- bodies ------------------------------------------------------------------------------- */

/* Returns a table with one part, and the offsets of its start and end. The part is what the parser
 * still stores of the body. */
static int push_body(lua_State *state, enum direction d)
{
    const char *name = d == TO_SERVER ? "http.request_body" : "http.response_body";
    struct app_tx *tx = tx_of(state);
    const struct app_buffer *const *b = tx->flow->proto->buffers;
    struct slice data;
    uint64_t from;

    while (*b != NULL && strcmp((*b)->name, name) != 0)
        b++;
    if (*b == NULL || !app_buffer_get(*b, tx, d, 0, &data) || data.len == 0)
        return lua_push_failure(state, "no body found");
    from = (*b)->position != NULL ? (*b)->position(tx, d, 0) : 0;
    lua_newtable(state);
    lua_push_slice(state, data);
    lua_rawseti(state, -2, 1);
    lua_pushinteger(state, (lua_Integer)from);
    lua_pushinteger(state, (lua_Integer)(from + data.len));
    return 3;
}

static int http_request_body(lua_State *state) { return push_body(state, TO_SERVER); }
static int http_response_body(lua_State *state) { return push_body(state, TO_CLIENT); }

int lua_open_http(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_tx", http_get_tx }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "request_header", http_request_header },
        { "response_header", http_response_header },
        { "request_line", http_request_line },
        { "response_line", http_response_line },
        { "request_headers_raw", http_request_headers_raw },
        { "response_headers_raw", http_response_headers_raw },
        { "request_uri_raw", http_uri_raw },
        { "request_uri_normalized", http_uri_normalized },
        { "request_headers", http_request_headers },
        { "response_headers", http_response_headers },
        { "request_host", http_request_host },
        { "request_body", http_request_body },
        { "response_body", http_response_body },
        { NULL, NULL },
    };

    return lua_library(state, functions, HTTP_CLASS, methods);
}
#endif
