/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/file_lib.c - the library suricata.file: the file that an output script is
 * called for. */
#include "config.h"

#ifdef HAVE_LUA
#include "app/lib/digest.h"
#include "app/core/file.h"
#include "base/system/digest.h"
#include "detect/lua/sandbox.h"
#include "detect/lua/libraries.h"

#define FILE_CLASS "suricata:file"

static int file_get_file(lua_State *state)
{
    if (lua_context_of(state)->file == NULL)
        return lua_push_failure(state, "error: no file found");
    return lua_object_push(state, FILE_CLASS, 0);
}

/* Raises an error when the object is from an earlier call. */
static struct app_file *file_of(lua_State *state)
{
    lua_object_check(state, FILE_CLASS);
    return lua_context_of(state)->file;
}

/* As in EVE: the number by which the store knows the file; 0 where it is not stored. */
static int file_id(lua_State *state)
{
    const struct app_file *file = file_of(state);

    lua_pushinteger(state, file->stored ? (lua_Integer)file->id : 0);
    return 1;
}

static int file_tx_id(lua_State *state)
{
    lua_pushinteger(state, (lua_Integer)file_of(state)->tx->id);
    return 1;
}

static int file_name(lua_State *state)
{
    return lua_push_slice(state, file_of(state)->name);
}

static int file_size(lua_State *state)
{
    lua_pushinteger(state, (lua_Integer)file_of(state)->size);
    return 1;
}

/* Computes the type on demand; nil without libmagic. */
static int file_magic(lua_State *state)
{
    lua_pushstring(state, app_file_magic(file_of(state)));
    return 1;
}

/* nil: no rule or output requires this hash, or the file has gaps. */
static int push_hash(lua_State *state, const uint8_t *hash, size_t len)
{
    char text[2 * DIGEST_MAX];

    if (hash != NULL)
        lua_pushlstring(state, text, hex_text(hash, len, 0, HEX_LOWER, text));
    else
        lua_pushnil(state);
    return 1;
}

static int file_md5(lua_State *state)
{
    const struct app_file *f = file_of(state);

    return push_hash(state, f->md5, DIGEST_MD5_BYTES);
}

static int file_sha1(lua_State *state)
{
    const struct app_file *f = file_of(state);

    return push_hash(state, f->sha1, DIGEST_SHA1_BYTES);
}

static int file_sha256(lua_State *state)
{
    const struct app_file *f = file_of(state);

    return push_hash(state, f->sha256, DIGEST_SHA256_BYTES);
}

/* Suricata's words. */
static int file_get_state(lua_State *state)
{
    static const char *const names[] = { [FILE_OPEN] = "OPENED", [FILE_CLOSED] = "CLOSED",
                                         [FILE_TRUNCATED] = "TRUNCATED", [FILE_ERROR] = "ERROR" };

    lua_pushstring(state, names[file_of(state)->state]);
    return 1;
}

static int file_is_stored(lua_State *state)
{
    lua_pushboolean(state, file_of(state)->stored);
    return 1;
}

int lua_open_file(lua_State *state)
{
    static const luaL_Reg functions[] = { { "get_file", file_get_file }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "file_id", file_id },
        { "tx_id", file_tx_id },
        { "name", file_name },
        { "size", file_size },
        { "magic", file_magic },
        { "md5", file_md5 },
        { "sha1", file_sha1 },
        { "sha256", file_sha256 },
        { "get_state", file_get_state },
        { "is_stored", file_is_stored },
        { NULL, NULL },
    };

    return lua_library(state, functions, FILE_CLASS, methods);
}
#endif
