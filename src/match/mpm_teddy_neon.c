/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_teddy_neon.c - Teddy's scan with NEON, for sets whose literals are in one group.
 *
 * TBL finds one of 64 bytes in four registers and gives 0 beyond them. So two of them search a
 * table of 128 numbers. The four tables would fill all registers. Therefore one table at a time is
 * loaded, for 64 positions, and there is one group of buckets. */
#include "match/mpm_teddy.h"

#include <string.h>

#ifdef __aarch64__
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

#define WIDTH 16u
/* Registers of text that a step tests, and that it reads. */
#define TESTED 4u
#define LOADED (TESTED + 1)
#define STEP (TESTED * WIDTH)
#define REACH (LOADED * WIDTH)
/* Positions that are stored without a test. */
#define KEEP 8

struct numbers { uint8x16_t of[TEDDY_WIDTH][TESTED]; };
struct buckets { uint8x16_t of[TESTED]; };

/* teddy_first() and teddy_second(). */
INLINE uint8x16_t first_of(uint8x16_t c)
{
    return vorrq_u8(vandq_u8(c, vdupq_n_u8(0x5f)), vandq_u8(vshrq_n_u8(c, 2), vdupq_n_u8(0x20)));
}

INLINE uint8x16_t second_of(uint8x16_t c)
{
    uint8x16_t low = vandq_u8(vshlq_n_u8(c, 3), vdupq_n_u8(0x78));
    uint8x16_t high = vorrq_u8(vandq_u8(vshrq_n_u8(c, 4), vdupq_n_u8(0x05)),
                               vandq_u8(vshrq_n_u8(c, 6), vdupq_n_u8(0x02)));

    return vorrq_u8(low, high);
}

/* As teddy_numbers(). Each byte is folded once; numbers of the next positions are shifted. The last
 * pair has a wrong neighbour: nothing uses it. */
INLINE struct numbers numbers_of(const uint8_t *at)
{
    uint8x16_t first[LOADED], second[LOADED], pair[LOADED];
    struct numbers n;

    for (unsigned i = 0; i < LOADED; i++) {
        uint8x16_t bytes = vld1q_u8(at + i * WIDTH);

        first[i] = first_of(bytes);
        second[i] = second_of(bytes);
    }
    for (unsigned i = 0; i < LOADED; i++)
        pair[i] = veorq_u8(first[i], vextq_u8(second[i], second[MIN(i + 1, TESTED)], 1));
    for (unsigned i = 0; i < TESTED; i++) {
        n.of[0][i] = pair[i];
        n.of[1][i] = vextq_u8(pair[i], pair[i + 1], 1);
        n.of[2][i] = vextq_u8(pair[i], pair[i + 1], 2);
        n.of[3][i] = veorq_u8(vextq_u8(first[i], first[i + 1], 3), second[i]);
    }
    return n;
}

INLINE uint8x16x4_t rows_of(const uint8_t *table)
{
    return (uint8x16x4_t){ { vld1q_u8(table), vld1q_u8(table + WIDTH), vld1q_u8(table + 2 * WIDTH),
                             vld1q_u8(table + 3 * WIDTH) } };
}

/* The buckets that have all four numbers, a byte of bits for each position. */
INLINE struct buckets buckets_of(const uint8_t table[TEDDY_WIDTH][128], const uint8_t *at)
{
    const struct numbers n = numbers_of(at);
    struct buckets all;

    for (unsigned i = 0; i < TESTED; i++)
        all.of[i] = vdupq_n_u8(0xff);
    for (unsigned k = 0; k < TEDDY_WIDTH; k++) {
        const uint8x16x4_t low = rows_of(table[k]), high = rows_of(table[k] + 64);

        for (unsigned i = 0; i < TESTED; i++) {
            uint8x16_t upper = veorq_u8(n.of[k][i], vdupq_n_u8(64));
            uint8x16_t bits = vqtbl4q_u8(low, n.of[k][i]);

            bits = vorrq_u8(bits, vqtbl4q_u8(high, upper));
            all.of[i] = vandq_u8(all.of[i], bits);
        }
    }
    return all;
}

/* A bit for each position with one of these buckets: NEON has no such instruction, so each byte
 * keeps the bit of its place among eight, and neighbours are added three times. */
INLINE uint64_t positions_of(const struct buckets *b, uint8_t wanted)
{
    const uint8x16_t place = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const uint8x16_t some = vdupq_n_u8(wanted);
    uint8x16_t is[TESTED], sum;

    for (unsigned i = 0; i < TESTED; i++)
        is[i] = vandq_u8(vtstq_u8(b->of[i], some), place);
    sum = vpaddq_u8(vpaddq_u8(is[0], is[1]), vpaddq_u8(is[2], is[3]));
    return vreinterpretq_u64_u8(vpaddq_u8(sum, sum))[0];
}

/* Stores KEEP positions at a time: a branch on each would be mispredicted. */
INLINE unsigned keep(uint64_t mask, uint32_t at, uint32_t *out)
{
    unsigned count = (unsigned)__builtin_popcountll(mask), done = 0;

    do {
        for (unsigned i = 0; i < KEEP; i++, mask &= mask - 1)
            out[done + i] = at + (mask != 0 ? (uint32_t)__builtin_ctzll(mask) : 0);
        done += KEEP;
    } while (UNLIKELY(done < count));
    return count;
}

/* The positions from `at` on whose bit in `there` is set; `text` has their bytes. */
INLINE void step(const struct mpm_teddy *s, const uint8_t *text, uint32_t at, uint64_t there,
                 struct teddy_hits *hits)
{
    const struct buckets bits = buckets_of(s->table[0], text);

    if (s->shorts != 0)
        hits->short_count += keep(positions_of(&bits, s->shorts) & there, at,
                                  hits->short_position + hits->short_count);
    hits->count += keep(positions_of(&bits, (uint8_t)~s->shorts) & there, at,
                        hits->position + hits->count);
}

static bool has_space(const struct teddy_hits *hits)
{
    return MAX(hits->count, hits->short_count) <= SCAN_MAX - STEP;
}

/* The last positions are looked at in a copy with zeros behind it, because a step reads beyond
 * them. */
uint32_t mpm_teddy_neon(const struct mpm_teddy *s, const uint8_t *data, uint32_t len, uint32_t at,
                        struct teddy_hits *hits)
{
    const uint32_t end = len - (TEDDY_WIDTH - 1);

    hits->count = hits->short_count = 0;
    for (; at + REACH <= len && has_space(hits); at += STEP)
        step(s, data + at, at, UINT64_MAX, hits);
    while (at < end && has_space(hits)) {
        uint32_t count = MIN(end - at, STEP);
        uint8_t last[REACH] = { 0 };

        memcpy(last, data + at, MIN(len - at, REACH));
        step(s, last, at, UINT64_MAX >> (STEP - count), hits);
        at += count;
    }
    return at;
}
#endif
