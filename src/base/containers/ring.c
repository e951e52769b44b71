/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/ring.c - a queue between two threads, and the eventcount on which both sleep. */
#include "base/containers/ring.h"

#include "base/array.h"
#include "base/system/clock.h"
#include "base/system/cpu.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Enough spins for a few microseconds, which a handoff between two running threads takes at
 * most. */
#define SPINS 100

void eventcount_init(struct eventcount *w)
{
    /* With one CPU the other thread cannot run while this one spins. */
    *w = (struct eventcount){ .spins = cpu_count() > 1 ? SPINS : 0 };
}

/* `sleeping` is stored before the caller checks its rings; a producer stores its index before it
 * reads `sleeping`. All four are sequentially consistent, so at least one of the two threads sees
 * what the other did. The key is read in between: if a wake-up comes after it, the futex refuses to
 * sleep. */
uint32_t eventcount_prepare(struct eventcount *w)
{
    __atomic_store_n(&w->sleeping, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&w->epoch, __ATOMIC_SEQ_CST);
}

void eventcount_cancel(struct eventcount *w)
{
    __atomic_store_n(&w->sleeping, 0, __ATOMIC_RELAXED);
}

/* May return early: futex(2) wakes spuriously, and callers check their condition again. */
void eventcount_sleep(struct eventcount *w, uint32_t key, uint64_t timeout_ns)
{
    struct timespec timeout = {
        .tv_sec = (time_t)(timeout_ns / 1000000000),
        .tv_nsec = (long)(timeout_ns % 1000000000),
    };

    __atomic_store_n(&w->sleeps, w->sleeps + 1, __ATOMIC_RELAXED);
    syscall(SYS_futex, &w->epoch, FUTEX_WAIT_PRIVATE, key,
            timeout_ns == EVENTCOUNT_FOREVER ? NULL : &timeout, NULL, 0);
    eventcount_cancel(w);
}

/* Changes the epoch even if no thread sleeps: one may be about to. */
void eventcount_wake(struct eventcount *w)
{
    int saved = errno;

    __atomic_fetch_add(&w->epoch, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&w->sleeping, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &w->epoch, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = saved;
}

/* Spins first, then sleeps. False: the time is up and nothing is ready. */
bool eventcount_wait(struct eventcount *w, bool (*is_ready)(void *arg), void *arg,
                 uint64_t timeout_ns)
{
    uint64_t start, past;

    for (unsigned i = 0; i < w->spins; i++) {
        if (is_ready(arg))
            return true;
        clock_pause();
    }
    start = clock_ns();
    for (past = 0; past < timeout_ns; past = clock_ns() - start) {
        uint32_t key = eventcount_prepare(w);

        if (is_ready(arg)) {
            eventcount_cancel(w);
            return true;
        }
        eventcount_sleep(w, key, timeout_ns == EVENTCOUNT_FOREVER ? timeout_ns : timeout_ns - past);
    }
    return is_ready(arg);
}

static uint32_t power_of_two(uint32_t n)
{
    return n <= 1 ? 1 : UINT32_C(1) << (32 - __builtin_clz(n - 1));
}

/* The slots follow the struct in one allocation. NULL eventcounts: that side never sleeps on this
 * ring. */
struct ring *ring_new(uint32_t size, struct eventcount *consumer, struct eventcount *producer)
{
    uint32_t slots = power_of_two(MIN(size, UINT32_C(1) << 30));
    struct ring *ring = xaligned(CACHE_LINE, sizeof(*ring) + slots * sizeof(ring->slot[0]));

    ring->mask = slots - 1;
    ring->consumer = consumer;
    ring->producer = producer;
    return ring;
}

void ring_free(struct ring *ring)
{
    free(ring);
}

/* Copies into the slots [at, at + n), in at most two parts. Indices run freely and wrap at 2^32. */
static void copy_in(struct ring *ring, uint32_t at, void *const *items, uint32_t n)
{
    uint32_t first = MIN(n, ring->mask + 1 - (at & ring->mask));

    memcpy(&ring->slot[at & ring->mask], items, first * sizeof(*items));
    memcpy(&ring->slot[0], items + first, (n - first) * sizeof(*items));
}

static void copy_out(const struct ring *ring, uint32_t at, void **items, uint32_t n)
{
    uint32_t first = MIN(n, ring->mask + 1 - (at & ring->mask));

    memcpy(items, &ring->slot[at & ring->mask], first * sizeof(*items));
    memcpy(items + first, &ring->slot[0], (n - first) * sizeof(*items));
}

/* Publishes an index and wakes the other side if it sleeps. Without an eventcount a release store
 * is enough, and cheaper than the fence of a sequentially consistent one. */
static inline void publish(uint32_t *index, uint32_t value, struct eventcount *other)
{
    if (other == NULL) {
        __atomic_store_n(index, value, __ATOMIC_RELEASE);
        return;
    }
    __atomic_store_n(index, value, __ATOMIC_SEQ_CST);
    if (UNLIKELY(__atomic_load_n(&other->sleeping, __ATOMIC_SEQ_CST)))
        eventcount_wake(other);
}

/* The producer's: returns how many items it pushed. It reads the consumer's index only if its copy
 * shows too little space. */
unsigned ring_push(struct ring *ring, void *const *items, unsigned n)
{
    uint32_t tail = ring->tail, space = ring->mask + 1 - (tail - ring->head_seen);

    if (space < n) {
        ring->head_seen = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
        space = ring->mask + 1 - (tail - ring->head_seen);
        n = MIN(n, space);
    }
    if (n == 0)
        return 0;
    copy_in(ring, tail, items, n);
    publish(&ring->tail, tail + n, ring->consumer);
    return n;
}

/* The consumer's: returns how many items it got. Acquire pairs with the producer's publish, so the
 * items' contents are visible. */
unsigned ring_pop(struct ring *ring, void **items, unsigned n)
{
    uint32_t head = ring->head, there = ring->tail_seen - head;

    if (there < n) {
        ring->tail_seen = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
        there = ring->tail_seen - head;
        n = MIN(n, there);
    }
    if (n == 0)
        return 0;
    copy_out(ring, head, items, n);
    publish(&ring->head, head + n, ring->producer);
    return n;
}

/* Head first: in the other order a consumer in between could make the difference negative for a
 * third thread. For the two threads of the ring both orders are right. */
uint32_t ring_count(const struct ring *ring)
{
    uint32_t head = __atomic_load_n(&ring->head, __ATOMIC_SEQ_CST);
    uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST);

    return MIN(tail - head, ring->mask + 1);
}

uint32_t ring_space(const struct ring *ring)
{
    return ring->mask + 1 - ring_count(ring);
}

void ring_close(struct ring *ring)
{
    __atomic_store_n(&ring->closed, true, __ATOMIC_SEQ_CST);
    if (ring->consumer != NULL)
        eventcount_wake(ring->consumer);
}

bool ring_is_closed(const struct ring *ring)
{
    return __atomic_load_n(&ring->closed, __ATOMIC_SEQ_CST);
}

/* Reads `closed` first: nothing is pushed after it is set, so the count is final. */
bool ring_is_done(const struct ring *ring)
{
    return ring_is_closed(ring) && ring_count(ring) == 0;
}
