/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/memcap.c - leases of a shared memory limit: the slow side. */
#include "flow/memcap.h"

/* Takes up to `want` of what is left of the limit, but not less than `need`. */
static uint64_t lease_from(struct memcap *shared, uint64_t need, uint64_t want)
{
    uint64_t leased = __atomic_load_n(&shared->leased, __ATOMIC_RELAXED);

    for (;;) {
        uint64_t limit = __atomic_load_n(&shared->limit, __ATOMIC_RELAXED);
        uint64_t left = limit > leased ? limit - leased : 0;
        uint64_t take = MIN(want, left);

        if (take < need)
            return 0;
        if (__atomic_compare_exchange_n(&shared->leased, &leased, leased + take, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return take;
    }
}

COLD bool memcap_lease_more(struct memcap_lease *lease, uint64_t bytes)
{
    uint64_t need = lease->used + bytes - lease->leased;
    uint64_t got;

    lease->step = MIN(memcap_limit(lease->shared) / MEMCAP_STEPS_MIN, MEMCAP_STEP_MAX);
    got = lease_from(lease->shared, need, MAX(need, lease->step));
    lease->leased += got;
    return got > 0;
}

COLD void memcap_lease_less(struct memcap_lease *lease)
{
    uint64_t spare = lease->leased - lease->used - lease->step;

    __atomic_fetch_sub(&lease->shared->leased, spare, __ATOMIC_RELAXED);
    lease->leased -= spare;
}

void memcap_lease_end(struct memcap_lease *lease)
{
    __atomic_fetch_sub(&lease->shared->leased, lease->leased, __ATOMIC_RELAXED);
    lease->used = lease->leased = 0;
}
