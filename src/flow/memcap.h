/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/memcap.h - a limit on memory that several threads share without meeting at each object.
 *
 * Each thread reserves part of the limit and accounts its objects against the reservation; only
 * when a reservation is used up, or much of it has become free, is the shared figure touched. So
 * the limit holds for the process, exactly for one thread, and to within one reservation a thread
 * for more. A reservation is a small part of the limit, or one thread could keep all of it from the
 * others. */
#ifndef FLOW_MEMCAP_H
#define FLOW_MEMCAP_H

#include "base/base.h"

/* Shared. */
struct memcap {
    CACHE_ALIGNED uint64_t reserved;      /* atomic */
    uint64_t limit;                     /* atomic, as the unix socket may change it */
};

/* One thread's. */
struct memcap_reservation {
    struct memcap *shared;              /* borrowed */
    uint64_t used, reserved;
    uint64_t step;                      /* what is reserved at once */
};

/* Any thread. The limit may come to be below what is used: then nothing more is taken. */
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
void memcap_reservation_end(struct memcap_reservation *reservation);      /* gives all back */

/* False, and nothing taken, at the limit. */
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
