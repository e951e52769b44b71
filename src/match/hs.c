/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/hs.c - literals through libhs (Hyperscan, Vectorscan), with a cache of compiled databases.
 * A cache file has a header and the serialised database. The header has hashes of the patterns and
 * of the machine (libhs' version and CPU features), and the length and checksum of the database. */
#include "config.h"

#include "match/hs.h"
#include "base/array.h"
#include "base/containers/hash.h"
#include "base/system/directories.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_HS
#include <hs/hs.h>

#include "base/system/late_library.h"
#endif

/* Part of the cache format: changing it invalidates every file. */
#define SEED 0x69647368u
#define CACHE_MAGIC 0x31485349u         /* "ISH1" */
/* Limits what a damaged file can make us allocate. */
#define CACHE_BYTES_MAX (256u << 20)

/* The same in each process, unlike hash_bytes(), because its results are stored in files. */
static uint64_t hash_always(const void *data, size_t len, uint64_t kind)
{
    return hash_bytes_keyed(data, len, (struct hash_key){ { SEED, kind } });
}

uint64_t literal_patterns_hash(const struct literal_pattern *pattern, unsigned count)
{
    uint64_t h = count;

    for (unsigned i = 0; i < count; i++)
        h = hash_mix(h, hash_always(pattern[i].bytes, pattern[i].len, pattern[i].nocase));
    return h;
}

/* Removes files of other rulesets that no start has used for max_age_s. */
void hs_cache_prune(const char *dir, uint64_t max_age_s)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL) {
        struct stat st;

        if (strncmp(entry->d_name, "literals-", 9) == 0 &&
            fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && time(NULL) - st.st_mtime > (int64_t)max_age_s)
            (void)unlinkat(dirfd(d), entry->d_name, 0);
    }
    if (d != NULL)
        closedir(d);
}

#ifdef HAVE_HS
bool hs_available(void)
{
    return true;
}

/* The library is loaded for the first set: it takes 1.3 MB with those that it needs, and is seldom
 * chosen. */
#define HS_FUNCTIONS(F) \
    F(alloc_scratch) F(compile_lit_multi) F(database_size) F(deserialize_database) \
    F(free_compile_error) F(free_database) F(free_scratch) F(populate_platform) F(scan) \
    F(serialize_database) F(version)

struct hs {
#define F(name) LATE_FUNCTION(hs_##name, name)
    HS_FUNCTIONS(F)
#undef F
};

static const struct late_function hs_functions[] = {
#define F(name) { "hs_" #name, offsetof(struct hs, name) },
    HS_FUNCTIONS(F)
#undef F
    { NULL, 0 },
};

struct hs_set {
    struct hs hs;
    hs_database_t *db;
    size_t bytes;
};

static int load(struct hs *hs, struct err *err)
{
    return late_library_load(HS_FILE, hs_functions, hs, err);
}

/* In the byte order of the machine that wrote it; `machine` does not match elsewhere. */
struct cache_header {
    uint32_t magic, len;
    uint64_t patterns, machine, checksum;
};

/* libhs compiles for the features of the CPU, so a database is only valid for the same ones. */
static uint64_t machine_hash(const struct hs *hs)
{
    hs_platform_info_t p = { 0 };
    uint64_t h = hash_always(hs->version(), strlen(hs->version()), 0);

    hs->populate_platform(&p);
    return hash_mix(hash_mix(h, p.cpu_features), p.tune);
}

static void cache_path(char *out, size_t size, const char *dir, uint64_t patterns)
{
    snprintf(out, size, "%s/literals-%016llx.hs", dir, (unsigned long long)patterns);
}

/* The file must end after the data. */
static char *read_exactly(FILE *f, uint32_t len)
{
    char *data = malloc(len);

    if (data != NULL && (fread(data, 1, len, f) != len || fgetc(f) != EOF)) {
        free(data);
        return NULL;
    }
    return data;
}

/* NULL: there is no usable file, so the caller compiles. A file of other patterns or another
 * machine is not an error. */
static hs_database_t *cache_load(const struct hs *hs, const char *dir, uint64_t patterns)
{
    struct cache_header h;
    hs_database_t *db = NULL;
    char path[4096], *data = NULL;
    FILE *f;

    cache_path(path, sizeof(path), dir, patterns);
    f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    if (fread(&h, sizeof(h), 1, f) == 1 && h.magic == CACHE_MAGIC && h.patterns == patterns &&
        h.machine == machine_hash(hs) && h.len > 0 && h.len <= CACHE_BYTES_MAX)
        data = read_exactly(f, h.len);
    (void)futimens(fileno(f), NULL);        /* marks it as in use, for hs_cache_prune() */
    fclose(f);
    if (data != NULL && hash_always(data, h.len, 0) == h.checksum &&
        hs->deserialize_database(data, h.len, &db) != HS_SUCCESS)
        db = NULL;
    free(data);
    return db;
}

/* Writes to another file and renames it, so that a reader never sees half a file. A failure only
 * costs the next start some time. */
static void cache_store(const struct hs *hs, const char *dir, uint64_t patterns,
                        const hs_database_t *db)
{
    struct cache_header h = { .magic = CACHE_MAGIC, .patterns = patterns,
                              .machine = machine_hash(hs) };
    char path[4096], aside[4200], *data = NULL;
    size_t len = 0;
    FILE *f;

    if (hs->serialize_database(db, &data, &len) != HS_SUCCESS)
        return;
    (void)directory_make(dir, 0755);
    cache_path(path, sizeof(path), dir, patterns);
    snprintf(aside, sizeof(aside), "%s.%ld", path, (long)getpid());
    h.len = (uint32_t)len;
    h.checksum = hash_always(data, len, 0);
    f = fopen(aside, "wb");
    if (f != NULL) {
        bool ok = fwrite(&h, sizeof(h), 1, f) == 1 && fwrite(data, 1, len, f) == len;

        if (fclose(f) != 0 || !ok || rename(aside, path) != 0)
            (void)unlink(aside);
    }
    free(data);
}

/* HS_FLAG_SINGLEMATCH: a literal is reported once, which is all a prefilter needs. HS_MODE_BLOCK:
 * each text is scanned as a whole. */
static hs_database_t *compile(const struct hs *hs, const struct literal_pattern *pattern,
                              unsigned count, struct err *err)
{
    const char **bytes = xcalloc(count, sizeof(*bytes));
    size_t *lens = xcalloc(count, sizeof(*lens));
    unsigned *flags = xcalloc(count, sizeof(*flags)), *ids = xcalloc(count, sizeof(*ids));
    hs_compile_error_t *why = NULL;
    hs_database_t *db = NULL;

    for (unsigned i = 0; i < count; i++) {
        bytes[i] = (const char *)pattern[i].bytes;
        lens[i] = pattern[i].len;
        flags[i] = HS_FLAG_SINGLEMATCH | (pattern[i].nocase ? HS_FLAG_CASELESS : 0);
        ids[i] = i;
    }
    if (hs->compile_lit_multi(bytes, flags, ids, lens, count, HS_MODE_BLOCK, NULL, &db, &why) !=
        HS_SUCCESS) {
        err_set(err, "libhs refuses %u patterns: %s", count,
                why != NULL ? why->message : "no reason given");
        hs->free_compile_error(why);
        db = NULL;
    }
    free(bytes);
    free(lens);
    free(flags);
    free(ids);
    return db;
}

struct hs_set *hs_set_new(const struct literal_pattern *pattern, unsigned count,
                          const char *cache_dir, struct err *err)
{
    uint64_t hash = literal_patterns_hash(pattern, count);
    struct hs_set *set = xcalloc(1, sizeof(*set));

    if (load(&set->hs, err) < 0) {
        free(set);
        return NULL;
    }
    set->db = cache_dir != NULL ? cache_load(&set->hs, cache_dir, hash) : NULL;
    if (set->db == NULL) {
        set->db = compile(&set->hs, pattern, count, err);
        if (set->db == NULL) {
            free(set);
            return NULL;
        }
        if (cache_dir != NULL)
            cache_store(&set->hs, cache_dir, hash, set->db);
    }
    (void)set->hs.database_size(set->db, &set->bytes);
    return set;
}

void hs_set_free(struct hs_set *set)
{
    if (set == NULL)
        return;
    set->hs.free_database(set->db);
    free(set);
}

size_t hs_set_bytes(const struct hs_set *set)
{
    return set->bytes;
}

/* One scratch for all sets: libhs enlarges it for each. A thread needs its own. */
struct hs_scratch *hs_scratch_new(struct hs_set *const *sets, unsigned count, struct err *err)
{
    hs_scratch_t *scratch = NULL;

    for (unsigned i = 0; i < count; i++)
        if (sets[i] != NULL && sets[i]->hs.alloc_scratch(sets[i]->db, &scratch) != HS_SUCCESS) {
            sets[i]->hs.free_scratch(scratch);
            err_set(err, "libhs: no memory for a thread's scratch");
            return NULL;
        }
    return (struct hs_scratch *)scratch;
}

void hs_scratch_free(struct hs_scratch *scratch)
{
    struct err err;
    struct hs hs;

    if (scratch != NULL && load(&hs, &err) == 0)
        hs.free_scratch((hs_scratch_t *)scratch);
}

struct visit { hs_hit hit; void *arg; };

/* Returning 0 continues the scan. */
static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                    void *arg)
{
    const struct visit *v = arg;

    (void)from;
    (void)to;
    (void)flags;
    v->hit(id, v->arg);
    return 0;
}

/* `hit` is called at most once for each literal. */
void hs_set_scan(const struct hs_set *set, struct hs_scratch *scratch, struct slice text,
                 hs_hit hit, void *arg)
{
    struct visit v = { hit, arg };

    (void)set->hs.scan(set->db, (const char *)text.data, text.len, 0, (hs_scratch_t *)scratch,
                       on_match, &v);
}
#else

bool hs_available(void)
{
    return false;
}

struct hs_set *hs_set_new(const struct literal_pattern *pattern UNUSED, unsigned count UNUSED,
                          const char *cache_dir UNUSED, struct err *err)
{
    err_set(err, "this build has no libhs");
    return NULL;
}

void hs_set_free(struct hs_set *set UNUSED) { }

size_t hs_set_bytes(const struct hs_set *set UNUSED)
{
    return 0;
}

struct hs_scratch *hs_scratch_new(struct hs_set *const *sets UNUSED, unsigned count UNUSED,
                                  struct err *err UNUSED)
{
    return NULL;
}

void hs_scratch_free(struct hs_scratch *scratch UNUSED) { }

void hs_set_scan(const struct hs_set *set UNUSED, struct hs_scratch *scratch UNUSED,
                 struct slice text UNUSED, hs_hit hit UNUSED, void *arg UNUSED)
{
}
#endif
