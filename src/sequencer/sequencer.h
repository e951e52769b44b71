/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/sequencer.h - puts accesses to state that flows on several threads share in order.
 *
 * All packets of a capture file have one order, whichever threads inspect them: packet.order, and
 * packet.order_sub among those with the same order. Before a thread uses state that other flows can
 * change - a threshold by host, an xbit, an expected flow - it waits in the sequencer until all
 * other threads have finished everything before its packet. So the result is that of a single
 * thread, and only rules that use shared state cost time.
 *
 * No deadlock: a thread that waits has published its own packet's place, and waits for a place that
 * is not after it. So of all waiting threads the one with the earliest packet waits for none of the
 * others. Threads without packets advance as well: threads that take batches of a file (batches.h)
 * go through every batch; a thread that other threads feed is kicked, and publishes how far these
 * have assigned packets. A thread that has ended is at the end. A thread passes on what it has
 * finished before it waits, so that no packet of others is held back.
 *
 * A live capture has no such order, and its threads have no handle. */
#ifndef SEQUENCER_SEQUENCER_H
#define SEQUENCER_SEQUENCER_H

#include "packet/packet.h"

/* A place in the order: everything before it has been finished. One writer, any reader; it only
 * advances. A reader may see an older value. */
struct watermark {
    uint64_t at, sub;
};

static inline void watermark_set(struct watermark *m, uint64_t at, uint64_t sub)
{
    if (m->at != at) {
        __atomic_store_n(&m->sub, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&m->at, at, __ATOMIC_RELEASE);
    }
    if (m->sub != sub)
        __atomic_store_n(&m->sub, sub, __ATOMIC_RELEASE);
}

/* `sub` belongs to `at` when `at` was the same before and after the read; else 0 is a safe
 * value. */
static inline struct watermark watermark_get(const struct watermark *m)
{
    struct watermark out = { .at = __atomic_load_n(&m->at, __ATOMIC_ACQUIRE) };

    out.sub = __atomic_load_n(&m->sub, __ATOMIC_ACQUIRE);
    if (UNLIKELY(__atomic_load_n(&m->at, __ATOMIC_ACQUIRE) != out.at))
        out.sub = 0;
    return out;
}

static inline bool watermark_has_passed(struct watermark m, uint64_t at, uint64_t sub)
{
    return m.at > at || (m.at == at && m.sub >= sub);
}

/* Time in the order: microseconds of packet time are its upper bits. Captured packets have even
 * numbers; flows that time out between two packets have odd ones. */
#define ORDER_BITS 10
#define ORDER_SHUTDOWN (UINT64_C(1) << 63)      /* above it: flows that end with the run */
#define ORDER_END UINT64_MAX

static inline uint64_t order_time_us(uint64_t order) { return order >> ORDER_BITS; }
/* Before all packets of that time. */
static inline uint64_t order_before_us(uint64_t us) { return (us << ORDER_BITS) - 1; }

/* Later times count as this one. */
#define ORDER_TIME_MAX (UINT64_C(1) << 52)
/* No packet up to this place is later than the result, even if packet time goes back. */
static inline uint64_t order_latest_us(uint64_t order)
{
    uint64_t us = order_time_us(order) + 1;

    return us < ORDER_TIME_MAX ? us : UINT64_MAX;
}

/* The next packet's place, after `last` and not before its time. */
static inline uint64_t order_next(uint64_t last, uint64_t time_us)
{
    uint64_t by_time = MIN(time_us, ORDER_TIME_MAX) << ORDER_BITS;

    return by_time > last ? by_time : last + 2;
}

/* What the engine provides for waiting threads. */
struct seq_thread {
    void *self;
    void (*kick)(void *self);      /* by another thread: publish your progress. NULL: the thread
                                    * always advances while it is behind the others */
    void (*sleeps)(void *self);     /* around a wait, to account for the time */
    void (*wakes)(void *self);
};

struct sequencer;
struct seq_hosts;

/* The part of a thread's entry that others see. */
struct seq_handle {
    CACHE_ALIGNED struct watermark mark;
    CACHE_ALIGNED uint64_t wake_at;     /* packet.order of the first place that another thread waits
                                         * for this thread to pass; atomic */
};

struct sequencer *sequencer_new(void);
void sequencer_free(struct sequencer *seq);               /* NULL is fine */

/* At start, by one thread after the other. */
struct seq_handle *seq_handle_new(struct sequencer *seq, const struct seq_thread *thread);
/* Made at the first call, and the sequencer's: what the scan of a file notes. */
struct seq_hosts *sequencer_hosts(struct sequencer *seq);
/* At start: the notes of the scan, and the handle's number in them. */
void seq_handle_set_hosts(struct seq_handle *handle, const struct seq_hosts *hosts,
                          unsigned thread);
/* Whether no other thread can have a packet of this host before those that were scanned last. False
 * without notes. */
bool seq_handle_has_host(const struct seq_handle *handle, const struct ip *host);
/* By the handle's own thread: others need not wait for it until it enters again after what it has
 * finished. A thread that checks during the entry may still pass it. */
void seq_handle_leave(struct seq_handle *handle);
void seq_handle_enter(struct seq_handle *handle, struct watermark done);
/* By the handle's own thread: everything before this place is finished. */
void seq_publish(struct seq_handle *handle, uint64_t order, uint64_t sub);
/* The same for a thread that goes from packet to packet: it publishes only when another thread
 * waits for it to pass this place. */
static inline void seq_passes(struct seq_handle *handle, uint64_t order, uint64_t sub)
{
    if (UNLIKELY(order >= __atomic_load_n(&handle->wake_at, __ATOMIC_RELAXED)))
        seq_publish(handle, order, sub);
}
/* Waits until all others have finished everything before this place. */
void seq_wait(struct seq_handle *handle, uint64_t order, uint64_t sub);

/* Whether all handles have passed this place. */
struct watermark seq_low_watermark(const struct sequencer *seq);

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
        seq_wait(handle, p->order, p->order_sub);
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
    seq_wait(handle, p->order, p->order_sub);
}
#endif
