/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/batches.c - the frames of a file, scanned once: a ring of batches, and a cursor into it
 * for each thread.
 *
 * The thread that first needs the next batch scans it, under a lock; all others read it without. A
 * slot of the ring is free again when every thread has left its batch. */
#include "sequencer/batches.h"

#include "base/array.h"
#include "base/containers/ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* So many entries more than the thread with the fewest a preferred thread may have. */
#define PREFERRED_MORE (SEQ_BATCH_FRAMES / 4)
/* Threads whose numbers of entries differ by less have equally much to do. */
#define LOAD_EQUAL (SEQ_BATCH_FRAMES / 16)
/* And over the whole file a share so much above the mean, as 1/N of it, and so many flows, because
 * few flows have no even shares. */
#define PREFERRED_SHARE 8
#define PREFERRED_FLOWS 8

/* One thread's position in the batches. */
struct cursor {
    CACHE_ALIGNED struct eventcount eventcount;
    uint64_t at;                        /* the batch it is in, or needs next */
    struct seq_batches *batches;
    CACHE_ALIGNED uint64_t taken;       /* entries it has taken; atomic */
    CACHE_ALIGNED uint64_t given;       /* entries assigned to it; written by the scan */
    uint64_t flows;                     /* how often it was chosen; by the scan, too */
};

/* The scan's members are protected by the lock. */
struct seq_batches {
    pthread_mutex_t lock;               /* of the scan */
    seq_scan_fn *scan;
    void *arg;
    unsigned threads;
    struct cursor *cursor;
    struct seq_batch *batch[SEQ_BATCHES];
    CACHE_ALIGNED uint64_t scanned;     /* batches; atomic */
    uint64_t given, flows;              /* of all cursors; written by the scan */
    bool more_at_hand;                  /* of the batch that was scanned last; atomic */
    uint32_t sleepers;                  /* threads in seq_batches_wait(); atomic */
};

struct seq_batches *seq_batches_new(unsigned threads, seq_scan_fn *scan, void *arg)
{
    struct seq_batches *b = xaligned(CACHE_LINE, sizeof(*b));

    pthread_mutex_init(&b->lock, NULL);
    b->scan = scan;
    b->arg = arg;
    b->threads = threads;
    b->cursor = xaligned(CACHE_LINE, threads * sizeof(b->cursor[0]));
    for (unsigned i = 0; i < threads; i++) {
        eventcount_init(&b->cursor[i].eventcount);
        b->cursor[i].batches = b;
    }
    for (unsigned i = 0; i < SEQ_BATCHES; i++) {
        b->batch[i] = xaligned(CACHE_LINE, sizeof(*b->batch[i]));
        b->batch[i]->thread = xmalloc(SEQ_BATCH_ENTRIES * sizeof(b->batch[i]->thread[0]));
        b->batch[i]->index = xmalloc(SEQ_BATCH_ENTRIES * sizeof(b->batch[i]->index[0]));
        b->batch[i]->index_end = xcalloc(threads, sizeof(b->batch[i]->index_end[0]));
        b->batch[i]->entry = xmalloc(SEQ_BATCH_ENTRIES * sizeof(b->batch[i]->entry[0]));
    }
    return b;
}

void seq_batches_free(struct seq_batches *b)
{
    if (b == NULL)
        return;
    for (unsigned i = 0; i < SEQ_BATCHES; i++) {
        free(b->batch[i]->entry);
        free(b->batch[i]->thread);
        free(b->batch[i]->index);
        free(b->batch[i]->index_end);
        buf_fini(&b->batch[i]->bytes);
        free(b->batch[i]);
    }
    pthread_mutex_destroy(&b->lock);
    free(b->cursor);
    free(b);
}

/* Batches are numbered from 0 and never reused; slots are. */
static struct seq_batch *slot_of(const struct seq_batches *b, uint64_t number)
{
    return b->batch[number % SEQ_BATCHES];
}

/* Sequentially consistent, as the proof below needs. */
static bool is_scanned(const struct seq_batches *b, uint64_t number)
{
    return __atomic_load_n(&b->scanned, __ATOMIC_SEQ_CST) > number;
}

/* Whether all threads have left the batch that was in the slot before. */
static bool is_free(const struct seq_batches *b, uint64_t number)
{
    return __atomic_load_n(&slot_of(b, number)->users, __ATOMIC_SEQ_CST) == 0;
}

/* --- the scan --------------------------------------------------------------------------------- */

/* Only the scan calls this. */
struct seq_entry *seq_batch_add(struct seq_batch *batch, unsigned thread)
{
    batch->thread[batch->count] = (uint16_t)thread;
    batch->index_end[thread]++;         /* a count until the scan has ended */
    return &batch->entry[batch->count++];
}

/* Sorts the numbers of the entries by thread. Links from entry to entry would do without; but then
 * a thread knows where an entry is only when it has read the one before, which another CPU wrote,
 * and cannot ask for it in time. */
static void sort_by_thread(struct seq_batch *batch, unsigned threads)
{
    unsigned start = 0;

    for (unsigned i = 0; i < threads; i++) {
        unsigned count = batch->index_end[i];

        batch->index_end[i] = start;
        start += count;
    }
    for (unsigned i = 0; i < batch->count; i++)
        batch->index[batch->index_end[batch->thread[i]]++] = (uint16_t)i;
}

struct seq_list seq_batch_list(const struct seq_batch *batch, unsigned thread)
{
    unsigned start = thread > 0 ? batch->index_end[thread - 1] : 0;

    return (struct seq_list){ batch->index + start, batch->index + batch->index_end[thread] };
}

/* Before the packets exist, so that seq_batches_choose() sees what is already assigned. */
void seq_batches_assign(struct seq_batches *b, unsigned thread, unsigned count)
{
    b->cursor[thread].given += count;
    b->given += count;
}

/* Entries that the thread has not taken yet. `taken` may be old: an estimate is enough. */
static uint64_t load_of(const struct cursor *c)
{
    return c->given - __atomic_load_n(&c->taken, __ATOMIC_RELAXED);
}

/* A thread's part of all entries and of all flows, in equal weight: entries that are assigned tell
 * nothing of flows that have only begun, and their number nothing of their length. Totals are at
 * least 1. */
static uint64_t share_of(const struct seq_batches *b, const struct cursor *c)
{
    return c->given * MAX(b->flows, 1u) + c->flows * MAX(b->given, 1u);
}

/* Flows stay with their thread, so a thread that has got most of them keeps them when others have
 * nothing to do. */
static bool has_fair_share(const struct seq_batches *b, const struct cursor *c)
{
    uint64_t mean = 2 * MAX(b->flows, 1u) * MAX(b->given, 1u) / b->threads;

    return share_of(b, c) <= mean + mean / PREFERRED_SHARE + PREFERRED_FLOWS * MAX(b->given, 1u);
}

static uint64_t least_load(const struct seq_batches *b)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < b->threads; i++)
        least = MIN(least, load_of(&b->cursor[i]));
    return least;
}

/* The least share of the threads that have at most so much to do. A thread that takes entries
 * meanwhile has less; thread 0 stands for none. */
static unsigned least_share(const struct seq_batches *b, uint64_t most)
{
    uint64_t least = UINT64_MAX;
    unsigned best = 0;

    for (unsigned i = 0; i < b->threads; i++) {
        uint64_t share = share_of(b, &b->cursor[i]);

        if (load_of(&b->cursor[i]) > most || share >= least)
            continue;
        least = share;
        best = i;
    }
    return best;
}

/* The load decides first. Among threads with the same load, it is noise: of flows that begin
 * together one thread could get most. */
static unsigned choose(const struct seq_batches *b, int preferred)
{
    uint64_t load = least_load(b);

    if (preferred >= 0 && load_of(&b->cursor[preferred]) <= load + PREFERRED_MORE &&
        has_fair_share(b, &b->cursor[preferred]))
        return (unsigned)preferred;
    return least_share(b, load + LOAD_EQUAL);
}

unsigned seq_batches_choose(struct seq_batches *b, int preferred)
{
    unsigned thread = choose(b, preferred);

    b->cursor[thread].flows++;
    b->flows++;
    return thread;
}

const struct seq_batch *seq_batches_oldest(const struct seq_batches *b)
{
    for (uint64_t i = b->scanned - MIN(b->scanned, SEQ_BATCHES - 1u); i < b->scanned; i++)
        if (!is_free(b, i))
            return slot_of(b, i);
    return NULL;
}

/* False: there is nothing to read at the moment. */
static bool scan_into(struct seq_batches *b, struct seq_batch *batch)
{
    batch->count = 0;
    batch->last = batch->failed = batch->no_checksum = batch->more_at_hand = false;
    buf_clear(&batch->bytes);
    memset(batch->index_end, 0, b->threads * sizeof(batch->index_end[0]));
    if (!b->scan(b->arg, batch))
        return false;
    sort_by_thread(batch, b->threads);
    return true;
}

/* Also called when the run is interrupted. */
void seq_batches_wake(struct seq_batches *b)
{
    if (__atomic_load_n(&b->sleepers, __ATOMIC_SEQ_CST) == 0)
        return;
    for (unsigned i = 0; i < b->threads; i++)
        eventcount_wake(&b->cursor[i].eventcount);
}

/* Scans the next batch, with the lock held. False: all of them are in use, or nothing was found. */
static bool scan_locked(struct seq_batches *b)
{
    uint64_t next = b->scanned;

    if (!is_free(b, next) || !scan_into(b, slot_of(b, next)))
        return false;
    __atomic_store_n(&b->more_at_hand, slot_of(b, next)->more_at_hand, __ATOMIC_RELAXED);
    __atomic_store_n(&slot_of(b, next)->users, b->threads, __ATOMIC_RELAXED);
    __atomic_store_n(&b->scanned, next + 1, __ATOMIC_SEQ_CST);
    return true;
}

/* Scans the next batch, unless another thread was faster and `number` has been scanned. */
static void scan(struct seq_batches *b, uint64_t number)
{
    bool scanned_one;

    pthread_mutex_lock(&b->lock);
    scanned_one = b->scanned <= number && scan_locked(b);
    pthread_mutex_unlock(&b->lock);
    if (scanned_one)
        seq_batches_wake(b);
}

/* Scans one batch more, so that no thread has to wait for it later. A thread that has the lock is
 * scanning; this one does not wait for it. */
static void scan_ahead(struct seq_batches *b)
{
    bool scanned_one;

    if (!__atomic_load_n(&b->more_at_hand, __ATOMIC_RELAXED) ||
        !is_free(b, __atomic_load_n(&b->scanned, __ATOMIC_SEQ_CST)) ||
        pthread_mutex_trylock(&b->lock) != 0)
        return;
    scanned_one = b->more_at_hand && scan_locked(b);
    pthread_mutex_unlock(&b->lock);
    if (scanned_one)
        seq_batches_wake(b);
}

/* --- the threads ------------------------------------------------------------------------------ */

/* The thread's next batch, or NULL: it is not scanned and cannot be yet. Threads often end a batch
 * at the same time, because they wait for each other in the sequencer; none shall then wait for the
 * scan of the next. So the first that begins the newest batch scans the one after it. */
struct seq_batch *seq_batches_next(struct seq_batches *b, unsigned thread)
{
    uint64_t at = b->cursor[thread].at;

    if (!is_scanned(b, at) && is_free(b, at))
        scan(b, at);
    if (!is_scanned(b, at))
        return NULL;
    if (!is_scanned(b, at + 1))
        scan_ahead(b);
    return slot_of(b, at);
}

/* For seq_batches_choose(). */
void seq_batches_took(struct seq_batches *b, unsigned thread, unsigned count)
{
    uint64_t *taken = &b->cursor[thread].taken;

    __atomic_store_n(taken, *taken + count, __ATOMIC_RELAXED);
}

/* Leaves the current batch. A sleeper counts itself before it checks again whether the slot is
 * free; this thread frees the slot before it reads `sleepers`. So at least one of the two sees the
 * other, and a slot that becomes free is scanned. */
void seq_batches_leave(struct seq_batches *b, unsigned thread)
{
    struct cursor *c = &b->cursor[thread];
    struct seq_batch *batch = slot_of(b, c->at);
    bool last = batch->last;

    c->at++;
    if (__atomic_sub_fetch(&batch->users, 1, __ATOMIC_SEQ_CST) == 0 && !last &&
        __atomic_load_n(&b->sleepers, __ATOMIC_SEQ_CST) > 0)
        scan(b, UINT64_MAX);
}

static bool has_next(void *arg)
{
    const struct cursor *c = arg;

    return is_scanned(c->batches, c->at);
}

/* For a thread that waits for a slot rather than for new frames. */
static bool may_have_next(void *arg)
{
    const struct cursor *c = arg;

    return has_next(arg) || is_free(c->batches, c->at);
}

/* Sleeps until a batch may be there. If the slot is free, the last scan found nothing (a watched
 * directory, an empty pool): then pause_ns, otherwise timeout_ns. */
void seq_batches_wait(struct seq_batches *b, unsigned thread, uint64_t timeout_ns,
                      uint64_t pause_ns)
{
    struct cursor *c = &b->cursor[thread];
    bool had_nothing = is_free(b, c->at);

    __atomic_fetch_add(&b->sleepers, 1, __ATOMIC_SEQ_CST);
    eventcount_wait(&c->eventcount, had_nothing ? has_next : may_have_next, c,
                had_nothing ? pause_ns : timeout_ns);
    __atomic_fetch_sub(&b->sleepers, 1, __ATOMIC_SEQ_CST);
}
