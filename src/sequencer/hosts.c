/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/hosts.c - for how little a packet has to wait, when what it touches belongs to its two
 * hosts: where another thread last met them, and where flows of theirs may end. */
#include "sequencer/sequencer_private.h"

#include <stdlib.h>

#define HOSTS (1u << HOST_BITS)

struct met {
    uint64_t newest, elsewhere;         /* elsewhere: of other threads than the newest's */
    unsigned thread;
};

struct host_dealt {
    const struct turns *turns;
    bool is_on;                         /* from the first wait for a host on */
    struct met host[HOSTS];
};

struct turn_ends {
    void *thread;
    CACHE_ALIGNED uint64_t told;        /* atomic */
    uint64_t last[HOSTS];               /* the latest place at which a flow may end; atomic */
};

struct host_dealt *host_dealt_new(const struct turns *turns)
{
    struct host_dealt *hosts = xcalloc(1, sizeof(*hosts));

    hosts->turns = turns;
    return hosts;
}

void host_dealt_free(struct host_dealt *hosts)
{
    free(hosts);
}

/* The newest before, on another thread. */
static uint64_t meet(struct met *host, uint64_t order, unsigned thread)
{
    if (host->thread != thread) {
        host->elsewhere = host->newest;
        host->thread = thread;
    }
    host->newest = order;
    return host->elsewhere;
}

/* What was before is not known: as if this packet were all hosts', on two threads. */
static COLD void begin(struct host_dealt *hosts, uint64_t order, unsigned thread)
{
    hosts->is_on = true;
    for (unsigned i = 0; i < HOSTS; i++)
        hosts->host[i] = (struct met){ order, order, thread };
}

uint64_t host_dealt_to(struct host_dealt *hosts, const struct ip *src, const struct ip *dst,
                       uint64_t order, unsigned thread)
{
    uint64_t one, other;

    if (UNLIKELY(!hosts->is_on)) {
        if (LIKELY(__atomic_load_n(&hosts->turns->by_hosts, __ATOMIC_RELAXED) == 0))
            return 0;
        begin(hosts, order, thread);
    }
    one = meet(&hosts->host[host_number(src)], order, thread);
    other = meet(&hosts->host[host_number(dst)], order, thread);
    return MAX(one, other) + 1;
}

/* --- flows that time out ---------------------------------------------------------------------- */

struct turn_ends *turn_ends_new(struct turns *turns, const struct turn_thread *thread)
{
    struct turn_ends *ends = xaligned(CACHE_LINE, sizeof(*ends));

    ends->thread = thread->self;
    ARRAY_PUSH(&turns->ends, ends);
    return ends;
}

void seq_ends_free(struct turns *turns)
{
    for (size_t i = 0; i < turns->ends.count; i++)
        free(turns->ends.at[i]);
    ARRAY_FREE(&turns->ends);
}

/* The question is only whether there may be any, up to which place: the latest is enough. */
static void end_at(uint64_t *last, uint64_t order)
{
    if (order > *last)
        __atomic_store_n(last, order, __ATOMIC_RELAXED);
}

void turn_ends_tell(struct turn_ends *ends, const struct ip *src, const struct ip *dst,
                    uint64_t order)
{
    end_at(&ends->last[host_number(src)], order);
    end_at(&ends->last[host_number(dst)], order);
}

void turn_ends_told(struct turn_ends *ends, uint64_t order)
{
    __atomic_store_n(&ends->told, order, __ATOMIC_RELEASE);
}

uint64_t seq_behind_others(const struct seq_worker *w, const struct packet *p)
{
    const struct turns *turns = w->turns;
    unsigned src = host_number(&p->src), dst = host_number(&p->dst);
    uint64_t place = p->hosts_after;

    for (size_t i = 0; i < turns->ends.count; i++) {
        const struct turn_ends *ends = turns->ends.at[i];

        if (ends->thread == w->thread.self)
            continue;
        if (__atomic_load_n(&ends->told, __ATOMIC_ACQUIRE) <= p->order)
            return p->order;
        place = MAX(place, __atomic_load_n(&ends->last[src], __ATOMIC_RELAXED) + 1);
        place = MAX(place, __atomic_load_n(&ends->last[dst], __ATOMIC_RELAXED) + 1);
    }
    return place;
}
