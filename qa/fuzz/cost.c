/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/cost.c - an oracle for cost: what an input may take of the CPU and of memory.
 *
 * The fuzzer calls LLVMFuzzerTestOneInput() here, which calls fuzz_input() of the target. The first
 * run of an input is watched only roughly, because most runs take microseconds and a system call
 * would cost as much. An input that may be above a bound runs again, with CPU time and memory
 * measured. Only what is above it twice more aborts, so that neither tables made on first use nor a
 * busy machine are a finding. The fuzzer keeps the input as it keeps a crash.
 *
 * IDS_COST in the environment multiplies the bounds; 0 switches the oracle off. It is off as well
 * with IDS_ENDLESS, which plays one input for minutes. */
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* Generous, because the sanitizers slow the targets down about five times. */
#define CPU_FLOOR_US 50000u
#define CPU_US_BY_BYTE 20u
#define MEMORY_FLOOR (64ull << 20)
#define MEMORY_BY_BYTE 64u
/* Memory is looked at when so much has been asked for. */
#define MEMORY_STEP (1u << 20)
/* A shorter run cannot have touched MEMORY_FLOOR of new memory. */
#define MEMORY_US 1000u

int fuzz_input(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Of targets that may take more memory for a few bytes. */
extern const uint64_t fuzz_memory_floor __attribute__((weak));

/* Of the sanitizers, where they are linked in. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *))
    __attribute__((weak));

struct cost { uint64_t cpu_us, memory; };

static bool has_hooks;
static size_t asked, first, peak;

/* --- memory ----------------------------------------------------------------------------------- */

static void on_malloc(const volatile void *at, size_t size)
{
    (void)at;
    asked += size;
    if (asked < MEMORY_STEP)
        return;
    size_t now = __sanitizer_get_current_allocated_bytes();

    if (first == 0)             /* since memory_begin(); what was freed since is below one step */
        first = now > asked ? now - asked : 1;
    peak = now > peak ? now : peak;
    asked = 0;
}

static void on_free(const volatile void *at)
{
    (void)at;
}

/* Without hooks the resident set serves. */
static size_t resident_peak(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (size_t)usage.ru_maxrss << 10 : 0;
}

/* Memory that the allocator keeps would hide what the next input takes, and so would the peak of
 * the one before it. */
static void lower_resident_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");

    malloc_trim(0);
    if (f == NULL)
        return;
    fputs("5", f);
    fclose(f);
}

static void memory_begin(bool exactly)
{
    asked = peak = 0;
    if (has_hooks)
        first = 0;
    else if (exactly)
        first = resident_peak();
}

/* Without hooks `first` is the peak that was seen last: small inputs have raised it since. */
static size_t memory_end(void)
{
    size_t taken;

    if (!has_hooks)
        peak = resident_peak();
    taken = peak > first ? peak - first : 0;
    if (!has_hooks && taken > MEMORY_STEP)
        lower_resident_peak();
    if (!has_hooks)
        first = resident_peak();
    return taken;
}

/* --- the oracle ------------------------------------------------------------------------------- */

static uint64_t clock_us(clockid_t clock)
{
    struct timespec t = { 0 };

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* Without a system call for almost all inputs: CPU time is at most the time by the clock. */
static struct cost estimate(const uint8_t *data, size_t size, int *result)
{
    struct cost cost = { 0 };
    uint64_t start;

    memory_begin(false);
    start = clock_us(CLOCK_MONOTONIC);
    *result = fuzz_input(data, size);
    cost.cpu_us = clock_us(CLOCK_MONOTONIC) - start;
    if (has_hooks || cost.cpu_us > MEMORY_US)
        cost.memory = memory_end();
    return cost;
}

static struct cost measure(const uint8_t *data, size_t size, int *result)
{
    struct cost cost;

    memory_begin(true);
    cost.cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
    *result = fuzz_input(data, size);
    cost.cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - cost.cpu_us;
    cost.memory = memory_end();
    return cost;
}

static struct cost least(struct cost a, struct cost b)
{
    return (struct cost){ .cpu_us = a.cpu_us < b.cpu_us ? a.cpu_us : b.cpu_us,
                          .memory = a.memory < b.memory ? a.memory : b.memory };
}

static bool is_above(struct cost c, struct cost bound)
{
    return c.cpu_us > bound.cpu_us || c.memory > bound.memory;
}

static unsigned factor(void)
{
    const char *text = getenv("IDS_COST");

    if (getenv("IDS_ENDLESS") != NULL)
        return 0;
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : 1;
}

static uint64_t memory_floor(void)
{
    return &fuzz_memory_floor != NULL ? fuzz_memory_floor : MEMORY_FLOOR;
}

/* Tables that each input makes and frees stay with the allocator, which would map them anew. Where
 * the sanitizers are, they have their own. */
static void keep_memory(void)
{
    if (has_hooks)
        return;
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
}

static unsigned begin(void)
{
    has_hooks = __sanitizer_get_current_allocated_bytes != NULL &&
                __sanitizer_install_malloc_and_free_hooks != NULL &&
                __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) != 0;
    keep_memory();
    first = resident_peak();
    return factor();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_begun;
    static unsigned times;
    struct cost bound, took;
    int result;

    if (!is_begun)
        times = begin();
    is_begun = true;
    took = estimate(data, size, &result);
    bound = (struct cost){ .cpu_us = times * (CPU_FLOOR_US + CPU_US_BY_BYTE * (uint64_t)size),
                           .memory = times * (memory_floor() + MEMORY_BY_BYTE * (uint64_t)size) };
    if (times == 0 || !is_above(took, bound))
        return result;
    took = measure(data, size, &result);
    took = least(took, measure(data, size, &result));
    if (!is_above(took, bound))
        return result;
    fprintf(stderr, "cost: %zu bytes took %llu us of CPU (%llu allowed) and %llu KiB of memory "
            "(%llu allowed), twice\n", size, (unsigned long long)took.cpu_us,
            (unsigned long long)bound.cpu_us, (unsigned long long)took.memory >> 10,
            (unsigned long long)bound.memory >> 10);
    abort();
}
