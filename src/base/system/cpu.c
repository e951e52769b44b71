/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/cpu.c - CPU features, the levels that they make, and the number of CPUs. The
 * compiler's run-time library reads the features once. */
#include "base/system/cpu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cpu_features cpu_usable;

/* A level: its name, and what a CPU of it has. Best first: each has what the next one has, and
 * more. */
struct cpu_level {
    const char *name;
    struct cpu_features has;
};

#if defined(__x86_64__)

static struct cpu_features features_read(void)
{
    struct cpu_features f = { 0 };

    __builtin_cpu_init();
    f.sse2 = true;
    f.ssse3 = __builtin_cpu_supports("ssse3");
    f.sse42 = __builtin_cpu_supports("sse4.2");
    f.popcnt = __builtin_cpu_supports("popcnt");
    f.pclmul = __builtin_cpu_supports("pclmul");
    f.avx2 = __builtin_cpu_supports("avx2");
    f.bmi2 = __builtin_cpu_supports("bmi2");
    f.avx512f = __builtin_cpu_supports("avx512f");
    f.avx512bw = __builtin_cpu_supports("avx512bw");
    f.avx512vbmi = __builtin_cpu_supports("avx512vbmi");
    f.avx512vbmi2 = __builtin_cpu_supports("avx512vbmi2");
    f.gfni = __builtin_cpu_supports("gfni");
    return f;
}

static const struct cpu_level levels[] = {
    { "avx512", { .sse2 = true, .ssse3 = true, .sse42 = true, .popcnt = true, .pclmul = true,
                  .avx2 = true, .bmi2 = true, .avx512f = true, .avx512bw = true,
                  .avx512vbmi = true, .avx512vbmi2 = true, .gfni = true } },
    { "avx2", { .sse2 = true, .ssse3 = true, .sse42 = true, .popcnt = true, .pclmul = true,
                .avx2 = true, .bmi2 = true } },
    { "sse4", { .sse2 = true, .ssse3 = true, .sse42 = true, .popcnt = true, .pclmul = true } },
    { "scalar", { 0 } },
};

#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

static struct cpu_features features_read(void)
{
    unsigned long caps = getauxval(AT_HWCAP);

    return (struct cpu_features){ .neon = (caps & HWCAP_ASIMD) != 0,
                                  .crc32 = (caps & HWCAP_CRC32) != 0 };
}

static const struct cpu_level levels[] = {
    { "neon", { .neon = true, .crc32 = true } },
    { "scalar", { 0 } },
};

#else

static struct cpu_features features_read(void)
{
    return (struct cpu_features){ 0 };
}

static const struct cpu_level levels[] = { { "scalar", { 0 } } };

#endif

/* The structure has nothing but flags, so it is an array of them. */
#define FLAGS sizeof(struct cpu_features)
_Static_assert(sizeof(bool) == 1, "a flag is a byte");

static bool has_all(const struct cpu_features *have, const struct cpu_features *want)
{
    const uint8_t *h = (const uint8_t *)have, *w = (const uint8_t *)want;

    for (size_t i = 0; i < FLAGS; i++)
        if (w[i] && !h[i])
            return false;
    return true;
}

/* A CPU may have some of what a level has: that stays in use below the level's own limit. */
static struct cpu_features both(const struct cpu_features *a, const struct cpu_features *b)
{
    struct cpu_features f;

    for (size_t i = 0; i < FLAGS; i++)
        ((uint8_t *)&f)[i] = ((const uint8_t *)a)[i] & ((const uint8_t *)b)[i];
    return f;
}

static const struct cpu_level *level_of(const struct cpu_features *f)
{
    const struct cpu_level *l = levels;

    while (!has_all(f, &l->has))
        l++;
    return l;
}

const char *cpu_level(void)
{
    return level_of(&cpu_usable)->name;
}

int cpu_choose(const char *level, struct err *err)
{
    struct cpu_features own = features_read();

    if (level == NULL)
        level = getenv("IDS_CPU");
    if (level == NULL) {
        cpu_usable = own;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        if (strcmp(levels[i].name, level) != 0)
            continue;
        if (!has_all(&own, &levels[i].has))
            return err_set(err, "this CPU has no %s; its best is %s", level,
                           level_of(&own)->name);
        cpu_usable = both(&own, &levels[i].has);
        return 0;
    }
    return err_set(err, "there is no level \"%.40s\" of CPUs: %s is what this one has", level,
                   level_of(&own)->name);
}

/* So that tests and fuzzers, which have no command line, choose as well. main() reports a wrong
 * IDS_CPU. */
__attribute__((constructor)) static void choose_at_start(void)
{
    if (cpu_choose(NULL, NULL) < 0)
        cpu_usable = features_read();
}

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
