/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/firewall_action.c - reads the actions of the firewall, word by word. */
#include "detect/rule/firewall_action.h"

#include <string.h>

/* Alert and pass alone decide nothing for the firewall, so they cannot be first. "reject" answers
 * the sender, as "rejectsrc". */
static const struct { const char *name; uint8_t action; } deciding[] = {
    { "accept", RULE_ACCEPT },         { "drop", RULE_DROP },
    { "reject", RULE_REJECT_SRC },     { "rejectsrc", RULE_REJECT_SRC },
    { "rejectdst", RULE_REJECT_DST },  { "rejectboth", RULE_REJECT_BOTH },
    { "config", RULE_CONFIG },
};

static bool is_deciding(struct text name, uint8_t *action)
{
    for (size_t i = 0; i < ARRAY_LEN(deciding); i++) {
        if (!text_equal_nocase(name, deciding[i].name))
            continue;
        *action = deciding[i].action;
        return true;
    }
    return false;
}

/* The scopes of each action: hook and tx can only accept, and alert has none. */
static const struct { const char *name; uint8_t scope; bool stops, configures; } scopes[] = {
    { "packet", SCOPE_PACKET, true, true }, { "flow", SCOPE_FLOW, true, false },
    { "hook", SCOPE_HOOK, false, false },   { "tx", SCOPE_TX, false, false },
};

/* All words share one scope. */
static const char *scope_add(struct firewall_action *a, uint8_t action, struct text in)
{
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
        bool allowed = action == RULE_ACCEPT ||
                       (action == RULE_CONFIG ? scopes[i].configures : scopes[i].stops);

        if (!allowed || action == RULE_ALERT || !text_equal(in, scopes[i].name))
            continue;
        if (a->scope != SCOPE_DEFAULT && a->scope != scopes[i].scope)
            return "the same scope for all actions";
        a->scope = scopes[i].scope;
        return NULL;
    }
    return action == RULE_ALERT ? "alert without a scope"
                                : "the scope packet or flow, or for accept also hook or tx";
}

const char *firewall_action_add(struct firewall_action *a, bool first, struct text word,
                                struct text *wrong)
{
    const char *colon = memchr(word.p, ':', word.n), *expected;
    struct text name = { word.p, colon != NULL ? (size_t)(colon - word.p) : word.n };
    uint8_t action;

    *wrong = name;
    if (first) {
        if (!is_deciding(name, &action))
            return "accept, drop, reject or config first";
        a->action = action;
    } else {
        action = text_equal_nocase(name, "alert") ? RULE_ALERT : RULE_PASS;
        if (action == RULE_PASS && !text_equal_nocase(name, "pass"))
            return "only pass and alert after another action";
        a->alert |= action == RULE_ALERT;
        a->also_pass |= action == RULE_PASS;
    }
    if (colon != NULL) {
        *wrong = text_from(word, name.n + 1);
        if ((expected = scope_add(a, action, *wrong)) != NULL)
            return expected;
    }
    *wrong = word;
    /* There is no default: a rule that accepts too much would be a hole. */
    return a->scope == SCOPE_DEFAULT ? "an action with its scope, as in accept:hook" : NULL;
}
