/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/merge.c - merges vectors of several producers in the order of their packets.
 *
 * Offline, a thread with several producers takes the packet with the lowest sequence number as soon
 * as no other producer can send an earlier one. It knows that from the producer's next packet or,
 * when the queue is empty, from the producer's watermark. It kicks a producer that makes no
 * progress. Threads cannot deadlock: each waits for a packet that is earlier than its own. */
#include "engine/engine_private.h"

#include "base/array.h"

/* Interval in nanoseconds at which silent producers are kicked again, 200 microseconds. */
#define KICK_NS 200000

/* The thread at the other end of queue number `queue`. */
static struct engine_thread *producer(const struct engine_thread *t, unsigned queue)
{
    const struct plan_stage *before = &t->engine->plan->stages[t->plan->stage - 1];

    return &t->engine->threads[before->first + queue];
}

/* All packets of the head vector are merged: keep its time and watermark, return it to its
 * producer. */
static void head_done(struct engine_thread *t, struct handoff_queue *queue)
{
    struct packet_vector *v = queue->head;

    t->merged.now_us = MAX(t->merged.now_us, v->now_us);
    t->merged.tick |= v->tick;
    if (watermark_has_passed((struct watermark){ v->seqno_at, v->seqno_sub }, t->merged_end.at,
                              t->merged_end.sub))
        t->merged_end = (struct watermark){ v->seqno_at, v->seqno_sub };
    queue->head = NULL;
    metric_add(&queue->done, v->count);
    v->count = 0;
    return_vector(t, queue, v);
}

/* Takes the next vector that holds packets. Those without only carry their producer's progress. */
static void next_head(struct engine_thread *t, struct handoff_queue *queue)
{
    void *v;

    while (queue->head == NULL && ring_pop(queue->full, &v, 1) == 1) {
        queue->head = v;
        queue->head_at = 0;
        if (queue->head->last && !queue->finished) {
            queue->finished = true;
            t->in_finished++;
        }
        queue->head->last = false;
        if (queue->head->count == 0)
            head_done(t, queue);
    }
}

/* The queue's low watermark: no packet before it can still come. The producer's progress is read
 * before the ring: the producer counts a packet as sent before it advances `dealt` past it. */
static struct watermark queue_mark(struct engine_thread *t, unsigned number)
{
    struct handoff_queue *queue = &t->in[number];
    struct watermark dealt = watermark_get(&producer(t, number)->dealt);
    const struct packet *p;

    next_head(t, queue);
    if (queue->head != NULL) {
        p = queue->head->packet[queue->head_at];
        return (struct watermark){ p->seqno, p->seqno_sub };
    }
    if (queue->finished)
        return (struct watermark){ SEQNO_END, SEQNO_END };
    return metric_get(&queue->sent) == queue->done ? dealt : queue->mark;
}

static void look_at(struct engine_thread *t, struct handoff_queue *queue)
{
    queue->next = queue_mark(t, (unsigned)(queue - t->in));
    if (watermark_has_passed(queue->next, queue->mark.at, queue->mark.sub))
        queue->mark = queue->next;
}

/* At the same position, a packet that is there goes before one that might still come. */
static bool goes_before(const struct handoff_queue *a, const struct handoff_queue *b)
{
    if (a->next.at != b->next.at)
        return a->next.at < b->next.at;
    if (a->next.sub != b->next.sub)
        return a->next.sub < b->next.sub;
    return a->head != NULL && b->head == NULL;
}

static void sink(struct engine_thread *t, unsigned i)
{
    struct handoff_queue **heap = t->by_next, *moved = heap[i];

    for (unsigned child = 2 * i + 1; child < t->in_count; child = 2 * i + 1) {
        if (child + 1 < t->in_count && goes_before(heap[child + 1], heap[child]))
            child++;
        if (!goes_before(heap[child], moved))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
}

/* All queues, once for a vector of merged packets. For a packet only its own queue moves in the
 * heap: what the others knew still holds, because watermarks only rise. */
static void look_at_all(struct engine_thread *t)
{
    for (unsigned i = 0; i < t->in_count; i++)
        look_at(t, t->by_next[i]);
    for (unsigned i = t->in_count / 2; i > 0; i--)
        sink(t, i - 1);
}

/* True if a consumer downstream has requested our progress and there is some to report. */
static bool has_answer(struct engine_thread *t, struct watermark now)
{
    if (!t->asked ||
        watermark_has_passed((struct watermark){ t->seqno_at, t->seqno_sub }, now.at, now.sub))
        return false;
    t->asked = false;
    return true;
}

static void take_packet(struct engine_thread *t, struct handoff_queue *queue)
{
    vector_push(&t->merged, queue->head->packet[queue->head_at++]);
    if (queue->head_at == queue->head->count)
        head_done(t, queue);
    look_at(t, queue);
    sink(t, 0);
}

/* Fills `merged` with packets in order. Returns false if there is nothing to carry down yet. */
static bool gather(struct engine_thread *t)
{
    struct packet_vector *v = &t->merged;
    struct watermark least;

    v->count = 0;
    v->tick = v->last = false;
    look_at_all(t);
    while (v->count < VECTOR_FILL && t->by_next[0]->head != NULL)
        take_packet(t, t->by_next[0]);
    least = t->by_next[0]->next;
    if (least.at == SEQNO_END)
        least = t->merged_end;
    v->seqno_at = least.at;
    v->seqno_sub = least.sub;
    return v->count > 0 || v->tick ||
           has_answer(t, (struct watermark){ v->seqno_at, v->seqno_sub });
}

static bool all_finished(const struct engine_thread *t)
{
    for (unsigned i = 0; i < t->in_count; i++)
        if (!t->in[i].finished || t->in[i].head != NULL)
            return false;
    return true;
}

/* Only producers that are fed by others can need a kick; the first stage advances by itself. */
static void kick_producers(const struct engine_thread *t)
{
    for (unsigned i = 0; i < t->in_count; i++)
        if (t->in[i].head == NULL && !t->in[i].finished && producer(t, i)->in_count > 0)
            kick(producer(t, i));
}

/* Packets that are here but must wait for another producer's. */
static bool has_waiting_packets(const struct engine_thread *t)
{
    for (unsigned i = 0; i < t->in_count; i++)
        if (t->in[i].head != NULL)
            return true;
    return false;
}

/* Condition of the eventcount: a vector from a producer without a head, or a kick. */
static bool has_news(void *arg)
{
    const struct engine_thread *t = arg;

    for (unsigned i = 0; i < t->in_count; i++)
        if (t->in[i].head == NULL && ring_count(t->in[i].full) > 0)
            return true;
    return __atomic_load_n(&t->kicked, __ATOMIC_RELAXED) != 0;
}

/* While packets wait for those of another producer, or a consumer requests progress, kick the
 * silent producers, then poll: a producer that has nothing to send does not wake this thread. */
static void wait_for_news(struct engine_thread *t)
{
    if (__atomic_exchange_n(&t->kicked, 0, __ATOMIC_RELAXED) != 0)
        t->asked = true;
    if (t->asked || has_waiting_packets(t)) {
        kick_producers(t);
        eventcount_wait(&t->eventcount, has_news, t, KICK_NS);
    } else {
        eventcount_wait(&t->eventcount, has_news, t, EVENTCOUNT_FOREVER);
    }
}

/* After the last producer's end one more vector carries the final time and watermark; then NULL. */
static struct packet_vector *end_of_input(struct engine_thread *t)
{
    if (t->merged_finished)
        return NULL;
    t->merged_finished = true;
    return &t->merged;
}

/* As take_in(). The merged vector belongs to this thread and is not returned to a producer. */
struct packet_vector *take_merged(struct engine_thread *t)
{
    if (!gather(t) && !all_finished(t)) {
        hand_off_pending(t);
        account_sleep(t, WAIT_INPUT);
        do
            wait_for_news(t);
        while (!gather(t) && !all_finished(t));
        account_awake(t, WAIT_INPUT);
    }
    if (t->merged.count > 0 || !all_finished(t))
        return &t->merged;
    return end_of_input(t);
}
