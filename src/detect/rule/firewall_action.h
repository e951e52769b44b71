/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/firewall_action.h - what a rule or a policy of the firewall does:
 * "accept:flow,pass:flow,alert". */
#ifndef DETECT_FIREWALL_ACTION_H
#define DETECT_FIREWALL_ACTION_H

#include "base/text/text.h"
#include "detect/rule/rule.h"

struct firewall_action {
    uint8_t action;             /* enum rule_action */
    uint8_t scope;              /* enum rule_scope; of all words */
    bool also_pass;             /* other rules do not see what this accepts */
    bool alert;
};

/* Adds one word; the first one decides, more only add to it. Begin with a zeroed struct. Returns
 * NULL, or what was expected in place of *wrong, which is a part of the word. */
const char *firewall_action_add(struct firewall_action *a, bool first, struct text word,
                                struct text *wrong);

#endif
