/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the CPU's variants let pass is what the plain one does, and no literal is missed. */
#include "base/system/cpu.h"
#include "base/test.h"
#include "match/mpm_teddy.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 700
#define LITERALS 300

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

struct found { unsigned count, short_count; uint32_t position[TEXT], short_position[TEXT]; };

static void scan(mpm_teddy_scan *how, const struct mpm_teddy *s, const uint8_t *data,
                 uint32_t len, struct found *out)
{
    static struct teddy_hits hits;

    out->count = out->short_count = 0;
    for (uint32_t at = 0; at + TEDDY_WIDTH <= len; ) {
        at = how(s, data, len, at, &hits);
        memcpy(out->position + out->count, hits.position, hits.count * sizeof(*hits.position));
        out->count += hits.count;
        memcpy(out->short_position + out->short_count, hits.short_position,
               hits.short_count * sizeof(*hits.short_position));
        out->short_count += hits.short_count;
    }
}

static bool agree(const struct teddy_kernel *kernel, const struct mpm_teddy *s,
                  const uint8_t *data, uint32_t len)
{
    static struct found plain, own;
    static struct mpm_teddy as_read;

    as_read = *s;
    if (kernel->rows_differ != NULL)
        kernel->rows_differ(&as_read);
    scan(mpm_teddy_plain, s, data, len, &plain);
    scan(kernel->scan, &as_read, data, len, &own);
    return plain.count == own.count && plain.short_count == own.short_count &&
           memcmp(plain.position, own.position, plain.count * sizeof(*plain.position)) == 0 &&
           memcmp(plain.short_position, own.short_position,
                  plain.short_count * sizeof(*plain.short_position)) == 0;
}

/* `full`: so many of 256 entries have all bits, so that much passes or little. */
static void tables_make(uint32_t *state, struct mpm_teddy *s, unsigned full,
                        const struct teddy_shape *shape)
{
    s->groups = shape->groups;
    s->bits = shape->bits;
    s->shorts = (uint8_t)(0xff << (6 + next_random(state) % 3));
    memset(s->table, 0, sizeof(s->table));
    for (unsigned t = 0; t < s->groups * TEDDY_WIDTH; t++) {
        uint8_t *table = s->table[t / TEDDY_WIDTH][t % TEDDY_WIDTH];

        for (unsigned i = 0; i < 1u << s->bits; i++)
            table[i] = next_random(state) % 256 < full ? 0xff : (uint8_t)next_random(state);
        for (unsigned i = 1u << s->bits; i < 128; i++)
            table[i] = table[teddy_fold((uint8_t)i, s->bits)];
    }
}

/* At every alignment and length: what is beyond the end is not the text's own memory. */
static unsigned disagreements(const struct teddy_kernel *kernel, const struct teddy_shape *shape)
{
    static struct mpm_teddy teddy;
    uint32_t state = 11;
    unsigned wrong = 0;

    for (uint32_t n = 0; n < 2 * TEXT; n++) {
        uint32_t len = n % TEXT, shift = n % 67;
        uint8_t *exact = malloc(MAX(shift + len, 1u));

        if (exact == NULL)
            return UINT_MAX;
        tables_make(&state, &teddy, n % 5 * 60, shape);
        for (uint32_t i = 0; i < len; i++)
            exact[shift + i] = (uint8_t)next_random(&state);
        wrong += !agree(kernel, &teddy, exact + shift, len);
        free(exact);
    }
    return wrong;
}

static unsigned disagreements_of_all_shapes(const struct teddy_kernel *kernel)
{
    const struct teddy_shape *shape = kernel->shape;
    unsigned wrong = disagreements(kernel, shape);

    while (shape++->literals != TEDDY_ANY)
        wrong += disagreements(kernel, shape);
    return wrong;
}

/* Of each level that the CPU has. */
TEST(mpm_teddy_of_all_variants_agree)
{
    static const char *const levels[] = { "avx512", "avx2", "sse4", "neon", "scalar" };
    struct err err;

    for (unsigned i = 0; i < ARRAY_LEN(levels); i++)
        if (cpu_choose(levels[i], &err) == 0 && mpm_teddy_best() != NULL)
            CHECK_INT(disagreements_of_all_shapes(mpm_teddy_best()), 0);
    CHECK_INT(cpu_choose(NULL, &err), 0);
}

TEST(mpm_teddy_folds_numbers_one_to_one)
{
    uint8_t first[128] = { 0 }, second[128] = { 0 };
    unsigned wrong = 0;

    for (unsigned c = 0; c < 256; c++) {
        if (teddy_first((uint8_t)c) != teddy_first((uint8_t)(c ^ 0x20)) ||
            teddy_second((uint8_t)c) != teddy_second((uint8_t)(c ^ 0x20)))
            wrong++;
        first[teddy_first((uint8_t)c)]++;
        second[teddy_second((uint8_t)c)]++;
    }
    for (unsigned i = 0; i < 128; i++)
        wrong += first[i] != 2 || second[i] != 2;
    CHECK_INT(wrong, 0);
}

static bool has(const uint32_t *position, unsigned count, uint32_t want)
{
    for (unsigned i = 0; i < count; i++)
        if (position[i] == want)
            return true;
    return false;
}

/* Each literal in other surroundings, in the other case where that does not count. */
static unsigned literals_missed(struct teddy_shape shape)
{
    static uint8_t bytes[LITERALS][32];
    static struct found found;
    static struct mpm_teddy teddy;
    struct literal_pattern pattern[LITERALS];
    uint8_t at[LITERALS], text[64];
    uint32_t state = 3;
    unsigned wrong = 0;

    for (unsigned i = 0; i < LITERALS; i++) {
        unsigned len = 2 + next_random(&state) % 31;

        for (unsigned k = 0; k < len; k++)
            bytes[i][k] = (uint8_t)next_random(&state);
        pattern[i] = (struct literal_pattern){ bytes[i], (uint16_t)len, i % 2 == 0 };
    }
    memset(at, 0, sizeof(at));
    mpm_teddy_init(&teddy, &shape, pattern, LITERALS, at);
    wrong += teddy.groups != shape.groups || teddy.bits != shape.bits;
    for (unsigned i = 0; i < LITERALS; i++) {
        const struct literal_pattern *p = &pattern[i];
        uint32_t start = next_random(&state) % (sizeof(text) - p->len - TEDDY_WIDTH);

        for (unsigned k = 0; k < sizeof(text); k++)
            text[k] = (uint8_t)next_random(&state);
        for (unsigned k = 0; k < p->len; k++)
            text[start + k] = p->bytes[k] ^ (p->nocase && k % 2 == 0 ? 0x20 : 0);
        scan(mpm_teddy_plain, &teddy, text, sizeof(text), &found);
        wrong += p->len < TEDDY_WIDTH ? !has(found.short_position, found.short_count, start)
                                       : !has(found.position, found.count, start + at[i]);
    }
    return wrong;
}

TEST(mpm_teddy_lets_every_literal_pass)
{
    for (uint8_t bits = 5; bits <= 7; bits++) {
        CHECK_INT(literals_missed((struct teddy_shape){ TEDDY_ANY, bits, 1 }), 0);
        CHECK_INT(literals_missed((struct teddy_shape){ TEDDY_ANY, bits, TEDDY_GROUPS }), 0);
    }
}
