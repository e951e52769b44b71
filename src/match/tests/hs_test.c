/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The database cache: a damaged file is compiled again, never trusted. */
#include "base/test.h"
#include "match/hs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct literal_pattern patterns[] = {
    { (const uint8_t *)"needle", 6, false },
    { (const uint8_t *)"haystack", 8, true },
    { (const uint8_t *)"other", 5, false },
};

static void count_hit(unsigned id, void *arg)
{
    unsigned *hits = arg;

    *hits |= 1u << id;
}

static unsigned hits_in(const char *dir, const char *text)
{
    struct err err = { 0 };
    struct hs_set *set = hs_set_new(patterns, ARRAY_LEN(patterns), dir, &err);
    struct hs_scratch *scratch;
    unsigned hits = 0;

    if (set == NULL)
        return 0xffff;
    scratch = hs_scratch_new(&set, 1, &err);
    hs_set_scan(set, scratch, (struct slice){ (const uint8_t *)text, (uint32_t)strlen(text) },
                count_hit, &hits);
    hs_scratch_free(scratch);
    hs_set_free(set);
    return hits;
}

static bool cache_file(const char *dir, char *out, size_t size)
{
    DIR *d = opendir(dir);
    bool found = false;

    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(out, size, "%s/%s", dir, e->d_name);
            found = true;
        }
    if (d != NULL)
        closedir(d);
    return found;
}

static void damage(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");

    if (f == NULL)
        return;
    fseek(f, at, SEEK_SET);
    fputc(0x5a, f);
    fclose(f);
}

/* Without libhs there is an error that says so, and nothing else to test. */
static bool is_without_hs(struct test *t)
{
    struct err err = { 0 };

    if (hs_available())
        return false;
    CHECK(hs_set_new(patterns, ARRAY_LEN(patterns), NULL, &err) == NULL);
    CHECK_STRING(err.text, "this build has no libhs");
    t->skipped = true;
    return true;
}

TEST(hs_cache_evicts_unused_databases)
{
    const struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    char dir[] = "/tmp/ids-hs-XXXXXX", path[512];

    if (is_without_hs(t))
        return;
    CHECK(mkdtemp(dir) != NULL);
    CHECK_INT(hits_in(dir, "needle"), 1);
    CHECK(cache_file(dir, path, sizeof(path)));
    CHECK(utimensat(AT_FDCWD, path, long_ago, 0) == 0);
    CHECK_INT(hits_in(dir, "needle"), 1);       /* which makes it young again */
    hs_cache_prune(dir, 60);
    CHECK(cache_file(dir, path, sizeof(path)));
    CHECK(utimensat(AT_FDCWD, path, long_ago, 0) == 0);
    hs_cache_prune(dir, 60);
    CHECK(!cache_file(dir, path, sizeof(path)));
    CHECK(rmdir(dir) == 0);
}

TEST(hs_finds_literals)
{
    if (is_without_hs(t))
        return;
    CHECK_INT(hits_in(NULL, "a needle in a HayStack"), 3);
    CHECK_INT(hits_in(NULL, "a NEEDLE"), 0);
}

TEST(hs_cache_is_checked)
{
    char dir[] = "/tmp/ids-hs-XXXXXX", path[512];
    struct stat st;

    if (is_without_hs(t))
        return;
    CHECK(mkdtemp(dir) != NULL);
    CHECK_INT(hits_in(dir, "needle"), 1);
    CHECK(cache_file(dir, path, sizeof(path)));
    CHECK_INT(hits_in(dir, "other needle"), 5);
    damage(path, 200);
    CHECK_INT(hits_in(dir, "needle"), 1);
    damage(path, 0);
    CHECK_INT(hits_in(dir, "needle"), 1);
    damage(path, 20);                       /* another machine's */
    CHECK_INT(hits_in(dir, "needle"), 1);
    CHECK(truncate(path, 50) == 0);
    CHECK_INT(hits_in(dir, "needle"), 1);
    CHECK(truncate(path, 0) == 0);
    CHECK_INT(hits_in(dir, "needle"), 1);
    CHECK(stat(path, &st) == 0 && st.st_size > 50);     /* compiled again */
    unlink(path);
    rmdir(dir);
}
