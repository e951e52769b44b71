/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/anchored_literal.c - tests one literal where a rule allows it. */
#include "detect/prefilter/anchored_literal.h"
#include "match/spm_literal.h"

#include <string.h>

void anchored_literal_add_pairs(struct pair_set *pairs, const struct anchored_literal *l,
                                unsigned bucket)
{
    for (unsigned way = 0; way < (l->nocase ? 4u : 1u); way++) {
        uint8_t two[2] = { l->bytes[0], l->bytes[1] };

        for (unsigned i = 0; i < 2; i++)
            if ((way >> i & 1) && two[i] >= 'a' && two[i] <= 'z')
                two[i] &= (uint8_t)~0x20;
        pair_set_add(pairs, two[0], two[1], bucket);
    }
}

/* Compares the first byte before it calls memcmp(): at most positions that byte differs. */
bool anchored_literal_is_at(const struct anchored_literal *l, const uint8_t *at)
{
    if (l->nocase)
        return spm_equal_nocase(at, l->bytes, l->len);
    return at[0] == l->bytes[0] && memcmp(at, l->bytes, l->len) == 0;
}

/* A range with space for just the literal needs one comparison, a longer range a search. `from` may
 * be past the end of a short payload. */
bool anchored_literal_is_new(const struct anchored_literal *l, struct slice payload,
                             uint32_t searched)
{
    uint32_t to = MIN(l->to, payload.len), from = l->from;

    if (l->len == 0)
        return true;
    if (searched >= l->len)
        from = MAX(from, searched - l->len + 1);
    if (from > to || to - from < l->len)
        return false;
    if (to - from == l->len)
        return anchored_literal_is_at(l, payload.data + from);
    return spm_find(payload.data + from, to - from, l->bytes, l->len, l->nocase) != NULL;
}
