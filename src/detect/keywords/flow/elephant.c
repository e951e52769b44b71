/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/elephant.c - flow.elephant: a direction of the flow has exceeded
 * flow.rate-tracking, with this packet or an earlier one. */
#include "detect/rule/keyword.h"
#include "flow/rate.h"

/* `all`: each of the directions in `flags`, not one of them. */
struct elephant_arg {
    uint8_t flags;              /* FLOW_INSPECT_ELEPHANT_* */
    bool all;
};

static int elephant_parse(struct rule_parser *p, struct text in, void *arg)
{
    static const struct { const char *name; struct elephant_arg arg; } sides[] = {
        { "toserver", { FLOW_INSPECT_ELEPHANT_TS, true } },
        { "toclient", { FLOW_INSPECT_ELEPHANT_TC, true } },
        { "both", { FLOW_INSPECT_ELEPHANT, true } },
        { "either", { FLOW_INSPECT_ELEPHANT, false } },
    };

    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        if (text_equal(in, sides[i].name)) {
            *(struct elephant_arg *)arg = sides[i].arg;
            return 0;
        }
    }
    return rule_error(p, "flow.elephant: expected toserver, toclient, both or either, found "
                      "\"%.*s\"", TEXT(in));
}

static bool elephant_match(const struct match_input *in, const void *arg)
{
    const struct elephant_arg *a = arg;
    uint8_t found = in->flow != NULL ? in->flow->inspect_flags & a->flags : 0;

    return found == a->flags || (!a->all && found != 0);
}

const struct keyword_ops keyword_flow_elephant = {
    .name = "flow.elephant",
    .doc = "a direction of the flow carries as much as flow.rate-tracking allows",
    .syntax = "toserver|toclient|both|either",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .of_flow = true,
    .arg_size = sizeof(struct elephant_arg),
    .parse = elephant_parse,
    .match = elephant_match,
};
