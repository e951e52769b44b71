/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/traffic_memory.h - the sum of what traffic makes the process allocate.
 *
 * Bufs, arenas, pools, heaps and blocks of streams ask here before they grow. A thread takes from
 * a reservation of its own, so that threads rarely touch the shared sum. A refused allocation
 * returns NULL or false to its caller, and the thread's count of refusals rises: it tells the
 * caller of a parser that a message is incomplete. */
#ifndef BASE_TRAFFIC_MEMORY_H
#define BASE_TRAFFIC_MEMORY_H

#include "base/base.h"

/* False, and nothing taken: at the limit, or a test wants it so. */
bool traffic_memory_take(size_t size);
void traffic_memory_release(size_t size);
/* Is there already: counted, and not refused. */
void traffic_memory_add(size_t size);

/* The allocator itself had nothing left: counts as a refusal. For `return traffic_memory_out()`. */
COLD bool traffic_memory_out(void);

/* Of the calling thread, since it started. */
uint64_t traffic_memory_refusals(void);

/* Any thread. Limit 0: none. */
void traffic_memory_set_limit(uint64_t bytes);
uint64_t traffic_memory_limit(void);
uint64_t traffic_memory_used(void);     /* to within a reservation for each thread */
uint64_t traffic_memory_refused(void);  /* of all threads */

/* As malloc() and its kin, counted; give back with traffic_free(), on any thread. */
void *traffic_malloc(size_t size);
void *traffic_calloc(size_t n, size_t size);
void *traffic_realloc(void *block, size_t size);
void traffic_free(void *block);

/* An array of base/array.h: true when there is room for `more`. */
#define ARRAY_HAS_SPACE(a, more)                                                          \
    ((a)->cap - (a)->count >= (size_t)(more) ||                                           \
     traffic_array_grow((void **)&(a)->at, &(a)->cap, (a)->count + (more), sizeof((a)->at[0])))
bool traffic_array_grow(void **at, size_t *cap, size_t need, size_t item_size);

/* How near to the limit, in the order in which parts give back: at each step the one before goes
 * on. Any thread; one look at a word that is seldom written. */
enum memory_pressure {
    PRESSURE_NONE,
    PRESSURE_IDLE,              /* from 80 %: idle flows end after their shorter time */
    PRESSURE_BODIES,            /* from 88 %: bodies and files are not kept */
    PRESSURE_LARGEST,           /* from 94 %: flows that hold much go on without their payload */
};
#define PRESSURE_STEPS 4
enum memory_pressure traffic_memory_pressure(void);

/* At start: called the first time that a step is counted. */
void traffic_memory_on_first_release(void (*fn)(enum memory_pressure step));
/* Whether memory pressure has reached this step. The caller then frees memory, which is counted. */
COLD bool traffic_memory_count_release(enum memory_pressure step);
static inline bool traffic_memory_gives_back(enum memory_pressure step)
{
    return UNLIKELY(traffic_memory_pressure() >= step) && traffic_memory_count_release(step);
}
uint64_t traffic_memory_given_back(enum memory_pressure step);      /* how often, of all threads */

/* --- for tests ------------------------------------------------------------------------------- */

/* Which requests are refused. All zero: none. */
struct alloc_failures {
    uint64_t every;             /* each n-th */
    uint64_t above;             /* what is larger */
    uint64_t after;             /* each one after so many */
};

/* Process-wide, from now on. */
void alloc_failures_set(struct alloc_failures failures);

/* "every=7,above=4096,after=1000" of the environment variable IDS_ALLOC_FAILURES, from now on. Only
 * in builds with --enable-dev: elsewhere nothing is read. */
void alloc_failures_from_environment(void);

#endif
