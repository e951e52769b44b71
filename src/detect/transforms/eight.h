/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/transforms/eight.h - tests of eight bytes at a time. A body that comes byte by byte has
 * its window transformed again and again, so that these loops decide what its packets cost. */
#ifndef DETECT_TRANSFORMS_EIGHT_H
#define DETECT_TRANSFORMS_EIGHT_H

#include "base/base.h"

#include <string.h>

#define EIGHT(c) (UINT64_C(0x0101010101010101) * (uint8_t)(c))
#define EIGHT_HIGH EIGHT(0x80)

static inline uint64_t eight_load(const uint8_t *at)
{
    uint64_t w;

    memcpy(&w, at, sizeof(w));
    return w;
}

static inline void eight_store(uint8_t *at, uint64_t w)
{
    memcpy(at, &w, sizeof(w));
}

/* The high bit of each byte that is in first..last, both below 0x80. No carry crosses a byte. */
static inline uint64_t eight_between(uint64_t w, uint8_t first, uint8_t last)
{
    uint64_t low = w & ~EIGHT_HIGH;
    uint64_t from = low + EIGHT(0x80 - first), after = low + EIGHT(0x7f - last);

    return (from ^ after) & ~w & EIGHT_HIGH;
}

#endif
