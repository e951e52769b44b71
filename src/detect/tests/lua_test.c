/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a script may have: memory over all its calls and with all others, and text only. */
#include "config.h"

#ifdef HAVE_LUA
#include "base/memory/traffic_memory.h"
#include "base/test.h"
#include "detect/lua/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file { char path[32]; };

static struct file file_with(const void *data, size_t len)
{
    struct file file = { "/tmp/luaXXXXXX" };
    int fd = mkstemp(file.path);
    ssize_t n = write(fd, data, len);

    close(fd);
    if (n != (ssize_t)len)
        abort();
    return file;
}

static struct lua_sandbox *open_script(const struct lua_limits *limits, const char *text)
{
    struct lua_sandbox *sandbox = lua_sandbox_new(limits);
    struct file file = file_with(text, strlen(text));
    struct err err = { 0 };

    if (lua_sandbox_load(sandbox, file.path, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    unlink(file.path);
    return sandbox;
}

static bool call(struct lua_sandbox *sandbox)
{
    lua_sandbox_prepare(sandbox);
    lua_getglobal(sandbox->state, "match");
    return lua_sandbox_call(sandbox, 0, 0) == 0;
}

static const char keeps[] =
    "kept = {}\n"
    "function match() kept[#kept + 1] = string.rep('x', 20000) .. #kept end\n";
static const char drops[] =
    "function match() last = string.rep('x', 20000) end\n";

static unsigned calls(struct lua_sandbox *sandbox, unsigned max)
{
    unsigned n = 0;

    while (n < max && call(sandbox))
        n++;
    return n;
}

TEST(lua_memory_over_all_calls)
{
    struct lua_limits limits = { .max_bytes = 200000, .max_instructions = 500000 };
    struct lua_sandbox *sandbox = open_script(&limits, keeps);
    unsigned n = calls(sandbox, 1000);

    CHECK(n > 5 && n < 11);
    CHECK(sandbox->out_of_memory);
    CHECK(sandbox->bytes < sandbox->own_bytes + 200000);
    lua_sandbox_free(sandbox);
    sandbox = open_script(&limits, drops);
    CHECK_INT(calls(sandbox, 1000), 1000);
    lua_sandbox_free(sandbox);
}

TEST(lua_memory_of_all_scripts)
{
    struct lua_total total = { .limit = 1000000 };
    struct lua_limits limits = { .max_bytes = 600000, .total = &total };
    struct lua_sandbox *one = open_script(&limits, keeps), *two = open_script(&limits, keeps);

    CHECK(calls(one, 1000) > 20);
    CHECK(calls(two, 1000) < 20);
    CHECK(two->out_of_memory);
    CHECK(total.used <= total.limit);
    lua_sandbox_free(one);
    CHECK(calls(two, 1000) > 5);
    lua_sandbox_free(two);
    CHECK_INT(total.used, 0);
}

/* What the engine pushes for a script, before Lua runs anything of it. */
static int push_much(lua_State *state, const void *unused UNUSED)
{
    lua_getglobal(state, "match");
    lua_createtable(state, 10000, 0);
    return 1;
}

static bool run_much(struct lua_sandbox *sandbox)
{
    lua_sandbox_prepare(sandbox);
    return lua_sandbox_run(sandbox, &(struct lua_run){ push_much, NULL, 0 }) == 0;
}

TEST(lua_memory_refused_to_engine)
{
    struct lua_limits limits = { .max_bytes = 200000, .max_instructions = 500000 };
    struct lua_sandbox *sandbox = open_script(&limits, drops);

    alloc_failures_set((struct alloc_failures){ .every = 1 });
    CHECK(!run_much(sandbox));
    CHECK(sandbox->out_of_memory);
    alloc_failures_set((struct alloc_failures){ 0 });
    CHECK(run_much(sandbox));
    lua_sandbox_free(sandbox);
}

static int add(lua_State *state UNUSED, const void *data, size_t len, void *out)
{
    FILE *file = out;

    return fwrite(data, 1, len, file) == len ? 0 : 1;
}

static struct file bytecode(void)
{
    struct file file = file_with("", 0);
    lua_State *state = luaL_newstate();
    FILE *out = fopen(file.path, "wb");

    if (luaL_loadstring(state, "return {}") != LUA_OK || lua_dump(state, add, out, 0) != 0)
        abort();
    fclose(out);
    lua_close(state);
    return file;
}

static bool runs(const struct lua_limits *limits, const char *text)
{
    struct lua_sandbox *sandbox = lua_sandbox_new(limits);
    struct file file = file_with(text, strlen(text));
    struct err err = { 0 };
    bool ok = lua_sandbox_load(sandbox, file.path, &err) == 0;

    unlink(file.path);
    lua_sandbox_free(sandbox);
    return ok;
}

TEST(lua_text_only)
{
    struct lua_limits limits = { .open = true };
    struct lua_sandbox *sandbox = lua_sandbox_new(&limits);
    struct file file = bytecode();
    struct err err = { 0 };
    char text[256];

    CHECK(lua_sandbox_load(sandbox, file.path, &err) < 0);
    CHECK(strstr(err.text, "binary chunk") != NULL);
    lua_sandbox_free(sandbox);
    snprintf(text, sizeof(text), "package.path = '/tmp/?'; require('%s')", file.path + 5);
    CHECK(!runs(&limits, text));
    snprintf(text, sizeof(text), "assert(loadfile('%s'))", file.path);
    CHECK(!runs(&limits, text));
    snprintf(text, sizeof(text), "dofile('%s')", file.path);
    CHECK(!runs(&limits, text));
    CHECK(!runs(&limits, "assert(load(string.dump(function() end)))"));
    CHECK(!runs(&limits, "assert(load(string.dump(function() end), 'x', 'b', {}))"));
    unlink(file.path);
    file = file_with("return { a = 7 }", 16);
    snprintf(text, sizeof(text), "package.path = '/tmp/?'; assert(require('%s').a == 7)",
             file.path + 5);
    CHECK(runs(&limits, text));
    snprintf(text, sizeof(text), "assert(dofile('%s').a == 7); assert(loadfile('%s')().a == 7)",
             file.path, file.path);
    CHECK(runs(&limits, text));
    CHECK(runs(&limits, "assert(load('return x', 'name', 'bt', { x = 3 })() == 3)"));
    CHECK(runs(&limits, "y = 4; assert(load('return y')() == 4)"));
    unlink(file.path);
}
#endif
