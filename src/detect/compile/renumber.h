/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/renumber.h - the new numbers of rules that the set before has, too.
 *
 * Flows remember by number which rules have matched and wait for the packet that is to show the
 * alert. A reload numbers rules again; with this table it loses none of these matches, but those of
 * rules that the new set lacks or has in another revision. */
#ifndef DETECT_RENUMBER_H
#define DETECT_RENUMBER_H

#include "detect/rule/ruleset.h"

#define RULE_ABSENT UINT32_MAX

/* Both sets are compiled. The table becomes part of `set`. previous: NULL: no table. */
void renumber_rules(struct ruleset *set, const struct ruleset *previous);
/* Returns the table by the rules' numbers in `before`. NULL: `set` does not follow it. */
const uint32_t *renumbered_since(const struct ruleset *set, const struct ruleset *before);

#endif
