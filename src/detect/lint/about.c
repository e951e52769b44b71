/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/about.c - options that a rule works without, but whose absence makes alerts hard to
 * read. */
#include "detect/lint/private.h"

/* A rule that only sets a bit or passes traffic writes no alert. */
static bool is_silent(const struct lint_rule *r)
{
    return (r->rule->flags & RULE_NOALERT) || r->rule->action == RULE_PASS ||
           r->rule->action == RULE_CONFIG;
}

static void msg_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    if (!is_silent(r) && lint_option_named(r, "msg", 0) == NULL)
        lint_find(r, NULL, "add msg:\"...\" that says what was seen",
                  "the rule has no msg, so its alerts have no name");
}

const struct lint_check lint_missing_msg = {
    .name = "missing-msg", .level = LINT_WARNING, .rule = msg_check,
};

static void classtype_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    if (!is_silent(r) && lint_option_named(r, "classtype", 0) == NULL &&
        lint_option_named(r, "priority", 0) == NULL)
        lint_find(r, NULL, "add a classtype of the classification file, or a priority",
                  "the rule has neither classtype nor priority, so its alerts have priority 3");
}

const struct lint_check lint_missing_classtype = {
    .name = "missing-classtype", .level = LINT_NOTE, .rule = classtype_check,
};

static void rev_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    if (lint_option_named(r, "rev", 0) == NULL)
        lint_find(r, NULL, "add rev:1, and count up with each change",
                  "the rule has no rev, so alerts do not tell which text of it fired");
}

const struct lint_check lint_missing_rev = {
    .name = "missing-rev", .level = LINT_NOTE, .rule = rev_check,
};
