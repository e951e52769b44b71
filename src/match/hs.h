/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/hs.h - search for many literals at once, with libhs.
 *
 * Databases are immutable and shared by threads; each thread has a scratch that fits all the
 * databases it scans with. Compiled databases may be stored on disk, under the hash of their
 * patterns. A file is checked before use; if it is damaged, the database is compiled again.
 *
 * The build may be without libhs, which not every machine has: then no database can be made. */
#ifndef MATCH_HS_H
#define MATCH_HS_H

#include "base/err.h"
#include "base/text/bytes.h"

struct literal_pattern {
    const uint8_t *bytes;
    uint16_t len;
    bool nocase;
};

struct hs_set;                  /* a compiled database */
struct hs_scratch;              /* one per thread */

/* Whether the build has libhs. Without it hs_set_new() fails. */
bool hs_available(void);
/* Removes cached databases that no process has used for max_age_s seconds. */
void hs_cache_prune(const char *dir, uint64_t max_age_s);
/* Compiles the patterns; a pattern's id is its index. cache_dir NULL: does not use the disk.
 * Returns NULL with err set. */
struct hs_set *hs_set_new(const struct literal_pattern *pattern, unsigned count,
                          const char *cache_dir, struct err *err);
void hs_set_free(struct hs_set *set);
size_t hs_set_bytes(const struct hs_set *set);
/* Hash of the patterns of a database; equal hashes mean equal sets. */
uint64_t literal_patterns_hash(const struct literal_pattern *pattern, unsigned count);

/* Returns a scratch that fits all of these sets; NULL entries are skipped. */
struct hs_scratch *hs_scratch_new(struct hs_set *const *sets, unsigned count, struct err *err);
void hs_scratch_free(struct hs_scratch *scratch);

/* Called once for each pattern that occurs, with its id. */
typedef void (*hs_hit)(unsigned id, void *arg);
void hs_set_scan(const struct hs_set *set, struct hs_scratch *scratch, struct slice text,
                 hs_hit hit, void *arg);

#endif
