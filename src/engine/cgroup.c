/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cgroup.c - CPU quotas and memory limits of both versions of cgroups.
 *
 * A limit binds all groups below it, so the walk checks each group from ours up to the root
 * (Documentation/admin-guide/cgroup-v2.rst, cpu.max and memory.max). Version 1 has quota and period
 * in two files below a separate mount, version 2 in one. The memory limit is one number in both. */
#include "engine/cgroup.h"

#include "base/array.h"
#include "base/text/text.h"

#include <stdio.h>
#include <string.h>

/* The files of one resource; a limit of 0 means none. */
struct resource {
    uint64_t (*v2)(const char *directory), (*v1)(const char *directory);
    const char *controller;             /* of version 1 */
    const char *mounts[3];              /* below the root; NULL: no more */
};

static uint64_t cpus_of(double quota, double period)
{
    return quota > 0 && period > 0 ? (uint64_t)((quota + period - 1) / period) : 0;
}

/* The smaller limit, where 0 is none. */
static uint64_t least(uint64_t a, uint64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

static bool read_number(const char *directory, const char *file, double *out)
{
    char path[1200];
    FILE *f;
    bool found;

    snprintf(path, sizeof(path), "%s/%s", directory, file);
    f = fopen(path, "re");
    if (f == NULL)
        return false;
    found = fscanf(f, "%lf", out) == 1;
    fclose(f);
    return found;
}

/* cpu.max is "max 100000" without a limit, "150000 100000" for one and a half CPUs, in
 * microseconds. "max" is no number, so fscanf() finds no quota. */
static uint64_t cpus_v2(const char *directory)
{
    char path[1200];
    double quota = 0, period = 0;
    FILE *f;
    bool found;

    snprintf(path, sizeof(path), "%s/cpu.max", directory);
    f = fopen(path, "re");
    if (f == NULL)
        return 0;
    found = fscanf(f, "%lf %lf", &quota, &period) == 2;
    fclose(f);
    return found ? cpus_of(quota, period) : 0;
}

/* A cpu.cfs_quota_us of -1 is no limit; cpus_of() returns 0 for it. */
static uint64_t cpus_v1(const char *directory)
{
    double quota, period;

    if (!read_number(directory, "cpu.cfs_quota_us", &quota) ||
        !read_number(directory, "cpu.cfs_period_us", &period))
        return 0;
    return cpus_of(quota, period);
}

/* No limit is more than any machine has. */
static uint64_t bytes_of(const char *directory, const char *file)
{
    double bytes;

    return read_number(directory, file, &bytes) && bytes > 0 && bytes < 0x1p60 ? (uint64_t)bytes
                                                                               : 0;
}

static uint64_t memory_v2(const char *directory)
{
    return bytes_of(directory, "memory.max");
}

static uint64_t memory_v1(const char *directory)
{
    return bytes_of(directory, "memory.limit_in_bytes");
}

/* Visits the groups from root/path up to root. */
static uint64_t walk_up(const char *root, struct text path,
                        uint64_t (*limit)(const char *directory))
{
    uint64_t found = 0;
    char directory[1100];

    for (;;) {
        snprintf(directory, sizeof(directory), "%s%.*s", root, TEXT(path));
        found = least(found, limit(directory));
        if (path.n == 0)
            return found;
        while (path.n > 0 && path.p[--path.n] != '/')
            ;
    }
}

static bool has_word(struct text list, const char *word)
{
    struct text item;

    while (text_split(&list, ',', &item))
        if (text_equal(item, word))
            return true;
    return false;
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/path", or "0::/path" for version 2. In hybrid mode
 * systemd mounts version 2 at `unified`. */
static uint64_t line_limit(struct text line, const char *root, const struct resource *what)
{
    struct text number = { "", 0 }, controllers = { "", 0 };
    char mount[600];
    uint64_t found = 0;

    text_split(&line, ':', &number);
    text_split(&line, ':', &controllers);
    if (line.n == 1)
        line.n = 0;                 /* "/" */
    if (controllers.n == 0) {
        snprintf(mount, sizeof(mount), "%s/unified", root);
        return least(walk_up(root, line, what->v2), walk_up(mount, line, what->v2));
    }
    if (!has_word(controllers, what->controller))
        return 0;
    for (unsigned i = 0; i < ARRAY_LEN(what->mounts) && what->mounts[i] != NULL; i++) {
        snprintf(mount, sizeof(mount), "%s/%s", root, what->mounts[i]);
        found = least(found, walk_up(mount, line, what->v1));
    }
    return found;
}

/* `self` and `root` are parameters so that tests can use other directories. A container sees its
 * own cgroup as the root; its limit is then in the files at `root`. */
static uint64_t limit_of(const char *self, const char *root, const struct resource *what)
{
    FILE *f = fopen(self, "re");
    char line[600];
    uint64_t found = 0;

    if (f == NULL)
        return 0;
    while (fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = least(found, line_limit(text_of(line), root, what));
    }
    fclose(f);
    return found;
}

unsigned cgroup_cpus(const char *self, const char *root)
{
    static const struct resource cpus = {
        cpus_v2, cpus_v1, "cpu", { "cpu", "cpu,cpuacct", "cpuacct,cpu" },
    };

    return (unsigned)limit_of(self, root, &cpus);
}

uint64_t cgroup_memory(const char *self, const char *root)
{
    static const struct resource memory = { memory_v2, memory_v1, "memory", { "memory" } };

    return limit_of(self, root, &memory);
}
