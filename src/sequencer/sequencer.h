/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/sequencer.h - who may touch, and when, what flows on several threads share.
 *
 * Packets of a capture file stand in one order, whichever threads inspect them: packet.order, and
 * packet.order_sub among those with the same order. A thread that comes to something which other
 * flows can change - a threshold by host, an xbit, an announced flow - takes its turn: it waits
 * until all other threads have done what stands before its packet. So the outcome is that of one
 * thread that does it all, and only rules that share anything pay for it.
 *
 * No thread waits for ever: one that waits has published its own packet's place, and waits for a
 * place that is not behind it. So of all threads that wait the one with the earliest packet waits
 * for none of them. A thread without packets comes further as well: where threads take batches of a
 * file (batches.h) each goes through every batch; one that is fed by other threads is kicked, and
 * publishes how far these have dealt. One that has ended stands at the end. And what a thread is
 * done with leaves it before it waits, so that no packet of others is kept back for it.
 *
 * Live there is no such order, and nobody has a lane. */
#ifndef SEQUENCER_SEQUENCER_H
#define SEQUENCER_SEQUENCER_H

#include "packet/packet.h"

/* A place in the order: all that stands before it is done. One writer, any reader; it only ever
 * moves on. What is read may be older than the truth. */
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

/* `sub` belongs to `at` when `at` was the same before and after; else 0 is a safe answer. */
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

/* Time in the order: microseconds of packet time in its upper bits. Packets off the wire have
 * even numbers; flows that end between two packets, because their time is up, have odd ones. */
#define ORDER_BITS 10
#define ORDER_SHUTDOWN (UINT64_C(1) << 63)      /* from here on: flows that end with the run */
#define ORDER_END UINT64_MAX

static inline uint64_t order_time_us(uint64_t order) { return order >> ORDER_BITS; }
/* Before all packets of that time. */
static inline uint64_t order_before_us(uint64_t us) { return (us << ORDER_BITS) - 1; }

/* Later times than this all count as the same. */
#define ORDER_TIME_MAX (UINT64_C(1) << 52)
/* No packet up to this place is of a later time, though packet time may go back. */
static inline uint64_t order_latest_us(uint64_t order)
{
    uint64_t us = order_time_us(order) + 1;

    return us < ORDER_TIME_MAX ? us : UINT64_MAX;
}

/* The next packet's place, behind `last` and not before its time. */
static inline uint64_t order_next(uint64_t last, uint64_t time_us)
{
    uint64_t by_time = MIN(time_us, ORDER_TIME_MAX) << ORDER_BITS;

    return by_time > last ? by_time : last + 2;
}

/* The engine's part: what a waiting thread asks of it. */
struct seq_thread {
    void *self;
    void (*kick)(void *self);      /* by another thread: say how far you are. NULL: the thread
                                     * never stops while it has not come as far as the others */
    void (*sleeps)(void *self);     /* around a wait, for the account of time */
    void (*wakes)(void *self);
};

struct sequencer;

/* What the others see of a thread. */
struct seq_handle {
    CACHE_ALIGNED struct watermark mark;
    CACHE_ALIGNED uint64_t wake_at;     /* packet.order of the first place that another thread waits
                                         * for us to pass; atomic */
};

struct sequencer *sequencer_new(void);
void sequencer_free(struct sequencer *seq);               /* NULL is fine */

/* At start, by one thread after the other. */
struct seq_handle *seq_handle_new(struct sequencer *seq, const struct seq_thread *thread);
/* By the lane's own thread: nobody need wait for it, until it enters again behind what it has done
 * meanwhile. Who looks while it enters may yet pass it by. */
void seq_handle_leave(struct seq_handle *handle);
void seq_handle_enter(struct seq_handle *handle, struct watermark done);
/* By the lane's own thread: all before this place is done. */
void seq_publish(struct seq_handle *handle, uint64_t order, uint64_t sub);
/* Likewise, by one that goes from packet to packet: only where another thread waits for it to come
 * so far. */
static inline void seq_passes(struct seq_handle *handle, uint64_t order, uint64_t sub)
{
    if (UNLIKELY(order >= __atomic_load_n(&handle->wake_at, __ATOMIC_RELAXED)))
        seq_publish(handle, order, sub);
}
/* Until all others have done what stands before this place. */
void seq_wait(struct seq_handle *handle, uint64_t order, uint64_t sub);

/* All lanes have done all before this. */
struct watermark seq_low_watermark(const struct sequencer *seq);

struct sequencer_slot {
    struct seq_handle *handle;          /* of the inspecting thread; NULL: nobody to wait for */
};
PACKET_SLOT_ACCESSOR(sequencer, PACKET_SLOT_SEQUENCER)

/* By the inspecting thread, before it looks at or changes what other flows can change. */
static inline void packet_seq_wait(const struct packet *p)
{
    struct seq_handle *handle = sequencer_slot(p)->handle;

    if (UNLIKELY(handle != NULL))
        seq_wait(handle, p->order, p->order_sub);
}
#endif
