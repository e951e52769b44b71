/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lua/sandbox.c - the sandbox: counts memory and instructions of a script, and
 * replaces functions that reach out of it by one that only fails. A rule's sandbox belongs
 * to one thread. Those of outputs are open and used under their owner's lock;
 * security.lua.allow-restricted-functions opens those of rules too. An open sandbox has
 * all of Lua's libraries, but still loads no bytecode, because the interpreter does not
 * verify that. */
#include "config.h"

#ifdef HAVE_LUA
#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "detect/lua/counted.h"
#include "detect/lua/sandbox.h"

#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#define HOOK_STEP 100           /* instructions between two checks of the count */
#define RESERVATION ((uint64_t)64 << 10)        /* bytes taken from the total at once */
#define COLLECTED_PER_STEP 64   /* bytes that the collector visits in an instruction's time */
#define WRITTEN_PER_STEP 64     /* bytes that a function fills in that time */

/* --- limits ------------------------------------------------------------------------------- */

/* Without the libraries and the compiled script, which are the engine's choice. */
static uint64_t script_bytes(const struct lua_sandbox *sandbox)
{
    return sandbox->bytes > sandbox->own_bytes ? sandbox->bytes - sandbox->own_bytes : 0;
}

/* The sandbox reserves memory from the limit of all scripts in steps, so that threads
 * rarely touch the shared counter. False: all scripts together hold too much. */
static bool reserve(struct lua_sandbox *sandbox, uint64_t more)
{
    struct lua_total *total = sandbox->limits.total;
    uint64_t need = script_bytes(sandbox) + more, step;

    if (total == NULL)
        return true;
    if (sandbox->reserved > need + 2 * RESERVATION) {
        step = sandbox->reserved - need - RESERVATION;
        __atomic_sub_fetch(&total->used, step, __ATOMIC_RELAXED);
        sandbox->reserved -= step;
    }
    if (need <= sandbox->reserved)
        return true;
    step = need - sandbox->reserved + RESERVATION;
    if (__atomic_add_fetch(&total->used, step, __ATOMIC_RELAXED) > total->limit &&
        total->limit > 0 && sandbox->bytes_limit > 0) {
        __atomic_sub_fetch(&total->used, step, __ATOMIC_RELAXED);
        return false;
    }
    sandbox->reserved += step;
    return true;
}

/* When an allocation fails, Lua collects all garbage and tries again. That costs time, so
 * it is counted as instructions. Otherwise a script at its memory limit would collect with
 * each allocation. */
static void *refuse(struct lua_sandbox *sandbox)
{
    sandbox->out_of_memory = true;
    sandbox->instructions += sandbox->bytes / COLLECTED_PER_STEP;
    return NULL;
}

static bool take(const struct lua_sandbox *sandbox, size_t size)
{
    if (!sandbox->may_fail)
        traffic_memory_add(size);
    return !sandbox->may_fail || traffic_memory_take(size);
}

/* Lua's allocator (lua_Alloc). Shrinking and freeing never fail, as Lua requires. What a script has
 * allocated it also fills, which is counted here for all functions and operators. */
static void *sandbox_alloc(void *arg, void *old, size_t old_size, size_t new_size)
{
    struct lua_sandbox *sandbox = arg;
    void *new;

    if (old == NULL)
        old_size = 0;           /* then Lua passes the kind of object here */
    if (new_size == 0) {
        free(old);
        sandbox->bytes -= old_size;
        traffic_memory_release(old_size);
        return NULL;
    }
    if (new_size > old_size &&
        ((sandbox->bytes_limit > 0 &&
          sandbox->bytes + (new_size - old_size) > sandbox->bytes_limit) ||
         !reserve(sandbox, new_size - old_size)))
        return refuse(sandbox);
    if (new_size > old_size && !take(sandbox, new_size - old_size))
        return refuse(sandbox);
    /* loading waits for memory, as for rules */
    while ((new = realloc(old, new_size)) == NULL && !sandbox->may_fail)
        out_of_memory(new_size);
    if (new == NULL) {
        traffic_memory_release(new_size > old_size ? new_size - old_size : 0);
        return refuse(sandbox);
    }
    if (new_size < old_size)
        traffic_memory_release(old_size - new_size);
    sandbox->bytes += new_size - old_size;
    if (new_size > old_size)
        sandbox->instructions += new_size / WRITTEN_PER_STEP;
    return new;
}

static uint64_t instructions_most(const struct lua_sandbox *sandbox)
{
    return MIN(sandbox->limits.max_instructions, sandbox->granted);
}

void lua_sandbox_charge(lua_State *state, uint64_t instructions)
{
    struct lua_sandbox *sandbox = lua_sandbox_of(state);

    sandbox->instructions += MIN(instructions, UINT64_MAX / 2);
    if (sandbox->limits.max_instructions > 0 &&
        sandbox->instructions > instructions_most(sandbox)) {
        sandbox->out_of_instructions = true;
        luaL_error(state, "instruction limit exceeded");
    }
}

bool lua_sandbox_has_space(lua_State *state, uint64_t bytes)
{
    const struct lua_sandbox *sandbox = lua_sandbox_of(state);

    return sandbox->bytes_limit == 0 ||
           bytes <= sandbox->bytes_limit - MIN(sandbox->bytes, sandbox->bytes_limit);
}

uint64_t lua_sandbox_left(lua_State *state)
{
    const struct lua_sandbox *sandbox = lua_sandbox_of(state);
    uint64_t most = instructions_most(sandbox);

    if (sandbox->limits.max_instructions == 0)
        return UINT64_MAX;
    return most > sandbox->instructions ? most - sandbox->instructions : 0;
}

/* Lua calls it every HOOK_STEP instructions. Work in C functions is counted by them. */
static void sandbox_hook(lua_State *state, lua_Debug *at UNUSED)
{
    lua_sandbox_charge(state, HOOK_STEP);
}

/* --- allowed functions -------------------------------------------------------------------- */

/* Suricata's list of base functions. The others load code, read files or control the
 * collector. */
static const char *const base_allowed[] = {
    "assert", "error", "ipairs", "next", "pairs", "print", "rawequal", "rawget", "rawlen",
    "rawset", "select", "tonumber", "tostring", "type", "warn", NULL,
};

/* NULL: all functions of the library. */
static const struct { luaL_Reg lib; const char *const *allowed; } sandbox_libs[] = {
    { { LUA_GNAME, luaopen_base }, base_allowed },
    { { LUA_TABLIBNAME, luaopen_table }, NULL },
    { { LUA_STRLIBNAME, luaopen_string }, NULL },
    { { LUA_MATHLIBNAME, luaopen_math }, NULL },
    { { LUA_UTF8LIBNAME, luaopen_utf8 }, NULL },
};

/* The thread's counters use `blocked` to distinguish such errors. */
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

/* Replaces all other functions of the library, whose table is on the stack. */
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

/* Only the engine's libraries; no search for files. */
static int sandbox_require(lua_State *state)
{
    const char *name = luaL_checkstring(state, 1);

    if (lua_library_push(state, name))
        return 1;
    return luaL_error(state, "Module not found: %s", name);
}

/* Replaces load() in open sandboxes: the same, but without bytecode. The mode "t" takes
 * the place of the argument. */
static int load_text(lua_State *state)
{
    int args = lua_gettop(state) < 4 ? 3 : 4;   /* a fourth that is nil is an environment, too */

    lua_settop(state, args);
    lua_pushliteral(state, "t");
    lua_replace(state, 3);
    lua_pushvalue(state, lua_upvalueindex(1));
    lua_insert(state, 1);
    lua_call(state, args, LUA_MULTRET);
    return lua_gettop(state);
}

/* The same for loadfile(), whose mode is the second argument. */
static int loadfile_text(lua_State *state)
{
    int args = lua_gettop(state) < 3 ? 2 : 3;

    lua_settop(state, args);
    lua_pushliteral(state, "t");
    lua_replace(state, 2);
    lua_pushvalue(state, lua_upvalueindex(1));
    lua_insert(state, 1);
    lua_call(state, args, LUA_MULTRET);
    return lua_gettop(state);
}

/* The same for dofile(), which has no mode. */
static int dofile_text(lua_State *state)
{
    const char *path = luaL_checkstring(state, 1);

    lua_settop(state, 1);
    if (luaL_loadfilex(state, path, "t") != LUA_OK)
        return lua_error(state);
    lua_call(state, 0, LUA_MULTRET);
    return lua_gettop(state) - 1;
}

/* Replaces the second of package.searchers, which would load bytecode too. */
static int search_text(lua_State *state)
{
    const char *name = luaL_checkstring(state, 1), *path;

    lua_getfield(state, lua_upvalueindex(1), "searchpath");
    lua_pushstring(state, name);
    lua_getfield(state, lua_upvalueindex(1), "path");
    lua_call(state, 2, 2);
    if (lua_isnil(state, -2))
        return 1;
    lua_pop(state, 1);
    path = lua_tostring(state, -1);
    if (luaL_loadfilex(state, path, "t") != LUA_OK)
        return luaL_error(state, "error loading module '%s': %s", name, lua_tostring(state, -1));
    lua_insert(state, -2);
    return 2;
}

/* The old function becomes the first upvalue of the new one. */
static void replace_loader(lua_State *state, const char *name, lua_CFunction by)
{
    lua_getglobal(state, name);
    lua_pushcclosure(state, by, 1);
    lua_setglobal(state, name);
}

/* For open sandboxes. */
static void allow_text_only(lua_State *state)
{
    replace_loader(state, "load", load_text);
    replace_loader(state, "loadfile", loadfile_text);
    replace_loader(state, "dofile", dofile_text);
    lua_getglobal(state, "package");
    lua_getfield(state, -1, "searchers");
    lua_pushvalue(state, -2);
    lua_pushcclosure(state, search_text, 1);
    lua_rawseti(state, -2, 2);
    lua_pop(state, 2);
}

/* Counts the bytes, then calls the function that it replaces, its upvalue. */
static int counted_write(lua_State *state)
{
    const int args = lua_gettop(state);

    for (int i = 1; i <= args; i++)
        if (lua_type(state, i) == LUA_TSTRING)
            lua_sandbox_of(state)->written += lua_rawlen(state, i);
        else if (lua_type(state, i) == LUA_TNUMBER)
            lua_sandbox_of(state)->written += sizeof(lua_Number);
    lua_pushvalue(state, lua_upvalueindex(1));
    lua_insert(state, 1);
    lua_call(state, args, LUA_MULTRET);
    return lua_gettop(state);
}

/* The table is on the stack. */
static void count_writes_of(lua_State *state)
{
    lua_getfield(state, -1, "write");
    lua_pushcclosure(state, counted_write, 1);
    lua_setfield(state, -2, "write");
}

/* For open sandboxes: io.write() and write() of files. */
static void count_writes(lua_State *state)
{
    lua_getglobal(state, LUA_IOLIBNAME);
    count_writes_of(state);
    luaL_getmetatable(state, LUA_FILEHANDLE);
    lua_getfield(state, -1, "__index");
    count_writes_of(state);
    lua_pop(state, 3);
}

/* For closed sandboxes: opens the libraries, then blocks what is not allowed. */
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

/* --- the sandbox itself ------------------------------------------------------------------- */

/* NULL: no memory. Lua's extra space holds the way back from the state to the sandbox. */
struct lua_sandbox *lua_sandbox_new(const struct lua_limits *limits)
{
    struct lua_sandbox *sandbox = xcalloc(1, sizeof(*sandbox));

    sandbox->limits = *limits;
    sandbox->granted = UINT64_MAX;
    sandbox->state = lua_newstate(sandbox_alloc, sandbox);
    if (sandbox->state == NULL) {
        free(sandbox);
        return NULL;
    }
    *(struct lua_sandbox **)lua_getextraspace(sandbox->state) = sandbox;
    if (limits->open) {
        luaL_openlibs(sandbox->state);
        allow_text_only(sandbox->state);
        count_writes(sandbox->state);
        lua_libraries_preload(sandbox->state);
    } else {
        sandbox_open(sandbox->state);
    }
    if (limits->max_instructions > 0) {
        lua_count_functions(sandbox->state);
        lua_count_patterns(sandbox->state);
        lua_sethook(sandbox->state, sandbox_hook, LUA_MASKCOUNT, HOOK_STEP);
    }
    return sandbox;
}

/* Closing runs finalizers, which may allocate, so the limit is lifted. */
void lua_sandbox_free(struct lua_sandbox *sandbox)
{
    if (sandbox == NULL)
        return;
    sandbox->bytes_limit = 0;
    lua_close(sandbox->state);
    if (sandbox->limits.total != NULL)
        __atomic_sub_fetch(&sandbox->limits.total->used, sandbox->reserved, __ATOMIC_RELAXED);
    free(sandbox);
}

struct lua_sandbox *lua_sandbox_of(lua_State *state)
{
    return *(struct lua_sandbox **)lua_getextraspace(state);
}

/* Compiles and runs the file, which defines its functions. The memory for this does not count
 * against the limit of calls. */
int lua_sandbox_load(struct lua_sandbox *sandbox, const char *path, struct err *err)
{
    struct where at = { 0 };

    lua_sandbox_prepare(sandbox);
    if (luaL_loadfilex(sandbox->state, path, "t") != LUA_OK)
        return err_at(err, at, "couldn't load file: %s", lua_tostring(sandbox->state, -1));
    sandbox->own_bytes = sandbox->before_input = sandbox->bytes;
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

/* Before each call: empties the stack and invalidates objects of earlier calls. Until the
 * call itself, what the engine pushes is not limited. */
void lua_sandbox_prepare(struct lua_sandbox *sandbox)
{
    lua_settop(sandbox->state, 0);
    sandbox->may_fail = false;
    sandbox->bytes_limit = 0;
    sandbox->before_input = sandbox->bytes;
    sandbox->written = 0;
    sandbox->context.epoch++;
}

/* The limit covers what the script adds, not the input that the engine has pushed. -1: the
 * error's text is on the stack. */
static void begin_limit(struct lua_sandbox *sandbox)
{
    if (sandbox->limits.max_bytes > 0)
        sandbox->bytes_limit = sandbox->own_bytes + sandbox->limits.max_bytes +
                               MAX(sandbox->bytes, sandbox->before_input) - sandbox->before_input;
}

static int protected_call(struct lua_sandbox *sandbox, int args, int results)
{
    int r;

    sandbox->may_fail = true;
    sandbox->instructions = 0;
    sandbox->out_of_memory = sandbox->out_of_instructions = sandbox->blocked = false;
    r = lua_pcall(sandbox->state, args, results, 0);
    sandbox->bytes_limit = 0;
    sandbox->may_fail = false;
    return r == LUA_OK ? 0 : -1;
}

int lua_sandbox_call(struct lua_sandbox *sandbox, int args, int results)
{
    begin_limit(sandbox);
    return protected_call(sandbox, args, results);
}

/* The first result becomes text where it is a number, which takes memory. */
static int run_protected(lua_State *state)
{
    const struct lua_run *run = lua_touserdata(state, 1);
    int args;

    lua_settop(state, 0);
    args = run->push(state, run->arg);
    begin_limit(lua_sandbox_of(state));
    lua_call(state, args, run->results);
    if (run->results > 1)
        (void)lua_tolstring(state, -run->results, NULL);
    return run->results;
}

int lua_sandbox_run(struct lua_sandbox *sandbox, const struct lua_run *run)
{
    int r;

    lua_pushcfunction(sandbox->state, run_protected);
    lua_pushlightuserdata(sandbox->state, (void *)(uintptr_t)run);
    r = protected_call(sandbox, 1, run->results);
    sandbox->granted = UINT64_MAX;
    return r;
}
#endif
