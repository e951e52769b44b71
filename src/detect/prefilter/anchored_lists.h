/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/anchored_lists.h - payload rules whose patterns are too short for the pattern sets.
 *
 * Rules of equal header stand together in a section: whoever looks asks first whether the header
 * fits, once for all of them. Then one cheap condition for each literal: that it stands within
 * the bytes the rule allows it. Literals that may stand anywhere are looked for all at once, by
 * their first two bytes. Read only once built. */
#ifndef DETECT_NEAR_LISTS_H
#define DETECT_NEAR_LISTS_H

#include "detect/prefilter/port_lists.h"

struct near_condition {
    struct near_literal literal;
    uint16_t next;              /* among those of one pair slot; 0: none, else index + 1 */
    struct rule_ids rules;
};

/* All two-byte beginnings of the literals that may stand anywhere. */
struct pair_filter {
    uint64_t bits[65536 / 64];
    uint16_t slot[256];         /* by hash: first condition, index + 1 */
};

struct near_section {
    const struct rule *rule;    /* one of them: all have its header and protocol */
    struct near_condition *condition;
    unsigned placed;            /* so many are tried one by one, the others by pairs */
    unsigned count;
    struct pair_filter *pairs;  /* NULL: all are tried one by one */
};

struct near_lists {
    struct near_section *section;
    unsigned count;
};

void near_lists_build(struct near_lists *lists, const struct near_entry *entry, unsigned count);
void near_lists_fini(struct near_lists *lists);

/* The rules of a section whose header fits. */
void near_section_collect(const struct near_section *s, const uint8_t *data, uint32_t len,
                          struct candidates *out);

#endif
