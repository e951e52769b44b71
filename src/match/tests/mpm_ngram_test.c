/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mpm_ngram against the plain search, over texts in which literals nearly match everywhere. */
#include "base/test.h"
#include "match/mpm_ngram.h"
#include "match/spm_literal.h"

#include <stdlib.h>
#include <string.h>

#define LITERALS 64
#define TEXT_MAX 700

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Few different bytes, and runs of them. */
static uint8_t some_byte(uint32_t *state, const char *from, unsigned kinds)
{
    return (uint8_t)from[next_random(state) % kinds];
}

static void fill(uint32_t *state, uint8_t *out, unsigned len, const char *from, unsigned kinds)
{
    for (unsigned i = 0; i < len; ) {
        uint8_t c = some_byte(state, from, kinds);
        unsigned n = next_random(state) % 4 == 0 ? 1 + next_random(state) % 12 : 1;

        while (n-- > 0 && i < len)
            out[i++] = c;
    }
}

struct round {
    uint8_t bytes[LITERALS][32];
    struct literal_pattern pattern[LITERALS];
    uint8_t text[TEXT_MAX];
    unsigned len;
    bool found[LITERALS];
};

static void on_hit(unsigned id, void *arg)
{
    ((struct round *)arg)->found[id] = true;
}

static void literals_make(uint32_t *state, struct round *r, const char *from, unsigned kinds)
{
    for (unsigned i = 0; i < LITERALS; i++) {
        unsigned len = 1 + next_random(state) % 32;
        bool nocase = next_random(state) % 3 == 0;

        len = i % 2 == 0 ? 1 + len % 8 : len;
        fill(state, r->bytes[i], len, from, kinds);
        for (unsigned k = 0; nocase && k < len; k++)
            r->bytes[i][k] = ascii_lower(r->bytes[i][k]);
        r->pattern[i] = (struct literal_pattern){ r->bytes[i], (uint16_t)len, nocase };
    }
}

/* Now and then with a literal in it, whole or all but its last byte. */
static void text_make(uint32_t *state, struct round *r, const char *from, unsigned kinds)
{
    r->len = next_random(state) % TEXT_MAX;
    fill(state, r->text, r->len, from, kinds);
    for (unsigned i = 0; i < 4; i++) {
        const struct literal_pattern *p = &r->pattern[next_random(state) % LITERALS];
        unsigned len = p->len - next_random(state) % 2;

        if (len <= r->len)
            memcpy(r->text + next_random(state) % (r->len - len + 1), p->bytes, len);
    }
}

static bool agrees(struct round *r, const struct mpm_ngram *set)
{
    uint8_t *exact = malloc(MAX(r->len, 1u));   /* so that a look beyond the end is seen */
    bool same = true;

    if (exact == NULL)
        return false;
    memcpy(exact, r->text, r->len);
    memset(r->found, 0, sizeof(r->found));
    mpm_ngram_scan(set, exact, r->len, on_hit, r);
    for (unsigned i = 0; i < LITERALS; i++)
        if (r->found[i] != (spm_find_plain(exact, r->len, r->pattern[i].bytes,
                                               r->pattern[i].len, r->pattern[i].nocase) != NULL))
            same = false;
    free(exact);
    return same;
}

TEST(mpm_ngram_finds_what_the_plain_search_finds)
{
    static const struct { const char *bytes; unsigned kinds; } alphabets[] = {
        { "\0\1", 2 }, { "\0 \1A", 4 }, { "aAbB", 4 }, { "abcdefgh\r\n/.:= \0\xff", 17 },
    };
    static const struct teddy_shape shapes[] = {
        { TEDDY_ANY, 7, 1 }, { TEDDY_ANY, 7, TEDDY_GROUPS }, { TEDDY_ANY, 5, 1 },
        { TEDDY_ANY, 6, TEDDY_GROUPS },
    };
    uint32_t state = 7;
    unsigned wrong = 0;

    for (unsigned n = 0; n < 400; n++) {
        static struct round r;
        const char *bytes = alphabets[n % ARRAY_LEN(alphabets)].bytes;
        unsigned kinds = alphabets[n % ARRAY_LEN(alphabets)].kinds;
        struct mpm_ngram *set[2 + ARRAY_LEN(shapes)];

        literals_make(&state, &r, bytes, kinds);
        set[0] = mpm_ngram_new(r.pattern, LITERALS);
        set[1] = mpm_ngram_new_with(r.pattern, LITERALS, &mpm_kernels_plain, NULL);
        for (unsigned i = 0; i < ARRAY_LEN(shapes); i++)
            set[2 + i] = mpm_ngram_new_with(
                r.pattern, LITERALS, &mpm_kernels_plain,
                &(struct teddy_kernel){ "plain", mpm_teddy_plain, &shapes[i], NULL });
        for (unsigned i = 0; i < 20; i++) {
            text_make(&state, &r, bytes, kinds);
            for (unsigned k = 0; k < ARRAY_LEN(set); k++)
                wrong += !agrees(&r, set[k]);
        }
        for (unsigned k = 0; k < ARRAY_LEN(set); k++)
            mpm_ngram_free(set[k]);
    }
    CHECK_INT(wrong, 0);
}

TEST(mpm_ngram_knows_its_literals)
{
    struct literal_pattern list[] = {
        { (const uint8_t *)"abc", 3, true }, { (const uint8_t *)"words of eight", 14, false },
        { (const uint8_t *)"x", 1, false },
    };
    struct mpm_ngram *set = mpm_ngram_new(list, ARRAY_LEN(list));

    CHECK(mpm_ngram_is_for(set, list, ARRAY_LEN(list)));
    CHECK(!mpm_ngram_is_for(set, list, ARRAY_LEN(list) - 1));
    list[0].nocase = false;
    CHECK(!mpm_ngram_is_for(set, list, ARRAY_LEN(list)));
    list[0].nocase = true;
    list[1].bytes = (const uint8_t *)"words of eighT";
    CHECK(!mpm_ngram_is_for(set, list, ARRAY_LEN(list)));
    list[1].len = 13;
    CHECK(!mpm_ngram_is_for(set, list, ARRAY_LEN(list)));
    list[1] = (struct literal_pattern){ (const uint8_t *)"words of eight", 14, false };
    CHECK(mpm_ngram_is_for(set, list, ARRAY_LEN(list)));
    mpm_ngram_free(set);
}

TEST(mpm_ngram_takes_an_empty_text)
{
    struct literal_pattern p = { (const uint8_t *)"a", 1, false };
    struct mpm_ngram *set = mpm_ngram_new(&p, 1);
    static struct round r;

    mpm_ngram_scan(set, (const uint8_t *)"", 0, on_hit, &r);
    CHECK(!r.found[0]);
    mpm_ngram_scan(set, (const uint8_t *)"a", 1, on_hit, &r);
    CHECK(r.found[0]);
    mpm_ngram_free(set);
}
