/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/memcap.c - a memory limit that threads share: the slow side of reservations.
 *
 * A thread reserves in steps and counts what it uses locally, so that the shared word is rarely
 * written. At the limit up to one step per thread may be reserved but unused. */
#include "flow/memcap.h"

/* Takes up to `want` of the rest, but not less than `need`. Relaxed: the word protects no other
 * data. */
static uint64_t reserve_from(struct memcap *shared, uint64_t need, uint64_t want)
{
    uint64_t reserved = __atomic_load_n(&shared->reserved, __ATOMIC_RELAXED);

    for (;;) {
        uint64_t limit = __atomic_load_n(&shared->limit, __ATOMIC_RELAXED);
        uint64_t left = limit > reserved ? limit - reserved : 0;
        uint64_t take = MIN(want, left);

        if (take < need)
            return 0;
        if (__atomic_compare_exchange_n(&shared->reserved, &reserved, reserved + take, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return take;
    }
}

/* A step is a fraction of the limit, so that small limits are not used up by unused
 * reservations. */
COLD bool memcap_reserve_more(struct memcap_reservation *reservation, uint64_t bytes)
{
    uint64_t need = reservation->used + bytes - reservation->reserved;
    uint64_t got;

    reservation->step = MIN(memcap_limit(reservation->shared) / MEMCAP_STEPS_MIN, MEMCAP_STEP_MAX);
    got = reserve_from(reservation->shared, need, MAX(need, reservation->step));
    reservation->reserved += got;
    return got > 0;
}

/* Returns what exceeds one step, so that the next allocation does not reserve again. */
COLD void memcap_reserve_less(struct memcap_reservation *reservation)
{
    uint64_t spare = reservation->reserved - reservation->used - reservation->step;

    __atomic_fetch_sub(&reservation->shared->reserved, spare, __ATOMIC_RELAXED);
    reservation->reserved -= spare;
}

void memcap_reservation_end(struct memcap_reservation *reservation)
{
    __atomic_fetch_sub(&reservation->shared->reserved, reservation->reserved, __ATOMIC_RELAXED);
    reservation->used = reservation->reserved = 0;
}
