/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/mpm_ngram.c - builds a set of literals and searches a text for all of them.
 *
 * A search has up to three passes over the text: n-grams (or Teddy) for literals of two bytes and
 * more; runs of one byte; memchr() for literals of a single byte. Sets are built by one thread and
 * then only read. */
#include "match/mpm_ngram.h"
#include "base/array.h"
#include "match/mpm_teddy.h"
#include "match/spm_literal.h"

#include <stdlib.h>
#include <string.h>

#define NGRAM_SPARSE 16         /* bits of a table for each n-gram in it */
/* The second table decides which hits cost a lookup, so it is sparser. */
#define CONFIRM_SPARSE 32

/* How a length class scans the text. A literal has `stride` n-grams next to each other, so a test
 * at every stride-th position finds one of them. The bytes that these n-grams cover, `span` of
 * them, are the key of the lookup that follows. If there are literals of two bytes, those of three
 * are in their class. */
enum length_class_id { LENGTH_FOUR, LENGTH_THREE, LENGTH_PAIR, LENGTH_CLASS_COUNT };
static const struct length_class_kind {
    uint8_t width, stride, span, least;
} kinds[LENGTH_CLASS_COUNT] = {
    [LENGTH_FOUR] = { 3, 2, 4, 4 },
    [LENGTH_THREE] = { 2, 2, 3, 3 },
    [LENGTH_PAIR] = { 2, 1, 2, 2 },
};
#define PLACES 128              /* n-grams are chosen from this many first bytes of the literal */

/* A literal with the span of its class. Eight bytes are compared before the literal itself is read.
 * They reach beyond the n-grams if the literal does. */
struct ngram_entry {
    uint64_t value, mask;
    uint32_t id;
    uint8_t at;                 /* offset of the n-grams in the literal */
    int8_t from;                /* offset of the eight bytes in the text, relative to the n-grams */
    uint8_t all;                /* length of the literal, if the eight bytes are all of it; or 0 */
    bool is_last;               /* the last entry with these n-grams */
};

/* A slot of the hash table, which uses linear probing. Entries with the same n-grams are next to
 * each other. */
struct ngram_slot { uint32_t key, first; };        /* index of the entry + 1; 0: empty */

struct length_class {
    struct bit_table ngrams;     /* by hash; bits NULL: the class is not scanned */
    struct bit_table confirm;    /* bits NULL: the class has no literal */
    struct ngram_slot *slot;     /* by the upper bits of the hash, or after that */
    struct ngram_entry *entry;
    uint8_t slot_shift;
};

/* A literal as words of eight bytes. Text and literal must agree in the bits of `mask`. */
struct ngram_literal {
    uint32_t word;              /* first one in mpm_ngram.value and .mask */
    uint16_t len;
};

/* A literal that consists of little but a run of one byte: its n-grams would be found everywhere in
 * a run. */
struct run_entry {
    uint32_t id;
    uint16_t from, to;          /* of the run in the literal, [from, to) */
    /* The byte before the run, otherwise the one after it, and the bits of it that count. A mask of
     * 0: there is no such byte. */
    uint8_t next, next_mask;
};

/* What the neighbours of a run must be for any literal of its byte, by their lower six bits: most
 * runs end here, without a look at the literals. One for each byte that has some. */
struct run_filter {
    uint64_t before, after;
    uint32_t alone;             /* length of the shortest literal that is all run */
};

/* What every search reads comes first: see mpm_ngram_hot_bytes(). */
struct mpm_ngram {
    const struct mpm_kernels *kernels;
    mpm_teddy_scan *teddy_scan;      /* NULL: length_class[].ngrams is scanned instead */
    struct length_class length_class[LENGTH_CLASS_COUNT];
    bool has_runs;
    unsigned one_count;
    struct mpm_teddy teddy;
    struct run_entry *run;      /* by byte */
    uint32_t run_first[257]; /* first run of each byte */
    uint16_t run_filter_of[256];        /* index + 1; 0: no literal has a run of this byte */
    struct run_filter *run_filter;
    struct one_entry { uint32_t id; uint8_t byte; } *one;   /* literals of one byte */
    struct ngram_literal *literal;
    uint64_t *value, *mask;
    unsigned count;             /* of literals */
};

/* --- which bytes of a literal ------------------------------------------------------------- */

static bool is_letter(uint8_t c)
{
    return c >= 'a' && c <= 'z';
}

static uint32_t width_mask(unsigned width)
{
    return width == 4 ? UINT32_MAX : (1u << 8 * width) - 1;
}

/* Little-endian, with the case bit set, as ngram_of() reads the text. */
static uint32_t ngram_at(const uint8_t *at, unsigned width)
{
    uint32_t ngram = 0;

    for (unsigned i = 0; i < width; i++)
        ngram |= (uint32_t)(at[i] | 0x20) << 8 * i;
    return ngram;
}

/* All bytes are equal. */
static bool is_flat(uint32_t ngram, unsigned width)
{
    return ngram == ((ngram & 0xff) * 0x01010101u & width_mask(width));
}

/* How common a byte is in traffic: 1 (rare) to 8. An estimate; only speed depends on it. */
static unsigned byte_use(uint8_t c)
{
    if (c == 0 || c == ' ' || c == 0xff || c == 'e')
        return 8;
    if (strchr("/.:=-\r\ntaoinsr", c) != NULL)
        return 6;
    if (is_letter(c | 0x20))
        return strchr("jqxzkv", c | 0x20) != NULL ? 3 : 5;
    return c >= '0' && c <= '9' ? 4 : 2;
}

#define USE_SLOTS 65536

/* Temporary state of choosing n-grams. */
struct chooser {
    const struct literal_pattern *pattern;
    unsigned count;
    uint8_t *used;              /* by hash of an n-gram: about how many literals have it */
};

static unsigned use_slot(uint32_t ngram)
{
    return ngram * 0x9e3779b1u >> 16;
}

/* N-grams that many literals share are common in traffic too ("HTTP", "php?"). */
static void uses_count(struct chooser *c, unsigned width)
{
    memset(c->used, 0, USE_SLOTS);
    for (unsigned i = 0; i < c->count; i++)
        for (unsigned k = 0; k + width <= c->pattern[i].len; k++) {
            uint8_t *used = &c->used[use_slot(ngram_at(c->pattern[i].bytes + k, width))];

            *used += *used < UINT8_MAX;
        }
}

/* Flat n-grams cost so much that they are only chosen if there is nothing else. */
static unsigned ngram_cost(const struct chooser *c, const uint8_t *at, unsigned width)
{
    uint32_t ngram = ngram_at(at, width);
    unsigned cost = 4u * c->used[use_slot(ngram)];

    for (unsigned i = 0; i < width; i++)
        cost += byte_use(at[i]);
    return is_flat(ngram, width) ? 100000 : cost;
}

/* The offset of the cheapest `stride` n-grams in a row. *flat: all of them are runs of one byte. */
static unsigned choose(const struct chooser *c, const struct literal_pattern *p,
                       const struct length_class_kind *kind, bool *flat)
{
    unsigned best = 0, best_cost = UINT32_MAX;

    for (unsigned at = 0; at + kind->width + kind->stride - 1u <= MIN(p->len, PLACES); at++) {
        unsigned cost = 0;

        for (unsigned i = 0; i < kind->stride; i++)
            cost += ngram_cost(c, p->bytes + at + i, kind->width);
        if (cost < best_cost) {
            best_cost = cost;
            best = at;
        }
    }
    *flat = best_cost >= 100000;
    return best;
}

/* The longest run of one byte. Letters of a caseless literal do not count: their case may vary. */
static struct run_entry run_of(const struct literal_pattern *p, unsigned id)
{
    struct run_entry best = { .id = id };

    for (unsigned from = 0, to; from < p->len; from = to) {
        for (to = from + 1; to < p->len && p->bytes[to] == p->bytes[from]; to++)
            ;
        if (to - from >= SCAN_RUN && to - from > (unsigned)(best.to - best.from) &&
            !(p->nocase && is_letter(p->bytes[from])))
            best = (struct run_entry){ .id = id, .from = (uint16_t)from, .to = (uint16_t)to };
    }
    if (best.from > 0 || best.to < p->len) {
        uint8_t c = p->bytes[best.from > 0 ? best.from - 1 : best.to];

        best.next_mask = p->nocase && is_letter(c) ? 0xdf : 0xff;
        best.next = c & best.next_mask;
    }
    return best;
}

/* --- building ----------------------------------------------------------------------------- */

/* An entry with its key, before it is sorted. */
struct ngram_item { uint32_t key; struct ngram_entry entry; };
typedef ARRAY_OF(struct ngram_item) entry_array;
typedef ARRAY_OF(struct run_entry) run_array;

/* The smallest number of bits, within limits, so that 2^bits is at least `count`. */
static unsigned bits_for(size_t count, unsigned least, unsigned most)
{
    unsigned bits = least;

    while (bits < most && (size_t)1 << bits < count)
        bits++;
    return bits;
}

/* At most 2^17 bits, 16 KiB: small enough to stay in the L1 cache next to the text. */
static void table_init(struct bit_table *t, size_t count, unsigned sparse)
{
    unsigned bits = bits_for(count * sparse, 9, 17);

    t->shift = (uint8_t)(32 - bits);
    t->bits = xaligned(CACHE_LINE, ((size_t)1 << bits) / 8);
}

static void table_set(struct bit_table *t, uint32_t ngram)
{
    uint32_t h = ngram_hash(ngram) >> t->shift;

    t->bits[h >> 6] |= 1ull << (h & 63);
}

/* By key; by id within a key, because qsort() is not stable. */
static int by_key(const void *a, const void *b)
{
    const struct ngram_item *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->entry.id > y->entry.id) - (x->entry.id < y->entry.id);
}

/* Linear probing; the array has space after the last slot, so an index never wraps. */
static void slot_put(struct length_class *l, uint32_t key, uint32_t first)
{
    size_t slot = ngram_hash(key) >> l->slot_shift;

    while (l->slot[slot].first != 0)
        slot++;
    l->slot[slot] = (struct ngram_slot){ key, first + 1 };
}

/* How far beyond the last slot keys went shows only now. */
static void slots_trim(struct length_class *l, size_t slots, size_t more)
{
    size_t used = slots + more;
    struct ngram_slot *exact;

    while (used > slots && l->slot[used - 1].first == 0)
        used--;
    exact = xmalloc((used + 1) * sizeof(*exact));
    memcpy(exact, l->slot, (used + 1) * sizeof(*exact));
    free(l->slot);
    l->slot = exact;
}

/* At least half of the slots stay empty. After the last slot there is space for as many as there
 * are keys. */
static void length_class_build(struct length_class *l, const struct length_class_kind *kind,
                               entry_array *entries, bool has_teddy)
{
    size_t n = entries->count;
    unsigned slot_bits = bits_for(n * 2, 3, 30);

    if (n == 0)
        return;
    if (!has_teddy)
        table_init(&l->ngrams, n * kind->stride, NGRAM_SPARSE);
    table_init(&l->confirm, n, CONFIRM_SPARSE);
    l->ngrams.mask = width_mask(kind->width);
    l->confirm.mask = width_mask(kind->span);
    l->slot_shift = (uint8_t)(32 - slot_bits);
    l->slot = xcalloc(((size_t)1 << slot_bits) + n + 1, sizeof(*l->slot));
    l->entry = xcalloc(n, sizeof(*l->entry));
    qsort(entries->at, n, sizeof(*entries->at), by_key);
    for (size_t i = 0; i < n; i++) {
        uint32_t key = entries->at[i].key;

        l->entry[i] = entries->at[i].entry;
        l->entry[i].is_last = i + 1 == n || entries->at[i + 1].key != key;
        if (i > 0 && entries->at[i - 1].key == key)
            continue;
        for (unsigned k = 0; k < kind->stride && !has_teddy; k++)
            table_set(&l->ngrams, key >> 8 * k & width_mask(kind->width));
        table_set(&l->confirm, key);
        slot_put(l, key, (uint32_t)i);
    }
    slots_trim(l, (size_t)1 << slot_bits, n);
    ARRAY_FREE(entries);
}

static int by_byte(const void *a, const void *b, void *arg)
{
    const struct run_entry *x = a, *y = b;
    const struct literal_pattern *pattern = arg;
    uint8_t cx = pattern[x->id].bytes[x->from], cy = pattern[y->id].bytes[y->from];

    return cx != cy ? cx - cy : (x->id > y->id) - (x->id < y->id);
}

/* Both cases of a letter without case. */
static uint64_t neighbour_bits(const struct run_entry *e)
{
    uint64_t bits = 1ull << (e->next & 63);

    return e->next_mask == 0xff ? bits : bits | 1ull << ((e->next | 0x20) & 63);
}

/* The conditions of run_hit(). */
static void run_filter_add(struct run_filter *f, const struct run_entry *e)
{
    if (e->from > 0)
        f->before |= neighbour_bits(e);
    else if (e->next_mask == 0)
        f->alone = MIN(f->alone, e->to);
    else
        f->after |= neighbour_bits(e);
}

static void run_filters_build(struct mpm_ngram *set)
{
    unsigned count = 0;

    for (unsigned c = 0; c < 256; c++) {
        struct run_filter f = { .alone = UINT32_MAX };

        if (set->run_first[c] == set->run_first[c + 1])
            continue;
        for (uint32_t i = set->run_first[c]; i < set->run_first[c + 1]; i++)
            run_filter_add(&f, &set->run[i]);
        set->run_filter = xrealloc(set->run_filter, (count + 1) * sizeof(f));
        set->run_filter[count] = f;
        set->run_filter_of[c] = (uint16_t)++count;
    }
}

/* Takes over the memory of `runs`. run_first[] lets a search start with the runs of one byte. */
static void runs_build(struct mpm_ngram *set, run_array *runs,
                       const struct literal_pattern *pattern)
{
    size_t next = 0;

    if (runs->count == 0)
        return;
    qsort_r(runs->at, runs->count, sizeof(*runs->at), by_byte, (void *)(uintptr_t)pattern);
    set->has_runs = true;
    set->run = runs->at;
    for (size_t i = 0; i < runs->count; i++)
        while (next <= pattern[runs->at[i].id].bytes[runs->at[i].from])
            set->run_first[next++] = (uint32_t)i;
    while (next <= 256)
        set->run_first[next++] = (uint32_t)runs->count;
    run_filters_build(set);
}

/* A caseless letter is two entries, one for each case. */
static void ones_add(struct mpm_ngram *set, const struct literal_pattern *p, unsigned id)
{
    uint8_t c = p->bytes[0], upper = p->nocase && is_letter(c) ? (uint8_t)(c & ~0x20) : c;

    set->one = xrealloc(set->one, (set->one_count + 2) * sizeof(*set->one));
    set->one[set->one_count++] = (struct one_entry){ id, c };
    if (upper != c)
        set->one[set->one_count++] = (struct one_entry){ id, upper };
}

/* The bits of a byte that are compared: without bit 5 for letters of caseless literals. */
static uint64_t mask_at(const struct literal_pattern *p, unsigned at)
{
    return p->nocase && is_letter(p->bytes[at]) ? 0xdf : 0xff;
}

/* `len` bytes from `at` on, at most eight, as a little-endian word and its mask. */
static void word_of(const struct literal_pattern *p, unsigned at, unsigned len, uint64_t *value,
                    uint64_t *mask)
{
    *value = *mask = 0;
    for (unsigned i = 0; i < len; i++) {
        uint64_t bits = mask_at(p, at + i);

        *value |= (p->bytes[at + i] & bits) << 8 * i;
        *mask |= bits << 8 * i;
    }
}

static void literals_build(struct mpm_ngram *set, const struct literal_pattern *pattern,
                           unsigned count)
{
    size_t words = 0;

    for (unsigned i = 0; i < count; i++)
        words += (pattern[i].len + 7u) / 8;
    set->count = count;
    set->literal = xcalloc(count, sizeof(*set->literal));
    set->value = xcalloc(words, sizeof(*set->value));
    set->mask = xcalloc(words, sizeof(*set->mask));
    words = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct literal_pattern *p = &pattern[i];

        set->literal[i] = (struct ngram_literal){ (uint32_t)words, p->len };
        for (unsigned k = 0; k < p->len; k += 8, words++)
            word_of(p, k, MIN(8u, p->len - k), &set->value[words], &set->mask[words]);
    }
}

/* Literals that only differ in what no search compares have the same words. */
static bool literal_is(const struct mpm_ngram *set, const struct ngram_literal *l,
                       const struct literal_pattern *p)
{
    uint64_t value, mask;

    if (l->len != p->len)
        return false;
    for (unsigned k = 0; k < p->len; k += 8) {
        word_of(p, k, MIN(8u, p->len - k), &value, &mask);
        if (value != set->value[l->word + k / 8] || mask != set->mask[l->word + k / 8])
            return false;
    }
    return true;
}

bool mpm_ngram_is_for(const struct mpm_ngram *set, const struct literal_pattern *pattern,
                      unsigned count)
{
    if (set->count != count)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!literal_is(set, &set->literal[i], &pattern[i]))
            return false;
    return true;
}

static enum length_class_id length_class_of(const struct literal_pattern *p, bool pairs)
{
    if (p->len >= kinds[LENGTH_FOUR].least)
        return LENGTH_FOUR;
    return pairs ? LENGTH_PAIR : LENGTH_THREE;
}

static bool has_pairs(const struct literal_pattern *pattern, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (pattern[i].len == 2)
            return true;
    return false;
}

/* The compared bytes are those before or after the n-grams, whichever side has more of the
 * literal. */
static struct ngram_item entry_of(const struct literal_pattern *p, unsigned id, unsigned at,
                                  unsigned width)
{
    struct ngram_item f = { .key = ngram_at(p->bytes + at, width), .entry = { .id = id } };
    unsigned behind = p->len - at - width, from = 0, have = MIN(8u, p->len);

    if (at >= behind && at > 8)
        from = at - 8;
    else if (at < behind)
        from = MIN(at + width, p->len - have);
    word_of(p, from, have, &f.entry.value, &f.entry.mask);
    f.entry.at = (uint8_t)at;
    f.entry.from = (int8_t)((int)from - (int)at);
    f.entry.all = p->len <= 8 ? (uint8_t)p->len : 0;
    return f;
}

/* A literal with flat n-grams only is searched by its run, if that is long enough. */
static void assign_literal(struct chooser *c, unsigned id, enum length_class_id length_class,
                           entry_array *entries, run_array *runs)
{
    const struct literal_pattern *p = &c->pattern[id];
    const struct length_class_kind *kind = &kinds[length_class];
    bool flat;
    unsigned at = choose(c, p, kind, &flat);
    struct run_entry run = run_of(p, id);

    if (flat && run.to > 0) {
        ARRAY_PUSH(runs, run);
        return;
    }
    ARRAY_PUSH(entries, entry_of(p, id, at, kind->span));
}

/* Without Teddy: each class has n-gram tables of its own. */
static void length_classes_build(struct mpm_ngram *set, const struct literal_pattern *pattern,
                        unsigned count, run_array *runs)
{
    struct chooser c = { pattern, count, xmalloc(USE_SLOTS) };
    bool pairs = has_pairs(pattern, count);

    for (unsigned length_class = 0; length_class < LENGTH_CLASS_COUNT; length_class++) {
        entry_array entries = { 0 };

        uses_count(&c, kinds[length_class].width);
        for (unsigned i = 0; i < count; i++)
            if (pattern[i].len > 1 && length_class_of(&pattern[i], pairs) == length_class)
                assign_literal(&c, i, (enum length_class_id)length_class, &entries, runs);
        length_class_build(&set->length_class[length_class], &kinds[length_class], &entries, false);
    }
    free(c.used);
}

/* With Teddy: mpm_teddy_init() chooses the offset at which it tests each literal. Literals that are
 * little but a run are searched as runs. */
static void teddy_build(struct mpm_ngram *set, const struct teddy_shape *shape,
                        const struct literal_pattern *pattern, unsigned count, run_array *runs)
{
    bool pairs = has_pairs(pattern, count);
    entry_array entries[LENGTH_CLASS_COUNT] = { { 0 } };
    uint8_t *at = xcalloc(count + 1, 1);

    for (unsigned i = 0; i < count; i++) {
        struct run_entry run = run_of(&pattern[i], i);

        if (pattern[i].len < 2)
            at[i] = TEDDY_NONE;
        if (run.to > 0 && teddy_is_flat(&pattern[i])) {
            ARRAY_PUSH(runs, run);
            at[i] = TEDDY_NONE;
        }
    }
    mpm_teddy_init(&set->teddy, shape, pattern, count, at);
    for (unsigned i = 0; i < count; i++) {
        enum length_class_id length_class = length_class_of(&pattern[i], pairs);

        if (at[i] != TEDDY_NONE)
            ARRAY_PUSH(&entries[length_class],
                       entry_of(&pattern[i], i, at[i], kinds[length_class].span));
    }
    for (unsigned length_class = 0; length_class < LENGTH_CLASS_COUNT; length_class++)
        length_class_build(&set->length_class[length_class], &kinds[length_class],
                           &entries[length_class], true);
    free(at);
}

/* The kernels are parameters so that tests can compare them. */
struct mpm_ngram *mpm_ngram_new_with(const struct literal_pattern *pattern, unsigned count,
                                   const struct mpm_kernels *kernels,
                                   const struct teddy_kernel *teddy)
{
    struct mpm_ngram *set = xaligned(CACHE_LINE, sizeof(*set));
    run_array runs = { 0 };

    set->kernels = kernels;
    set->teddy_scan = teddy != NULL ? teddy->scan : NULL;
    literals_build(set, pattern, count);
    if (teddy != NULL)
        teddy_build(set, teddy->shape, pattern, count, &runs);
    if (teddy != NULL && teddy->rows_differ != NULL)
        teddy->rows_differ(&set->teddy);
    if (teddy == NULL)
        length_classes_build(set, pattern, count, &runs);
    runs_build(set, &runs, pattern);
    for (unsigned i = 0; i < count; i++)
        if (pattern[i].len == 1)
            ones_add(set, &pattern[i], i);
    return set;
}

struct mpm_ngram *mpm_ngram_new(const struct literal_pattern *pattern, unsigned count)
{
    return mpm_ngram_new_with(pattern, count, mpm_kernels_best(), mpm_teddy_best());
}

const char *mpm_ngram_kernel(void)
{
    const struct teddy_kernel *teddy = mpm_teddy_best();

    return teddy != NULL ? teddy->name : mpm_kernels_best()->name;
}

/* Bytes that a search always reads, for the choice between this and libhs. */
unsigned mpm_ngram_hot_bytes(const struct mpm_ngram *set)
{
    unsigned groups = set->teddy_scan != NULL ? set->teddy.groups : 0;

    return (unsigned)offsetof(struct mpm_ngram, teddy.table) +
           (groups * TEDDY_WIDTH << set->teddy.bits);
}

void mpm_ngram_free(struct mpm_ngram *set)
{
    if (set == NULL)
        return;
    for (unsigned i = 0; i < LENGTH_CLASS_COUNT; i++) {
        free(set->length_class[i].ngrams.bits);
        free(set->length_class[i].confirm.bits);
        free(set->length_class[i].entry);
        free(set->length_class[i].slot);
    }
    free(set->run);
    free(set->run_filter);
    free(set->one);
    free(set->literal);
    free(set->value);
    free(set->mask);
    free(set);
}

/* --- searching ---------------------------------------------------------------------------- */

/* One search; it lives on the stack, so sets can be shared by threads. */
struct search {
    const struct mpm_ngram *set;
    const uint8_t *data;
    uint32_t len;
    hs_hit hit;
    void *arg;
};

/* Up to eight bytes; those after the end of the text are zero. */
static uint64_t word_at(const struct search *s, uint32_t at)
{
    uint8_t bytes[8] = { 0 };

    if (LIKELY(at + 8 <= s->len))
        return get_le64(s->data + at);
    if (at < s->len)
        memcpy(bytes, s->data + at, s->len - at);
    return get_le64(bytes);
}

/* `at` is at most s->len. */
static bool stands_at(const struct search *s, const struct ngram_literal *l, uint32_t at)
{
    const uint64_t *value = s->set->value + l->word, *mask = s->set->mask + l->word;

    if (s->len - at < l->len)
        return false;
    for (uint32_t i = 0; i < l->len; i += 8)
        if ((word_at(s, at + i) & mask[i / 8]) != value[i / 8])
            return false;
    return true;
}

static void try_at(const struct search *s, uint32_t id, uint32_t at)
{
    if (stands_at(s, &s->set->literal[id], at))
        s->hit(id, s->arg);
}

/* Compares the eight bytes, then the literal if it is longer. A match needs space before (at) and
 * after (len) in the text. */
static inline void entry_hit(const struct search *s, const struct ngram_entry *e, uint32_t at)
{
    if (at < e->at || (word_at(s, at + (uint32_t)e->from) & e->mask) != e->value)
        return;
    if (e->all == 0)
        try_at(s, e->id, at - e->at);
    else if (s->len - (at - e->at) >= e->all)
        s->hit(e->id, s->arg);
}

static inline const struct ngram_slot *slot_of(const struct length_class *l, uint32_t key)
{
    return &l->slot[ngram_hash(key) >> l->slot_shift];
}

/* The first entry with these bytes, or NULL. */
static inline const struct ngram_entry *entry_find(const struct length_class *l, uint32_t key)
{
    const struct ngram_slot *slot = slot_of(l, key);

    while (slot->first != 0 && slot->key != key)
        slot++;
    return slot->first != 0 ? &l->entry[slot->first - 1] : NULL;
}

static void entries_hit(const struct search *s, const struct ngram_entry *e, uint32_t at)
{
    do
        entry_hit(s, e, at);
    while (!e++->is_last);
}

/* A hit of the bit table only has the hash: look up which literals have these bytes. */
static void confirm_hit(const struct search *s, const struct length_class *l, uint32_t key,
                        uint32_t at)
{
    const struct ngram_entry *e = entry_find(l, key);

    if (e != NULL)
        entries_hit(s, e, at);
}

/* Prefetches what all positions need before it reads any of it, so that cache misses overlap. */
static void positions_hit(const struct search *s, const struct length_class *l, uint32_t mask,
                       uint32_t *position, unsigned count)
{
    const struct ngram_entry *entry[2 * SCAN_CAPACITY];
    unsigned found = 0;

    for (unsigned i = 0; i < count; i++)
        PREFETCH(slot_of(l, ngram_of(s->data + position[i], mask)));
    for (unsigned i = 0; i < count; i++) {
        const struct ngram_entry *e = entry_find(l, ngram_of(s->data + position[i], mask));

        if (e == NULL)
            continue;
        PREFETCH(e);
        entry[found] = e;
        position[found++] = position[i];
    }
    for (unsigned i = 0; i < found; i++)
        entries_hit(s, entry[i], position[i]);
}

/* Near the end of the text, where four bytes cannot be read at once. */
static void confirm_at(const struct search *s, const struct length_class *l, uint32_t width,
                       uint32_t at)
{
    uint32_t key = ((uint32_t)word_at(s, at) | NGRAM_CASE_MASK) & width_mask(width);

    if (bit_table_has(l->confirm, key))
        confirm_hit(s, l, key, at);
}

/* In three steps without a branch on the result of the step before: a misprediction costs more
 * than the test it saves. A hit of an n-gram begins at its position, or up to stride - 1 bytes
 * before. */
static inline void length_class_scan(const struct search *s, enum length_class_id id)
{
    const struct length_class_kind kind = kinds[id];
    const struct length_class *l = &s->set->length_class[id];
    const struct mpm_kernels *kernels = s->set->kernels;
    uint32_t hits[SCAN_CAPACITY], position[2 * SCAN_CAPACITY], at = 0;
    uint32_t span_mask = width_mask(kind.span);

    if (l->ngrams.bits == NULL)
        return;
    while (at + 4 <= s->len) {
        unsigned positions = MIN((s->len - at - 4) / kind.stride + 1, SCAN_MAX), count;

        count = kernels->scan_stride(l->ngrams, (struct slice){ s->data, s->len },
                                     (struct stride_positions){ at, kind.stride, positions }, hits);
        count = kernels->scan_confirm(l->confirm, s->data,
                                      (struct hit_positions){ hits, count, kind.stride - 1u },
                                      position);
        positions_hit(s, l, span_mask, position, count);
        at += positions * kind.stride;
    }
    for (at -= MIN(at, kind.stride - 1u); at + kind.span <= s->len; at++)
        confirm_at(s, l, kind.span, at);
}

/* Teddy's hits are exact positions, so there is nothing to test before them. */
static void teddy_confirm(const struct search *s, enum length_class_id id, const uint32_t *hits,
                         unsigned count)
{
    const struct length_class *l = &s->set->length_class[id];
    uint32_t position[2 * SCAN_CAPACITY], mask = width_mask(kinds[id].span);

    count = s->set->kernels->scan_confirm(l->confirm, s->data,
                                          (struct hit_positions){ hits, count, 0 }, position);
    positions_hit(s, l, mask, position, count);
}

/* Teddy scans for literals of all lengths in one pass. */
static void teddy_scan_all(const struct search *s)
{
    const struct mpm_ngram *set = s->set;
    enum length_class_id short_id =
        set->length_class[LENGTH_PAIR].confirm.bits != NULL ? LENGTH_PAIR : LENGTH_THREE;
    uint32_t at = 0;
    struct teddy_hits hits;

    while (at + TEDDY_WIDTH <= s->len) {
        at = set->teddy_scan(&set->teddy, s->data, s->len, at, &hits);
        if (hits.count > 0)
            teddy_confirm(s, LENGTH_FOUR, hits.position, hits.count);
        if (hits.short_count > 0)
            teddy_confirm(s, short_id, hits.short_position, hits.short_count);
    }
    if (set->length_class[short_id].confirm.bits != NULL)
        for (; at + kinds[short_id].span <= s->len; at++)
            confirm_at(s, &set->length_class[short_id], kinds[short_id].span, at);
}

/* The end of the run that begins at `at`. */
static uint32_t run_end(const uint8_t *data, uint32_t len, uint32_t at)
{
    uint8_t c = data[at];
    uint64_t all = EACH_BYTE(c);

    while (at + 8 <= len && get_le64(data + at) == all)
        at += 8;
    while (at < len && data[at] == c)
        at++;
    return at;
}

static bool is_next(const struct run_entry *e, uint8_t c)
{
    return (c & e->next_mask) == e->next;
}

/* A literal with a byte before its run begins `from` bytes before the run of the text. A literal
 * with bytes after its run ends with it in the same way. A literal that is all run is in every run
 * that is long enough. */
static inline void run_hit(const struct search *s, const struct run_entry *e, uint32_t from,
                           uint32_t to)
{
    if (e->from > 0) {
        if (from >= e->from && is_next(e, s->data[from - 1]))
            try_at(s, e->id, from - e->from);
    } else if (e->next_mask == 0) {
        if (to - from >= e->to)
            s->hit(e->id, s->arg);
    } else if (to - from >= e->to && to < s->len && is_next(e, s->data[to])) {
        try_at(s, e->id, to - e->to);
    }
}

static inline bool run_may_hit(const struct search *s, const struct run_filter *f, uint32_t from,
                               uint32_t to)
{
    uint64_t before = from > 0 ? f->before >> (s->data[from - 1] & 63) : 0;
    uint64_t after = to < s->len ? f->after >> (s->data[to] & 63) : 0;

    return ((before | after) & 1) != 0 || to - from >= f->alone;
}

static void runs_scan(const struct search *s)
{
    const struct mpm_ngram *set = s->set;

    for (uint32_t at = set->kernels->run(s->data, s->len, 0), to; at < s->len;
         at = set->kernels->run(s->data, s->len, to)) {
        uint8_t c = s->data[at];
        unsigned filter = set->run_filter_of[c];

        to = run_end(s->data, s->len, at);
        if (filter == 0 || !run_may_hit(s, &set->run_filter[filter - 1], at, to))
            continue;
        for (uint32_t i = set->run_first[c]; i < set->run_first[c + 1]; i++)
            run_hit(s, &set->run[i], at, to);
    }
}

/* Single bytes are everywhere, so each literal is reported once. */
static void ones_scan(const struct search *s)
{
    for (unsigned i = 0; i < s->set->one_count; i++)
        if (memchr(s->data, s->set->one[i].byte, s->len) != NULL)
            s->hit(s->set->one[i].id, s->arg);
}

/* `hit` may come several times for a literal of two bytes and more; prefilters do not mind. */
void mpm_ngram_scan(const struct mpm_ngram *set, const uint8_t *data, uint32_t len, hs_hit hit,
                   void *arg)
{
    struct search s = { set, data, len, hit, arg };

    if (len == 0)
        return;
    if (set->one_count > 0)
        ones_scan(&s);
    if (set->teddy_scan != NULL) {
        teddy_scan_all(&s);
    } else {
        length_class_scan(&s, LENGTH_FOUR);
        length_class_scan(&s, LENGTH_THREE);
        length_class_scan(&s, LENGTH_PAIR);
    }
    if (set->has_runs)
        runs_scan(&s);
}
