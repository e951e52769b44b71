/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/sequencer.h - puts accesses to state that flows on several threads share in order.
 *
 * All packets of a capture file have one order (seqno.h), whichever threads inspect them. Before a
 * thread uses state that other flows can change - a threshold by host, an xbit, an expected flow -
 * it waits in the sequencer until all other threads have finished everything before its packet. So
 * the result is that of a single thread, and only rules that use shared state cost time.
 *
 * No deadlock: a thread that waits has published its own packet's position, and waits for one that
 * is not after it. So of all waiting threads the one with the earliest packet waits for none of the
 * others. Threads without packets advance as well: threads that take batches of a file (batches.h)
 * go through every batch; a thread that other threads feed is kicked, and publishes how far these
 * have assigned packets. A thread that has ended is at the end. A thread passes on what it has
 * finished before it waits, so that no packet of others is held back.
 *
 * A live capture has no such order, and its threads have no handle. setup.h makes handles. */
#ifndef SEQUENCER_SEQUENCER_H
#define SEQUENCER_SEQUENCER_H

#include "packet/packet.h"
#include "sequencer/seqno.h"

/* A thread's entry. Only this header and sequencer.c read the members. */
struct seq_handle {
    CACHE_ALIGNED struct watermark mark;
    CACHE_ALIGNED uint64_t wake_at;     /* seqno of the first position that another thread waits for
                                         * this thread to pass; atomic */
};

/* Whether no other thread can have a packet of this host before those that were scanned last. False
 * without notes. */
bool seq_handle_has_host(const struct seq_handle *handle, const struct ip *host);
/* By the handle's own thread: everything before this position is finished. */
void seq_publish(struct seq_handle *handle, uint64_t seqno, uint64_t sub);
/* The same for a thread that goes from packet to packet: it publishes only when another thread
 * waits for it to pass this position. */
static inline void seq_passes(struct seq_handle *handle, uint64_t seqno, uint64_t sub)
{
    if (UNLIKELY(seqno >= __atomic_load_n(&handle->wake_at, __ATOMIC_RELAXED)))
        seq_publish(handle, seqno, sub);
}
/* Waits until all others have finished everything before this position. */
void seq_wait(struct seq_handle *handle, uint64_t seqno, uint64_t sub);

struct sequencer_slot {
    struct seq_handle *handle;          /* of the inspecting thread; NULL: there is no order to
                                         * keep */
};
PACKET_SLOT_ACCESSOR(sequencer, PACKET_SLOT_SEQUENCER)

/* By the inspecting thread, before it reads or changes state that other flows can change. */
static inline void packet_seq_wait(const struct packet *p)
{
    struct seq_handle *handle = sequencer_slot(p)->handle;

    if (UNLIKELY(handle != NULL))
        seq_wait(handle, p->seqno, p->seqno_sub);
}

/* The same before state of one host, or of a pair of hosts if `other` is not NULL. There is no wait
 * if all packets of one of them are this thread's. The state must be independent of that of other
 * hosts: also of how many there are. */
static inline void packet_seq_wait_hosts(const struct packet *p, const struct ip *host,
                                         const struct ip *other)
{
    struct seq_handle *handle = sequencer_slot(p)->handle;

    if (LIKELY(handle == NULL) || seq_handle_has_host(handle, host) ||
        (other != NULL && seq_handle_has_host(handle, other)))
        return;
    seq_wait(handle, p->seqno, p->seqno_sub);
}
#endif
