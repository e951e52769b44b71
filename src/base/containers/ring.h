/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/ring.h - a bounded queue of pointers from one thread to one other, and how to
 * wait for it.
 *
 * One thread pushes, one pops; neither takes a lock. A thread that reads several rings (or waits
 * for room in several) sleeps on one eventcount, which all of them wake:
 *
 *     for (;;) {
 *         while ((n = ring_pop(ring, items, 8)) > 0)
 *             ...
 *         if (ring_is_done(ring))
 *             break;
 *         key = eventcount_prepare(&eventcount);
 *         if (ring_count(ring) > 0 || ring_is_closed(ring))
 *             eventcount_cancel(&eventcount);
 *         else
 *             eventcount_sleep(&eventcount, key, timeout_ns);
 *     }
 *
 * A wake-up between eventcount_prepare() and eventcount_sleep() is never lost: base/README.md says
 * why, and qa/model/ring.pml proves it. */
#ifndef BASE_RING_H
#define BASE_RING_H

#include "base/base.h"

/* Where one thread sleeps. In the caller's storage; must outlive the rings that name it. */
struct eventcount {
    CACHE_ALIGNED uint32_t epoch;   /* the futex; changes at each wake-up */
    uint32_t sleeping;              /* its thread may be asleep: who changes something must wake */
    unsigned spins;                 /* looks before sleeping, for eventcount_wait() */
    uint64_t sleeps;                /* its own thread writes, anyone reads, relaxed */
};

#define EVENTCOUNT_FOREVER UINT64_MAX

void eventcount_init(struct eventcount *w);

/* By the eventcount's own thread. After eventcount_prepare() look once more at what is waited for,
 * with the functions below; then either eventcount_cancel() or eventcount_sleep(). Sleeping may end
 * early. */
uint32_t eventcount_prepare(struct eventcount *w);
void eventcount_cancel(struct eventcount *w);
void eventcount_sleep(struct eventcount *w, uint32_t key, uint64_t timeout_ns);

/* All of it: spins a little, then sleeps, until is_ready() or the timeout. Gives is_ready(). */
bool eventcount_wait(struct eventcount *w, bool (*is_ready)(void *arg), void *arg,
                 uint64_t timeout_ns);

/* By any thread, also in a signal handler. What it stored before, the woken thread sees. */
void eventcount_wake(struct eventcount *w);

/* The producer's and the consumer's words keep to their own cache lines; each remembers what it
 * last saw of the other and looks again only when that says full or empty. Indices run freely
 * and wrap at 2^32. */
struct ring {
    CACHE_ALIGNED uint32_t tail;            /* producer writes */
    uint32_t head_seen;
    CACHE_ALIGNED uint32_t head;            /* consumer writes */
    uint32_t tail_seen;
    CACHE_ALIGNED uint32_t mask;            /* from here on constant, but for closed */
    bool closed;
    struct eventcount *consumer, *producer;    /* borrowed; NULL: that side never sleeps */
    CACHE_ALIGNED void *slot[];
};

/* Room for at least `size` pointers (1 to 2^30). */
struct ring *ring_new(uint32_t size, struct eventcount *consumer, struct eventcount *producer);
void ring_free(struct ring *ring);          /* what is still in it is the caller's */

/* How many of the n were taken: all, or what there was room for. */
unsigned ring_push(struct ring *ring, void *const *items, unsigned n);
unsigned ring_pop(struct ring *ring, void **items, unsigned n);

/* By any thread; a moment later it may be otherwise, but never fewer for the consumer nor less
 * room for the producer. */
uint32_t ring_count(const struct ring *ring);
uint32_t ring_space(const struct ring *ring);

/* By the producer, after its last push. */
void ring_close(struct ring *ring);
bool ring_is_closed(const struct ring *ring);
bool ring_is_done(const struct ring *ring);     /* by the consumer: closed, and nothing left */

static inline uint32_t ring_size(const struct ring *ring) { return ring->mask + 1; }

#endif
