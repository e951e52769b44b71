/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cpu_set.h - sets of CPUs, by kernel number. Plain values. */
#ifndef ENGINE_CPU_SET_H
#define ENGINE_CPU_SET_H

#include "base/base.h"

#define CPUS_MAX 1024

struct cpu_set {
    uint64_t bits[CPUS_MAX / 64];
};

static inline void cpu_set_add(struct cpu_set *s, unsigned cpu)
{
    if (cpu < CPUS_MAX)
        s->bits[cpu / 64] |= (uint64_t)1 << cpu % 64;
}
static inline void cpu_set_remove(struct cpu_set *s, unsigned cpu)
{
    if (cpu < CPUS_MAX)
        s->bits[cpu / 64] &= ~((uint64_t)1 << cpu % 64);
}
static inline bool cpu_set_has(const struct cpu_set *s, unsigned cpu)
{
    return cpu < CPUS_MAX && (s->bits[cpu / 64] >> cpu % 64 & 1) != 0;
}

unsigned cpu_set_count(const struct cpu_set *s);
/* Returns the first at or after `from`; -1: none. */
int cpu_set_next(const struct cpu_set *s, unsigned from);
bool cpu_set_overlaps(const struct cpu_set *a, const struct cpu_set *b);
bool cpu_set_equal(const struct cpu_set *a, const struct cpu_set *b);
void cpu_set_or(struct cpu_set *into, const struct cpu_set *other);
void cpu_set_and(struct cpu_set *into, const struct cpu_set *other);
void cpu_set_minus(struct cpu_set *into, const struct cpu_set *other);

#define CPU_SET_EACH(cpu, s) \
    for (int cpu = cpu_set_next((s), 0); cpu >= 0; cpu = cpu_set_next((s), (unsigned)cpu + 1))

/* Writes "0-3,6", the kernel's form; returns buf. */
const char *cpu_set_text(const struct cpu_set *s, char *buf, size_t size);

#endif
