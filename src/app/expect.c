/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/expect.c - TCP flows that a parser has seen announced (FTP data).
 *
 * The announced flow may fall to another thread than the one that announces it, so this table is
 * shared and locked. It is asked only for flows that nothing else recognises, and a look at the
 * number of entries, for these two hosts zero nearly always, goes before the lock.
 *
 * Where several threads inspect one file, who asks waits for the others (packet/turn.h), and many
 * flows are recognised by nothing. So decoders, who see all packets first, mark the two hosts of
 * each connection that begins as an announcing protocol does; between others nobody waits. */
#include "app/private.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/lib_memory.h"
#include "packet/turn.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

#define BUCKETS 1024
#define PER_PAIR 10                         /* of two hosts; the oldest goes first */
#define ENTRIES_MAX 65536
#define TIMEOUT_US (30u * 1000000u)

struct expectation {
    struct expectation *next;               /* newest first */
    struct ip low, high;                    /* the two hosts, smaller first */
    struct app_expected what;
    uint64_t parent_id, made_us;
};

/* So few bytes of a pattern tell enough. */
#define OPENING 3
#define MARK_BITS 65536

struct app_expectations {
    pthread_mutex_t lock;
    uint64_t count;                         /* atomic */
    struct expectation *bucket[BUCKETS];
    uint32_t in_bucket[BUCKETS];            /* atomic, written under the lock */
    ARRAY_OF(const char *) openings;        /* of connections that may announce others */
    bool opens[256];                        /* by first byte */
    uint64_t mark[MARK_BITS / 64];          /* pairs of hosts with such a connection; atomic */
};

static void add_opening(struct app_expectations *table, const char *bytes)
{
    ARRAY_PUSH(&table->openings, bytes);
    table->opens[toupper((unsigned char)bytes[0])] = true;
    table->opens[tolower((unsigned char)bytes[0])] = true;
}

static void add_openings(struct app_expectations *table)
{
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        if (proto == NULL || !proto->announces)
            continue;
        for (const struct app_pattern *at = proto->patterns; at->bytes != NULL; at++)
            add_opening(table, at->bytes);
    }
}

struct app_expectations *app_expectations_new(void)
{
    struct app_expectations *table = xcalloc(1, sizeof(*table));

    pthread_mutex_init(&table->lock, NULL);
    add_openings(table);
    return table;
}

/* --- who could have announced something --------------------------------------------------- */

/* A first segment may hold less than an opening. */
static bool is_opening(const struct app_expectations *table, const uint8_t *payload, uint32_t len)
{
    size_t n = MIN(len, (uint32_t)OPENING);

    for (size_t i = 0; i < table->openings.count; i++)
        if (strncasecmp(table->openings.at[i], (const char *)payload, n) == 0)
            return true;
    return false;
}

static uint32_t mark_of(const struct ip *src, const struct ip *dst)
{
    uint64_t one = hash_mix(src->q[0], src->q[1]), other = hash_mix(dst->q[0], dst->q[1]);

    return (uint32_t)((one + other) * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

bool app_note_wanted(const struct app_conf *conf, const uint8_t *payload, uint32_t len)
{
    const struct app_expectations *table = conf->expectations;

    return len > 0 && UNLIKELY(table->opens[payload[0]]) && is_opening(table, payload, len);
}

void app_note_hosts(const struct app_conf *conf, const struct ip *src, const struct ip *dst)
{
    uint32_t mark = mark_of(src, dst);
    uint64_t *word = &conf->expectations->mark[mark / 64], bit = UINT64_C(1) << mark % 64;

    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

void app_note_packet(const struct app_conf *conf, const struct packet *p)
{
    if (packet_is_tcp(p) && app_note_wanted(conf, p->payload, p->payload_len))
        app_note_hosts(conf, &p->src, &p->dst);
}

static bool may_be_announced(const struct app_expectations *table, const struct packet *p)
{
    uint32_t mark = mark_of(&p->src, &p->dst);

    return (__atomic_load_n(&table->mark[mark / 64], __ATOMIC_RELAXED) >> mark % 64 & 1) != 0;
}

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
    ARRAY_FREE(&table->openings);
    pthread_mutex_destroy(&table->lock);
    free(table);
}

uint64_t app_expectations_count(const struct app_expectations *table)
{
    return __atomic_load_n(&table->count, __ATOMIC_RELAXED);
}

static void sorted_pair(const struct flow *flow, const struct ip **low, const struct ip **high)
{
    bool in_order = ip_compare(&flow->key.src, &flow->key.dst) <= 0;

    *low = in_order ? &flow->key.src : &flow->key.dst;
    *high = in_order ? &flow->key.dst : &flow->key.src;
}

static unsigned bucket_of(const struct ip *low, const struct ip *high)
{
    return hash_mix(hash_mix(low->q[0], low->q[1]), hash_mix(high->q[0], high->q[1])) % BUCKETS;
}

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

/* What has waited too long, and what these two hosts have beyond their share. */
static void make_room(struct app_expectations *table, unsigned bucket,
                      const struct expectation *fresh)
{
    struct expectation **link = &table->bucket[bucket];
    unsigned same = 0;

    while (*link != NULL) {
        struct expectation *e = *link;
        bool pair = ip_equal(&e->low, &fresh->low) && ip_equal(&e->high, &fresh->high);

        same += pair;
        if ((pair && same >= PER_PAIR) || fresh->made_us > e->made_us + TIMEOUT_US)
            remove_at(table, bucket, link);
        else
            link = &e->next;
    }
}

bool app_expectations_add(struct app_expectations *table, const struct flow *flow,
                          const struct app_expected *expected, uint64_t now_us)
{
    struct expectation *e = lib_calloc(1, sizeof(*e));
    const struct ip *low, *high;
    unsigned bucket;
    bool room;

    if (e == NULL) {
        data_free(expected->data, expected->free_data);
        return false;
    }
    sorted_pair(flow, &low, &high);
    *e = (struct expectation){ .low = *low, .high = *high, .what = *expected,
                               .parent_id = flow->id, .made_us = now_us };
    if (e->what.directions == 0)
        e->what.directions = APP_BOTH;
    bucket = bucket_of(low, high);
    pthread_mutex_lock(&table->lock);
    make_room(table, bucket, e);
    room = table->count < ENTRIES_MAX;
    if (room) {
        e->next = table->bucket[bucket];
        table->bucket[bucket] = e;
        count_up(table, bucket, 1);
    }
    pthread_mutex_unlock(&table->lock);
    if (!room)
        expectation_free(e);
    return room;
}

static bool fits(const struct expectation *e, const struct flow *flow, enum direction direction,
                 const struct ip *low, const struct ip *high)
{
    return ip_equal(&e->low, low) && ip_equal(&e->high, high) &&
           (e->what.directions & APP_DIRECTION_BIT(direction)) != 0 &&
           (e->what.src_port == 0 || e->what.src_port == flow->key.src_port) &&
           (e->what.dst_port == 0 || e->what.dst_port == flow->key.dst_port);
}

bool app_expectations_claim(struct app_expectations *table, const struct flow *flow,
                            enum direction direction, uint64_t now_us, struct app_claim *out)
{
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

        if (!found && fits(e, flow, direction, low, high)) {
            *out = (struct app_claim){ .proto = e->what.proto, .data = e->what.data,
                                       .free_data = e->what.free_data,
                                       .parent_id = e->parent_id };
            e->what.data = NULL;
            found = true;
            remove_at(table, bucket, link);
        } else if (now_us > e->made_us + TIMEOUT_US) {
            remove_at(table, bucket, link);
        } else {
            link = &e->next;
        }
    }
    pthread_mutex_unlock(&table->lock);
    return found;
}

static void set_counter(struct app_thread *at)
{
    counter_set(at->counters, at->conf->expectation_counter,
                app_expectations_count(at->conf->expectations));
}

static void hold(struct app_expected_held **held, const struct app_claim *found)
{
    app_expected_free(held);
    if (found->data == NULL)
        return;
    *held = lib_malloc(sizeof(**held));
    if (*held == NULL)
        data_free(found->data, found->free_data);
    else
        **held = (struct app_expected_held){ found->data, found->free_data };
}

enum app_proto_id app_claim_expected(struct app_thread *at, struct packet *p,
                                     enum direction direction, struct app_expected_held **held)
{
    struct flow *flow = p->flow;
    struct app_claim found;

    if (p->lane != NULL) {
        if (LIKELY(!may_be_announced(at->conf->expectations, p)))
            return APP_PROTO_UNKNOWN;
        packet_take_turn(p);
    }
    if (!app_expectations_claim(at->conf->expectations, flow, direction, p->time_us, &found))
        return APP_PROTO_UNKNOWN;
    set_counter(at);
    hold(held, &found);
    flow->parent_id = found.parent_id;
    for (unsigned d = 0; d < 2; d++)
        if (flow->app_proto_dir[d] == APP_PROTO_UNKNOWN)
            flow->app_proto_dir[d] = (uint16_t)found.proto;
    return found.proto;
}

void app_expected_free(struct app_expected_held **held)
{
    if (*held == NULL)
        return;
    data_free((*held)->data, (*held)->free_data);
    lib_free(*held);
    *held = NULL;
}

/* --- for parsers ------------------------------------------------------------------------------ */

bool app_expect(struct app_flow *af, const struct app_expected *expected)
{
    const struct packet *p = af->thread->packet;
    bool added;

    if (p != NULL)
        packet_take_turn(p);
    added = app_expectations_add(af->thread->conf->expectations, af->flow, expected,
                                      p != NULL ? p->time_us : 0);

    set_counter(af->thread);
    return added;
}

void *app_expected_data(struct app_flow *af)
{
    const struct app_expected_held *held = app_session_of(af)->expected;

    return held != NULL ? held->data : NULL;
}
