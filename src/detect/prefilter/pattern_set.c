/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/pattern_set.c - builds the fast patterns of many rules into one search, and
 * turns its hits into candidates. Rules with the same pattern share it. */
#include "detect/prefilter/pattern_set.h"
#include "base/array.h"
#include "base/containers/map.h"
#include "match/mpm_ngram.h"
#include "match/spm_literal.h"

#include <stdlib.h>
#include <string.h>

/* Two plain searches cost less than the set-up of a search for many. */
#define HANDFUL 2               /* patterns that are searched one by one */

/* One different pattern. Its rules are a part of pattern_set.rule. */
struct set_pattern {
    const uint8_t *bytes;
    uint16_t len;
    bool nocase;
    uint32_t first, count;      /* in pattern_set.rule */
};

/* All arrays belong to the set; `hs` belongs to the pool. Read only once built. */
struct pattern_set {
    struct mpm_ngram *mpm;     /* knows all patterns; NULL: a handful, or libhs is to be used */
    struct shared_mpm *shared_mpm;      /* holds `mpm` */
    struct hs_set *hs;          /* NULL: a handful, or `mpm` is used */
    unsigned shared;            /* patterns that either knows, from 0; the others follow */
    unsigned count, shortest, longest;
    unsigned hot_bytes;         /* of `mpm` */
    struct set_pattern *pattern;
    uint32_t *rule;
    uint8_t *bytes;
};

/* A matcher with the patterns that it was built from: the sets of a new ruleset that have the same
 * ones use it, too. The last pool that has it frees it. */
struct shared_mpm {
    uint32_t refs;              /* atomic */
    struct mpm_ngram *mpm;
    struct literal_pattern *pattern;
    unsigned count;
    uint8_t *bytes;
};

/* Owned by a compiled ruleset. cache_dir: where libhs databases are kept between runs;
 * NULL: nowhere. by_hash finds the database for the same patterns, which sets of several
 * groups often have. */
struct pattern_pool {
    bool use_hs;
    char *cache_dir;
    ARRAY_OF(struct pattern_set *) sets;
    ARRAY_OF(struct hs_set *) databases;
    struct map by_hash;         /* to struct hs_set */
    struct map mpm_by_hash;     /* to struct shared_mpm */
    const struct pattern_pool *previous;        /* while sets are built */
};

/* A pattern and all rules that have it, while a set is built. The builder owns the pattern's
 * bytes. */
struct pattern_rules { struct literal_pattern pattern; ARRAY_OF(uint32_t) rules; };

struct pattern_set_builder {
    struct map by_bytes;                    /* nocase byte and bytes -> index + 1 */
    ARRAY_OF(struct pattern_rules) patterns;
};

struct pattern_pool *pattern_pool_new(bool use_hs, const char *cache_dir)
{
    struct pattern_pool *pool = xcalloc(1, sizeof(*pool));

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
    free(s->pattern);
    free(s->bytes);
    free(s);
}

static void set_free(struct pattern_set *set)
{
    shared_mpm_unref(set->shared_mpm);
    free(set->pattern);
    free(set->rule);
    free(set->bytes);
    free(set);
}

void pattern_pool_free(struct pattern_pool *pool)
{
    if (pool == NULL)
        return;
    for (size_t i = 0; i < pool->sets.count; i++)
        set_free(pool->sets.at[i]);
    for (size_t i = 0; i < pool->databases.count; i++)
        hs_set_free(pool->databases.at[i]);
    ARRAY_FREE(&pool->sets);
    ARRAY_FREE(&pool->databases);
    map_fini(&pool->by_hash);
    map_fini(&pool->mpm_by_hash);
    free(pool->cache_dir);
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
    uint8_t key[1 + PATTERN_LONG_MAX];
    struct pattern_rules *p;
    uintptr_t at;

    len = MIN(len, PATTERN_LONG_MAX);
    key[0] = nocase;
    memcpy(key + 1, bytes, len);
    at = (uintptr_t)map_get(&b->by_bytes, key, 1 + len);
    if (at == 0) {
        uint8_t *copy = xmalloc(len);

        memcpy(copy, bytes, len);
        ARRAY_PUSH(&b->patterns, (struct pattern_rules){
                   .pattern = { .bytes = copy, .len = (uint16_t)len, .nocase = nocase } });
        at = b->patterns.count;
        map_put(&b->by_bytes, key, 1 + len, (void *)at);
    }
    p = &b->patterns.at[at - 1];
    ARRAY_PUSH(&p->rules, rule);
}

static void builder_free(struct pattern_set_builder *b)
{
    for (size_t i = 0; i < b->patterns.count; i++) {
        free((void *)(uintptr_t)b->patterns.at[i].pattern.bytes);
        ARRAY_FREE(&b->patterns.at[i].rules);
    }
    ARRAY_FREE(&b->patterns);
    map_fini(&b->by_bytes);
    free(b);
}

/* Patterns that libhs takes come first: `shared` counts them from 0. The order depends on
 * the patterns only, so that the same rules give the same database, and its cached file
 * fits. */
static int by_pattern(const void *a, const void *b)
{
    const struct literal_pattern *x = &((const struct pattern_rules *)a)->pattern;
    const struct literal_pattern *y = &((const struct pattern_rules *)b)->pattern;
    bool x_short = x->len <= PATTERN_SHORT_MAX, y_short = y->len <= PATTERN_SHORT_MAX;
    int r;

    if (x_short != y_short)
        return x_short - y_short;
    r = memcmp(x->bytes, y->bytes, MIN(x->len, y->len));
    if (r != 0)
        return r;
    return x->len != y->len ? x->len - y->len : x->nocase - y->nocase;
}

/* Packs the builder's patterns into three arrays. The builder keeps its copies; the caller
 * frees it. `shared` is what libhs would take; set_matcher() corrects it for the other
 * matchers. */
static struct pattern_set *set_of(const struct pattern_set_builder *b)
{
    struct pattern_set *set = xcalloc(1, sizeof(*set));
    size_t rules = 0, bytes = 0;

    for (size_t i = 0; i < b->patterns.count; i++) {
        rules += b->patterns.at[i].rules.count;
        bytes += b->patterns.at[i].pattern.len;
    }
    set->count = (unsigned)b->patterns.count;
    set->pattern = xcalloc(set->count, sizeof(*set->pattern));
    set->rule = xcalloc(rules, sizeof(*set->rule));
    set->bytes = xmalloc(bytes);
    set->shortest = UINT32_MAX;
    rules = bytes = 0;
    for (unsigned i = 0; i < set->count; i++) {
        const struct pattern_rules *from = &b->patterns.at[i];
        struct set_pattern *to = &set->pattern[i];

        to->bytes = memcpy(set->bytes + bytes, from->pattern.bytes, from->pattern.len);
        to->len = from->pattern.len;
        to->nocase = from->pattern.nocase;
        to->first = (uint32_t)rules;
        to->count = (uint32_t)from->rules.count;
        memcpy(set->rule + rules, from->rules.at, to->count * sizeof(*set->rule));
        rules += to->count;
        bytes += to->len;
        set->shortest = MIN(set->shortest, to->len);
        set->longest = MAX(set->longest, to->len);
        set->shared += to->len > PATTERN_SHORT_MAX;
    }
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

/* The hash only finds the candidate: a matcher for other patterns would miss rules. */
static bool is_for(const struct shared_mpm *s, const struct literal_pattern *list, unsigned count)
{
    if (s->count != count)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (s->pattern[i].len != list[i].len || s->pattern[i].nocase != list[i].nocase ||
            memcmp(s->pattern[i].bytes, list[i].bytes, list[i].len) != 0)
            return false;
    return true;
}

static struct shared_mpm *shared_mpm_new(const struct literal_pattern *list, unsigned count)
{
    struct shared_mpm *s = xcalloc(1, sizeof(*s));
    size_t bytes = 0;

    for (unsigned i = 0; i < count; i++)
        bytes += list[i].len;
    s->mpm = mpm_ngram_new(list, count);
    s->count = count;
    s->pattern = xcalloc(count, sizeof(*s->pattern));
    s->bytes = xmalloc(bytes);
    bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        s->pattern[i] = list[i];
        s->pattern[i].bytes = memcpy(s->bytes + bytes, list[i].bytes, list[i].len);
        bytes += list[i].len;
    }
    return s;
}

/* Groups often have equal patterns, and most groups have the same after a reload. The matcher has
 * all patterns of the set, so it has their bytes, too. */
static void set_mpm(struct pattern_set *set, struct pattern_pool *pool,
                    const struct literal_pattern *list)
{
    uint64_t hash = literal_patterns_hash(list, set->shared);
    struct shared_mpm *s = map_get(&pool->mpm_by_hash, &hash, sizeof(hash));

    if (s == NULL && pool->previous != NULL)
        s = map_get(&pool->previous->mpm_by_hash, &hash, sizeof(hash));
    if (s == NULL || !is_for(s, list, set->shared))
        s = shared_mpm_new(list, set->shared);
    __atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED);
    map_put(&pool->mpm_by_hash, &hash, sizeof(hash), s);
    set->shared_mpm = s;
    set->mpm = s->mpm;
    for (unsigned i = 0; i < set->count; i++)
        set->pattern[i].bytes = s->pattern[i].bytes;
    free(set->bytes);
    set->bytes = NULL;
    set->hot_bytes = mpm_ngram_hot_bytes(set->mpm);
}

/* Chooses how the set is searched: one by one, by libhs (`mpm-algo: hs`), or by our own
 * matcher, which takes patterns of every length. -1: libhs failed. */
static int set_matcher(struct pattern_set *set, struct pattern_pool *pool, struct err *err)
{
    struct literal_pattern *list;
    int result = 0;

    if (!pool->use_hs)
        set->shared = set->count;
    if (set->shared <= HANDFUL) {
        set->shared = 0;
        return 0;
    }
    list = xcalloc(set->shared, sizeof(*list));
    for (unsigned i = 0; i < set->shared; i++)
        list[i] = (struct literal_pattern){ set->pattern[i].bytes, set->pattern[i].len,
                                            set->pattern[i].nocase };
    if (pool->use_hs) {
        result = set_database(set, pool, list, err);
    } else {
        set_mpm(set, pool, list);
    }
    free(list);
    return result;
}

/* The pool owns the set from here on, also if its matcher fails. */
int pattern_set_build(struct pattern_set_builder *b, struct pattern_pool *pool,
                      struct pattern_set **out, struct err *err)
{
    struct pattern_set *set;

    *out = NULL;
    if (b->patterns.count == 0) {
        builder_free(b);
        return 0;
    }
    qsort(b->patterns.at, b->patterns.count, sizeof(*b->patterns.at), by_pattern);
    set = set_of(b);
    builder_free(b);
    ARRAY_PUSH(&pool->sets, set);
    if (set_matcher(set, pool, err) < 0)
        return -1;
    *out = set;
    return 0;
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
    const struct set_pattern *p = &s->set->pattern[id];
    const uint32_t *rule = s->set->rule + p->first;

    for (uint32_t i = 0; i < p->count; i++)
        candidates_add(s->out, rule[i]);
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
        const struct set_pattern *p = &set->pattern[i];

        if (spm_find(data, len, p->bytes, p->len, p->nocase) != NULL)
            on_hit(i, &s);
    }
}
