/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_teddy.c - chooses which bytes of each literal Teddy tests, and which literals share a
 * bucket (Hyperscan's Teddy, with tables of 128 numbers in place of nibbles).
 *
 * The share of text that a bucket lets through is about the product, over the four positions, of
 * how often text has one of its numbers. Literals are first sorted so that those with similar rare
 * bytes share a bucket, which keeps its sets of numbers small. Then each literal moves once to the
 * bucket and offset at which it costs least. */
#include "match/mpm_teddy.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS_MAX (8 * TEDDY_GROUPS)
#define WINDOWS 8               /* windows of a literal that are tried: the rarest ones */
#define CHECKED 10.0f  /* cost of a position that passes in vain, per literal */

/* A sample of ordinary traffic. Only the frequency of neighbouring bytes matters. */
static const char sample[] =
    "GET /images/index.php?id=1024&page=2 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: "
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64)\r\nAccept: */*\r\nConnection: keep-alive\r\n"
    "Cookie: session=8f3a; lang=en\r\n\r\nHTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sun, 22 Nov "
    "2026 01:15:22 GMT\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 1234\r\n\r\n"
    "<html><head><title>page</title></head>\n<body>\n<p>in the beginning there was a lot of text, "
    "and some of it said nothing at all; numbers such as 1024 and 0 come too.</p>\n<a href=\""
    "/other/things.html\">link</a><div class=\"small\">then it is over</div></body></html>\n"
    "function(){var a=new Array();return document.getElementById(\"name\");} {\"id\": 12, "
    "\"text\": \"here\", \"list\": [1, 2, 3]}";
#define RARE 0.0004f            /* frequency of numbers that the sample lacks */

/* Four bytes of a literal: offset, numbers, and the estimated frequency in traffic. */
struct window { uint8_t at, number[TEDDY_WIDTH]; float use; };

/* A literal with its candidates, rarest first. */
struct item {
    uint32_t id;
    uint8_t bucket, selected, count;
    struct window window[WINDOWS];
};

/* One value for each bucket, in a row, so that the compiler evaluates a window against all buckets
 * with vector instructions. */
struct sums { float of[BUCKETS_MAX]; };

/* Temporary state. sum: frequency of all numbers of a bucket, per position. lacks: what a number
 * would add to that. has: how many literals of the bucket have the number. */
struct sorter {
    const struct literal_pattern *pattern;
    uint8_t *used;              /* by hash of four bytes: about how many literals have them */
    float use[TEDDY_WIDTH][128];
    struct item *item;
    unsigned count, buckets, bits;
    struct sums sum[TEDDY_WIDTH];
    struct sums lacks[TEDDY_WIDTH][128];
    uint16_t has[TEDDY_WIDTH][128][BUCKETS_MAX];
};

/* teddy_fold() of four numbers at once: each literal has many windows. */
static inline void folded_numbers(const uint8_t *at, unsigned bits, uint8_t number[TEDDY_WIDTH])
{
    uint32_t all;

    teddy_numbers(at, number);
    memcpy(&all, number, sizeof(all));
    if (bits <= 6)
        all = (all & 0x3f3f3f3f) ^ (all >> 6 & 0x01010101) << 2;
    if (bits <= 5)
        all = (all & 0x1f1f1f1f) ^ (all >> 5 & 0x01010101) << 3;
    memcpy(number, &all, sizeof(all));
}
_Static_assert(TEDDY_WIDTH == sizeof(uint32_t), "they are one word");

/* Frequency of each number in the sample. */
static void uses_count(struct sorter *s)
{
    const unsigned positions = sizeof(sample) - TEDDY_WIDTH;
    uint8_t number[TEDDY_WIDTH];

    for (unsigned k = 0; k < TEDDY_WIDTH; k++)
        for (unsigned i = 0; i < 128; i++)
            s->use[k][i] = RARE * (float)(128 >> s->bits);
    for (unsigned i = 0; i < positions; i++) {
        folded_numbers((const uint8_t *)sample + i, s->bits, number);
        for (unsigned k = 0; k < TEDDY_WIDTH; k++)
            s->use[k][number[k]] += 1.0f / (float)positions;
    }
}

static unsigned used_slot(const uint8_t *at)
{
    return ngram_hash(ngram_of(at, UINT32_MAX)) >> 16;
}

/* Bytes that many literals share are common in traffic too. */
static void used_count(struct sorter *s, const struct literal_pattern *p)
{
    for (unsigned at = 0; at + TEDDY_WIDTH <= p->len; at++) {
        uint8_t *used = &s->used[used_slot(p->bytes + at)];

        *used += *used < UINT8_MAX;
    }
}

/* At least three equal bytes: text with runs has them everywhere. */
static bool is_flat(const uint8_t *at)
{
    return at[1] == at[2] && (at[0] == at[1] || at[2] == at[3]);
}

bool teddy_is_flat(const struct literal_pattern *p)
{
    for (unsigned at = 0; at + TEDDY_WIDTH <= MIN(p->len, TEDDY_WINDOW); at++)
        if (!is_flat(p->bytes + at))
            return false;
    return true;
}

/* Keeps the WINDOWS rarest, sorted. */
static void window_add(struct item *item, struct window w)
{
    unsigned at = item->count;

    if (at == WINDOWS && item->window[at - 1].use <= w.use)
        return;
    at -= at == WINDOWS;
    for (; at > 0 && item->window[at - 1].use > w.use; at--)
        item->window[at] = item->window[at - 1];
    item->window[at] = w;
    item->count += item->count < WINDOWS;
}

/* A flat window is penalised but possible. */
static void item_add(struct sorter *s, uint32_t id)
{
    const struct literal_pattern *p = &s->pattern[id];
    struct item *item = &s->item[s->count];

    *item = (struct item){ .id = id };
    for (unsigned at = 0; at + TEDDY_WIDTH <= MIN(p->len, TEDDY_WINDOW); at++) {
        struct window w = { .at = (uint8_t)at, .use = is_flat(p->bytes + at) ? 100.0f : 1.0f };
        float used = s->used[used_slot(p->bytes + at)];

        folded_numbers(p->bytes + at, s->bits, w.number);
        for (unsigned k = 0; k < TEDDY_WIDTH; k++)
            w.use *= s->use[k][w.number[k]];
        w.use *= used * used;
        window_add(item, w);
    }
    s->count++;
}

/* --- buckets ------------------------------------------------------------------------------ */

/* Adds the literal to its bucket; bucket_take() is the inverse. */
static void bucket_put(struct sorter *s, struct item *item)
{
    const struct window *w = &item->window[item->selected];
    unsigned b = item->bucket;

    for (unsigned k = 0; k < TEDDY_WIDTH; k++) {
        unsigned number = w->number[k];

        if (s->has[k][number][b]++ > 0)
            continue;
        s->sum[k].of[b] += s->use[k][number];
        s->lacks[k][number].of[b] = 0;
    }
}

static void bucket_take(struct sorter *s, struct item *item)
{
    const struct window *w = &item->window[item->selected];
    unsigned b = item->bucket;

    for (unsigned k = 0; k < TEDDY_WIDTH; k++) {
        unsigned number = w->number[k];

        if (--s->has[k][number][b] > 0)
            continue;
        s->sum[k].of[b] -= s->use[k][number];
        s->lacks[k][number].of[b] = s->use[k][number];
    }
}

/* How much more text each bucket would let through with the window than without. */
static void costs_of(const struct sorter *s, const struct window *w, struct sums *out)
{
    const struct sums *sum = s->sum, *l0 = &s->lacks[0][w->number[0]];
    const struct sums *l1 = &s->lacks[1][w->number[1]], *l2 = &s->lacks[2][w->number[2]];
    const struct sums *l3 = &s->lacks[3][w->number[3]];
    float fixed = CHECKED * w->use;

    for (unsigned b = 0; b < BUCKETS_MAX; b++) {
        float now = sum[0].of[b] * sum[1].of[b] * sum[2].of[b] * sum[3].of[b];
        float with = (sum[0].of[b] + l0->of[b]) * (sum[1].of[b] + l1->of[b]) *
                     (sum[2].of[b] + l2->of[b]) * (sum[3].of[b] + l3->of[b]);

        out->of[b] = fixed + with - now;
    }
}
_Static_assert(TEDDY_WIDTH == 4, "so many are written out");

/* One step of a greedy search. */
static void item_move(struct sorter *s, struct item *item)
{
    struct sums cost[WINDOWS];
    float best = 0;
    bool any = false;

    bucket_take(s, item);
    for (unsigned i = 0; i < item->count; i++)
        costs_of(s, &item->window[i], &cost[i]);
    for (uint8_t b = 0; b < s->buckets; b++) {
        for (uint8_t i = 0; i < item->count; i++) {
            if (any && cost[i].of[b] >= best)
                continue;
            best = cost[i].of[b];
            any = true;
            item->selected = i;
            item->bucket = b;
        }
    }
    bucket_put(s, item);
}

/* The starting order: similar numbers are neighbours. */
static int by_numbers(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int r = memcmp(x->window[0].number, y->window[0].number, TEDDY_WIDTH);

    return r != 0 ? r : (x->id > y->id) - (x->id < y->id);
}

static void sort_into_buckets(struct sorter *s)
{
    for (unsigned k = 0; k < TEDDY_WIDTH; k++)
        for (unsigned i = 0; i < 128; i++)
            for (unsigned b = 0; b < BUCKETS_MAX; b++)
                s->lacks[k][i].of[b] = s->use[k][i];
    if (s->count > 1)
        qsort(s->item, s->count, sizeof(*s->item), by_numbers);
    for (unsigned i = 0; i < s->count; i++) {
        s->item[i].bucket = (uint8_t)(i * s->buckets / s->count);
        bucket_put(s, &s->item[i]);
    }
    for (unsigned i = 0; i < s->count; i++)
        item_move(s, &s->item[i]);
}

/* --- the tables --------------------------------------------------------------------------- */

/* For `width` bytes. Numbers that need bytes after them match anything. */
static void table_add(struct mpm_teddy *teddy, unsigned bucket, const uint8_t *bytes,
                      unsigned width)
{
    uint8_t padded[TEDDY_WIDTH] = { 0 }, number[TEDDY_WIDTH];
    uint8_t bit = (uint8_t)(1u << bucket % 8);

    memcpy(padded, bytes, width);
    folded_numbers(padded, teddy->bits, number);
    for (unsigned k = 0; k < TEDDY_WIDTH; k++) {
        uint8_t *table = teddy->table[bucket / 8][k];

        if (width == TEDDY_WIDTH || k + 1 < width)
            table[number[k]] |= bit;
        else
            for (unsigned i = 0; i < 128; i++)
                table[i] |= bit;
    }
}

/* Short literals have buckets of their own in group 0: two bytes the last one, three bytes the one
 * before it, or the last if there are none of two. */
static void shorts_add(struct mpm_teddy *teddy, const struct literal_pattern *pattern,
                       unsigned count, uint8_t *at)
{
    unsigned next = 7;

    for (unsigned width = 2; width < TEDDY_WIDTH; width++) {
        bool any = false;

        for (unsigned i = 0; i < count; i++)
            if (pattern[i].len == width && at[i] != TEDDY_NONE) {
                at[i] = 0;
                any = true;
                table_add(teddy, next, pattern[i].bytes, width);
            }
        if (any)
            teddy->shorts |= (uint8_t)(1u << next--);
    }
}

/* Distributes all other literals over the remaining buckets and writes their offsets to at[]. */
static void longs_add(struct mpm_teddy *teddy, const struct literal_pattern *pattern,
                      unsigned count, uint8_t *at)
{
    struct sorter *s = xcalloc(1, sizeof(*s));
    unsigned shorts = (unsigned)__builtin_popcount(teddy->shorts);

    s->pattern = pattern;
    s->item = xcalloc(count, sizeof(*s->item));
    s->bits = teddy->bits;
    uses_count(s);
    s->used = xcalloc(65536, 1);
    for (unsigned i = 0; i < count; i++)
        used_count(s, &pattern[i]);
    for (unsigned i = 0; i < count; i++)
        if (pattern[i].len >= TEDDY_WIDTH && at[i] != TEDDY_NONE)
            item_add(s, i);
    s->buckets = 8u * teddy->groups - shorts;
    sort_into_buckets(s);
    for (unsigned i = 0; i < s->count; i++) {
        const struct item *item = &s->item[i];
        unsigned bucket = item->bucket < 8 - shorts ? item->bucket : item->bucket + shorts;

        at[item->id] = item->window[item->selected].at;
        table_add(teddy, bucket, pattern[item->id].bytes + at[item->id], TEDDY_WIDTH);
    }
    free(s->item);
    free(s->used);
    free(s);
}

static unsigned longs_count(const struct literal_pattern *pattern, unsigned count,
                            const uint8_t *at)
{
    unsigned longs = 0;

    for (unsigned i = 0; i < count; i++)
        longs += pattern[i].len >= TEDDY_WIDTH && at[i] != TEDDY_NONE;
    return longs;
}

/* Numbers that are folded to one have the same entry, so that the tables can be looked up without
 * folding. */
static void tables_repeat(struct mpm_teddy *teddy)
{
    for (unsigned t = 0; t < TEDDY_GROUPS * TEDDY_WIDTH; t++) {
        uint8_t *table = teddy->table[t / TEDDY_WIDTH][t % TEDDY_WIDTH];

        for (unsigned i = 1u << teddy->bits; i < 128; i++)
            table[i] = table[teddy_fold((uint8_t)i, teddy->bits)];
    }
}

void mpm_teddy_init(struct mpm_teddy *teddy, const struct teddy_shape *shape,
                      const struct literal_pattern *pattern, unsigned count, uint8_t *at)
{
    unsigned longs = longs_count(pattern, count, at);

    while (longs > shape->literals)
        shape++;
    *teddy = (struct mpm_teddy){ .groups = shape->groups, .bits = shape->bits };
    shorts_add(teddy, pattern, count, at);
    longs_add(teddy, pattern, count, at);
    tables_repeat(teddy);
}
