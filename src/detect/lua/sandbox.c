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

static void *box_alloc(void *arg, void *old, size_t old_size, size_t new_size)
{
    struct lua_box *box = arg;
    void *new;

    if (old == NULL)
        old_size = 0;           /* Lua passes the kind of object then */
    if (new_size == 0) {
        free(old);
        box->bytes -= old_size;
        return NULL;
    }
    if (new_size > old_size && box->bytes_limit > 0 &&
        box->bytes + (new_size - old_size) > box->bytes_limit) {
        box->out_of_memory = true;
        return NULL;
    }
    new = realloc(old, new_size);
    if (new != NULL)
        box->bytes += new_size - old_size;
    return new;
}

static void box_hook(lua_State *state, lua_Debug *at UNUSED)
{
    struct lua_box *box = lua_box_of(state);

    box->instructions += HOOK_STEP;
    if (box->limits.max_instructions > 0 && box->instructions > box->limits.max_instructions) {
        box->out_of_instructions = true;
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

    lua_box_of(state)->blocked = true;
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

struct lua_box *lua_box_new(const struct lua_limits *limits)
{
    struct lua_box *box = xcalloc(1, sizeof(*box));

    box->limits = *limits;
    box->state = lua_newstate(box_alloc, box);
    if (box->state == NULL) {
        free(box);
        return NULL;
    }
    *(struct lua_box **)lua_getextraspace(box->state) = box;
    if (limits->open) {
        luaL_openlibs(box->state);
        lua_libraries_preload(box->state);
    } else {
        sandbox_open(box->state);
    }
    if (limits->max_instructions > 0)
        lua_sethook(box->state, box_hook, LUA_MASKCOUNT, HOOK_STEP);
    return box;
}

void lua_box_free(struct lua_box *box)
{
    if (box == NULL)
        return;
    box->bytes_limit = 0;
    lua_close(box->state);
    free(box);
}

struct lua_box *lua_box_of(lua_State *state)
{
    return *(struct lua_box **)lua_getextraspace(state);
}

int lua_box_load(struct lua_box *box, const char *path, struct err *err)
{
    struct where at = { 0 };

    lua_box_prepare(box);
    if (luaL_loadfile(box->state, path) != LUA_OK)
        return err_at(err, at, "couldn't load file: %s", lua_tostring(box->state, -1));
    if (lua_box_call(box, 0, 0) < 0)
        return err_at(err, at, "couldn't prime file: %s", lua_tostring(box->state, -1));
    return 0;
}

bool lua_box_has_function(struct lua_box *box, const char *name)
{
    bool has;

    lua_getglobal(box->state, name);
    has = lua_isfunction(box->state, -1);
    lua_pop(box->state, 1);
    return has;
}

void lua_box_prepare(struct lua_box *box)
{
    lua_settop(box->state, 0);
    box->bytes_limit = 0;
    box->context.turn++;
}

int lua_box_call(struct lua_box *box, int args, int results)
{
    int r;

    box->instructions = 0;
    box->out_of_memory = box->out_of_instructions = box->blocked = false;
    if (box->limits.max_bytes > 0)
        box->bytes_limit = box->bytes + box->limits.max_bytes;
    r = lua_pcall(box->state, args, results, 0);
    box->bytes_limit = 0;
    return r == LUA_OK ? 0 : -1;
}
#endif
