/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cpu_load.c - how evenly the threads that inspect load their CPUs, lately.
 *
 * Packets say little of work, and an average over the run hides a load that moves from thread to
 * thread. So this compares CPU time of the last second or longer. The kernel places threads that
 * have no CPU of their own: it can reach the even share unless one of them needs more alone. */
#include "engine/engine_private.h"

#include "base/array.h"

#include <string.h>

/* Statistics may ask more often; a second is long enough to tell load from chance. */
#define INTERVAL_NS 1000000000u

/* Below a tenth of a CPU nothing is said, because a few packets decide it. */
static bool is_idle(uint64_t busiest_ns, uint64_t span_ns)
{
    return busiest_ns * 10 < span_ns;
}

/* The load of the CPU of thread i: of all threads that are fixed to it, or of a free one alone. */
static uint64_t load_at(const struct cpu_load *loads, unsigned count, unsigned i)
{
    uint64_t ns = 0;

    if (loads[i].cpu < 0)
        return loads[i].ns;
    for (unsigned j = 0; j < count; j++)
        if (loads[j].cpu == loads[i].cpu)
            ns += loads[j].ns;
    return ns;
}

struct cpu_balance cpu_balance_of(const struct cpu_load *loads, unsigned count, unsigned cpus,
                                  uint64_t span_ns)
{
    struct cpu_balance balance = { .imbalance = 1000 };
    uint64_t busiest = 0, total = 0, places = MIN(cpus, count);

    for (unsigned i = 0; i < count; i++) {
        busiest = MAX(busiest, load_at(loads, count, i));
        total += loads[i].ns;
    }
    if (total == 0 || span_ns == 0 || is_idle(busiest, span_ns))
        return balance;
    balance.busiest = (unsigned)(busiest * 1000 / span_ns);
    balance.imbalance = (unsigned)MAX(busiest * places * 1000 / total, 1000);
    return balance;
}

bool cpu_balance_sample(struct cpu_balance_state *state, const struct cpu_load *totals,
                        unsigned count, unsigned cpus, uint64_t now_ns)
{
    uint64_t span = now_ns - state->at_ns;

    if (state->at_ns != 0 && span < INTERVAL_NS)
        return false;
    for (unsigned i = 0; i < count; i++) {
        state->lately[i] = (struct cpu_load){ totals[i].ns - MIN(state->before_ns[i],
                                              totals[i].ns), totals[i].cpu };
        state->before_ns[i] = totals[i].ns;
    }
    if (state->at_ns != 0) {
        state->last = cpu_balance_of(state->lately, count, cpus, span);
        if (state->last.busiest >= CPU_OVERLOADED && state->last.imbalance > state->worst.imbalance)
            state->worst = state->last;
    }
    state->at_ns = now_ns;
    return true;
}
