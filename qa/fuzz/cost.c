/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/cost.c - an oracle for cost: what an input may take of the CPU and of memory.
 *
 * The fuzzer calls LLVMFuzzerTestOneInput() here, which calls fuzz_input() of the target. An input
 * above a bound runs a second time. Only what is above it twice aborts, so that neither tables made
 * on first use nor a busy machine are a finding. The fuzzer keeps the input as it keeps a crash.
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

int fuzz_input(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the sanitizers, where they are linked in. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *))
    __attribute__((weak));

struct cost { uint64_t cpu_us, memory; };

static bool has_hooks;
static size_t asked, peak;

/* --- memory ----------------------------------------------------------------------------------- */

static void on_malloc(const volatile void *at, size_t size)
{
    (void)at;
    asked += size;
    if (asked < MEMORY_STEP)
        return;
    asked = 0;
    size_t now = __sanitizer_get_current_allocated_bytes();

    peak = now > peak ? now : peak;
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

static size_t memory_begin(void)
{
    if (!has_hooks)
        return resident_peak();
    asked = 0;
    return peak = __sanitizer_get_current_allocated_bytes();
}

static size_t memory_end(size_t before)
{
    size_t after = has_hooks ? peak : resident_peak();

    if (!has_hooks && after > before + MEMORY_STEP)
        lower_resident_peak();
    return after > before ? after - before : 0;
}

/* --- the oracle ------------------------------------------------------------------------------- */

static uint64_t cpu_us(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static struct cost measure(const uint8_t *data, size_t size, int *result)
{
    size_t memory = memory_begin();
    uint64_t start = cpu_us();

    *result = fuzz_input(data, size);
    return (struct cost){ .cpu_us = cpu_us() - start, .memory = memory_end(memory) };
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

static unsigned begin(void)
{
    has_hooks = __sanitizer_get_current_allocated_bytes != NULL &&
                __sanitizer_install_malloc_and_free_hooks != NULL &&
                __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) != 0;
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
    took = measure(data, size, &result);
    bound = (struct cost){ .cpu_us = times * (CPU_FLOOR_US + CPU_US_BY_BYTE * (uint64_t)size),
                           .memory = times * (MEMORY_FLOOR + MEMORY_BY_BYTE * (uint64_t)size) };
    if (times == 0 || !is_above(took, bound))
        return result;
    took = least(took, measure(data, size, &result));
    if (!is_above(took, bound))
        return result;
    fprintf(stderr, "cost: %zu bytes took %llu us of CPU (%llu allowed) and %llu KiB of memory "
            "(%llu allowed), twice\n", size, (unsigned long long)took.cpu_us,
            (unsigned long long)bound.cpu_us, (unsigned long long)took.memory >> 10,
            (unsigned long long)bound.memory >> 10);
    abort();
}
