/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/pattern_set.c - builds the fast patterns of many rules into one search, and
 * turns its hits into candidates. Rules with the same pattern share it. */
#include "detect/prefilter/pattern_set.h"
#include "base/array.h"
#include "base/containers/map.h"
#include "base/memory/arena.h"
#include "match/mpm_ngram.h"
#include "match/spm_literal.h"

#include <stdlib.h>
#include <string.h>

/* Two plain searches cost less than the set-up of a search for many. */
#define HANDFUL 2               /* patterns that are searched one by one */
/* Mapped, so that a reload gives the memory of the old sets back: from the heap it left 8 MB. */
#define ARENA_BLOCK (256u << 10)

/* The pool owns all but the shared matcher. Read only once built. The rules of pattern i are
 * rule[first[i]] up to rule[first[i + 1]]. */
struct pattern_set {
    struct mpm_ngram *mpm;     /* knows all patterns; NULL: a handful, or libhs is to be used */
    struct shared_mpm *shared_mpm;      /* holds `mpm` */
    struct hs_set *hs;          /* NULL: a handful, or `mpm` is used */
    unsigned shared;            /* patterns that either knows, from 0; the others follow */
    unsigned count, shortest, longest;
    unsigned hot_bytes;         /* of `mpm` */
    bool singly;                /* each pattern has a search of its own */
    const struct literal_pattern *pattern;      /* NULL: `mpm` knows them */
    const uint32_t *first;
    const uint32_t *rule;
};

/* A matcher: the sets of a new ruleset that have the same patterns use it, too. The last pool that
 * has it frees it. */
struct shared_mpm {
    uint32_t refs;              /* atomic */
    struct mpm_ngram *mpm;
};

/* Owned by a compiled ruleset. cache_dir: where libhs databases are kept between runs;
 * NULL: nowhere. by_hash finds the database for the same patterns, which sets of several
 * groups often have. */
struct pattern_pool {
    struct arena arena;         /* the sets, and what else lives as long */
    bool use_hs;
    char *cache_dir;
    ARRAY_OF(struct pattern_set *) sets;
    ARRAY_OF(struct hs_set *) databases;
    struct map by_hash;         /* to struct hs_set */
    struct map mpm_by_hash;     /* to struct shared_mpm */
    const struct pattern_pool *previous;        /* while sets are built */
};

/* A rule and its pattern, while a set is built. The list is sorted then, so that equal patterns
 * come together: tables that find them earlier took 170 bytes for each rule, at the peak of a
 * load. */
struct rule_pattern { struct literal_pattern pattern; uint32_t rule; };

struct pattern_set_builder {
    ARRAY_OF(struct rule_pattern) patterns;
    bool singly;
};

struct pattern_pool *pattern_pool_new(bool use_hs, const char *cache_dir)
{
    struct pattern_pool *pool = xcalloc(1, sizeof(*pool));

    arena_init(&pool->arena, ARENA_BLOCK, 0);
    pool->use_hs = use_hs;
    pool->cache_dir = cache_dir != NULL ? xstrdup(cache_dir) : NULL;
    return pool;
}

void pattern_pool_continue(struct pattern_pool *pool, const struct pattern_pool *previous)
{
    pool->previous = previous;
}

static void shared_mpm_unref(struct shared_mpm *s)
{
    if (s == NULL || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    mpm_ngram_free(s->mpm);
    free(s);
}

void *pattern_pool_alloc(struct pattern_pool *pool, size_t size)
{
    return arena_zalloc(&pool->arena, size);
}

void pattern_pool_free(struct pattern_pool *pool)
{
    if (pool == NULL)
        return;
    for (size_t i = 0; i < pool->sets.count; i++)
        shared_mpm_unref(pool->sets.at[i]->shared_mpm);
    for (size_t i = 0; i < pool->databases.count; i++)
        hs_set_free(pool->databases.at[i]);
    ARRAY_FREE(&pool->sets);
    ARRAY_FREE(&pool->databases);
    map_fini(&pool->by_hash);
    map_fini(&pool->mpm_by_hash);
    free(pool->cache_dir);
    arena_fini(&pool->arena);
    free(pool);
}

/* Scratch for all databases of the pool: each inspecting thread has its own. Without libhs
 * there are no databases. */
struct hs_scratch *pattern_pool_scratch(const struct pattern_pool *pool, struct err *err)
{
    return hs_scratch_new(pool->databases.at, (unsigned)pool->databases.count, err);
}

/* --- building ----------------------------------------------------------------------------- */

struct pattern_set_builder *pattern_set_builder_new(void)
{
    return xcalloc(1, sizeof(struct pattern_set_builder));
}

/* Truncates a long pattern. The prefilter may find too many rules, but must never miss one: the
 * first PATTERN_LONG_MAX bytes are present wherever the entire pattern is. */
void pattern_set_add(struct pattern_set_builder *b, const uint8_t *bytes, unsigned len,
                     bool nocase, uint32_t rule)
{
    ARRAY_PUSH(&b->patterns, (struct rule_pattern){
               .pattern = { .bytes = bytes, .len = (uint16_t)MIN(len, PATTERN_LONG_MAX),
                            .nocase = nocase }, .rule = rule });
}

void pattern_set_search_singly(struct pattern_set_builder *b)
{
    b->singly = true;
}

static void builder_free(struct pattern_set_builder *b)
{
    ARRAY_FREE(&b->patterns);
    free(b);
}

/* Patterns that libhs takes come first: `shared` counts them from 0. The order depends on
 * the patterns only, so that the same rules give the same database, and its cached file
 * fits. */
static int compare_patterns(const struct literal_pattern *x, const struct literal_pattern *y)
{
    bool x_short = x->len <= PATTERN_SHORT_MAX, y_short = y->len <= PATTERN_SHORT_MAX;
    int r;

    if (x_short != y_short)
        return x_short - y_short;
    r = memcmp(x->bytes, y->bytes, MIN(x->len, y->len));
    if (r != 0)
        return r;
    return x->len != y->len ? x->len - y->len : x->nocase - y->nocase;
}

/* Rules of one pattern stay in their order. */
static int by_pattern(const void *a, const void *b)
{
    const struct rule_pattern *x = a, *y = b;
    int r = compare_patterns(&x->pattern, &y->pattern);

    return r != 0 ? r : (x->rule > y->rule) - (x->rule < y->rule);
}

/* With their bytes. */
static size_t patterns_size(const struct literal_pattern *list, unsigned count)
{
    size_t size = count * sizeof(*list);

    for (unsigned i = 0; i < count; i++)
        size += list[i].len;
    return size;
}

/* Copies the patterns into `copy`, which has patterns_size(), and their bytes behind them. */
static struct literal_pattern *patterns_copy(struct literal_pattern *copy,
                                             const struct literal_pattern *list, unsigned count)
{
    uint8_t *to = (uint8_t *)(copy + count);

    for (unsigned i = 0; i < count; i++) {
        copy[i] = list[i];
        copy[i].bytes = memcpy(to, list[i].bytes, list[i].len);
        to += list[i].len;
    }
    return copy;
}

/* Takes the rules of the builder, and each different pattern once. `list` gets these. `shared` is
 * what libhs would take; set_matcher() corrects it for the other matchers. */
static struct pattern_set *set_of(const struct pattern_set_builder *b, struct arena *arena,
                                  struct literal_pattern *list)
{
    struct pattern_set *set = arena_zalloc(arena, sizeof(*set));
    size_t rules = b->patterns.count;
    uint32_t *first = xcalloc(rules + 1, sizeof(*first));
    uint32_t *rule = arena_alloc(arena, rules * sizeof(*rule));

    set->rule = rule;
    set->shortest = UINT32_MAX;
    for (unsigned i = 0; i < rules; i++) {
        const struct literal_pattern *p = &b->patterns.at[i].pattern;

        rule[i] = b->patterns.at[i].rule;
        if (i > 0 && compare_patterns(p, &list[set->count - 1]) == 0)
            continue;
        first[set->count] = i;
        list[set->count++] = *p;
        set->shortest = MIN(set->shortest, p->len);
        set->longest = MAX(set->longest, p->len);
        set->shared += p->len > PATTERN_SHORT_MAX;
    }
    first[set->count] = (uint32_t)rules;
    set->first = arena_copy(arena, first, (set->count + 1) * sizeof(*first));
    free(first);
    return set;
}

/* Compiling a database takes long. Sets with equal patterns, as those of two groups with
 * the same rules, share one. literal_patterns_hash() covers bytes, length and case of all
 * patterns. */
static int set_database(struct pattern_set *set, struct pattern_pool *pool,
                        const struct literal_pattern *list, struct err *err)
{
    uint64_t hash = literal_patterns_hash(list, set->shared);

    set->hs = map_get(&pool->by_hash, &hash, sizeof(hash));
    if (set->hs != NULL)
        return 0;
    set->hs = hs_set_new(list, set->shared, pool->cache_dir, err);
    if (set->hs == NULL)
        return -1;
    ARRAY_PUSH(&pool->databases, set->hs);
    map_put(&pool->by_hash, &hash, sizeof(hash), set->hs);
    return 0;
}

static struct shared_mpm *shared_mpm_new(const struct literal_pattern *list, unsigned count)
{
    struct shared_mpm *s = xcalloc(1, sizeof(*s));

    s->mpm = mpm_ngram_new(list, count);
    return s;
}

/* Groups often have equal patterns, and most groups have the same after a reload. The hash only
 * finds the candidate: a matcher for other patterns would miss rules. */
static void set_mpm(struct pattern_set *set, struct pattern_pool *pool,
                    const struct literal_pattern *list)
{
    uint64_t hash = literal_patterns_hash(list, set->shared);
    struct shared_mpm *s = map_get(&pool->mpm_by_hash, &hash, sizeof(hash));

    if (s == NULL && pool->previous != NULL)
        s = map_get(&pool->previous->mpm_by_hash, &hash, sizeof(hash));
    if (s == NULL || !mpm_ngram_is_for(s->mpm, list, set->shared))
        s = shared_mpm_new(list, set->shared);
    __atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED);
    map_put(&pool->mpm_by_hash, &hash, sizeof(hash), s);
    set->shared_mpm = s;
    set->mpm = s->mpm;
    set->hot_bytes = mpm_ngram_hot_bytes(set->mpm);
}

/* Chooses how the set is searched: one by one, by libhs (`mpm-algo: hs`), or by our own
 * matcher, which takes patterns of every length. -1: libhs failed. */
static int set_matcher(struct pattern_set *set, struct pattern_pool *pool,
                       const struct literal_pattern *list, struct err *err)
{
    bool few;

    if (!pool->use_hs)
        set->shared = set->count;
    few = set->singly || set->shared <= HANDFUL;
    if (!few && !pool->use_hs) {
        set_mpm(set, pool, list);
        return 0;
    }
    set->pattern = patterns_copy(arena_alloc(&pool->arena, patterns_size(list, set->count)), list,
                                 set->count);
    if (!few)
        return set_database(set, pool, list, err);
    set->shared = 0;
    return 0;
}

/* The pool owns the set from here on, also if its matcher fails. */
int pattern_set_build(struct pattern_set_builder *b, struct pattern_pool *pool,
                      struct pattern_set **out, struct err *err)
{
    struct literal_pattern *list;
    struct pattern_set *set;
    int result;

    *out = NULL;
    if (b->patterns.count == 0) {
        builder_free(b);
        return 0;
    }
    qsort(b->patterns.at, b->patterns.count, sizeof(*b->patterns.at), by_pattern);
    list = xcalloc(b->patterns.count, sizeof(*list));
    set = set_of(b, &pool->arena, list);
    set->singly = b->singly;
    builder_free(b);
    ARRAY_PUSH(&pool->sets, set);
    result = set_matcher(set, pool, list, err);
    free(list);
    if (result == 0)
        *out = set;
    return result;
}

unsigned pattern_set_longest(const struct pattern_set *set)
{
    return set->longest;
}

unsigned pattern_set_count(const struct pattern_set *set)
{
    return set->count;
}

bool pattern_set_shares(const struct pattern_set *a, const struct pattern_set *b)
{
    return a->mpm != NULL && a->mpm == b->mpm;
}

/* --- scanning ----------------------------------------------------------------------------- */

void pattern_set_fetch(const struct pattern_set *set)
{
    PREFETCH_ALL(set->mpm, set->hot_bytes);
}

/* The argument of on_hit(): one search, on the stack. */
struct scan { const struct pattern_set *set; struct candidates *out; };

/* id: the pattern's index in the set. All its rules become candidates; candidates_add()
 * drops the repeated ones. */
static void on_hit(unsigned id, void *arg)
{
    const struct scan *s = arg;
    uint32_t end = s->set->first[id + 1];

    for (uint32_t i = s->set->first[id]; i < end; i++)
        candidates_add(s->out, s->set->rule[i]);
}

/* The patterns from `shared` on are the short ones, or all of a handful. They are searched
 * with a pass each. */
void pattern_set_scan(const struct pattern_set *set, struct hs_scratch *scratch,
                      const uint8_t *data, uint32_t len, struct candidates *out)
{
    struct scan s = { set, out };

    if (len < set->shortest)
        return;
    if (LIKELY(set->mpm != NULL))
        mpm_ngram_scan(set->mpm, data, len, on_hit, &s);
    else if (set->hs != NULL)
        hs_set_scan(set->hs, scratch, (struct slice){ data, len }, on_hit, &s);
    for (unsigned i = set->shared; i < set->count; i++) {
        const struct literal_pattern *p = &set->pattern[i];

        if (spm_find(data, len, p->bytes, p->len, p->nocase) != NULL)
            on_hit(i, &s);
    }
}
