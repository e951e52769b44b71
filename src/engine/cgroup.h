/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cgroup.h - how much CPU time and memory the cgroups of this process grant it. At start
 * only. */
#ifndef ENGINE_CGROUP_H
#define ENGINE_CGROUP_H

#include <stdint.h>

/* In whole CPUs, rounded up, the least of our own group and all above it; 0: no limit. `self` is
 * /proc/self/cgroup and `root` /sys/fs/cgroup, or what a test has put in their place. */
unsigned cgroup_cpus(const char *self, const char *root);
/* In bytes, likewise. */
uint64_t cgroup_memory(const char *self, const char *root);

#endif
