/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/msg.c - the title that alerts carry. */
#include "detect/rule/keyword.h"

/* A backslash keeps the next character as it is: quotes and semicolons need one. */
static int msg_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    char *out = arena_alloc(p->scratch, in.n + 1);
    size_t n = 0;

    if (p->rule->stored_info->msg != NULL)
        return rule_error(p, "msg: occurs twice in the rule");
    for (size_t i = 0; i < in.n; i++) {
        if (in.p[i] == '\\' && i + 1 < in.n)
            i++;
        out[n++] = in.p[i];
    }
    out[n] = '\0';
    p->rule->stored_info->msg = out;
    return 0;
}

const struct keyword_ops keyword_msg = {
    .name = "msg",
    .doc = "title of the rule, in every alert",
    .syntax = "\"<text>\"",
    .features = "supports firewall",
    .point = POINT_NONE,
    .quotes = true,
    .quotes_required = true,
    .parse = msg_parse,
};
