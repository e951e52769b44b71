/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/feed.c - the newest alerts, for browsers that show them live.
 *
 * A ring of records in memory. A writer thread adds a record only while a reader is connected, and
 * never waits: if a reader has the lock at that moment, the record is not shown. Files and sinks
 * get it in any case; the page is a view, not a record. */
#include "control/web/web_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define RING 256                        /* records; a power of two */
#define RECORD_MAX (64u * 1024)         /* bytes of a record that is shown */
#define READERS_MAX 16

struct feed {
    struct output_tap tap;
    pthread_mutex_t lock;               /* guards what follows */
    struct buf record[RING];
    uint64_t next;                      /* number of the record to come */
    unsigned readers;
    unsigned sink;                      /* the first that brought an alert; others repeat it */
    bool has_sink;
};

static void put(void *arg, unsigned sink, const uint8_t *record, size_t len)
{
    struct feed *f = arg;
    struct buf *to;

    if (len > RECORD_MAX || pthread_mutex_trylock(&f->lock) != 0)
        return;
    if (!f->has_sink) {
        f->has_sink = true;
        f->sink = sink;
    }
    if (f->sink == sink) {
        to = &f->record[f->next++ % RING];
        buf_clear(to);
        buf_add(to, record, len - (record[len - 1] == '\n'));
    }
    pthread_mutex_unlock(&f->lock);
}

struct feed *feed_new(void)
{
    struct feed *f = xcalloc(1, sizeof(*f));

    f->tap = (struct output_tap){ .put = put, .arg = f };
    pthread_mutex_init(&f->lock, NULL);
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

bool feed_join(struct feed *f, struct feed_reader *reader)
{
    bool joined;

    pthread_mutex_lock(&f->lock);
    joined = f->readers < READERS_MAX;
    f->readers += joined;
    *reader = (struct feed_reader){ .feed = f, .at = f->next };
    __atomic_store_n(&f->tap.is_on, f->readers > 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&f->lock);
    return joined;
}

void feed_leave(struct feed_reader *reader)
{
    struct feed *f = reader->feed;

    pthread_mutex_lock(&f->lock);
    f->readers--;
    __atomic_store_n(&f->tap.is_on, f->readers > 0, __ATOMIC_RELAXED);
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

size_t feed_take(struct feed_reader *reader, char *to, size_t size)
{
    struct feed *f = reader->feed;
    size_t len = 0;

    pthread_mutex_lock(&f->lock);
    if (f->next - reader->at > RING)
        reader->at = f->next - RING;
    while (len == 0 && reader->at != f->next) {
        const struct buf *record = &f->record[reader->at++ % RING];

        if (record->len <= size) {
            memcpy(to, record->data, record->len);
            len = record->len;
        }
    }
    pthread_mutex_unlock(&f->lock);
    return len;
}
