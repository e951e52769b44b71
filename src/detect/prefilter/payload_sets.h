/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/payload_sets.h - payload patterns of one transport and direction.
 *
 * Three sets limit the work. Patterns that can only match near the front of a payload are searched
 * there. Patterns of rules on a few rare ports are searched in traffic on these ports. Only the
 * other patterns are searched in the complete payload. */
#ifndef DETECT_PAYLOAD_SETS_H
#define DETECT_PAYLOAD_SETS_H

#include "detect/prefilter/pattern_set.h"
#include "detect/rule/rule.h"

#define PAYLOAD_FRONT 256               /* bytes; searching this many costs little */

/* Where a pattern can be if its rule matches. */
struct payload_pattern {
    struct literal_pattern literal;     /* borrowed */
    const struct rule *rule;
    bool in_front;                      /* only within the first PAYLOAD_FRONT bytes */
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
    const struct port_filter *filter;                   /* of few_ports; NULL: there are none */
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
