/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the CPU's own variant meets is what the plain one meets. */
#include "base/system/cpu.h"
#include "base/test.h"
#include "match/mpm_kernels.h"

#include <stdlib.h>
#include <string.h>

#define BITS 10
#define TEXT 700

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int by_position(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* In any order, and more than once or not. */
static bool same_positions(uint32_t *a, unsigned a_count, uint32_t *b, unsigned b_count)
{
    if (a_count != b_count)
        return false;
    qsort(a, a_count, sizeof(*a), by_position);
    qsort(b, b_count, sizeof(*b), by_position);
    return memcmp(a, b, a_count * sizeof(*a)) == 0;
}

static bool agree(struct bit_table t, const uint8_t *data, uint32_t len, unsigned stride)
{
    static uint32_t hits[2][SCAN_CAPACITY], position[2][2 * SCAN_CAPACITY];
    const struct mpm_kernels *kernels[2] = { &mpm_kernels_plain, mpm_kernels_best() };
    struct bit_table confirm = { t.bits, t.shift, 0xffffffff };
    uint32_t at = stride - 1;
    unsigned count[2], positions = at + 4 <= len ? MIN((len - at - 4) / stride + 1, SCAN_MAX) : 0;

    for (unsigned i = 0; i < 2; i++)
        count[i] = kernels[i]->scan_stride(
            t, (struct slice){ data, len }, (struct stride_positions){ at, stride, positions },
            hits[i]);
    if (!same_positions(hits[0], count[0], hits[1], count[1]))
        return false;
    for (unsigned back = 0; back < stride; back++) {
        unsigned found[2];

        for (unsigned i = 0; i < 2; i++)
            found[i] = kernels[i]->scan_confirm(
                confirm, data, (struct hit_positions){ hits[0], count[0], back }, position[i]);
        if (!same_positions(position[0], found[0], position[1], found[1]))
            return false;
    }
    return true;
}

static unsigned disagreements(void)
{
    uint64_t bits[(1 << BITS) / 64] = { 0 };
    struct bit_table table = { bits, 32 - BITS, 0xffffff };
    uint32_t state = 5;
    unsigned wrong = 0;

    for (unsigned i = 0; i < 300; i++)
        bits[next_random(&state) % ARRAY_LEN(bits)] |= 1ull << (next_random(&state) & 63);
    for (uint32_t len = 0; len < TEXT; len++) {
        uint8_t *exact = malloc(MAX(len, 1u));  /* so that a look beyond the end is seen */

        if (exact == NULL)
            break;
        for (uint32_t i = 0; i < len; i++)
            exact[i] = (uint8_t)next_random(&state);
        wrong += !agree(table, exact, len, 1) + !agree(table, exact, len, 2);
        free(exact);
    }
    return wrong;
}

static unsigned runs_missed(void)
{
    uint32_t state = 9;
    unsigned wrong = 0;

    for (uint32_t len = 0; len < TEXT / 2; len++) {
        uint8_t *exact = malloc(MAX(len, 1u));  /* so that a look beyond the end is seen */

        if (exact == NULL)
            break;
        for (uint32_t i = 0; i < len; i++)
            exact[i] = (uint8_t)(next_random(&state) % (len % 3 * 4 + 3));
        for (uint32_t at = 0; at <= len; at++) {
            uint32_t want = at;

            while (want + 2 < len && (exact[want] != exact[want + 1] ||
                                      exact[want] != exact[want + 2]))
                want++;
            want = want + 2 < len ? want : len;
            wrong += mpm_kernels_plain.run(exact, len, at) != want;
            wrong += mpm_kernels_best()->run(exact, len, at) != want;
        }
        free(exact);
    }
    return wrong;
}

/* Of each level that the CPU has. */
static unsigned of_all_levels(unsigned (*count)(void))
{
    static const char *const levels[] = { "avx512", "avx2", "sse4", "neon", "scalar" };
    struct err err;
    unsigned wrong = 0;

    for (unsigned i = 0; i < ARRAY_LEN(levels); i++)
        if (cpu_choose(levels[i], &err) == 0)
            wrong += count();
    (void)cpu_choose(NULL, &err);
    return wrong;
}

TEST(mpm_kernels_of_all_variants_agree)
{
    CHECK_INT(of_all_levels(disagreements), 0);
}

TEST(mpm_kernels_of_all_variants_find_runs)
{
    CHECK_INT(of_all_levels(runs_missed), 0);
}
