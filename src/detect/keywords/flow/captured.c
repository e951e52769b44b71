/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/captured.c - flowvar and pktvar: does a text occur in what pcre
 * captured under a name, for the flow or for this packet? */
#include "detect/rule/program.h"
#include "flow/vars.h"

#include <string.h>

/* `id` is the number of the name (var_name_id); the bytes are in the ruleset's arena. */
struct captured_arg {
    uint32_t id;
    uint16_t len;
    uint8_t *bytes;
};

/* The text may occur anywhere in the value, as in Suricata. */
static bool holds(struct slice value, const struct captured_arg *a)
{
    return value.len > 0 && memmem(value.data, value.len, a->bytes, a->len) != NULL;
}

struct search { /* the argument of flowvar_visit() */
    const struct captured_arg *arg;
    bool found;
};

/* Returns false to end the walk. A flow has one value by kind and name, the latest. */
static bool flowvar_visit(const struct flow_var_view *v, void *arg)
{
    struct search *s = arg;

    s->found = v->kind == VAR_FLOWVAR && v->id == s->arg->id && holds(v->value, s->arg);
    return !s->found;
}

/* Only the thread that owns the flow runs this, so the variables need no lock. */
static bool flowvar_match(const struct match_input *in, const void *arg)
{
    struct search s = { .arg = arg };

    if (in->flow != NULL)
        (void)flow_vars_each(in->flow, flowvar_visit, &s);
    return s.found;
}

/* Captures of a packet live until its verdict; a list, because rules capture a few at
 * most. */
static bool pktvar_match(const struct match_input *in, const void *arg)
{
    const struct captured_arg *a = arg;

    for (const struct packet_var *v = detect_slot(in->packet)->vars; v != NULL; v = v->next)
        if (v->id == a->id)
            return holds(v->value, a);
    return false;
}

/* NAME,TEXT; TEXT may be in quotes and may hold |hex|. vars_read makes the compiler run
 * the rules that capture the name before this one. */
static int captured_parse(struct rule_parser *p, struct text in, enum var_kind kind,
                          struct captured_arg *a)
{
    struct text rest = in, name;
    uint8_t *bytes;

    if (!text_split(&rest, ',', &name) || name.n == 0 || rest.n == 0)
        return rule_error(p, "%s: expected NAME,TEXT, found \"%.*s\"", p->keyword->name, TEXT(in));
    if (rest.n >= 2 && rest.p[0] == '"' && rest.p[rest.n - 1] == '"')
        rest = (struct text){ rest.p + 1, rest.n - 2 };
    a->id = var_name_id(kind, arena_text(p->arena, name));
    p->rule->vars_read |= kind == VAR_FLOWVAR ? RULE_VAR_FLOW : RULE_VAR_PACKET;
    if (content_bytes_parse(p, rest, p->keyword->name, &bytes, &a->len) < 0)
        return -1;
    a->bytes = arena_copy(p->arena, bytes, a->len);
    return 0;
}

static int flowvar_parse(struct rule_parser *p, struct text in, void *arg)
{
    return captured_parse(p, in, VAR_FLOWVAR, arg);
}

static int pktvar_parse(struct rule_parser *p, struct text in, void *arg)
{
    return captured_parse(p, in, VAR_PKTVAR, arg);
}

const struct keyword_ops keyword_flowvar = {
    .name = "flowvar",
    .doc = "text in what was captured for the flow",
    .syntax = "<name>,\"<text>\"",
    .point = POINT_PACKET,
    .arg_size = sizeof(struct captured_arg),
    .parse = flowvar_parse,
    .match = flowvar_match,
};

const struct keyword_ops keyword_pktvar = {
    .name = "pktvar",
    .doc = "text in what was captured in this packet",
    .syntax = "<name>,\"<text>\"",
    .point = POINT_PACKET,
    .arg_size = sizeof(struct captured_arg),
    .parse = pktvar_parse,
    .match = pktvar_match,
};
