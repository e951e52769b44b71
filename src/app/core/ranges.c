/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/ranges.c - assembles files from ranges. Ranges of one file may arrive in flows of
 * different threads, so the table is shared and locked, but only while a range is closed, never for
 * flows without ranges. Threads that read capture files first wait for their position in packet
 * order. Ranges in progress and waiting contents count together against the memcap; a range without
 * space is dropped. A completed file leaves an entry without content until it expires, so that
 * equal ranges do not create the file twice. */
#include "app/core/ranges.h"

#include "app/core/session.h"
#include "app/core/thread.h"
#include "base/containers/hash.h"
#include "base/memory/lib_memory.h"
#include "sequencer/sequencer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 65536           /* so many files of a byte take less than 30 MB of the memcap */
#define FRAGMENTS_MAX 1024              /* of one file */
/* URLs and host names make the key; a longer one is not kept. Memcap and timeout have Suricata's
 * defaults (app-layer.protocols.http.byterange). */
#define KEY_MAX 8192
#define MEMCAP (100u << 20)
#define TIMEOUT_S 60

/* A range ahead of the front. Its buffer counts against the memcap by capacity. */
struct fragment {
    struct fragment *next;              /* by start */
    uint64_t start;
    struct buf data;
};

/* One file, owned by the table. */
struct range_file {
    struct range_file *next;            /* next in its bucket */
    struct range_file *older, *newer;   /* list by last use */
    uint64_t hash, total, expire_us;
    struct buf key;
    struct buf front;                   /* content from the beginning up to the first hole */
    struct fragment *fragment;
    unsigned fragments;
    bool done;
};

/* Shared by all worker threads; all but `memory` (atomics) is under the lock. */
struct app_ranges {
    pthread_mutex_t lock;
    struct app_memory memory;
    uint64_t timeout_us;
    struct range_file *bucket[BUCKETS];
    struct range_file *oldest, *newest;
};

/* A range under way: belongs to its parser, so adding to it needs no lock. */
struct app_range {
    struct app_ranges *table;
    struct app_session *session;        /* for the current packet */
    uint64_t start, space, total;
    struct buf key, data;
    bool full;                          /* no space for all of it */
};

/* --- memory ----------------------------------------------------------------------------------- */

/* The counts are atomics because ranges under way grow without the lock. */
static void count(struct app_ranges *table, uint64_t more)
{
    __atomic_fetch_add(&table->memory.used, more, __ATOMIC_RELAXED);
}

static void uncount(struct app_ranges *table, uint64_t less)
{
    __atomic_fetch_sub(&table->memory.used, less, __ATOMIC_RELAXED);
}

struct app_memory *app_ranges_memory(struct app_ranges *table)
{
    return &table->memory;
}

/* Only a check: two threads may pass it at once and exceed the limit by what both add. */
static bool has_space(const struct app_ranges *table, uint64_t more)
{
    uint64_t limit = __atomic_load_n(&table->memory.limit, __ATOMIC_RELAXED);

    return limit == 0 || __atomic_load_n(&table->memory.used, __ATOMIC_RELAXED) + more <= limit;
}

/* Reserves memory before the bytes are added. Growth may double the buffer, so the check uses at
 * least its present capacity. */
static bool counted_add(struct app_ranges *table, struct buf *b, const void *data, size_t len)
{
    size_t before = b->cap;

    if (b->cap - b->len < len && !has_space(table, MAX(len, b->cap)))
        return false;
    if (!buf_add(b, data, len))
        return false;
    count(table, b->cap - before);
    return true;
}

static void counted_free(struct app_ranges *table, struct buf *b)
{
    uncount(table, b->cap);
    buf_fini(b);
}

/* --- the table -------------------------------------------------------------------------------- */

struct app_ranges *app_ranges_new(const struct conf_node *node)
{
    struct app_ranges *table = xcalloc(1, sizeof(*table));

    pthread_mutex_init(&table->lock, NULL);
    table->memory.limit = conf_size_or_default(node, "memcap", MEMCAP);
    table->memory.counted = true;
    table->timeout_us = conf_u64_range(node, "timeout", TIMEOUT_S, 0, UINT32_MAX) * 1000000;
    return table;
}

static void fragment_free(struct app_ranges *table, struct range_file *f)
{
    struct fragment *frag = f->fragment;

    f->fragment = frag->next;
    f->fragments--;
    counted_free(table, &frag->data);
    uncount(table, sizeof(*frag));
    lib_free(frag);
}

static void contents_free(struct app_ranges *table, struct range_file *f)
{
    while (f->fragment != NULL)
        fragment_free(table, f);
    counted_free(table, &f->front);
}

/* Newest last; the end in use decides which file expires first. */
static void unlink_use(struct app_ranges *table, struct range_file *f)
{
    *(f->older != NULL ? &f->older->newer : &table->oldest) = f->newer;
    *(f->newer != NULL ? &f->newer->older : &table->newest) = f->older;
}

static void link_newest(struct app_ranges *table, struct range_file *f)
{
    f->newer = NULL;
    f->older = table->newest;
    *(f->older != NULL ? &f->older->newer : &table->oldest) = f;
    table->newest = f;
}

static void file_free(struct app_ranges *table, struct range_file *f)
{
    struct range_file **link = &table->bucket[f->hash % BUCKETS];

    while (*link != f)
        link = &(*link)->next;
    *link = f->next;
    unlink_use(table, f);
    contents_free(table, f);
    counted_free(table, &f->key);
    uncount(table, sizeof(*f));
    lib_free(f);
}

void app_ranges_free(struct app_ranges *table)
{
    if (table == NULL)
        return;
    while (table->oldest != NULL)
        file_free(table, table->oldest);
    pthread_mutex_destroy(&table->lock);
    free(table);
}

/* All files have the same lifetime, so the list by last use is also the one by expiry. Packet
 * time. */
static void expire(struct app_ranges *table, uint64_t now_us)
{
    while (table->oldest != NULL && table->oldest->expire_us <= now_us)
        file_free(table, table->oldest);
}

/* The hash is compared first; the key decides, as an attacker can choose both ranges and keys. */
static struct range_file *file_find(struct app_ranges *table, const struct buf *key, uint64_t hash)
{
    struct range_file *f = table->bucket[hash % BUCKETS];

    while (f != NULL && (f->hash != hash || f->key.len != key->len ||
                         memcmp(f->key.data, key->data, key->len) != 0))
        f = f->next;
    return f;
}

/* Finds or makes the file of a range, and takes over the range's key when it makes one. */
static struct range_file *file_get(struct app_range *range)
{
    struct app_ranges *table = range->table;
    uint64_t hash = hash_bytes(range->key.data, range->key.len);
    struct range_file *f = file_find(table, &range->key, hash);

    if (f != NULL) {
        unlink_use(table, f);
    } else {
        f = has_space(table, sizeof(*f)) ? lib_calloc(1, sizeof(*f)) : NULL;
        if (f == NULL)
            return NULL;
        count(table, sizeof(*f));
        f->hash = hash;
        f->key = range->key;
        range->key = (struct buf){ 0 };
        f->next = table->bucket[hash % BUCKETS];
        table->bucket[hash % BUCKETS] = f;
    }
    link_newest(table, f);
    return f;
}

/* --- putting together ------------------------------------------------------------------------- */

/* Takes over the range's buffer. Sorted by start; of equal starts the first to come stays first. */
static void keep_for_later(struct app_range *range, struct range_file *f)
{
    struct fragment **link = &f->fragment, *frag;

    if (f->fragments == FRAGMENTS_MAX || !has_space(range->table, sizeof(*frag)))
        return;
    while (*link != NULL && (*link)->start <= range->start)
        link = &(*link)->next;
    frag = lib_calloc(1, sizeof(*frag));
    if (frag == NULL)
        return;
    count(range->table, sizeof(*frag));
    frag->start = range->start;
    frag->data = range->data;
    range->data = (struct buf){ 0 };
    frag->next = *link;
    *link = frag;
    f->fragments++;
}

/* Adds the bytes beyond the contiguous part. Known bytes keep their first version. */
static bool extend(struct app_ranges *table, struct range_file *f, uint64_t start,
                   struct buf *data)
{
    uint64_t known = f->front.len - start;

    if (known >= data->len)
        return true;
    if (f->front.cap == 0) {
        f->front = *data;
        *data = (struct buf){ 0 };
        return true;
    }
    return counted_add(table, &f->front, data->data + known, data->len - known);
}

/* True when the file is complete. `total` is what the peers claim; the largest claim counts, so a
 * small lie cannot end a file early. */
static bool put_in(struct app_range *range, struct range_file *f)
{
    struct app_ranges *table = range->table;

    f->total = MAX(f->total, range->total);
    if (range->start > f->front.len)
        keep_for_later(range, f);
    else if (!extend(table, f, range->start, &range->data))
        return false;
    while (f->fragment != NULL && f->fragment->start <= f->front.len) {
        bool fits = extend(table, f, f->fragment->start, &f->fragment->data);

        fragment_free(table, f);
        if (!fits)
            return false;
    }
    return f->front.len >= f->total;
}

/* Called with the lock held. Moves the completed file's content out of the table and its
 * account. */
static bool hand_in(struct app_range *range, struct buf *file)
{
    struct app_ranges *table = range->table;
    struct packet *p = range->session->flow.thread->packet;
    uint64_t now_us = p != NULL ? p->time_us : 0;
    struct range_file *f;

    expire(table, now_us);
    f = file_get(range);
    if (f == NULL)
        return false;
    f->expire_us = now_us + table->timeout_us;
    if (f->done || !put_in(range, f))
        return false;
    *file = f->front;
    uncount(table, f->front.cap);
    f->front = (struct buf){ 0 };
    contents_free(table, f);
    f->done = true;
    return true;
}

/* --- a range ---------------------------------------------------------------------------------- */

/* Refuses what can never fit: bounds that contradict each other, and totals beyond the memcap. */
struct app_range *app_range_open(struct app_flow *af, struct slice key, uint64_t start,
                                 uint64_t end, uint64_t total)
{
    struct app_ranges *table = af->thread->conf->ranges;
    struct app_range *range;

    if (start > end || end >= total || key.len > KEY_MAX || !has_space(table, total))
        return NULL;
    range = lib_calloc(1, sizeof(*range));
    if (range == NULL)
        return NULL;
    range->table = table;
    range->session = app_session_of(af);
    range->start = start;
    range->space = end - start + 1;
    range->total = total;
    count(table, sizeof(*range));
    range->full = !counted_add(table, &range->key, key.data, key.len);
    return range;
}

/* Bytes beyond the announced end are dropped. After one refusal the range stays full: a file with a
 * hole in it is of no use. */
void app_range_add(struct app_range *range, const void *data, size_t len)
{
    if (range == NULL || range->full)
        return;
    len = (size_t)MIN(len, range->space - range->data.len);
    range->full = !counted_add(range->table, &range->data, data, len);
}

void app_range_drop(struct app_range *range)
{
    if (range == NULL)
        return;
    counted_free(range->table, &range->key);
    counted_free(range->table, &range->data);
    uncount(range->table, sizeof(*range));
    lib_free(range);
}

/* Only a range with content takes the lock. Threads that read one file process ranges in one order
 * because each first waits for its position; live traffic has no such order. */
bool app_range_close(struct app_range *range, struct buf *file)
{
    bool complete = false;

    if (range == NULL)
        return false;
    if (!range->full && range->data.len > 0) {
        if (range->session->flow.thread->packet != NULL)
            packet_seq_wait(range->session->flow.thread->packet);
        pthread_mutex_lock(&range->table->lock);
        complete = hand_in(range, file);
        pthread_mutex_unlock(&range->table->lock);
    }
    app_range_drop(range);
    return complete;
}
