/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/send_thread.c - a thread that passes to the kernel what another thread has given
 * verdicts on. Buffers go round between the two in a pair of rings. */
#include "capture/transmit/send_thread.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/containers/ring.h"

#define BUFFERS 4                       /* a power of two, for the rings */

/* `current` belongs to the thread that fills buffers; a buffer in `full` belongs to the helper. */
struct send_thread {
    pthread_t thread;
    struct helper_thread *side;
    send_thread_fn *send;
    void *arg;
    struct eventcount sender, verdict;
    struct ring *full, *empty;          /* to the sending thread, and back */
    void *current;
};

static bool has_work(void *arg)
{
    struct send_thread *s = arg;

    return ring_count(s->full) > 0 || ring_is_closed(s->full);
}

static bool has_space(void *arg)
{
    struct send_thread *s = arg;

    return ring_count(s->empty) > 0;
}

/* Ends when the ring is closed and empty, so that nothing is lost at the end. */
static void *thread_main(void *arg)
{
    struct send_thread *s = arg;
    void *item;

    helper_thread_begin(s->side);
    pthread_setname_np(pthread_self(), s->side->name); /* the sandbox only allows naming oneself */
    while (!ring_is_done(s->full)) {
        if (ring_pop(s->full, &item, 1) == 0) {
            eventcount_wait(&s->sender, has_work, s, EVENTCOUNT_FOREVER);
            continue;
        }
        s->send(s->arg, item);
        ring_push(s->empty, &item, 1);
    }
    helper_thread_end(s->side);
    return NULL;
}

static void free_all(struct ring *ring)
{
    void *item;

    while (ring_pop(ring, &item, 1) == 1)
        free(item);
    ring_free(ring);
}

static void release(struct send_thread *s)
{
    free_all(s->full);
    free_all(s->empty);
    free(s->current);
    free(s);
}

/* The helper starts with the affinity of the calling thread (the plan's add_sender()). */
struct send_thread *send_thread_new(struct helper_thread *side, size_t buffer_size,
                                    send_thread_fn *send, void *arg)
{
    struct send_thread *s = xaligned(CACHE_LINE, sizeof(*s));

    s->side = side;
    s->send = send;
    s->arg = arg;
    s->current = xcalloc(1, buffer_size);
    eventcount_init(&s->sender);
    eventcount_init(&s->verdict);
    s->full = ring_new(BUFFERS, &s->sender, &s->verdict);
    s->empty = ring_new(BUFFERS, &s->verdict, &s->sender);
    for (unsigned i = 1; i < BUFFERS; i++) {
        void *buffer = xcalloc(1, buffer_size);

        ring_push(s->empty, &buffer, 1);
    }
    if (pthread_create(&s->thread, NULL, thread_main, s) != 0) {
        release(s);
        return NULL;
    }
    return s;
}

void send_thread_free(struct send_thread *s)
{
    if (s == NULL)
        return;
    ring_close(s->full);
    pthread_join(s->thread, NULL);
    release(s);
}

void *send_thread_buffer(struct send_thread *s)
{
    return s->current;
}

/* Passes the current buffer on and waits for an empty one: the helper's backlog is bounded by the
 * buffers. */
void send_thread_push(struct send_thread *s, unsigned packets)
{
    void *item = s->current;

    __atomic_store_n(&s->side->jobs, s->side->jobs + packets, __ATOMIC_RELAXED);
    ring_push(s->full, &item, 1);
    while (ring_pop(s->empty, &item, 1) == 0)
        eventcount_wait(&s->verdict, has_space, s, EVENTCOUNT_FOREVER);
    s->current = item;
}

/* All buffers but the current one are empty: everything that was pushed has been sent. */
bool send_thread_is_idle(const struct send_thread *s)
{
    return ring_count(s->empty) == BUFFERS - 1;
}
