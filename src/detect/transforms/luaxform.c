/* SPDX-License-Identifier: GPL-2.0-or-later */
/* luaxform - the string that a script returns for the buffer: "script.lua[, argument
 * ...]". The arguments go to the script's transform() unchanged. */
#include "detect/inspect/inspect.h"
#include "detect/lua/script.h"
#include "detect/transforms/list.h"

struct luaxform { const struct lua_script *script; };

/* Arguments after the LUA_ARGS_MAX'th are ignored. The script is loaded now, so a missing
 * or broken file is an error of the rule. */
static int luaxform_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct luaxform *x = arg;
    struct lua_script *s;
    struct text name;

    if (!text_split(&in, ',', &name))
        return rule_error(p, "luaxform: expected script.lua[, argument ...]");
    s = lua_script_new(p, name, true);
    if (s == NULL)
        return -1;
    while (s->arg_count < LUA_ARGS_MAX && text_split(&in, ',', &name))
        s->arg[s->arg_count++] = arena_text(p->arena, name);
    x->script = s;
    return 0;
}

/* The script runs in the sandbox of the thread that inspects, so it needs no lock. */
static void luaxform_apply(struct detect_thread *dt, struct slice in, const void *arg,
                           struct buf *out)
{
    const struct luaxform *x = arg;
    struct lua_caller caller = detect_thread_lua(dt);

    lua_script_transform(x->script, &caller, in, out);
}

const struct transform_ops transform_luaxform = {
    .name = "luaxform",
    .doc = "pass inspection buffer to a Lua function along with arguments",
    .syntax = "<script>[,<argument>]...",
    .argument = true,
    .quotes_optional = true,
    .arg_size = sizeof(struct luaxform),
    .parse = luaxform_parse,
    .apply_with = luaxform_apply,
};
