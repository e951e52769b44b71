/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/memcap.h - a limit on memory that several threads share without meeting at each object.
 *
 * Each thread leases part of the limit and accounts its objects against the lease; only when a
 * lease is used up, or much of it has become free, is the shared figure touched. So the limit
 * holds for the process, exactly for one thread, and to within one lease a thread for more. A
 * lease is a small part of the limit, or one thread could keep all of it from the others. */
#ifndef FLOW_MEMCAP_H
#define FLOW_MEMCAP_H

#include "base/base.h"

/* Shared. */
struct memcap {
    CACHE_ALIGNED uint64_t leased;      /* atomic */
    uint64_t limit;                     /* atomic, as the unix socket may change it */
};

/* One thread's. */
struct memcap_lease {
    struct memcap *shared;              /* borrowed */
    uint64_t used, leased;
    uint64_t step;                      /* what is leased at once */
};

/* Any thread. The limit may come to be below what is used: then nothing more is taken. */
static inline uint64_t memcap_limit(const struct memcap *shared)
{
    return __atomic_load_n(&shared->limit, __ATOMIC_RELAXED);
}
static inline uint64_t memcap_used(const struct memcap *shared)
{
    return __atomic_load_n(&shared->leased, __ATOMIC_RELAXED);
}
static inline void memcap_set_limit(struct memcap *shared, uint64_t bytes)
{
    __atomic_store_n(&shared->limit, bytes, __ATOMIC_RELAXED);
}

#define MEMCAP_STEP_MAX ((uint64_t)256 << 10)
#define MEMCAP_STEPS_MIN 256

bool memcap_lease_more(struct memcap_lease *lease, uint64_t bytes);
void memcap_lease_less(struct memcap_lease *lease);
void memcap_lease_end(struct memcap_lease *lease);      /* gives all back */

/* False, and nothing taken, at the limit. */
static inline bool memcap_take(struct memcap_lease *lease, uint64_t bytes)
{
    if (UNLIKELY(lease->used + bytes > lease->leased) && !memcap_lease_more(lease, bytes))
        return false;
    lease->used += bytes;
    return true;
}

static inline void memcap_give(struct memcap_lease *lease, uint64_t bytes)
{
    lease->used -= bytes;
    if (UNLIKELY(lease->leased > lease->used + 2 * lease->step))
        memcap_lease_less(lease);
}

#endif
