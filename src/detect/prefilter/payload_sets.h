/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/payload_sets.h - payload patterns of one transport and direction.
 *
 * Three sets limit the work. Patterns that can only match near the front of a payload are searched
 * there, in a short payload together with those that can match anywhere. Patterns of rules on a few
 * rare ports are searched in traffic on these ports. Only the other patterns are searched in the
 * complete payload. Of these, most are of rules that name their ports, or have a content at a known
 * position near the front. If a long payload is on none of these ports and has none of these
 * contents, only the patterns of the remaining rules are searched. */
#ifndef DETECT_PAYLOAD_SETS_H
#define DETECT_PAYLOAD_SETS_H

#include "detect/prefilter/anchored_literal.h"
#include "detect/prefilter/pattern_set.h"
#include "detect/rule/rule.h"

#define PAYLOAD_FRONT 256               /* bytes; searching this many costs little */
#define CONDITION_REACH 640u            /* bytes; searching more would cost too much */
#define CONDITION_WORTH 512u            /* bytes; a shorter payload is searched without a test */

/* Where a pattern can be if its rule matches. */
struct payload_pattern {
    struct literal_pattern literal;     /* borrowed */
    const struct rule *rule;
    bool in_front;                      /* only within the first PAYLOAD_FRONT bytes */
    /* Another content, without which the rule cannot match. It ends within CONDITION_REACH bytes.
     * len 0: there is none. */
    struct anchored_literal condition;
};

enum payload_position { POSITION_FRONT, POSITION_ANYWHERE, POSITION_COUNT };

/* All ports of the rules of a set: a bit for each, in pages of 256, of which most are empty. There
 * are up to a hundred filters. */
struct port_filter {
    uint16_t page_of[2][256];           /* source, destination; page 0 is empty */
    uint64_t page[][4];
};

struct payload_sets {
    struct pattern_set *any_port[POSITION_COUNT];          /* NULL: nothing to search */
    struct pattern_set *few_ports[POSITION_COUNT];
    /* The patterns of both positions: a payload of PAYLOAD_FRONT bytes is searched once. NULL: one
     * of the two is empty. */
    struct pattern_set *any_port_joined, *few_ports_joined;
    const struct port_filter *filter;                   /* of few_ports; NULL: there are none */
    /* Of any_port[POSITION_ANYWHERE], the patterns without a condition. They are searched in
     * place of all when a long payload meets no condition. NULL: there are none. */
    struct pattern_set *unconditional;
    const struct port_filter *condition_ports;          /* NULL: no rule has this condition */
    const struct anchored_literal *condition;           /* each different one once */
    unsigned condition_count;
    bool has_conditions;                                /* false: all patterns are searched */
    unsigned longest;                                   /* length of the longest pattern; 0: none */
};

/* True if traffic on these ports is rare enough for a separate set. `any` and a missing set are
 * not. */
bool ports_are_few(const struct port_set *ports);

/* The pool owns the sets and the filter. */
int payload_sets_build(struct payload_sets *sets, const struct payload_pattern *pattern,
                       unsigned count, struct pattern_pool *pool, struct err *err);

/* Bytes to search, with the ports of their sender and receiver. */
struct sent_payload {
    struct slice data;
    uint16_t src_port, dst_port;
};

void payload_sets_scan(const struct payload_sets *sets, struct hs_scratch *scratch,
                       const struct sent_payload *payload, struct candidates *out);

#endif
