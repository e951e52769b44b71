/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/handoff.c - moves vectors from thread to thread: distribution, handoff, waiting.
 *
 * The producer distributes packets into one pending vector per consumer. A pending vector leaves
 * when it is full, when the consumer has nothing else to do (live), or before this thread sleeps
 * for any reason. So no packet stays in a half-full vector while all threads wait. Packets only
 * wait for threads nearer to the end of the chain. These two rules prevent deadlocks.
 *
 * A consumer that merges several producers in packet order may leave vectors of one producer in the
 * ring until vectors of another arrive. That other producer may wait for the sequencer
 * (sequencer.h), which needs progress of the first. So a producer must not wait for space towards
 * a merging consumer. */
#include "engine/engine_private.h"

#include "base/array.h"
#include "base/memory/traffic_memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Packets that may grow out of one vector by tunnels and reassembly before the thread checks its
 * pool again. */
#define POOL_RESERVE (3 * VECTOR_FILL)

/* Vectors that the queues to a merging thread start with: MERGED_DEPTH over all queues, and at
 * least MERGED_DEPTH_LEAST each. They hardly ever need more. */
#define MERGED_DEPTH 1024
#define MERGED_DEPTH_LEAST 64

/* Called by the consumer on its own thread, so that the rings and vectors are on its node. The last
 * stage opens first: the producers' `out` pointers are set before they start. Both rings hold
 * `space` vectors, which is all that can exist, so no push fails. */
void handoff_queues_make(struct engine_thread *t)
{
    struct engine *e = t->engine;
    const struct plan_stage *before;

    if (t->plan->stage == 0)
        return;
    before = &e->plan->stages[t->plan->stage - 1];
    t->in = xaligned(CACHE_LINE, before->count * sizeof(t->in[0]));
    t->in_count = before->count;
    t->merges = !e->plan->live && t->in_count > 1;
    t->by_next = xcalloc(t->in_count, sizeof(t->by_next[0]));
    for (unsigned i = 0; i < before->count; i++) {
        struct engine_thread *from = &e->threads[before->first + i];
        struct handoff_queue *queue = &t->in[i];

        t->by_next[i] = queue;
        queue->to = t;
        queue->depth = e->plan->ring_depth;
        if (t->merges)
            queue->depth = MAX(queue->depth, MAX(MERGED_DEPTH / t->in_count, MERGED_DEPTH_LEAST));
        queue->space =
            t->merges ? MAX(queue->depth, 2 * e->plan->stages[0].pool_size) : queue->depth;
        queue->full = ring_new(queue->space, &t->eventcount, NULL);
        queue->empty = ring_new(queue->space, &from->eventcount, NULL);
        queue->vectors = xcalloc(queue->depth, sizeof(queue->vectors[0]));
        for (unsigned j = 0; j < queue->depth; j++) {
            void *v = &queue->vectors[j];

            vector_grow(v, 2 * VECTOR_FILL);
            ring_push(queue->empty, &v, 1);
        }
        from->out[t->plan->index] = queue;
    }
}

/* After all threads have been joined. Vectors hold no packets any more. */
void handoff_queues_free(struct engine_thread *t)
{
    for (unsigned i = 0; i < t->in_count; i++) {
        struct handoff_queue *queue = &t->in[i];

        for (unsigned j = 0; j < queue->depth; j++)
            free(queue->vectors[j].packet);
        for (size_t j = 0; j < queue->more.count; j++) {
            free(queue->more.at[j]->packet);
            free(queue->more.at[j]);
        }
        ARRAY_FREE(&queue->more);
        free(queue->vectors);
        ring_free(queue->full);
        ring_free(queue->empty);
    }
    free(t->merged.packet);
    free(t->early.packet);
    free(t->by_next);
    free(t->in);
}

/* Passes the pending vector to the consumer. The ring's store-release publishes all of it. The
 * metrics have one writer, this thread; reports read them relaxed. */
static void send(struct engine_thread *t, struct handoff_queue *queue)
{
    void *v = queue->pending;
    unsigned queued = ring_count(queue->full);

    queue->pending->now_us = t->now_us;
    queue->pending->seqno_at = t->dealt.at;
    queue->pending->seqno_sub = t->dealt.sub;
    queue->pending = NULL;
    metric_add(&queue->queue_sum, queued);
    metric_add(&queue->queue_samples, 1);
    if (queued > queue->queue_max)
        __atomic_store_n(&queue->queue_max, queued, __ATOMIC_RELAXED);
    ring_push(queue->full, &v, 1);
}

/* A queue to a merging consumer may grow until it holds `space` vectors, so that its
 * producer never waits (see above). It rarely needs any. */
static COLD void *one_more(struct handoff_queue *queue)
{
    struct packet_vector *v;

    if (!queue->to->merges || queue->depth + queue->more.count >= queue->space)
        return NULL;
    if (!ARRAY_HAS_SPACE(&queue->more, 1))
        return NULL;
    v = calloc(1, sizeof(*v));
    if (v != NULL)
        v->packet = calloc(2 * VECTOR_FILL, sizeof(v->packet[0]));
    if (v == NULL || v->packet == NULL) {
        free(v);
        traffic_memory_out();
        return NULL;
    }
    v->cap = 2 * VECTOR_FILL;
    queue->more.at[queue->more.count++] = v;
    return v;
}

/* NULL when all vectors are with the consumer. */
static struct packet_vector *try_pending(struct handoff_queue *queue)
{
    void *v;

    if (queue->pending != NULL)
        return queue->pending;
    if (ring_pop(queue->empty, &v, 1) == 0 && (v = one_more(queue)) == NULL)
        return NULL;
    queue->pending = v;
    queue->pending->count = 0;
    queue->pending->last = queue->pending->tick = false;
    return v;
}

/* Before each sleep: no packet may be left in a vector that has not been sent. */
void hand_off_pending(struct engine_thread *t)
{
    for (unsigned i = 0; i < t->out_count; i++)
        if (t->out[i]->pending != NULL)
            send(t, t->out[i]);
}

static bool has_empty(void *arg)
{
    const struct handoff_queue *queue = arg;

    return ring_count(queue->empty) > 0;
}

/* The vector to fill for this consumer. Sleeps until the consumer has returned one. */
static struct packet_vector *pending(struct engine_thread *t, struct handoff_queue *queue)
{
    struct packet_vector *v = try_pending(queue);

    if (LIKELY(v != NULL))
        return v;
    hand_off_pending(t);
    account_sleep(t, WAIT_OUTPUT);
    while ((v = try_pending(queue)) == NULL)
        eventcount_wait(&t->eventcount, has_empty, queue, EVENTCOUNT_FOREVER);
    account_awake(t, WAIT_OUTPUT);
    return v;
}

static void release_all(struct engine_thread *t, struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++)
        packet_release(v->packet[i], t->number);
    v->count = 0;
}

/* Only frames fresh from the capture may be dropped: detect must see everything that the stream
 * module has seen. */
static bool may_drop(const struct engine_thread *t, const struct packet_vector *v,
                     const struct packet *p)
{
    return t->engine->conf.drop_when_full && t->plan->stage == 0 && !v->waits && p->flow == NULL &&
           (p->flags & PACKET_PSEUDO) == 0;
}

/* Frees a packet that found a full ring; statistics show it as engine.dropped. */
static COLD void drop(struct engine_thread *t, struct packet *p)
{
    metric_add(&t->dropped, 1);
    counter_inc(t->counters, t->engine->dropped_id);
    packet_release(p, t->number);
}

/* Live, a packet does not wait for others to fill its vector. A file always has more to read: there
 * a vector leaves full, or before this thread sleeps. That wakes consumers less often, which counts
 * most where there are many. */
static void send_to_idle(struct engine_thread *t)
{
    for (unsigned i = 0; i < t->out_count; i++)
        if (t->out[i]->pending != NULL && ring_count(t->out[i]->full) == 0)
            send(t, t->out[i]);
}

/* Moves each packet to the pending vector of its thread. `dealt` is published before the packet can
 * wait, so that a merging consumer knows what can still come. */
static void distribute(struct engine_thread *t, struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i];
        struct handoff_queue *queue = t->out[scheduler_pick(t->scheduler, p)];
        struct packet_vector *into = try_pending(queue);

        /* Progress up to this packet, in case it has to wait for space. */
        if (p->seqno != 0)
            watermark_set(&t->dealt, p->seqno, p->seqno_sub);

        if (UNLIKELY(into == NULL)) {
            if (may_drop(t, v, p)) {
                drop(t, p);
                continue;
            }
            into = pending(t, queue);
        }
        vector_push(into, p);
        metric_add(&queue->sent, 1);
        if (into->count >= VECTOR_FILL)
            send(t, queue);
    }
    if (v->seqno_at != 0)
        watermark_set(&t->dealt, v->seqno_at, v->seqno_sub);
    v->count = 0;
    if (t->engine->plan->live)
        send_to_idle(t);
}

/* With one consumer the vectors exchange their contents; no packet pointer is copied. */
static void hand_off_full(struct engine_thread *t, struct packet_vector *v)
{
    struct handoff_queue *queue = t->out[0];
    struct packet_vector *into;
    struct packet_vector was;

    metric_add(&queue->sent, v->count);
    if (v->seqno_at != 0)
        watermark_set(&t->dealt, v->seqno_at, v->seqno_sub);
    if (v->count == 0)
        return;
    into = pending(t, queue);
    was = *into;
    into->packet = v->packet;
    into->count = v->count;
    into->cap = v->cap;
    v->packet = was.packet;
    v->cap = was.cap;
    v->count = 0;
    send(t, queue);
}

void hand_off(struct engine_thread *t, struct packet_vector *v)
{
    if (t->out_count == 0)
        release_all(t, v);
    else if (t->out_count == 1)
        hand_off_full(t, v);
    else
        distribute(t, v);
}

/* Passes the time on, so that timeouts run without packets. A consumer that still has work learns
 * the time from that work. */
void hand_off_tick(struct engine_thread *t)
{
    for (unsigned i = 0; i < t->out_count; i++) {
        struct packet_vector *v = t->out[i]->pending;

        if (v == NULL && ring_count(t->out[i]->full) == 0)
            v = try_pending(t->out[i]);
        if (v == NULL)
            continue;
        v->tick = v->count == 0;
        send(t, t->out[i]);
    }
}

/* The end mark goes to every consumer, after all packets. */
void hand_off_last(struct engine_thread *t)
{
    for (unsigned i = 0; i < t->out_count; i++) {
        pending(t, t->out[i])->last = true;
        send(t, t->out[i]);
    }
}

static bool is_kicked(const struct engine_thread *t)
{
    return __atomic_load_n(&t->kicked, __ATOMIC_RELAXED) != 0;
}

static bool has_input(void *arg)
{
    const struct engine_thread *t = arg;

    for (unsigned i = 0; i < t->in_count; i++)
        if (ring_count(t->in[i].full) > 0)
            return true;
    return is_kicked(t);
}

/* Called by any thread. The eventcount orders the flag before the wake. */
void kick(void *thread)
{
    struct engine_thread *t = thread;

    __atomic_store_n(&t->kicked, 1, __ATOMIC_RELAXED);
    eventcount_wake(&t->eventcount);
}

/* Answers with an empty vector that carries the producers' low watermark down the chain. It reads
 * the watermarks before the queues: if a queue is empty afterwards, everything distributed up to
 * the watermark has been taken. NULL: packets are in flight or there is no progress to report. */
static COLD struct packet_vector *answer_kick(struct engine_thread *t)
{
    struct watermark least = { SEQNO_END, 0 };

    __atomic_store_n(&t->kicked, 0, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < t->in_count; i++) {
        const struct plan_stage *before = &t->engine->plan->stages[t->plan->stage - 1];
        struct watermark m = watermark_get(&t->engine->threads[before->first + i].dealt);

        if (!t->in[i].finished && watermark_has_passed(least, m.at, m.sub))
            least = m;
    }
    for (unsigned i = 0; i < t->in_count; i++)
        if (metric_get(&t->in[i].sent) != metric_get(&t->in[i].done))
            return NULL;
    if (watermark_has_passed((struct watermark){ t->seqno_at, t->seqno_sub }, least.at,
                              least.sub))
        return NULL;
    t->work.count = 0;
    t->work.last = t->work.tick = false;
    t->work.now_us = t->now_us;
    t->work.seqno_at = least.at;
    t->work.seqno_sub = least.sub;
    return &t->work;
}

/* Takes turns over the producers, so that none starves another. */
static struct packet_vector *try_take(struct engine_thread *t, struct handoff_queue **from)
{
    for (unsigned i = 0; i < t->in_count; i++) {
        struct handoff_queue *queue = &t->in[t->in_next];
        void *v;

        t->in_next = t->in_next + 1 == t->in_count ? 0 : t->in_next + 1;
        if (ring_pop(queue->full, &v, 1) == 1) {
            *from = queue;
            return v;
        }
    }
    return NULL;
}

/* Returns NULL when all producers have sent `last` and all queues are empty. Before it sleeps, it
 * sends pending vectors: see the top. */
struct packet_vector *take_in(struct engine_thread *t, struct handoff_queue **from)
{
    struct packet_vector *v;

    *from = NULL;
    if (t->merges)
        return take_merged(t);
    v = try_take(t, from);
    if (v == NULL && t->in_finished < t->in_count) {
        hand_off_pending(t);
        account_sleep(t, WAIT_INPUT);
        while ((v = try_take(t, from)) == NULL) {
            if (is_kicked(t) && (v = answer_kick(t)) != NULL)
                break;
            eventcount_wait(&t->eventcount, has_input, t, EVENTCOUNT_FOREVER);
        }
        account_awake(t, WAIT_INPUT);
    }
    if (v == NULL || v == &t->work)
        return v;
    if (v->last && !(*from)->finished) {
        (*from)->finished = true;
        t->in_finished++;
    }
    v->last = false;
    return v;
}

void return_vector(struct engine_thread *t, struct handoff_queue *from, struct packet_vector *v)
{
    void *item = v;

    (void)t;
    ring_push(from->empty, &item, 1);
}

static void nap(void)
{
    struct timespec pause = { .tv_nsec = 100000 };

    nanosleep(&pause, NULL);
}

/* Packets return to the pool through return rings that wake no thread. The pool is sized so that
 * handoff rings fill up first, so this polling is rare, or the end of the run. */
static COLD void pool_wait_slow(struct engine_thread *t, unsigned need)
{
    unsigned size = t->stage->pool_size;

    account_sleep(t, WAIT_OUTPUT);
    hand_off_pending(t);
    for (;;) {
        unsigned out = packet_pool_out(t->pool);

        if (size - out >= need)
            break;
        nap();
    }
    account_awake(t, WAIT_OUTPUT);
}

/* pool_credit is a lower bound of the free packets; the thread only counts again when it falls
 * below the reserve. A thread with FREE_ENOUGH never waits. */
void pool_wait(struct engine_thread *t)
{
    unsigned size = t->stage->pool_size, out;

    if (t->pool == NULL || t->pool_credit >= POOL_RESERVE)
        return;
    out = packet_pool_out(t->pool);
    if (size - out < POOL_RESERVE) {
        pool_wait_slow(t, MIN((unsigned)POOL_RESERVE, size));
        out = packet_pool_out(t->pool);
    }
    t->pool_credit = size - out;
    t->pool_taken = packet_pool_taken(t->pool);
}

/* At the end of a thread: packets may point into memory that the modules' close frees. */
void pool_wait_all_returned(struct engine_thread *t)
{
    if (t->pool == NULL)
        return;
    if (packet_pool_out(t->pool) > 0)
        pool_wait_slow(t, t->stage->pool_size);
    packet_pool_collect(t->pool);
}
