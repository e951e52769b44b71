/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/anchored_literal.h - one cheap condition on a payload: bytes that it must have,
 * independent of other contents of the rule. */
#ifndef DETECT_ANCHORED_LITERAL_H
#define DETECT_ANCHORED_LITERAL_H

#include "base/text/bytes.h"
#include "match/pair_set.h"

#define ANCHORED_BYTES 8            /* of a longer literal only the first 8 are searched */
#define ANCHORED_MAX_OFFSET 256         /* bytes; searching this many costs little */

struct anchored_literal {
    uint8_t bytes[ANCHORED_BYTES];  /* lower case when nocase; len 0: no condition */
    uint8_t len;
    bool nocase;
    uint32_t from, to;          /* it must be within these payload bytes */
};

/* A rule and its literal. */
struct anchored_entry { const struct rule *rule; struct anchored_literal literal; };

static inline bool anchored_literal_is_bounded(const struct anchored_literal *l)
{
    return l->len > 0 && l->to <= ANCHORED_MAX_OFFSET;
}

/* Adds each way to write the first two bytes: four ways for two letters without case. len >= 2. */
void anchored_literal_add_pairs(struct pair_set *pairs, const struct anchored_literal *l,
                                unsigned bucket);

/* True if the literal is at exactly this position; l->len bytes must be readable. */
bool anchored_literal_is_at(const struct anchored_literal *l, const uint8_t *at);
/* True if the payload has the literal within its bounds, and not all of it in the first `searched`
 * bytes: those have been searched before. */
bool anchored_literal_is_new(const struct anchored_literal *l, struct slice payload,
                             uint32_t searched);
static inline bool anchored_literal_matches(const struct anchored_literal *l,
                                            struct slice payload)
{
    return anchored_literal_is_new(l, payload, 0);
}

#endif
