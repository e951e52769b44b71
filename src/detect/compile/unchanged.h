/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/unchanged.h - the rules that a reload finds as they were.
 *
 * A rule whose text the set before has is not parsed. The new set copies its struct rule, which
 * compilation changes, and shares what that points to (detect/rule/rule_block.h). All rules are
 * parsed when the settings, classification.config or reference.config have changed. One thread
 * uses it, while rules are loaded. */
#ifndef DETECT_UNCHANGED_H
#define DETECT_UNCHANGED_H

#include "base/array.h"
#include "detect/rule/ruleset.h"
#include "detect/rule/text.h"

struct unchanged_rule { uint64_t hash; const struct rule *rule; };

struct unchanged {
    struct ruleset *set;
    ARRAY_OF(struct unchanged_rule) by_hash;    /* sorted; of the set before; none: parse all */
    unsigned taken;
};

/* set->names must be loaded, and no rule. */
void unchanged_open(struct unchanged *u, struct ruleset *set,
                    const struct ruleset_request *request);
/* Hashes all that decides what the rule becomes, apart from the settings. */
void unchanged_hash(const struct rule_text *text, bool swapped, bool firewall, uint64_t hash[2]);
/* Returns the new set's copy of the rule. NULL: it has to be parsed. */
struct rule *unchanged_take(struct unchanged *u, const struct rule_text *text,
                            const uint64_t hash[2]);
/* All rules are read. */
void unchanged_close(struct unchanged *u);

#endif
