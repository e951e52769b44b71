/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/lua/lua.c - lua: a script decides. It inspects the current sticky
 * buffer, the transaction at the rule's hook, or the packet after everything else has
 * matched. */
#include "detect/inspect/inspect.h"
#include "detect/lua/script.h"
#include "detect/rule/program.h"
#include "detect/rule/ruleset_private.h"

#include <string.h>

static bool script_match(const struct lua_script *s, const struct match_input *in,
                         struct slice buffer, uint64_t offset)
{
    struct lua_caller caller = detect_thread_lua(in->thread);

    caller.side = match_side(in);
    return lua_script_match(s, &caller, in, buffer, offset);
}

/* Scripts are not called for an empty buffer. */
static enum step_result lua_step(struct program_run *run, const void *arg)
{
    if (run->input == NULL || run->len == 0)
        return STEP_NO;
    return script_match(arg, run->input, (struct slice){ run->data, run->len }, run->at)
               ? STEP_YES : STEP_NO;
}

/* Scripts that require payload or the packet are not called without one. */
static bool lua_match(const struct match_input *in, const void *arg)
{
    const struct lua_script *s = arg;

    if ((s->needs & LUA_NEED_PAYLOAD) && in->packet->payload_len == 0)
        return false;
    if ((s->needs & LUA_NEED_PACKET) && in->packet->len == 0)
        return false;
    return script_match(s, in, (struct slice){ NULL, 0 }, 0);
}

/* TLS and QUIC have one; a script for JA3 must not run on other transactions. */
static bool has_ja3(const struct app_proto *proto)
{
    for (unsigned i = 0; proto->buffers != NULL && proto->buffers[i] != NULL; i++)
        if (strcmp(proto->buffers[i]->name, "ja3.hash") == 0)
            return true;
    return false;
}

static bool lua_ja3_match(const struct match_input *in, const void *arg)
{
    return has_ja3(in->tx->flow->proto) && lua_match(in, arg);
}

/* Decides when the script runs: at the progress of the rule's hook, or for JA3 after the
 * hello. A script about packets is `late`: it costs more than any other test. */
static int lua_add_test(struct rule_parser *p, const struct lua_script *s)
{
    struct rule_test test = { .keyword = p->keyword, .match = lua_match, .arg = s,
                              .directions = APP_BOTH };
    bool ja3 = s->needs & (LUA_NEED_JA3 | LUA_NEED_JA3S);

    if (p->rule->hook != 0 && p->rule->app_proto != APP_PROTO_UNKNOWN) {
        test.progress[0] = test.progress[1] = (uint8_t)(p->rule->hook - 1);
        rule_add_test(p, POINT_TX, &test);
        return 0;
    }
    if (ja3) {
        test.match = lua_ja3_match;
        test.directions = s->needs & LUA_NEED_JA3 ? APP_TS : APP_TC;
        test.progress[0] = test.progress[1] = 1;
        p->rule->flags |= s->needs & LUA_NEED_JA3 ? RULE_TO_SERVER : RULE_TO_CLIENT;
        rule_add_test(p, POINT_TX, &test);
        return 0;
    }
    test.late = true;
    rule_add_test(p, POINT_PACKET, &test);
    return 0;
}

/* The '!' is taken here, because the name in quotes may begin with it. */
static int lua_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    bool negated = in.n > 0 && in.p[0] == '!';
    struct lua_script *s = lua_script_new(p, negated ? text_from(in, 1) : in, false);
    struct rule_op *op;

    if (s == NULL)
        return -1;
    s->negated = negated;
    p->rule->uses_shared_state = true;             /* it may add to a dataset */
    if (p->current == NULL)
        return lua_add_test(p, s);
    op = op_append(p, OP_CALL, false);
    if (op == NULL)
        return -1;
    op->call = (struct call_op){ lua_step, s };
    return 0;
}

const struct keyword_ops keyword_lua = {
    .name = "lua",
    .doc = "match via a Lua script",
    .syntax = "[!]<script>",
    .point = POINT_NONE,
    .quotes = true,
    .parse = lua_parse,
};
