/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/pattern_set.h - the fast patterns of all rules on one buffer.
 *
 * The engine's own matcher (match/mpm_ngram.h) searches for them, or libhs if the configuration
 * says so. Short patterns make libhs slow, so with libhs they are searched one by one, as are the
 * patterns of a set of only two. */
#ifndef DETECT_PATTERN_SET_H
#define DETECT_PATTERN_SET_H

#include "detect/prefilter/candidates.h"
#include "match/hs.h"

struct pattern_set;
struct pattern_set_builder;

#define PATTERN_SHORT_MAX 3     /* patterns up to this length are searched without libhs */
#define PATTERN_LONG_MAX 32     /* longer patterns are truncated to this length */

/* Load time. Sets with equal patterns share their matcher, also with the ruleset before. */
struct pattern_pool;            /* one per ruleset */
struct pattern_pool *pattern_pool_new(bool use_hs, const char *cache_dir);
/* previous: whose matchers are taken over; valid until all sets are built. */
void pattern_pool_continue(struct pattern_pool *pool, const struct pattern_pool *previous);
void pattern_pool_free(struct pattern_pool *pool);      /* with all its sets */
/* Zeroed memory that is freed with the pool. */
void *pattern_pool_alloc(struct pattern_pool *pool, size_t size);
struct hs_scratch *pattern_pool_scratch(const struct pattern_pool *pool, struct err *err);

struct pattern_set_builder *pattern_set_builder_new(void);
/* `bytes` must stay until the set is built. */
void pattern_set_add(struct pattern_set_builder *b, const uint8_t *bytes, unsigned len,
                     bool nocase, uint32_t rule);
/* Each pattern gets a search of its own: for a few patterns in long data. */
void pattern_set_search_singly(struct pattern_set_builder *b);
/* Frees the builder. *out is NULL when no pattern was added. */
int pattern_set_build(struct pattern_set_builder *b, struct pattern_pool *pool,
                      struct pattern_set **out, struct err *err);

unsigned pattern_set_longest(const struct pattern_set *set);
unsigned pattern_set_count(const struct pattern_set *set);
/* True if both use one matcher. */
bool pattern_set_shares(const struct pattern_set *a, const struct pattern_set *b);

/* Loads the tables into the caches. The caller should have PREFETCH()ed the set some time
 * before. */
void pattern_set_fetch(const struct pattern_set *set);
/* Any thread may call it, with its own scratch and candidates. */
void pattern_set_scan(const struct pattern_set *set, struct hs_scratch *scratch,
                      const uint8_t *data, uint32_t len, struct candidates *out);

#endif
