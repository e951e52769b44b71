/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/flowbits.c - flowbits: named bits on the flow. A rule that sets a
 * bit after its match tells later rules about it, on the same packet or on later ones. */
#include "detect/rule/flowbits.h"
#include "base/report/json.h"
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"
#include "flow/vars.h"

#include <string.h>

#define FLOWBITS_MAX 100        /* names in one "a|b|c"; Suricata's limit */

/* In the ruleset's arena. The test's argument is a pointer to it, because its size depends
 * on the rule. */
struct flowbits_arg {
    unsigned count;
    uint32_t id[];              /* one, or several joined by "|" */
};

/* "a|b": one of them is set. */
static bool isset_match(const struct match_input *in, const void *arg)
{
    const struct flowbits_arg *a = *(struct flowbits_arg *const *)arg;

    for (unsigned i = 0; in->flow != NULL && i < a->count; i++)
        if (flowbit_is_set(in->flow, a->id[i]))
            return true;
    return false;
}

/* "a|b": at least one of them is not set. Without a flow neither test holds. */
static bool isnotset_match(const struct match_input *in, const void *arg)
{
    const struct flowbits_arg *a = *(struct flowbits_arg *const *)arg;

    for (unsigned i = 0; in->flow != NULL && i < a->count; i++)
        if (!flowbit_is_set(in->flow, a->id[i]))
            return true;
    return false;
}

/* The changes run after the entire rule has matched. They use the first name: only tests may have
 * several. Only the flow's own thread runs this, so it needs no lock. */
static bool set_match(const struct match_input *in, const void *arg)
{
    const struct flowbits_arg *a = *(struct flowbits_arg *const *)arg;

    if (in->flow != NULL)
        flowbit_set(in->flow, a->id[0]);
    return true;
}

static bool unset_match(const struct match_input *in, const void *arg)
{
    const struct flowbits_arg *a = *(struct flowbits_arg *const *)arg;

    if (in->flow != NULL)
        flowbit_unset(in->flow, a->id[0]);
    return true;
}

static bool toggle_match(const struct match_input *in, const void *arg)
{
    const struct flowbits_arg *a = *(struct flowbits_arg *const *)arg;

    if (in->flow == NULL)
        return true;
    if (flowbit_is_set(in->flow, a->id[0]))
        flowbit_unset(in->flow, a->id[0]);
    else
        flowbit_set(in->flow, a->id[0]);
    return true;
}

/* Tests run before any buffer, changes after the match. */
static const struct flowbits_command {
    const char *name;
    enum inspect_point point;
    bool (*match)(const struct match_input *in, const void *arg);
} commands[] = {
    { "isset", POINT_PACKET, isset_match },   { "isnotset", POINT_PACKET, isnotset_match },
    { "set", POINT_POST, set_match },         { "unset", POINT_POST, unset_match },
    { "toggle", POINT_POST, toggle_match },
};

static const struct flowbits_command *command_find(struct text name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (text_equal(name, commands[i].name))
            return &commands[i];
    return NULL;
}

/* The number of separators, to size the argument before it is filled. */
static unsigned bars(struct text in)
{
    unsigned n = 0;

    for (size_t i = 0; i < in.n; i++)
        n += in.p[i] == '|';
    return n;
}

/* Blanks in a name are an error: most often a comma is missing. */
static int names_parse(struct rule_parser *p, struct text in, struct flowbits_arg *a)
{
    struct text rest = in, name;

    while (text_split(&rest, '|', &name)) {
        if (name.n == 0)
            return rule_error(p, "flowbits: a name is missing in \"%.*s\"", TEXT(in));
        if (memchr(name.p, ' ', name.n) != NULL || memchr(name.p, '\t', name.n) != NULL)
            return rule_error(p, "flowbits: a name has no spaces, found \"%.*s\"", TEXT(name));
        if (a->count == FLOWBITS_MAX)
            return rule_error(p, "flowbits: at most %d names may be joined", FLOWBITS_MAX);
        a->id[a->count++] = var_name_id(VAR_FLOWBIT, arena_text(p->arena, name));
    }
    return a->count > 0 ? 0 : rule_error(p, "flowbits: a name is missing");
}

/* The counts of set and read bits order the rules: one that sets a bit runs before those
 * that read it, so that a single packet suffices (compile/order.c). */
static int flowbits_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct flowbits_arg *a, **retained = arg;
    struct rule_test test = { .keyword = p->keyword, .arg = arg };
    const struct flowbits_command *c;
    struct text rest = in, name = { "", 0 };

    if (text_equal(in, "noalert")) {
        p->rule->flags |= RULE_NOALERT;
        return 0;
    }
    text_split(&rest, ',', &name);
    c = command_find(name);
    if (c == NULL)
        return rule_error(p,
                          "flowbits: expected isset, isnotset, set, unset or toggle and a name, or "
                          "noalert, found \"%.*s\"",
                          TEXT(in));
    if (p->ruleset->suricata_9 && c->match == toggle_match)
        return rule_error(p, "flowbits: toggle does not exist in Suricata 9");
    if (p->ruleset->flowbits_max != 0 &&
        p->rule->flowbits_set + p->rule->flowbits_read >= p->ruleset->flowbits_max)
        return rule_error(p, "flowbits: at most %u in one rule "
                          "(detect.flowbits.max-per-signature)", p->ruleset->flowbits_max);
    rest = text_trim(rest);
    *retained = a = arena_zalloc(p->arena, sizeof(*a) + (1 + bars(rest)) * sizeof(a->id[0]));
    if (names_parse(p, rest, a) < 0)
        return -1;
    if (c->point == POINT_POST && a->count > 1)
        return rule_error(p, "flowbits: only isset and isnotset take several names, found "
                          "\"%.*s\"", TEXT(rest));
    test.match = c->match;
    rule_add_test(p, c->point, &test);
    if (c->point == POINT_POST)
        p->rule->flowbits_set++;
    else
        p->rule->flowbits_read++;
    return 0;
}

/* For the compiler and the analysis, which warn of bits that are read and never set. */
static void flowbits_use(const struct rule_test *test, struct flowbits_use *out)
{
    const struct flowbits_arg *a = *(struct flowbits_arg *const *)test->arg;

    *out = (struct flowbits_use){ .id = a->id, .count = a->count };
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (commands[i].match == test->match)
            out->command = commands[i].name;
}

static void flowbits_describe(const struct rule_test *test, struct json *j)
{
    struct flowbits_use use;

    flowbits_use(test, &use);
    json_object(j, "flowbits");
    json_string(j, "cmd", use.command);
    json_array(j, "names");
    for (unsigned i = 0; i < use.count; i++)
        json_string(j, NULL, var_name(VAR_FLOWBIT, use.id[i]));
    json_array_end(j);
    if (use.count > 1)
        json_string(j, "operator", "or");
    json_object_end(j);
}

const struct keyword_ops keyword_flowbits = {
    .name = "flowbits",
    .doc = "set and test named bits on the flow",
    .syntax = "isset|isnotset,<name>[|<name>]...\n"
              "set|unset|toggle,<name>\n"
              "noalert",
    .features = "compatible with IP only rule,supports firewall,prefilter",
    .point = POINT_NONE,
    .arg_size = sizeof(struct flowbits_arg *),
    .parse = flowbits_parse,
    .describe = flowbits_describe,
    .flowbits = flowbits_use,
};
