/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/sandbox.c - the sandbox: memory and instructions are counted, functions that reach out
 * are replaced by one that only fails. */
#include "config.h"

#ifdef HAVE_LUA
#include "base/array.h"
#include "detect/lua/sandbox.h"

#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#define HOOK_STEP 100           /* instructions between two looks at the count */

/* --- limits ------------------------------------------------------------------------------- */

static void *sandbox_alloc(void *arg, void *old, size_t old_size, size_t new_size)
{
    struct lua_sandbox *sandbox = arg;
    void *new;

    if (old == NULL)
        old_size = 0;           /* Lua passes the kind of object then */
    if (new_size == 0) {
        free(old);
        sandbox->bytes -= old_size;
        return NULL;
    }
    if (new_size > old_size && sandbox->bytes_limit > 0 &&
        sandbox->bytes + (new_size - old_size) > sandbox->bytes_limit) {
        sandbox->out_of_memory = true;
        return NULL;
    }
    new = realloc(old, new_size);
    if (new != NULL)
        sandbox->bytes += new_size - old_size;
    return new;
}

static void sandbox_hook(lua_State *state, lua_Debug *at UNUSED)
{
    struct lua_sandbox *sandbox = lua_sandbox_of(state);

    sandbox->instructions += HOOK_STEP;
    if (sandbox->limits.max_instructions > 0 &&
        sandbox->instructions > sandbox->limits.max_instructions) {
        sandbox->out_of_instructions = true;
        luaL_error(state, "instruction limit exceeded");
    }
}

/* --- what a script may call --------------------------------------------------------------- */

static const char *const base_allowed[] = {
    "assert", "error", "ipairs", "next", "pairs", "print", "rawequal", "rawget", "rawlen",
    "rawset", "select", "tonumber", "tostring", "type", "warn", NULL,
};

/* Of base only some; of the others all. */
static const struct { luaL_Reg lib; const char *const *allowed; } sandbox_libs[] = {
    { { LUA_GNAME, luaopen_base }, base_allowed },
    { { LUA_TABLIBNAME, luaopen_table }, NULL },
    { { LUA_STRLIBNAME, luaopen_string }, NULL },
    { { LUA_MATHLIBNAME, luaopen_math }, NULL },
    { { LUA_UTF8LIBNAME, luaopen_utf8 }, NULL },
};

static int blocked_function(lua_State *state)
{
    lua_Debug at;

    lua_sandbox_of(state)->blocked = true;
    if (lua_getstack(state, 0, &at) && lua_getinfo(state, "n", &at) && at.name != NULL)
        return luaL_error(state, "Blocked Lua function called: %s", at.name);
    return luaL_error(state, "Blocked Lua function: name not available");
}

static bool is_listed(const char *const *list, const char *name)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* The library's table is on the stack. */
static void block_others(lua_State *state, const char *const *allowed)
{
    lua_pushnil(state);
    while (lua_next(state, -2)) {
        if (lua_type(state, -1) == LUA_TFUNCTION && lua_type(state, -2) == LUA_TSTRING &&
            !is_listed(allowed, lua_tostring(state, -2))) {
            lua_pushvalue(state, -2);
            lua_pushcfunction(state, blocked_function);
            lua_settable(state, -5);
        }
        lua_pop(state, 1);
    }
}

static int sandbox_require(lua_State *state)
{
    const char *name = luaL_checkstring(state, 1);

    if (lua_library_push(state, name))
        return 1;
    return luaL_error(state, "Module not found: %s", name);
}

static void sandbox_open(lua_State *state)
{
    for (unsigned i = 0; i < ARRAY_LEN(sandbox_libs); i++) {
        luaL_requiref(state, sandbox_libs[i].lib.name, sandbox_libs[i].lib.func, 1);
        if (sandbox_libs[i].allowed != NULL)
            block_others(state, sandbox_libs[i].allowed);
        lua_pop(state, 1);
    }
    lua_pushcfunction(state, sandbox_require);
    lua_setglobal(state, "require");
}

/* --- the box ------------------------------------------------------------------------------ */

struct lua_sandbox *lua_sandbox_new(const struct lua_limits *limits)
{
    struct lua_sandbox *sandbox = xcalloc(1, sizeof(*sandbox));

    sandbox->limits = *limits;
    sandbox->state = lua_newstate(sandbox_alloc, sandbox);
    if (sandbox->state == NULL) {
        free(sandbox);
        return NULL;
    }
    *(struct lua_sandbox **)lua_getextraspace(sandbox->state) = sandbox;
    if (limits->open) {
        luaL_openlibs(sandbox->state);
        lua_libraries_preload(sandbox->state);
    } else {
        sandbox_open(sandbox->state);
    }
    if (limits->max_instructions > 0)
        lua_sethook(sandbox->state, sandbox_hook, LUA_MASKCOUNT, HOOK_STEP);
    return sandbox;
}

void lua_sandbox_free(struct lua_sandbox *sandbox)
{
    if (sandbox == NULL)
        return;
    sandbox->bytes_limit = 0;
    lua_close(sandbox->state);
    free(sandbox);
}

struct lua_sandbox *lua_sandbox_of(lua_State *state)
{
    return *(struct lua_sandbox **)lua_getextraspace(state);
}

int lua_sandbox_load(struct lua_sandbox *sandbox, const char *path, struct err *err)
{
    struct where at = { 0 };

    lua_sandbox_prepare(sandbox);
    if (luaL_loadfile(sandbox->state, path) != LUA_OK)
        return err_at(err, at, "couldn't load file: %s", lua_tostring(sandbox->state, -1));
    if (lua_sandbox_call(sandbox, 0, 0) < 0)
        return err_at(err, at, "couldn't prime file: %s", lua_tostring(sandbox->state, -1));
    return 0;
}

bool lua_sandbox_has_function(struct lua_sandbox *sandbox, const char *name)
{
    bool has;

    lua_getglobal(sandbox->state, name);
    has = lua_isfunction(sandbox->state, -1);
    lua_pop(sandbox->state, 1);
    return has;
}

void lua_sandbox_prepare(struct lua_sandbox *sandbox)
{
    lua_settop(sandbox->state, 0);
    sandbox->bytes_limit = 0;
    sandbox->context.epoch++;
}

int lua_sandbox_call(struct lua_sandbox *sandbox, int args, int results)
{
    int r;

    sandbox->instructions = 0;
    sandbox->out_of_memory = sandbox->out_of_instructions = sandbox->blocked = false;
    if (sandbox->limits.max_bytes > 0)
        sandbox->bytes_limit = sandbox->bytes + sandbox->limits.max_bytes;
    r = lua_pcall(sandbox->state, args, results, 0);
    sandbox->bytes_limit = 0;
    return r == LUA_OK ? 0 : -1;
}
#endif
