/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/expectations.c - TCP flows that a parser has announced (FTP data). The announced flow
 * may belong to another thread than the announcing one, so this table is shared and locked. Only
 * flows that nothing else recognises look it up, and before they take the lock they check the
 * number of entries, which for their two hosts is nearly always zero. Where several threads inspect
 * one file, a look-up has to wait for the threads that are behind (sequencer.h), and many flows are
 * never recognised. So expectation_parents.c knows of two hosts whether a connection between them
 * may announce others. When there is none, and none of its entries is left, no thread waits. The
 * only such connection does not wait either: no other thread can have announced anything between
 * the two hosts. */
#include "app/core/expectations.h"

#include "app/core/thread.h"
#include "base/memory/lib_memory.h"
#include "packet/flow_hash.h"
#include "sequencer/sequencer.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 8192
#define PER_PAIR 10 /* per pair of hosts, as in Suricata; the oldest is dropped */
#define ENTRIES_MAX 65536 /* bounds the memory that hostile announcements can take */
/* Suricata drops an expectation after 30 seconds as well. Time is packet time. */
#define TIMEOUT_US (30u * 1000000u)

/* Owned by the table; `what.data` passes to the flow that matches, else free_data() frees it. */
struct expectation {
    struct expectation *next;               /* newest first */
    struct ip low, high;                    /* the two hosts, smaller first */
    struct app_expected what;
    uint64_t parent_id, created_us;
    struct watermark place;                /* order of the packet that announced it */
};

struct app_expectations {
    pthread_mutex_t lock;
    uint64_t count;                         /* atomic */
    struct expectation *bucket[BUCKETS];
    uint32_t in_bucket[BUCKETS];            /* atomic, written under the lock */
    struct expectation_parents *parents;            /* borrowed */
};

struct app_expectations *app_expectations_new(struct expectation_parents *parents)
{
    struct app_expectations *table = xcalloc(1, sizeof(*table));

    pthread_mutex_init(&table->lock, NULL);
    table->parents = parents;
    return table;
}

/* True when every announcement between these two hosts so far is this thread's own. */
static bool is_only_parent(const struct app_expectations *table, const struct packet *p)
{
    return expectation_parents_of(table->parents, p) == PARENT_SELF;
}

/* A parser may leave free_data NULL for plain memory. */
static void data_free(void *data, void (*free_data)(void *data))
{
    if (data != NULL)
        (free_data != NULL ? free_data : lib_free)(data);
}

static void expectation_free(struct expectation *e)
{
    data_free(e->what.data, e->what.free_data);
    lib_free(e);
}

void app_expectations_free(struct app_expectations *table)
{
    if (table == NULL)
        return;
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct expectation *e = table->bucket[i], *next; e != NULL; e = next) {
            next = e->next;
            expectation_free(e);
        }
    }
    pthread_mutex_destroy(&table->lock);
    free(table);
}

uint64_t app_expectations_count(const struct app_expectations *table)
{
    return __atomic_load_n(&table->count, __ATOMIC_RELAXED);
}

/* Both directions of a flow find the same entry: the smaller address goes first. */
static void sorted_pair(const struct flow *flow, const struct ip **low, const struct ip **high)
{
    bool in_order = ip_compare(&flow->key.src, &flow->key.dst) <= 0;

    *low = in_order ? &flow->key.src : &flow->key.dst;
    *high = in_order ? &flow->key.dst : &flow->key.src;
}

/* Hosts only, no ports: the announcement may leave either port open. */
static unsigned bucket_of(const struct ip *low, const struct ip *high)
{
    return host_pair_hash(low, high) % BUCKETS;
}

/* Relaxed: readers use the counts only to skip the lock, and a reader that must not miss an entry
 * has waited for its announcer before. */
static void count_up(struct app_expectations *table, unsigned bucket, int n)
{
    __atomic_fetch_add(&table->count, (uint64_t)n, __ATOMIC_RELAXED);
    __atomic_fetch_add(&table->in_bucket[bucket], (uint32_t)n, __ATOMIC_RELAXED);
}

static void remove_at(struct app_expectations *table, unsigned bucket, struct expectation **link)
{
    struct expectation *e = *link;

    *link = e->next;
    count_up(table, bucket, -1);
    expectation_free(e);
}

static bool is_between(const struct expectation *e, const struct ip *low, const struct ip *high)
{
    return ip_equal(&e->low, low) && ip_equal(&e->high, high);
}

static bool is_over(const struct expectation *e, uint64_t now_us)
{
    return now_us > e->created_us + TIMEOUT_US;
}

/* Half full. From then on expired entries of other pairs are removed too, for the price of a look
 * at each entry in the bucket. */
static bool is_crowded(const struct app_expectations *table)
{
    return app_expectations_count(table) >= ENTRIES_MAX / 2;
}

/* Removes expired entries of these two hosts, and entries beyond their share. Entries of other
 * pairs are removed only when the table is crowded: otherwise their own flows remove them. */
static void make_space(struct app_expectations *table, unsigned bucket,
                      const struct expectation *fresh)
{
    struct expectation **link = &table->bucket[bucket];
    bool of_all = is_crowded(table);
    unsigned same = 0;

    while (*link != NULL) {
        struct expectation *e = *link;
        bool pair = is_between(e, &fresh->low, &fresh->high);

        same += pair;
        if ((pair && same >= PER_PAIR) || ((pair || of_all) && is_over(e, fresh->created_us)))
            remove_at(table, bucket, link);
        else
            link = &e->next;
    }
}

/* True when no entry has to go that a flow earlier in the file could still match. */
static bool has_space(const struct app_expectations *table, unsigned bucket,
                     const struct expectation *fresh)
{
    unsigned same = 0;

    for (const struct expectation *e = table->bucket[bucket]; e != NULL; e = e->next) {
        if (!is_between(e, &fresh->low, &fresh->high))
            continue;
        if (++same >= PER_PAIR || is_over(e, fresh->created_us))
            return false;
    }
    return !is_crowded(table);
}

/* A flow that looks up waits until all possible parents have passed its position. So it finds
 * entries of earlier packets, and skips those of later packets. Adding therefore needs no wait,
 * unless it removes an entry. */
static void lock_in_sequence(struct app_expectations *table, unsigned bucket,
                         const struct expectation *fresh, const struct packet *p)
{
    pthread_mutex_lock(&table->lock);
    if (p == NULL || sequencer_slot(p)->handle == NULL ||
        (is_only_parent(table, p) && has_space(table, bucket, fresh)))
        return;
    pthread_mutex_unlock(&table->lock);
    packet_seq_wait(p);
    pthread_mutex_lock(&table->lock);
}

/* Without a packet (tests) everything counts as announced before the first one. */
static struct watermark place_of(const struct packet *p)
{
    return p != NULL ? (struct watermark){ p->seqno, p->seqno_sub } : (struct watermark){ 0, 0 };
}

/* Takes over expected->data in every case. False when memory or the table is full; the parser goes
 * on, and the announced flow is inspected as an unknown one. */
bool app_expectations_add(struct app_expectations *table, const struct flow *flow,
                          const struct app_expected *expected, const struct packet *p)
{
    struct expectation *e = lib_calloc(1, sizeof(*e));
    const struct ip *low, *high;
    unsigned bucket;
    bool space;

    if (e == NULL) {
        data_free(expected->data, expected->free_data);
        return false;
    }
    sorted_pair(flow, &low, &high);
    *e = (struct expectation){ .low = *low, .high = *high, .what = *expected,
                               .parent_id = flow->id, .created_us = p != NULL ? p->time_us : 0,
                               .place = place_of(p) };
    if (e->what.directions == 0)
        e->what.directions = APP_BOTH;
    bucket = bucket_of(low, high);
    lock_in_sequence(table, bucket, e, p);
    make_space(table, bucket, e);
    space = table->count < ENTRIES_MAX;
    if (space) {
        e->next = table->bucket[bucket];
        table->bucket[bucket] = e;
        count_up(table, bucket, 1);
    }
    pthread_mutex_unlock(&table->lock);
    if (!space)
        expectation_free(e);
    return space;
}

/* 0 matches any port. Compares with the flow's key, whose source is the client. */
static bool fits(const struct expectation *e, const struct flow *flow, enum direction direction)
{
    return (e->what.directions & APP_DIRECTION_BIT(direction)) != 0 &&
           (e->what.src_port == 0 || e->what.src_port == flow->key.src_port) &&
           (e->what.dst_port == 0 || e->what.dst_port == flow->key.dst_port);
}

static bool any_between(const struct expectation *e, const struct ip *low, const struct ip *high)
{
    while (e != NULL && !is_between(e, low, high))
        e = e->next;
    return e != NULL;
}

/* True when no other thread can have announced anything between the two hosts that is not in the
 * table yet. What may come later is this thread's own, or of connections that are over. */
static bool nothing_expected(struct app_expectations *table, const struct packet *p)
{
    const struct ip *low, *high;
    unsigned bucket;
    bool nothing;

    if (expectation_parents_of(table->parents, p) == PARENT_OTHERS)
        return false;
    if (LIKELY(app_expectations_count(table) == 0))
        return true;
    sorted_pair(p->flow, &low, &high);
    bucket = bucket_of(low, high);
    if (LIKELY(__atomic_load_n(&table->in_bucket[bucket], __ATOMIC_RELAXED) == 0))
        return true;
    pthread_mutex_lock(&table->lock);
    nothing = !any_between(table->bucket[bucket], low, high);
    pthread_mutex_unlock(&table->lock);
    return nothing;
}

/* The newest matching entry wins, since buckets keep the newest first. Entries of later packets are
 * skipped, see lock_in_sequence(). Expired entries are only removed after they did not match: a
 * late flow still matches if no other flow needed the space. */
bool app_expectations_match(struct app_expectations *table, const struct packet *p,
                            enum direction direction, struct expectation_match *out)
{
    const struct flow *flow = p->flow;
    const struct ip *low, *high;
    bool found = false;
    unsigned bucket;

    if (LIKELY(app_expectations_count(table) == 0))
        return false;
    sorted_pair(flow, &low, &high);
    bucket = bucket_of(low, high);
    if (LIKELY(__atomic_load_n(&table->in_bucket[bucket], __ATOMIC_RELAXED) == 0))
        return false;
    pthread_mutex_lock(&table->lock);
    for (struct expectation **link = &table->bucket[bucket]; *link != NULL;) {
        struct expectation *e = *link;

        if (!is_between(e, low, high) || !watermark_has_passed(place_of(p), e->place.at,
                                                                e->place.sub)) {
            link = &e->next;
        } else if (!found && fits(e, flow, direction)) {
            *out = (struct expectation_match){ .proto = e->what.proto, .data = e->what.data,
                                       .free_data = e->what.free_data,
                                       .parent_id = e->parent_id };
            e->what.data = NULL;
            found = true;
            remove_at(table, bucket, link);
        } else if (is_over(e, p->time_us)) {
            remove_at(table, bucket, link);
        } else {
            link = &e->next;
        }
    }
    pthread_mutex_unlock(&table->lock);
    return found;
}

/* The table's size as this thread last saw it; statistics take the highest of all threads. */
static void set_counter(struct app_thread *at)
{
    counter_set(at->counters, at->conf->expectation_counter,
                app_expectations_count(at->conf->expectations));
}

/* The flow owns the announcement's data from here on; a second announcement replaces the first. */
static void hold(struct expectation_data **owned, const struct expectation_match *found)
{
    expectation_data_free(owned);
    if (found->data == NULL)
        return;
    *owned = lib_malloc(sizeof(**owned));
    if (*owned == NULL)
        data_free(found->data, found->free_data);
    else
        **owned = (struct expectation_data){ found->data, found->free_data };
}

/* Looks up the flow of this packet. Waits for threads that are behind only if another thread may
 * have added the expectation. Sets the flow's parent id for EVE, and the protocol in directions
 * that have none. */
enum app_proto_id expectation_take(struct app_thread *at, struct packet *p,
                                     enum direction direction, struct expectation_data **owned)
{
    struct app_expectations *table = at->conf->expectations;
    struct flow *flow = p->flow;
    struct expectation_match found;

    if (sequencer_slot(p)->handle != NULL) {
        if (LIKELY(nothing_expected(table, p)))
            return APP_PROTO_UNKNOWN;
        packet_seq_wait(p);
    }
    if (!app_expectations_match(table, p, direction, &found))
        return APP_PROTO_UNKNOWN;
    set_counter(at);
    hold(owned, &found);
    flow->parent_id = found.parent_id;
    for (unsigned d = 0; d < 2; d++)
        if (flow->app_proto_dir[d] == APP_PROTO_UNKNOWN)
            flow->app_proto_dir[d] = (uint16_t)found.proto;
    return found.proto;
}

/* Called when the flow ends, and before another announcement replaces this one. */
void expectation_data_free(struct expectation_data **owned)
{
    if (*owned == NULL)
        return;
    data_free((*owned)->data, (*owned)->free_data);
    lib_free(*owned);
    *owned = NULL;
}

/* --- for parsers ------------------------------------------------------------------------------ */

/* Called by the parent's parser. False: no memory or no space; nothing else changes. */
bool app_expect(struct app_flow *af, const struct app_expected *expected)
{
    bool added = app_expectations_add(af->thread->conf->expectations, af->flow, expected,
                                      af->thread->packet);

    set_counter(af->thread);
    return added;
}

/* For the parser of the announced flow: what the announcing parser left for it, or NULL. */
void *app_expected_data(struct app_flow *af)
{
    const struct expectation_data *owned = af->ext != NULL ? af->ext->expected : NULL;

    return owned != NULL ? owned->data : NULL;
}
