/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/traffic_memory.c - per-thread reservations from one sum.
 *
 * Blocks move between threads, so a thread may free more than it took. It keeps that memory as its
 * reservation until the reservation is large. So `spare` never goes below zero. */
#include "config.h"

#include "base/memory/traffic_memory.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RESERVATION ((uint64_t)256 << 10)

/* State of the process. */
static struct {
    _Atomic uint64_t reserved, limit, refused;
    _Atomic int64_t idle;
    _Atomic uint64_t given_back[PRESSURE_STEPS];
    void (*on_first_release)(enum memory_pressure step);    /* set at start */
    _Atomic uint64_t requests;          /* counted while failures are requested */
    struct alloc_failures failures;
    _Atomic bool failing;
    pthread_key_t at_thread_end;
    pthread_once_t key_once;
} sum = { .key_once = PTHREAD_ONCE_INIT };

/* State of the thread. After the thread's end, libraries may still free memory: it goes to the
 * sum. */
static __thread struct {
    uint64_t spare, refusals;
    enum { THREAD_NEW, THREAD_RESERVES, THREAD_FINISHED } state;
} own;

static void thread_ends(void *unused UNUSED)
{
    atomic_fetch_sub_explicit(&sum.reserved, own.spare, memory_order_relaxed);
    own.spare = 0;
    own.state = THREAD_FINISHED;
}

static void make_key(void)
{
    pthread_key_create(&sum.at_thread_end, thread_ends);
}

static COLD void thread_starts(void)
{
    pthread_once(&sum.key_once, make_key);
    pthread_setspecific(sum.at_thread_end, &own);
    own.state = THREAD_RESERVES;
}

COLD bool traffic_memory_out(void)
{
    own.refusals++;
    atomic_fetch_add_explicit(&sum.refused, 1, memory_order_relaxed);
    return false;
}

static bool reserve(uint64_t size)
{
    uint64_t reserved = atomic_load_explicit(&sum.reserved, memory_order_relaxed), limit;

    do {
        limit = atomic_load_explicit(&sum.limit, memory_order_relaxed);
        if (limit != 0 && (reserved > limit || size > limit - reserved))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&sum.reserved, &reserved, reserved + size,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static COLD bool reserve_more(uint64_t size)
{
    if (own.state == THREAD_NEW)
        thread_starts();
    if (own.state == THREAD_RESERVES && reserve(size + RESERVATION)) {
        own.spare += RESERVATION;
        return true;
    }
    if (size > own.spare && reserve(size - own.spare)) {
        own.spare = 0;
        return true;
    }
    return traffic_memory_out();
}

static COLD bool fails(size_t size)
{
    uint64_t n = atomic_fetch_add_explicit(&sum.requests, 1, memory_order_relaxed) + 1;
    const struct alloc_failures *f = &sum.failures;

    return (f->every > 0 && n % f->every == 0) || (f->above > 0 && size > f->above) ||
           (f->after > 0 && n > f->after);
}

bool traffic_memory_take(size_t size)
{
    if (UNLIKELY(atomic_load_explicit(&sum.failing, memory_order_relaxed)) && fails(size))
        return traffic_memory_out();
    if (UNLIKELY(size > SIZE_MAX / 4))
        return traffic_memory_out();
    if (UNLIKELY(own.spare < size))
        return reserve_more(size);
    own.spare -= size;
    return true;
}

void traffic_memory_add(size_t size)
{
    if (own.spare < size) {
        atomic_fetch_add_explicit(&sum.reserved, size, memory_order_relaxed);
        return;
    }
    own.spare -= size;
}

void traffic_memory_release(size_t size)
{
    uint64_t keep = own.state == THREAD_RESERVES ? RESERVATION : 0;

    own.spare += size;
    if (UNLIKELY(own.spare > 2 * keep)) {
        atomic_fetch_sub_explicit(&sum.reserved, own.spare - keep, memory_order_relaxed);
        own.spare = keep;
    }
}

enum memory_pressure traffic_memory_pressure(void)
{
    uint64_t limit = atomic_load_explicit(&sum.limit, memory_order_relaxed);
    uint64_t reserved = atomic_load_explicit(&sum.reserved, memory_order_relaxed), idle;

    if (LIKELY(limit == 0 || reserved < limit / 5 * 4))
        return PRESSURE_NONE;
    idle = MIN(traffic_memory_idle(), MIN(reserved, limit));
    reserved -= idle;
    limit -= idle;
    if (reserved <= limit / 5 * 4)
        return PRESSURE_NONE;
    if (reserved < limit / 25 * 22)
        return PRESSURE_IDLE;
    return reserved < limit / 50 * 47 ? PRESSURE_BODIES : PRESSURE_LARGEST;
}

bool traffic_memory_is_scarce(void)
{
    uint64_t limit = atomic_load_explicit(&sum.limit, memory_order_relaxed);

    return limit != 0 &&
           atomic_load_explicit(&sum.reserved, memory_order_relaxed) >= limit / 5 * 4;
}

COLD void idle_memory_report(struct idle_memory *idle)
{
    atomic_fetch_add_explicit(&sum.idle, idle->now - idle->reported, memory_order_relaxed);
    idle->reported = idle->now;
}

void idle_memory_fini(struct idle_memory *idle)
{
    idle->now = 0;
    idle_memory_report(idle);
}

/* A report that is late may take the sum below zero for a moment. */
uint64_t traffic_memory_idle(void)
{
    return (uint64_t)MAX(atomic_load_explicit(&sum.idle, memory_order_relaxed), (int64_t)0);
}

void traffic_memory_on_first_release(void (*fn)(enum memory_pressure step))
{
    sum.on_first_release = fn;
}

bool traffic_memory_count_release(enum memory_pressure step)
{
    if (atomic_fetch_add_explicit(&sum.given_back[step], 1, memory_order_relaxed) == 0 &&
        sum.on_first_release != NULL)
        sum.on_first_release(step);
    return true;
}

uint64_t traffic_memory_given_back(enum memory_pressure step)
{
    return atomic_load_explicit(&sum.given_back[step], memory_order_relaxed);
}

uint64_t traffic_memory_refusals(void)
{
    return own.refusals;
}

void traffic_memory_set_limit(uint64_t bytes)
{
    atomic_store_explicit(&sum.limit, bytes, memory_order_relaxed);
}

uint64_t traffic_memory_limit(void)
{
    return atomic_load_explicit(&sum.limit, memory_order_relaxed);
}

uint64_t traffic_memory_used(void)
{
    return atomic_load_explicit(&sum.reserved, memory_order_relaxed);
}

uint64_t traffic_memory_refused(void)
{
    return atomic_load_explicit(&sum.refused, memory_order_relaxed);
}

void alloc_failures_set(struct alloc_failures failures)
{
    sum.failures = failures;
    atomic_store_explicit(&sum.requests, 0, memory_order_relaxed);
    atomic_store_explicit(&sum.failing,
                          failures.every != 0 || failures.above != 0 || failures.after != 0,
                          memory_order_release);
}

#ifdef IDS_ALLOC_FAILURES

static uint64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

void alloc_failures_from_environment(void)
{
    const char *text = getenv("IDS_ALLOC_FAILURES");

    if (text != NULL)
        alloc_failures_set((struct alloc_failures){ number_after(text, "every="),
                                                    number_after(text, "above="),
                                                    number_after(text, "after=") });
}

#else

void alloc_failures_from_environment(void)
{
}

#endif

/* --- blocks of the C library ----------------------------------------------------------------- */

/* The C library keeps the size of a block in the word before it. Blocks of a header line or a name
 * are so small that it is a fifth of them. */
static size_t block_bytes(void *block)
{
    return malloc_usable_size(block) + sizeof(size_t);
}

static void *counted(void *block, size_t asked)
{
    if (UNLIKELY(block == NULL)) {
        traffic_memory_release(asked);
        traffic_memory_out();
        return NULL;
    }
    /* The allocator gave this memory beyond the request, so the limit cannot refuse it. */
    traffic_memory_add(block_bytes(block) - asked);
    return block;
}

void *traffic_malloc(size_t size)
{
    return traffic_memory_take(size) ? counted(malloc(MAX(size, (size_t)1)), size) : NULL;
}

void *traffic_calloc(size_t n, size_t size)
{
    size_t all;

    if (__builtin_mul_overflow(n, size, &all))
        all = SIZE_MAX;
    return traffic_memory_take(all) ? counted(calloc(1, MAX(all, (size_t)1)), all) : NULL;
}

void *traffic_realloc(void *block, size_t size)
{
    size_t before = block != NULL ? block_bytes(block) : 0;
    void *bigger;

    if (!traffic_memory_take(size))
        return NULL;
    bigger = counted(realloc(block, MAX(size, (size_t)1)), size);
    if (bigger != NULL)
        traffic_memory_release(before);
    return bigger;
}

void traffic_free(void *block)
{
    if (block == NULL)
        return;
    traffic_memory_release(block_bytes(block));
    free(block);
}

void traffic_memory_add_block(void *block)
{
    traffic_memory_add(block_bytes(block));
}

/* --- arrays ----------------------------------------------------------------------------------- */

bool traffic_array_grow(void **at, size_t *cap, size_t need, size_t item_size)
{
    size_t bytes, requested = MAX(MAX(need, *cap + *cap / 2), (size_t)8);
    void *bigger;

    if (__builtin_mul_overflow(requested, item_size, &bytes))
        return traffic_memory_out();
    if (!traffic_memory_take(bytes))
        return false;
    traffic_memory_release(bytes);         /* checked, but not counted: such sizes become steady */
    bigger = realloc(*at, bytes);
    if (bigger == NULL)
        return traffic_memory_out();
    *at = bigger;
    *cap = requested;
    return true;
}
