/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/buffer_checks.h - what a rule asks of the buffer in which its fast pattern is
 * found: how long it is, and bytes at a fixed place. Patterns do not know where a rule wants them:
 * "Mozilla" with "bsize:7" is in nearly every request. The check rejects such rules in few
 * instructions, before anything of the rule is read. */
#ifndef DETECT_BUFFER_CHECKS_H
#define DETECT_BUFFER_CHECKS_H

#include "base/text/bytes.h"

struct arena;
struct detect_plan;
struct rule;

#define BUFFER_CHECK_BYTES 4

struct buffer_check {
    uint16_t least, most;               /* length of the buffer; most UINT16_MAX: no limit */
    uint16_t at;                        /* where the bytes are, from the start or from the end */
    uint8_t count;                      /* number of them; 0: none */
    bool from_end;
    uint8_t bytes[BUFFER_CHECK_BYTES], fold[BUFFER_CHECK_BYTES];    /* 0x20 ignores the case */
};

/* False: the rule cannot match in these bytes. They must be all of the buffer. */
static inline bool buffer_check_fits(const struct buffer_check *b, struct slice data)
{
    const uint8_t *at;

    if (data.len < b->least || (data.len > b->most && b->most != UINT16_MAX))
        return false;
    at = data.data + (b->from_end ? data.len - b->at : b->at);      /* `least` includes them */
    for (unsigned i = 0; i < b->count; i++)
        if ((at[i] | b->fold[i]) != b->bytes[i])
            return false;
    return true;
}

/* False: the rule asks for nothing that its pattern does not show. */
bool buffer_check_of(const struct rule *rule, struct buffer_check *out);
/* Fills plan->buffer_check and the numbers in plan->mask. */
void buffer_checks_build(struct detect_plan *plan, struct arena *arena);

#endif
