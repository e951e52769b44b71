/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/threshold.c - thresholds that are never reached, and rules that never alert because
 * of one. */
#include "detect/lint/private.h"

#include "detect/rule/flowbits.h"
#include "detect/state/threshold.h"

#include <string.h>

static const struct threshold_spec *spec_of_keyword(const struct rule *rule)
{
    for (const struct threshold_spec *s = rule->threshold; s != NULL; s = s->next)
        if (s->by_keyword)
            return s;
    return NULL;
}

/* How many matches the first alert needs. detection_filter is silent up to its count. */
static uint32_t matches_needed(const struct threshold_spec *s)
{
    switch ((enum threshold_type)s->type) {
    case THRESHOLD_EVERY:
    case THRESHOLD_BOTH:
    case THRESHOLD_BACKOFF: return s->count;
    case THRESHOLD_FILTER: return s->count + 1;
    default: return 1;
    }
}

/* The rule's own bit ends it for the flow: it reads "not set", and sets it. */
static bool stops_itself(const struct rule *rule)
{
    struct flowbits_use read, set;

    for (unsigned i = 0; i < rule->test_count; i++) {
        if (!flowbits_use_of(&rule->test[i], &read) || strcmp(read.command, "isnotset") != 0 ||
            read.count > 1)
            continue;
        for (unsigned k = 0; k < rule->post_count; k++)
            if (flowbits_use_of(&rule->post[k], &set) && strcmp(set.command, "set") == 0 &&
                set.id[0] == read.id[0])
                return true;
    }
    return false;
}

/* Rules on addresses alone and on the protocol alone are asked once per flow and direction. */
static bool once_per_flow(const struct rule *rule)
{
    return rule->type == RULE_IP_ONLY || rule->type == RULE_PROTO_ONLY || stops_itself(rule);
}

static const struct lint_option *threshold_option(const struct lint_rule *r)
{
    const struct lint_option *o = lint_option_named(r, "threshold", 0);

    return o != NULL ? o : lint_option_named(r, "detection_filter", 0);
}

static void threshold_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    const struct threshold_spec *s = spec_of_keyword(r->rule);

    if (s == NULL)
        return;
    if (s->count == 0)
        lint_find(r, lint_place(threshold_option(r)), "count from 1", "%s",
                  s->type == THRESHOLD_BOTH
                      ? "the rule never alerts: no match is number 0"
                      : s->type == THRESHOLD_LIMIT
                            ? "the first match alerts in spite of count 0"
                            : "the threshold has no effect: count 0 holds nothing back");
    else if (s->track == TRACK_FLOW && matches_needed(s) > 2 && once_per_flow(r->rule))
        lint_find(r, lint_place(threshold_option(r)), "track by_src or by_dst",
                  "the rule never alerts: it matches once in a flow and direction, and its "
                  "threshold wants %u matches of one flow", matches_needed(s));
    else if (s->type != THRESHOLD_LIMIT && s->seconds == 0 && matches_needed(s) > 1 &&
             s->type != THRESHOLD_BACKOFF)
        lint_find(r, lint_place(threshold_option(r)), "give the seconds in which to count",
                  "with 0 seconds only matches of one moment count together, so the threshold "
                  "is not reached");
    else if ((r->rule->flags & RULE_NOALERT) && s->type != THRESHOLD_FILTER)
        lint_find(r, lint_place(threshold_option(r)),
                  "leave the threshold out, or write detection_filter, which counts matches",
                  "the threshold has no effect: it limits alerts, and the rule has noalert");
}

const struct lint_check lint_threshold_never = {
    .name = "threshold-never", .level = LINT_WARNING, .rule = threshold_check,
};

static bool has_noalert(const struct lint_rule *r)
{
    for (unsigned i = 0; i < r->option_count; i++)
        if (text_equal_nocase(r->option[i].name, "noalert") ||
            text_equal_nocase(r->option[i].value, "noalert"))
            return true;
    return false;
}

/* A line of threshold.config without addresses makes a rule one with noalert. */
static void suppressed_check(struct lint *l UNUSED, const struct lint_rule *r)
{
    if ((r->rule->flags & RULE_NOALERT) && r->rule->action == RULE_ALERT && !has_noalert(r))
        lint_find(r, NULL, "leave the rule out, or suppress it for some addresses",
                  "the rule never alerts: threshold.config suppresses it for all addresses");
}

const struct lint_check lint_always_suppressed = {
    .name = "always-suppressed", .level = LINT_WARNING, .rule = suppressed_check,
};
