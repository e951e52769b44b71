/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/app_state.c - app-layer-state: the progress of a transaction. */
#include "detect/rule/keyword.h"

#include "app/proto.h"
#include "detect/rule/ruleset_private.h"

struct app_state_arg {          /* `direction`: whose progress counts */
    int8_t mode;                /* '<' or '>' as -1, 1 */
    uint8_t direction, progress;
    uint8_t not_counted;        /* bit per step that counts as the one before it */
};

/* Only "<STATE" and ">STATE" come here; STATE alone becomes the rule's hook. */
static bool app_state_match(const struct match_input *in, const void *arg)
{
    const struct app_state_arg *a = arg;
    uint8_t now = in->tx->progress[a->direction];

    if (now < 8 && (a->not_counted >> now & 1) != 0)
        now--;

    return a->mode < 0 ? now < a->progress : now > a->progress;
}

/* The names of states differ between the directions, so the name decides the direction
 * too. */
static bool state_find(const struct app_proto *proto, struct text name, struct app_state_arg *a)
{
    for (unsigned d = TO_SERVER; d <= TO_CLIENT; d++) {
        const struct app_name *n = proto->progress_names[d];

        for (; n != NULL && n->name != NULL; n++) {
            if (text_equal(name, n->name)) {
                a->direction = (uint8_t)d;
                a->progress = (uint8_t)n->value;
                return true;
            }
        }
    }
    return false;
}

/* STATE alone is another way to write the hook "http:request_line" in the rule's header,
 * so it compiles to the same. hook is 1 + progress, because 0 means no hook. */
static int app_state_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct app_state_arg *a = arg;
    struct rule_test test = { .keyword = p->keyword, .match = app_state_match, .arg = arg };
    const struct app_proto *proto = app_proto_of_rule((enum app_proto_id)p->rule->app_proto);

    if (proto == NULL || app_proto_is_group((enum app_proto_id)p->rule->app_proto))
        return rule_error(p, "app-layer-state: the rule must be about one protocol");
    if (in.n > 0 && (in.p[0] == '<' || in.p[0] == '>')) {
        a->mode = in.p[0] == '<' ? -1 : 1;
        in = text_from(in, 1);
    }
    if (!state_find(proto, in, a))
        return rule_error(p, "app-layer-state: protocol %s has no state \"%.*s\"", proto->name,
                          TEXT(in));
    p->rule->flags |= a->direction == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT;
    if (a->mode == 0) {
        p->rule->hook = (uint8_t)(1 + a->progress);
        return 0;
    }
    if (!p->ruleset->suricata_9 && (proto->steps_of_nine >> a->progress & 1) == 0)
        a->not_counted = proto->steps_of_nine;
    test.directions = (uint8_t)APP_DIRECTION_BIT(a->direction);
    rule_add_test(p, POINT_TX, &test);
    return 0;
}

const struct keyword_ops keyword_app_layer_state = {
    .name = "app-layer-state",
    .doc = "how far a transaction has come: at the state, before it (<) or after it (>)",
    .syntax = "[<op>]<state>",
    .point = POINT_NONE,
    .arg_size = sizeof(struct app_state_arg),
    .parse = app_state_parse,
};
