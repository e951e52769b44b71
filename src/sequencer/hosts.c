/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/hosts.c - a table from the hash of a host to the thread that inspects its packets. Two
 * bytes a slot: 1 MB. Each scanned packet looks at two slots, so the scan asks for them ahead. */
#include "sequencer/hosts.h"

#include "packet/flow_hash.h"

#include "base/array.h"

#include <stdlib.h>

#define PLACES (1u << 19)
#define NOBODY 0                        /* else a thread's number and 1 */
#define SEVERAL UINT16_MAX

struct seq_hosts {
    uint16_t thread[PLACES];            /* atomic; the scan writes */
};

struct seq_hosts *seq_hosts_new(void)
{
    return xcalloc(1, sizeof(struct seq_hosts));
}

void seq_hosts_free(struct seq_hosts *hosts)
{
    free(hosts);
}

static uint32_t slot_of(const struct ip *host)
{
    return host_hash(host) % PLACES;
}

uint32_t seq_hosts_slot(const struct seq_hosts *hosts, const struct ip *host)
{
    uint32_t slot = slot_of(host);

    PREFETCH(&hosts->thread[slot]);
    return slot;
}

/* Relaxed: threads see the note with the batch, which is published after it. */
void seq_hosts_add(struct seq_hosts *hosts, uint32_t slot, unsigned thread)
{
    uint16_t *at = &hosts->thread[slot];
    uint16_t now = *at, own = (uint16_t)MIN(thread + 1, (unsigned)SEVERAL);

    if (LIKELY(now == own) || now == SEVERAL)
        return;
    __atomic_store_n(at, now == NOBODY ? own : SEVERAL, __ATOMIC_RELAXED);
}

int seq_hosts_thread(const struct seq_hosts *hosts, uint32_t slot)
{
    uint16_t owner = hosts->thread[slot];

    return owner == NOBODY || owner == SEVERAL ? -1 : owner - 1;
}

bool seq_hosts_belongs(const struct seq_hosts *hosts, const struct ip *host, unsigned thread)
{
    uint16_t owner = __atomic_load_n(&hosts->thread[slot_of(host)], __ATOMIC_RELAXED);

    return owner == thread + 1 && owner != SEVERAL;
}
