/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/feed.c - the newest alerts, for browsers that show them live.
 *
 * A ring of records in memory, filled with and without readers, so that a page that is opened after
 * an incident shows it. A writer thread never waits: if another thread has the lock at that moment,
 * the record is not kept. Between two calls of feed_refill() at most RING records are copied; then
 * the tap is off, and further alerts cost nothing. Files and sinks get all of them in any case; the
 * page is a view, not a record. */
#include "control/web/web_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/system/clock.h"

#define RING 256                        /* records; a power of two */
#define REPLAYED 100                    /* records that a new reader gets at once */
#define RECORD_MAX (64u * 1024)         /* bytes of a record that is shown */
#define READERS_MAX 16

struct feed {
    struct output_tap tap;
    uint64_t epoch;                     /* tells this feed's ids from those of another process */
    pthread_mutex_t lock;               /* guards what follows */
    struct buf record[RING];
    uint64_t next;                      /* number of the record to come */
    unsigned allowance;                 /* records until the tap is off */
    unsigned readers;
    unsigned sink;                      /* the first that brought an alert; others repeat it */
    bool has_sink;
};

static void keep(struct feed *f, const uint8_t *record, size_t len)
{
    struct buf *to = &f->record[f->next++ % RING];

    buf_clear(to);
    buf_add(to, record, len - (record[len - 1] == '\n'));
    if (--f->allowance == 0)
        __atomic_store_n(&f->tap.is_on, false, __ATOMIC_RELAXED);
}

static void put(void *arg, unsigned sink, const uint8_t *record, size_t len)
{
    struct feed *f = arg;

    if (len == 0 || len > RECORD_MAX || pthread_mutex_trylock(&f->lock) != 0)
        return;
    if (!f->has_sink) {
        f->has_sink = true;
        f->sink = sink;
    }
    if (f->sink == sink && f->allowance > 0)
        keep(f, record, len);
    pthread_mutex_unlock(&f->lock);
}

struct feed *feed_new(void)
{
    struct feed *f = xcalloc(1, sizeof(*f));

    f->tap = (struct output_tap){ .put = put, .arg = f };
    f->epoch = clock_wall_us();
    pthread_mutex_init(&f->lock, NULL);
    feed_refill(f);
    return f;
}

void feed_free(struct feed *f)
{
    if (f == NULL)
        return;
    for (unsigned i = 0; i < RING; i++)
        buf_fini(&f->record[i]);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

struct output_tap *feed_tap(struct feed *f)
{
    return &f->tap;
}

/* Sinks of another run have other numbers. */
void feed_clear(struct feed *f)
{
    pthread_mutex_lock(&f->lock);
    f->has_sink = false;
    pthread_mutex_unlock(&f->lock);
}

void feed_refill(struct feed *f)
{
    pthread_mutex_lock(&f->lock);
    f->allowance = RING;
    __atomic_store_n(&f->tap.is_on, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&f->lock);
}

/* Where a reader begins: behind the record that it had last, if that is one of ours. */
static uint64_t first_for(const struct feed *f, const char *last)
{
    uint64_t epoch = 0, number = 0;

    if (last != NULL && sscanf(last, "%" SCNx64 "-%" SCNu64, &epoch, &number) == 2 &&
        epoch == f->epoch && number < f->next)
        return number + 1;
    return f->next > REPLAYED ? f->next - REPLAYED : 0;
}

bool feed_join(struct feed *f, const char *last, struct feed_reader *reader)
{
    bool joined;

    pthread_mutex_lock(&f->lock);
    joined = f->readers < READERS_MAX;
    f->readers += joined;
    *reader = (struct feed_reader){ .feed = f, .at = first_for(f, last) };
    pthread_mutex_unlock(&f->lock);
    return joined;
}

void feed_leave(struct feed_reader *reader)
{
    struct feed *f = reader->feed;

    pthread_mutex_lock(&f->lock);
    f->readers--;
    pthread_mutex_unlock(&f->lock);
}

bool feed_has_more(const struct feed_reader *reader)
{
    struct feed *f = reader->feed;
    bool more;

    pthread_mutex_lock(&f->lock);
    more = reader->at != f->next;
    pthread_mutex_unlock(&f->lock);
    return more;
}

/* The record at the reader's position as an event; false: there is no memory for it. */
static bool add_event(const struct feed *f, uint64_t number, struct buf *out)
{
    const struct buf *record = &f->record[number % RING];

    if (!buf_reserve(out, record->len + 80))
        return false;
    buf_printf(out, "id: %" PRIx64 "-%" PRIu64 "\ndata: ", f->epoch, number);
    buf_add(out, record->data, record->len);
    BUF_LITERAL(out, "\n\n");
    return true;
}

bool feed_take(struct feed_reader *reader, struct buf *out)
{
    struct feed *f = reader->feed;
    bool taken = false;

    pthread_mutex_lock(&f->lock);
    if (f->next - reader->at > RING)
        reader->at = f->next - RING;
    while (!taken && reader->at != f->next)
        taken = add_event(f, reader->at++, out);
    pthread_mutex_unlock(&f->lock);
    return taken;
}
