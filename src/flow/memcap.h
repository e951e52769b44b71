/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/memcap.h - a memory limit shared by threads, without contention for each object.
 *
 * Each thread reserves part of the limit and accounts its objects against the reservation. It
 * touches the shared counter only when the reservation is used up or much of it has become free. So
 * the limit holds for the process: exactly with one thread, and to within one reservation per
 * thread with more. A reservation is a small part of the limit, so that no thread can take all of
 * it. */
#ifndef FLOW_MEMCAP_H
#define FLOW_MEMCAP_H

#include "base/base.h"

/* Shared by all threads. */
struct memcap {
    CACHE_ALIGNED uint64_t reserved;      /* atomic */
    uint64_t limit;                     /* atomic, as the unix socket may change it */
};

/* The reservation of one thread. */
struct memcap_reservation {
    struct memcap *shared;              /* borrowed */
    uint64_t used, reserved;
    uint64_t step;                      /* bytes to reserve at once */
};

/* Any thread. A new limit may be below what is used: then no more is reserved. */
static inline uint64_t memcap_limit(const struct memcap *shared)
{
    return __atomic_load_n(&shared->limit, __ATOMIC_RELAXED);
}
static inline uint64_t memcap_used(const struct memcap *shared)
{
    return __atomic_load_n(&shared->reserved, __ATOMIC_RELAXED);
}
static inline void memcap_set_limit(struct memcap *shared, uint64_t bytes)
{
    __atomic_store_n(&shared->limit, bytes, __ATOMIC_RELAXED);
}

#define MEMCAP_STEP_MAX ((uint64_t)256 << 10)
#define MEMCAP_STEPS_MIN 256

bool memcap_reserve_more(struct memcap_reservation *reservation, uint64_t bytes);
void memcap_reserve_less(struct memcap_reservation *reservation);
void memcap_reservation_end(struct memcap_reservation *reservation);      /* returns all of it */

/* False at the limit: nothing was taken. */
static inline bool memcap_take(struct memcap_reservation *reservation, uint64_t bytes)
{
    if (UNLIKELY(reservation->used + bytes > reservation->reserved) &&
        !memcap_reserve_more(reservation, bytes))
        return false;
    reservation->used += bytes;
    return true;
}

static inline void memcap_release(struct memcap_reservation *reservation, uint64_t bytes)
{
    reservation->used -= bytes;
    if (UNLIKELY(reservation->reserved > reservation->used + 2 * reservation->step))
        memcap_reserve_less(reservation);
}

#endif
