/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/anchored_literal.h - one cheap condition on a payload: bytes that it must have,
 * as far as that does not depend on other contents of the rule. */
#ifndef DETECT_ANCHORED_LITERAL_H
#define DETECT_ANCHORED_LITERAL_H

#include "base/base.h"

#define ANCHORED_BYTES 8            /* of a longer literal only the first 8 are searched */
#define ANCHORED_MAX_OFFSET 256         /* bytes; looking through so few costs next to nothing */

struct anchored_literal {
    uint8_t bytes[ANCHORED_BYTES];  /* lower case when nocase; len 0: no condition */
    uint8_t len;
    bool nocase;
    uint32_t from, to;          /* must be within these bytes of the payload */
};

/* A rule and what its payload must have. */
struct anchored_entry { const struct rule *rule; struct anchored_literal literal; };

static inline bool anchored_literal_is_bounded(const struct anchored_literal *l)
{
    return l->len > 0 && l->to <= ANCHORED_MAX_OFFSET;
}

/* Right here; there are l->len bytes. */
bool anchored_literal_is_at(const struct anchored_literal *l, const uint8_t *at);
/* Within its bounds in this payload. */
bool anchored_literal_matches(const struct anchored_literal *l, const uint8_t *data, uint32_t len);

#endif
