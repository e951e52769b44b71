/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq_sender.c - hands verdicts to the kernel on a thread of its own.
 *
 * The call that accepts a packet also takes it on its way: through the firewall, out of the
 * interface, often up to the receiving program on the same machine. That is two thirds of the time
 * an engine on one queue spends, and while it goes on the next packets can be inspected.
 *
 * Buffers go to and fro by two rings, and are sent in their order: a verdict for "all up to here"
 * must not overtake one for a single packet before it. Few verdicts, with nothing under way, are
 * sent by the judging thread itself, sooner than another thread would wake up. */
#include "capture/nfq.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/ring.h"

#define BUFFERS 4                       /* a power of two, for the rings */
/* Fewer verdicts than that are not worth waking somebody. */
#define FEW 4

struct nfq_sender {
    int fd;
    counter_id errors;
    struct counters *counters;
    pthread_t thread;
    bool has_thread;
    struct ring_waiter sender, judge;
    struct ring *full, *empty;          /* to the sending thread, and back */
    struct nfq_buffer *current;
    uint32_t failed;                    /* atomic: sends that failed on the thread */
    uint32_t counted;                   /* of them, in the counters */
};

static bool send_all(int fd, const struct nfq_buffer *b)
{
    while (b->len > 0 && send(fd, b->data, b->len, 0) < 0)
        if (errno != EINTR)
            return false;
    return true;
}

static bool has_work(void *arg)
{
    struct nfq_sender *s = arg;

    return ring_count(s->full) > 0 || ring_is_closed(s->full);
}

static bool has_room(void *arg)
{
    struct nfq_sender *s = arg;

    return ring_count(s->empty) > 0;
}

static void *sender_main(void *arg)
{
    struct nfq_sender *s = arg;
    void *item;

    while (!ring_is_done(s->full)) {
        if (ring_pop(s->full, &item, 1) == 0) {
            waiter_wait(&s->sender, has_work, s, WAITER_FOREVER);
            continue;
        }
        if (!send_all(s->fd, item))
            __atomic_fetch_add(&s->failed, 1, __ATOMIC_RELAXED);
        ring_push(s->empty, &item, 1);
    }
    return NULL;
}

/* Another CPU than the judging thread's must be free for it. */
static bool has_cpu(unsigned queues)
{
    cpu_set_t own;

    return sysconf(_SC_NPROCESSORS_ONLN) > (long)queues &&
           sched_getaffinity(0, sizeof(own), &own) == 0 && CPU_COUNT(&own) > 1;
}

static void start_thread(struct nfq_sender *s, unsigned number)
{
    char name[16];

    s->has_thread = pthread_create(&s->thread, NULL, sender_main, s) == 0;
    if (!s->has_thread)
        return;
    snprintf(name, sizeof(name), "V-NFQ#%u", number % 100000);
    pthread_setname_np(s->thread, name);
}

struct nfq_sender *nfq_sender_new(const struct nfq_conf *conf, int fd, unsigned number,
                                  struct counters *counters, bool may_have_thread)
{
    struct nfq_sender *s = xaligned(CACHE_LINE, sizeof(*s));

    s->fd = fd;
    s->counters = counters;
    s->errors = counter_register("capture.nfq.verdict_errors", COUNTER_SUM);
    s->current = xcalloc(1, sizeof(*s->current));
    if (!may_have_thread || !has_cpu(conf->queues))
        return s;
    waiter_init(&s->sender);
    waiter_init(&s->judge);
    s->full = ring_new(BUFFERS, &s->sender, &s->judge);
    s->empty = ring_new(BUFFERS, &s->judge, &s->sender);
    for (unsigned i = 1; i < BUFFERS; i++) {
        void *buffer = xcalloc(1, sizeof(*s->current));

        ring_push(s->empty, &buffer, 1);
    }
    start_thread(s, number);
    return s;
}

struct nfq_buffer *nfq_sender_buffer(struct nfq_sender *s)
{
    return s->current;
}

static void send_here(struct nfq_sender *s)
{
    if (!send_all(s->fd, s->current))
        counter_inc(s->counters, s->errors);
}

/* All that the thread has been given is with the kernel. */
static bool is_idle(const struct nfq_sender *s)
{
    return ring_count(s->empty) == BUFFERS - 1;
}

static void hand_over(struct nfq_sender *s)
{
    void *item = s->current;
    uint32_t failed = __atomic_load_n(&s->failed, __ATOMIC_RELAXED);

    counter_add(s->counters, s->errors, failed - s->counted);
    s->counted = failed;
    ring_push(s->full, &item, 1);
    while (ring_pop(s->empty, &item, 1) == 0)
        waiter_wait(&s->judge, has_room, s, WAITER_FOREVER);
    s->current = item;
}

void nfq_sender_send(struct nfq_sender *s, unsigned verdicts)
{
    if (s->current->len == 0)
        return;
    if (!s->has_thread || (verdicts < FEW && is_idle(s)))
        send_here(s);
    else
        hand_over(s);
    s->current->len = 0;
}

static void free_all(struct ring *ring)
{
    void *item;

    while (ring != NULL && ring_pop(ring, &item, 1) == 1)
        free(item);
    ring_free(ring);
}

void nfq_sender_free(struct nfq_sender *s)
{
    if (s->has_thread) {
        ring_close(s->full);
        pthread_join(s->thread, NULL);
    }
    free_all(s->full);
    free_all(s->empty);
    free(s->current);
    free(s);
}
