/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/sequencer.c - the watermark of each thread, and the wait until all have passed a
 * position.
 *
 * A wait costs the same however many threads there are. The waiter stores in each worker that has
 * not passed the position from which packet on it must check (wake_at), and sleeps. A worker
 * compares that word with its packets. Only when it passes, it takes the lock and crosses itself
 * off the waiter's list. The last worker on the list wakes the waiter. */
#include "sequencer/sequencer_private.h"

#include "base/system/cpu.h"

#include <stdlib.h>
#include <string.h>

/* A kick may come while the thread's producer still works, so kicks are repeated, less and less
 * often. */
#define KICK_NS 200000
#define KICK_MOST_NS 3200000

#define NEVER UINT64_MAX

/* Where every thread has a CPU of its own, a waiter spins longer before it sleeps: sleeping and
 * waking takes longer than most waits. */
#define SPIN_FACTOR 8

/* A waiter whose spins were in vain spins half as long the next time, down to this part; one in
 * SPIN_AGAIN waits takes the whole time, to notice that it pays again. The other thread may have
 * no CPU: 400,000 waits of two threads on busy CPUs then took 6.5 s in position of 2. */
#define SPIN_LEAST 16
#define SPIN_AGAIN 64

struct sequencer *sequencer_new(void)
{
    struct sequencer *seq = xcalloc(1, sizeof(*seq));

    pthread_mutex_init(&seq->lock, NULL);
    return seq;
}

void sequencer_free(struct sequencer *seq)
{
    if (seq == NULL)
        return;
    for (size_t i = 0; i < seq->handles.count; i++) {
        free(seq->handles.at[i]->waits_for);
        free(seq->handles.at[i]);
    }
    seq_hosts_free(seq->hosts);
    ARRAY_FREE(&seq->handles);
    pthread_mutex_destroy(&seq->lock);
    free(seq);
}

struct seq_hosts *sequencer_hosts(struct sequencer *seq)
{
    if (seq->hosts == NULL)
        seq->hosts = seq_hosts_new();
    return seq->hosts;
}

void seq_handle_set_hosts(struct seq_handle *handle, const struct seq_hosts *hosts,
                          unsigned thread)
{
    struct seq_worker *w = worker_of(handle);

    w->hosts = hosts;
    w->hosts_thread = thread;
}

bool seq_handle_has_host(const struct seq_handle *handle, const struct ip *host)
{
    const struct seq_worker *w = CONTAINER_OF(handle, const struct seq_worker, seen);

    return w->hosts != NULL && seq_hosts_belongs(w->hosts, host, w->hosts_thread);
}

/* No thread waits yet. */
static void make_space(struct seq_worker *w, size_t handles)
{
    size_t words = handles / 64 + 1;

    if (words <= w->words)
        return;
    w->waits_for = xrealloc(w->waits_for, words * sizeof(w->waits_for[0]));
    memset(w->waits_for + w->words, 0, (words - w->words) * sizeof(w->waits_for[0]));
    w->words = words;
}

struct seq_handle *seq_handle_new(struct sequencer *seq, const struct seq_thread *thread)
{
    struct seq_worker *w = xaligned(CACHE_LINE, sizeof(*w));

    eventcount_init(&w->eventcount);
    w->seq = seq;
    w->thread = *thread;
    w->number = (unsigned)seq->handles.count;
    w->seen.wake_at = NEVER;
    seq->kicks |= thread->kick != NULL;
    ARRAY_PUSH(&seq->handles, w);
    for (size_t i = 0; i < seq->handles.count; i++)
        make_space(seq->handles.at[i], seq->handles.count);
    return &w->seen;
}

static bool has_passed(const struct seq_worker *w, struct watermark position)
{
    return watermark_has_passed(watermark_get(&w->seen.mark), position.at, position.sub);
}

/* --- passing a position ----------------------------------------------------------------------- */

/* Crosses worker `number` off a waiter's list; the last one wakes the waiter. With the lock
 * held. */
static void cross_off(struct seq_worker *waiter, unsigned number)
{
    waiter->waits_for[number / 64] &= ~(UINT64_C(1) << number % 64);
    if (__atomic_sub_fetch(&waiter->missing, 1, __ATOMIC_SEQ_CST) == 0) {
        waiter->waits = false;
        eventcount_wake(&waiter->eventcount);
    }
}

static bool is_waited_for(const struct seq_worker *waiter, unsigned number)
{
    return waiter->waits && (waiter->waits_for[number / 64] >> number % 64 & 1) != 0;
}

/* Called by the worker, or by a waiter that puts it on its list. With the lock held. wake_at
 * becomes the lowest position for which a thread still waits. */
static COLD void look_at_waits(struct seq_worker *w)
{
    const struct sequencer *seq = w->seq;
    uint64_t wake_at = NEVER;

    for (size_t i = 0; i < seq->handles.count; i++) {
        struct seq_worker *waiter = seq->handles.at[i];

        if (!is_waited_for(waiter, w->number))
            continue;
        if (has_passed(w, waiter->required))
            cross_off(waiter, w->number);
        else
            wake_at = MIN(wake_at, waiter->required.at);
    }
    __atomic_store_n(&w->seen.wake_at, wake_at, __ATOMIC_SEQ_CST);
}

/* Publishes that everything before the position is done. A waiter stores wake_at before it reads
 * the mark; the fence is between this thread's mark and its read of wake_at. So at least one of the
 * two sees the other. */
void seq_publish(struct seq_handle *handle, uint64_t seqno, uint64_t sub)
{
    struct seq_worker *w = worker_of(handle);

    if (!watermark_has_passed(handle->mark, seqno, sub)) {
        watermark_set(&handle->mark, seqno, sub);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    if (LIKELY(seqno < __atomic_load_n(&handle->wake_at, __ATOMIC_RELAXED)))
        return;
    pthread_mutex_lock(&w->seq->lock);
    look_at_waits(w);
    pthread_mutex_unlock(&w->seq->lock);
}

/* No thread waits for this handle any more. */
void seq_handle_leave(struct seq_handle *handle)
{
    seq_publish(handle, SEQNO_END, SEQNO_END);
}

/* The only step back. No thread waits for a handle that has left. */
void seq_handle_enter(struct seq_handle *handle, struct watermark done)
{
    watermark_set(&handle->mark, done.at, done.sub);
}

/* --- waiting --- */

static bool is_missed(void *arg)
{
    const struct seq_worker *w = arg;

    return __atomic_load_n(&w->missing, __ATOMIC_ACQUIRE) == 0;
}

/* Number of threads. A thread may have two workers: one before the stream module, one that
 * inspects. */
static unsigned count_threads(const struct sequencer *seq)
{
    unsigned count = 0;

    for (size_t i = 0; i < seq->handles.count; i++) {
        size_t j = 0;

        while (seq->handles.at[j]->thread.self != seq->handles.at[i]->thread.self)
            j++;
        count += i == j;
    }
    return count;
}

/* At the first wait, when all workers exist. */
static COLD void begin_waiting(struct seq_worker *w)
{
    w->has_waited = true;
    if (count_threads(w->seq) <= cpu_count())
        w->eventcount.spins *= SPIN_FACTOR;
    w->spins = w->eventcount.spins;
}

/* slept: the spins of the last wait were in vain. */
static void set_spins(struct seq_worker *w, bool slept)
{
    unsigned spins = w->eventcount.spins;

    if (++w->waited % SPIN_AGAIN == 0)
        spins = w->spins;
    else if (slept)
        spins = MAX(spins / 2, w->spins / SPIN_LEAST);
    else
        spins = MIN(spins * 2, w->spins);
    w->eventcount.spins = spins;
}

/* Puts all workers on the list that have not passed the position. They are counted before they can
 * cross themselves off, because this thread has the lock. */
static void begin_wait(struct seq_worker *w, struct watermark position)
{
    struct sequencer *seq = w->seq;

    if (UNLIKELY(!w->has_waited))
        begin_waiting(w);
    pthread_mutex_lock(&seq->lock);
    w->required = position;
    w->waits = true;
    w->missing = 1;                     /* ourselves, until all are on the list */
    for (size_t i = 0; i < seq->handles.count; i++) {
        struct seq_worker *other = seq->handles.at[i];

        if (other == w || has_passed(other, position))
            continue;
        w->waits_for[i / 64] |= UINT64_C(1) << i % 64;
        __atomic_fetch_add(&w->missing, 1, __ATOMIC_RELAXED);
        if (position.at < other->seen.wake_at)
            __atomic_store_n(&other->seen.wake_at, position.at, __ATOMIC_SEQ_CST);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (has_passed(other, position))
            look_at_waits(other);
    }
    if (__atomic_sub_fetch(&w->missing, 1, __ATOMIC_SEQ_CST) == 0)
        w->waits = false;
    pthread_mutex_unlock(&seq->lock);
}

/* A thread that has nothing to do makes no progress by itself. */
static COLD void kick_missing(const struct seq_worker *w)
{
    const struct sequencer *seq = w->seq;

    for (size_t i = 0; i < seq->handles.count; i++) {
        const struct seq_worker *other = seq->handles.at[i];

        if (other != w && other->thread.kick != NULL && !has_passed(other, w->required))
            other->thread.kick(other->thread.self);
    }
}

/* The engine charges the time as blocked, and hands off what this thread holds. */
static COLD void wait_asleep(struct seq_worker *w)
{
    uint64_t pause = w->seq->kicks ? KICK_NS : EVENTCOUNT_FOREVER, sleeps = w->eventcount.sleeps;

    w->thread.sleeps(w->thread.self);
    kick_missing(w);
    while (!eventcount_wait(&w->eventcount, is_missed, w, pause)) {
        pause = MIN(2 * pause, KICK_MOST_NS);
        kick_missing(w);
    }
    set_spins(w, w->eventcount.sleeps != sleeps);
    w->thread.wakes(w->thread.self);
}

/* The usual case is that all have passed: one read of each other thread's watermark. */
static void wait_for_all(struct seq_worker *w, uint64_t seqno, uint64_t sub)
{
    struct watermark position = { seqno, sub };
    bool all = true;

    for (size_t i = 0; i < w->seq->handles.count && all; i++)
        all = w->seq->handles.at[i] == w || has_passed(w->seq->handles.at[i], position);
    if (all)
        return;
    begin_wait(w, position);
    if (!is_missed(w))
        wait_asleep(w);
}

static bool has_taken(const struct watermark *taken, uint64_t seqno, uint64_t sub)
{
    return taken->at == seqno && taken->sub == sub;
}

/* Once per packet: later calls for the same packet return at once. */
void seq_wait(struct seq_handle *handle, uint64_t seqno, uint64_t sub)
{
    struct seq_worker *w = worker_of(handle);

    if (has_taken(&w->taken, seqno, sub))
        return;
    seq_publish(handle, seqno, sub);
    wait_for_all(w, seqno, sub);
    w->taken = (struct watermark){ seqno, sub };
}

/* The watermark that all threads have passed, for statistics and outputs. */
struct watermark seq_low_watermark(const struct sequencer *seq)
{
    struct watermark least = { SEQNO_END, SEQNO_END };

    for (size_t i = 0; i < seq->handles.count; i++) {
        struct watermark m = watermark_get(&seq->handles.at[i]->seen.mark);

        if (watermark_has_passed(least, m.at, m.sub))
            least = m;
    }
    return least;
}
