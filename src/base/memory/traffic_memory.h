/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/traffic_memory.h - the memory that the process allocates because of traffic.
 *
 * Bufs, arenas, pools, heaps and blocks of streams reserve memory here before they grow. A thread
 * takes from its own reservation, so that threads rarely touch the shared sum. A refused allocation
 * returns NULL or false and increments the thread's count of refusals. From this count the caller
 * of a parser knows that a message is incomplete. */
#ifndef BASE_TRAFFIC_MEMORY_H
#define BASE_TRAFFIC_MEMORY_H

#include "base/base.h"

/* False, and nothing is taken, at the limit or when a test refuses it. */
bool traffic_memory_take(size_t size);
void traffic_memory_release(size_t size);
/* Counts memory that is already allocated; never refuses. */
void traffic_memory_add(size_t size);

/* Counts a refusal by the system allocator; returns false. For `return traffic_memory_out()`. */
COLD bool traffic_memory_out(void);

/* Refusals of the calling thread since it started. */
uint64_t traffic_memory_refusals(void);

/* Any thread may call this. Limit 0: no limit. */
void traffic_memory_set_limit(uint64_t bytes);
uint64_t traffic_memory_limit(void);
uint64_t traffic_memory_used(void);     /* exact up to one reservation per thread */
uint64_t traffic_memory_refused(void);  /* of all threads */

/* Counted variants of malloc() and related functions. Any thread may free with traffic_free(). */
void *traffic_malloc(size_t size);
void *traffic_calloc(size_t n, size_t size);
void *traffic_realloc(void *block, size_t size);
void traffic_free(void *block);
/* Counts a block from malloc() that traffic_free() will free; never refuses. */
void traffic_memory_add_block(void *block);

/* Bytes that an owner (a pool, a heap) has from the system and that nothing uses. They count for
 * the limit, because the process has them, but not for the pressure: the owner's next objects need
 * no new memory. The owner reports in steps, because the sum is shared. */
struct idle_memory {
    int64_t now, reported;
};
#define IDLE_STEP ((int64_t)64 << 10)
COLD void idle_memory_report(struct idle_memory *idle);
static inline void idle_memory_change(struct idle_memory *idle, int64_t bytes)
{
    idle->now += bytes;
    if (UNLIKELY(idle->now - idle->reported >= IDLE_STEP ||
                 idle->reported - idle->now >= IDLE_STEP))
        idle_memory_report(idle);
}
void idle_memory_fini(struct idle_memory *idle);
uint64_t traffic_memory_idle(void);     /* sum of the reports */

/* At 80 % of the limit, idle memory included. Owners then return free pages to the system. */
bool traffic_memory_is_scarce(void);

/* For an array of base/array.h: true when it has space for `more` items. */
#define ARRAY_HAS_SPACE(a, more)                                                          \
    ((a)->cap - (a)->count >= (size_t)(more) ||                                           \
     traffic_array_grow((void **)&(a)->at, &(a)->cap, (a)->count + (more), sizeof((a)->at[0])))
bool traffic_array_grow(void **at, size_t *cap, size_t need, size_t item_size);

/* How close memory use is to the limit: what is used, as a share of the limit less what is idle. So
 * the steps end after a burst, also where its memory stays with pools. Each step adds one way to
 * free memory to those of the steps before. Any thread may read it; this costs two loads of words
 * that are seldom written. */
enum memory_pressure {
    PRESSURE_NONE,
    PRESSURE_IDLE,              /* from 80 %: idle flows end after their emergency timeout */
    PRESSURE_BODIES,            /* from 88 %: bodies and files are not buffered */
    PRESSURE_LARGEST,         /* from 94 %: the largest flows continue without payload inspection */
};
#define PRESSURE_STEPS 4
enum memory_pressure traffic_memory_pressure(void);

/* Sets, at start, the function that is called at the first count of each step. */
void traffic_memory_on_first_release(void (*fn)(enum memory_pressure step));
/* Whether memory pressure has reached this step. The caller then frees memory, which is counted. */
COLD bool traffic_memory_count_release(enum memory_pressure step);
static inline bool traffic_memory_gives_back(enum memory_pressure step)
{
    return UNLIKELY(traffic_memory_pressure() >= step) && traffic_memory_count_release(step);
}
uint64_t traffic_memory_given_back(enum memory_pressure step);     /* how often, sum over threads */

/* --- for tests ------------------------------------------------------------------------------- */

/* Which requests fail. All zero: none. */
struct alloc_failures {
    uint64_t every;             /* each n-th request */
    uint64_t above;             /* requests larger than this */
    uint64_t after;             /* each request after this many */
};

/* Applies to the process from now on. */
void alloc_failures_set(struct alloc_failures failures);

/* Reads "every=7,above=4096,after=1000" from the environment variable IDS_ALLOC_FAILURES. Only
 * builds with --enable-dev do this. */
void alloc_failures_from_environment(void);

#endif
