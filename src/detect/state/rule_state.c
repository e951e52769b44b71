/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/rule_state.c - what rules remember of hosts: bits, thresholds, tags. A
 * reload passes it on to the new ruleset. */
#include "detect/state/rule_state.h"

#include "detect/state/host_bits.h"
#include "detect/state/shard_table.h"
#include "detect/state/tag.h"
#include "detect/state/threshold.h"

#include <stdlib.h>

/* NULL: no memory for the tables. */
struct rule_state *rule_state_new(const struct conf_node *root)
{
    struct rule_state *state = calloc(1, sizeof(*state));

    if (state == NULL)
        return NULL;
    state->refs = 1;
    state->host_bits = host_bits_new(root);
    state->thresholds = threshold_table_new(root);
    state->tags = tag_table_new(root);
    if (state->host_bits == NULL || state->thresholds == NULL || state->tags == NULL) {
        rule_state_unref(state);
        return NULL;
    }
    return state;
}

/* Clears all state between capture files that are inspected separately. */
void rule_state_clear(struct rule_state *state)
{
    shard_table_clear(host_bits_table(state->host_bits));
    shard_table_clear(threshold_table_shared(state->thresholds));
    shard_table_clear(tag_table_hosts(state->tags));
}

struct rule_state *rule_state_ref(struct rule_state *state)
{
    __atomic_fetch_add(&state->refs, 1, __ATOMIC_RELAXED);
    return state;
}

void rule_state_unref(struct rule_state *state)
{
    if (state == NULL || __atomic_sub_fetch(&state->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    host_bits_free(state->host_bits);
    threshold_table_free(state->thresholds);
    tag_table_free(state->tags);
    free(state);
}
