/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/cpu.c - CPU features and the number of CPUs. The compiler's run-time library reads
 * the features once. */
#include "base/system/cpu.h"

#include <sched.h>
#include <unistd.h>

#if defined(__x86_64__)

struct cpu_features cpu_features(void)
{
    struct cpu_features f = { 0 };

    __builtin_cpu_init();
    f.ssse3 = __builtin_cpu_supports("ssse3");
    f.sse42 = __builtin_cpu_supports("sse4.2");
    f.popcnt = __builtin_cpu_supports("popcnt");
    f.pclmul = __builtin_cpu_supports("pclmul");
    f.avx2 = __builtin_cpu_supports("avx2");
    f.bmi2 = __builtin_cpu_supports("bmi2");
    f.avx512bw = __builtin_cpu_supports("avx512bw");
    f.avx512vbmi = __builtin_cpu_supports("avx512vbmi");
    f.avx512vbmi2 = __builtin_cpu_supports("avx512vbmi2");
    f.gfni = __builtin_cpu_supports("gfni");
    return f;
}

#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

struct cpu_features cpu_features(void)
{
    unsigned long caps = getauxval(AT_HWCAP);

    return (struct cpu_features){ .neon = (caps & HWCAP_ASIMD) != 0,
                                  .crc32 = (caps & HWCAP_CRC32) != 0 };
}

#else

struct cpu_features cpu_features(void)
{
    return (struct cpu_features){ 0 };
}

#endif

/* CPUs that this process may use (taskset, cpusets), not those of the machine. */
unsigned cpu_count(void)
{
    cpu_set_t set;
    long online;

    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}
