/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/rule_state.h - the state of rules about hosts: xbits and hostbits, thresholds, tags.
 *
 * A new ruleset shares the state of the one that it replaces, so a reload loses nothing. Any thread
 * may use it. */
#ifndef DETECT_STATE_H
#define DETECT_STATE_H

#include "conf/conf.h"

struct host_bits;
struct tag_table;
struct threshold_table;

struct rule_state {
    uint32_t refs;                      /* atomic */
    uint64_t loads;                     /* of rulesets with this state; of the loading thread */
    struct host_bits *host_bits;
    struct threshold_table *thresholds;
    struct tag_table *tags;
};

struct rule_state *rule_state_new(const struct conf_node *root);    /* NULL: out of memory */
void rule_state_clear(struct rule_state *state);
struct rule_state *rule_state_ref(struct rule_state *state);
void rule_state_unref(struct rule_state *state);                    /* NULL is allowed */

#endif
