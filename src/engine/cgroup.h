/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cgroup.h - the CPU time and memory that the cgroups of this process grant it. Read at
 * start only. */
#ifndef ENGINE_CGROUP_H
#define ENGINE_CGROUP_H

#include <stdint.h>

/* Returns the limit in CPUs, rounded up: the lowest of this process's group and all groups above
 * it; 0: no limit. `self` is /proc/self/cgroup and `root` is /sys/fs/cgroup; tests pass other
 * paths. */
unsigned cgroup_cpus(const char *self, const char *root);
/* The limit in bytes, found in the same way. */
uint64_t cgroup_memory(const char *self, const char *root);

#endif
