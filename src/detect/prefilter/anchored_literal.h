/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/anchored_literal.h - one cheap condition on a payload: bytes that it must have, as
 * far as that does not depend on other contents of the rule. */
#ifndef DETECT_NEAR_LITERAL_H
#define DETECT_NEAR_LITERAL_H

#include "base/base.h"

#define NEAR_BYTES 8            /* of a longer literal the first so many are looked for */
#define NEAR_ENOUGH 256         /* bytes; looking through so few costs next to nothing */

struct near_literal {
    uint8_t bytes[NEAR_BYTES];  /* lower case when nocase; len 0: no condition */
    uint8_t len;
    bool nocase;
    uint32_t from, to;          /* stands within these bytes of the payload */
};

/* A rule and what its payload must have. */
struct near_entry { const struct rule *rule; struct near_literal literal; };

static inline bool near_literal_is_placed(const struct near_literal *l)
{
    return l->len > 0 && l->to <= NEAR_ENOUGH;
}

/* Right here; there are l->len bytes. */
bool near_literal_stands_at(const struct near_literal *l, const uint8_t *at);
/* Where it may stand in this payload. */
bool near_literal_stands(const struct near_literal *l, const uint8_t *data, uint32_t len);

#endif
