/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/cpu.h - what this CPU can do, for choosing among variants of a function. The plain C
 * variant is always there and is what the others are tested against. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include "base/base.h"
#include "base/err.h"

struct cpu_features {
    bool sse2, ssse3, sse42, popcnt, pclmul, avx2, bmi2;                /* x86-64 */
    bool avx512f, avx512bw, avx512vbmi, avx512vbmi2, gfni;
    bool neon, crc32;                                                   /* aarch64 */
};

/* What may be used: the CPU's own, less what IDS_CPU or --cpu takes away. Written before threads
 * start; then only read. */
extern struct cpu_features cpu_usable;

static inline const struct cpu_features *cpu_features(void)
{
    return &cpu_usable;
}

/* Use no more than this level has: "avx512", "avx2", "sse4" or "scalar"; on ARM "neon" or "scalar".
 * NULL: the environment variable IDS_CPU, or all that the CPU has. -1 with *err: there is no such
 * level, or the CPU lacks it. Only before threads start and sets of literals are built. */
int cpu_choose(const char *level, struct err *err);
/* The best level of which everything may be used. */
const char *cpu_level(void);

/* Number of CPUs that this process may run on; at least 1. */
unsigned cpu_count(void);

#endif
