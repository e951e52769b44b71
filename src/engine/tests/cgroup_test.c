/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quotas, in a tree of files that looks as the kernel's. */
#include "base/test.h"
#include "engine/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
    char root[64], self[96];
};

static void make_directories(const char *path)
{
    char part[256];

    for (const char *p = strchr(path + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
        snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
        mkdir(part, 0700);
    }
}

static void write_file(const struct tree *tree, const char *name, const char *content)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", tree->root, name);
    make_directories(path);
    f = fopen(path, "w");
    if (f == NULL)
        return;
    fputs(content, f);
    fclose(f);
}

static void tree_make(struct test *t, struct tree *tree, const char *self)
{
    snprintf(tree->root, sizeof(tree->root), "/tmp/ids-cgroup-XXXXXX");
    CHECK(mkdtemp(tree->root) != NULL);
    snprintf(tree->self, sizeof(tree->self), "%s/self", tree->root);
    write_file(tree, "self", self);
}

static void tree_remove(const struct tree *tree)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r %s", tree->root);
    if (system(command) != 0)
        fprintf(stderr, "%s: left behind\n", tree->root);
}

TEST(cgroup_v2_least_of_all_above)
{
    struct tree tree;

    tree_make(t, &tree, "0::/system.slice/ids.service\n");
    write_file(&tree, "system.slice/ids.service/cpu.max", "max 100000\n");
    CHECK_INT(cgroup_cpus(tree.self, tree.root), 0);
    write_file(&tree, "system.slice/ids.service/cpu.max", "250000 100000\n");
    CHECK_INT(cgroup_cpus(tree.self, tree.root), 3);
    write_file(&tree, "system.slice/cpu.max", "50000 100000\n");
    CHECK_INT(cgroup_cpus(tree.self, tree.root), 1);
    tree_remove(&tree);
}

TEST(cgroup_memory_of_both_versions)
{
    struct tree tree;

    tree_make(t, &tree, "0::/system.slice/ids.service\n");
    write_file(&tree, "system.slice/ids.service/memory.max", "max\n");
    CHECK_INT(cgroup_memory(tree.self, tree.root), 0);
    write_file(&tree, "system.slice/memory.max", "268435456\n");
    CHECK_INT(cgroup_memory(tree.self, tree.root), 256u << 20);
    tree_remove(&tree);
    tree_make(t, &tree, "7:cpu,cpuacct:/a\n4:memory:/a\n");
    write_file(&tree, "memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_INT(cgroup_memory(tree.self, tree.root), 0);
    write_file(&tree, "memory/memory.limit_in_bytes", "134217728\n");
    CHECK_INT(cgroup_memory(tree.self, tree.root), 128u << 20);
    tree_remove(&tree);
}

TEST(cgroup_v2_root_of_a_container)
{
    struct tree tree;

    tree_make(t, &tree, "0::/\n");
    CHECK_INT(cgroup_cpus(tree.self, tree.root), 0);
    write_file(&tree, "cpu.max", "400000 100000\n");
    CHECK_INT(cgroup_cpus(tree.self, tree.root), 4);
    tree_remove(&tree);
}

TEST(cgroup_v1_quota_and_period)
{
    struct tree tree;

    tree_make(t, &tree, "9:cpuset:/x\n4:cpu,cpuacct:/x\n0::/\n");
    write_file(&tree, "cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
    write_file(&tree, "cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    CHECK_INT(cgroup_cpus(tree.self, tree.root), 0);
    write_file(&tree, "cpu,cpuacct/x/cpu.cfs_quota_us", "200000\n");
    CHECK_INT(cgroup_cpus(tree.self, tree.root), 2);
    tree_remove(&tree);
}

TEST(cgroup_nothing_known)
{
    CHECK_INT(cgroup_cpus("/nonexistent/self", "/nonexistent"), 0);
}
