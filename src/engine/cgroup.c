/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cgroup.c - CPU quotas of both versions of cgroups.
 *
 * A quota binds all groups below it, so the walk checks each group from ours up to the root
 * (Documentation/admin-guide/cgroup-v2.rst, cpu.max). Version 1 keeps quota and period in two
 * files below a mount of its own, version 2 in one. */
#include "engine/cgroup.h"

#include "base/array.h"
#include "base/text/text.h"

#include <stdio.h>
#include <string.h>

/* Rounds up: half a CPU still runs one thread. 0 means that there is no limit. */
static unsigned cpus_of(double quota, double period)
{
    return quota > 0 && period > 0 ? (unsigned)((quota + period - 1) / period) : 0;
}

/* The smaller limit, where 0 is none. */
static unsigned least(unsigned a, unsigned b)
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
static unsigned quota_v2(const char *directory)
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
static unsigned quota_v1(const char *directory)
{
    double quota, period;

    if (!read_number(directory, "cpu.cfs_quota_us", &quota) ||
        !read_number(directory, "cpu.cfs_period_us", &period))
        return 0;
    return cpus_of(quota, period);
}

/* Checks `path` below `root` and each of its parents. Paths of cgroups that are longer than the
 * buffer are truncated and then simply not found. */
static unsigned walk_up(const char *root, struct text path,
                        unsigned (*quota)(const char *directory))
{
    unsigned cpus = 0;
    char directory[1100];

    for (;;) {
        snprintf(directory, sizeof(directory), "%s%.*s", root, TEXT(path));
        cpus = least(cpus, quota(directory));
        if (path.n == 0)
            return cpus;
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
static unsigned line_cpus(struct text line, const char *root)
{
    static const char *const mounts_v1[] = { "cpu", "cpu,cpuacct", "cpuacct,cpu" };
    struct text number, controllers;
    char mount[600];
    unsigned cpus = 0;

    text_split(&line, ':', &number);
    text_split(&line, ':', &controllers);
    if (line.n == 1)
        line.n = 0;                 /* "/" */
    if (controllers.n == 0) {
        snprintf(mount, sizeof(mount), "%s/unified", root);
        return least(walk_up(root, line, quota_v2), walk_up(mount, line, quota_v2));
    }
    for (unsigned i = 0; i < ARRAY_LEN(mounts_v1) && has_word(controllers, "cpu"); i++) {
        snprintf(mount, sizeof(mount), "%s/%s", root, mounts_v1[i]);
        cpus = least(cpus, walk_up(mount, line, quota_v1));
    }
    return cpus;
}

/* `self` and `root` are parameters so that tests can use a directory of their own. A container sees
 * its own cgroup as the root; its limit is then in the files at `root`. */
unsigned cgroup_cpus(const char *self, const char *root)
{
    FILE *f = fopen(self, "re");
    char line[600];
    unsigned cpus = 0;

    if (f == NULL)
        return 0;
    while (fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        cpus = least(cpus, line_cpus(text_of(line), root));
    }
    fclose(f);
    return cpus;
}
