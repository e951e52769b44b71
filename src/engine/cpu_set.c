/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cpu_set.c - sets of CPUs as bits, by kernel number. */
#include "engine/cpu_set.h"

#include <stdio.h>
#include <string.h>

unsigned cpu_set_count(const struct cpu_set *s)
{
    unsigned count = 0;

    for (unsigned i = 0; i < ARRAY_LEN(s->bits); i++)
        count += (unsigned)__builtin_popcountll(s->bits[i]);
    return count;
}

/* The lowest CPU of the set from `from` on; -1 if there is none. */
int cpu_set_next(const struct cpu_set *s, unsigned from)
{
    for (unsigned i = from / 64; i < ARRAY_LEN(s->bits); i++) {
        uint64_t word = s->bits[i];

        if (i == from / 64)
            word &= ~(uint64_t)0 << from % 64;
        if (word != 0)
            return (int)(i * 64) + __builtin_ctzll(word);
    }
    return -1;
}

bool cpu_set_overlaps(const struct cpu_set *a, const struct cpu_set *b)
{
    for (unsigned i = 0; i < ARRAY_LEN(a->bits); i++)
        if ((a->bits[i] & b->bits[i]) != 0)
            return true;
    return false;
}

bool cpu_set_equal(const struct cpu_set *a, const struct cpu_set *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

void cpu_set_or(struct cpu_set *into, const struct cpu_set *other)
{
    for (unsigned i = 0; i < ARRAY_LEN(into->bits); i++)
        into->bits[i] |= other->bits[i];
}

void cpu_set_and(struct cpu_set *into, const struct cpu_set *other)
{
    for (unsigned i = 0; i < ARRAY_LEN(into->bits); i++)
        into->bits[i] &= other->bits[i];
}

void cpu_set_minus(struct cpu_set *into, const struct cpu_set *other)
{
    for (unsigned i = 0; i < ARRAY_LEN(into->bits); i++)
        into->bits[i] &= ~other->bits[i];
}

/* The form of cpu lists in /sys ("0-3,8"). A list that does not fit is truncated. */
const char *cpu_set_text(const struct cpu_set *s, char *buf, size_t size)
{
    size_t at = 0;
    int first = cpu_set_next(s, 0);

    buf[0] = '\0';
    while (first >= 0 && at < size) {
        int last = first;

        while (cpu_set_has(s, (unsigned)last + 1))
            last++;
        at += (size_t)snprintf(buf + at, size - at, first == last ? "%s%d" : "%s%d-%d",
                               at > 0 ? "," : "", first, last);
        first = cpu_set_next(s, (unsigned)last + 1);
    }
    return buf;
}
