/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/anchored_lists.h - payload rules whose patterns are too short for the pattern
 * sets.
 *
 * Rules with equal headers form a section; the caller checks the header once for all of them. Each
 * literal then has one cheap condition: it must be within the bytes that the rule allows. Literals
 * without a position are searched together, by their first two bytes. Read-only once built. */
#ifndef DETECT_ANCHORED_LISTS_H
#define DETECT_ANCHORED_LISTS_H

#include "detect/prefilter/port_lists.h"
#include "match/pair_set.h"

struct anchored_condition {
    struct anchored_literal literal;
    uint16_t next;              /* next one of the same slot, index + 1; 0: none */
    struct rule_ids rules;
};

/* The literals without a position, by their first two bytes. */
struct pair_filter {
    struct pair_set pairs;
    uint16_t slot[256];         /* by hash: first condition of two bytes, index + 1 */
    uint16_t longer[1024];      /* by hash of three bytes: first of the others, index + 1 */
};

struct anchored_section {
    const struct rule *rule;    /* any rule of the section */
    uint8_t header_id, app_proto;       /* of all its rules */
    bool needs_bytes;           /* each rule has a literal: none can match without a payload */
    unsigned placed;            /* the first `placed` are tested one by one, the others by pairs */
    unsigned count;
    struct anchored_condition *condition;
    struct pair_filter *pairs;  /* NULL: all are tested one by one */
};

struct anchored_lists {
    struct anchored_section *section;
    unsigned count;
};

void anchored_lists_build(struct anchored_lists *lists, const struct anchored_entry *entry,
                          unsigned count);
void anchored_lists_fini(struct anchored_lists *lists);

/* Collects the rules of a section whose header matches. The first `searched` bytes have been
 * searched before: of rules with a literal, only those with one that ends after them. */
void anchored_section_collect(const struct anchored_section *s, struct slice data,
                              uint32_t searched, struct candidates *out);

#endif
