/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/cpu.h - features of this CPU, for tables of function variants that are filled at
 * start. The plain C variant always exists; tests compare the others with it. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include "base/base.h"

struct cpu_features {
    bool ssse3, sse42, popcnt, pclmul, avx2, bmi2;                      /* x86-64 */
    bool avx512bw, avx512vbmi, avx512vbmi2, gfni;
    bool neon, crc32;                                                   /* aarch64 */
};

struct cpu_features cpu_features(void);

/* Number of CPUs that this process may run on; at least 1. */
unsigned cpu_count(void);

#endif
