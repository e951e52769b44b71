/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/scheduler.c - chooses the thread of a packet: the schedulers as a table of functions.
 *
 * Producers of a stage call one scheduler at the same time, without a lock. Fixed schedulers only
 * read. Those that remember flows (round-robin, least-loaded) change a bucket with one
 * compare-and-swap. All keep a flow, in both directions, on one thread. */
#include "engine/scheduler.h"

#include "base/array.h"
#include "base/text/bytes.h"
#include "engine/run_mode.h"
#include "packet/flow_hash.h"
#include "packet/seqno.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The largest prime below 256. */
#define XOR_PRIME 251
/* Flows should rarely share a bucket, because all flows of a bucket go to one thread. */
#define FLOW_BUCKETS 65536

/* Each packet reads its bucket at a random address, so a bucket is small. It holds the consumer and
 * the epoch of its last use. EPOCHS_IDLE epochs make up the longest idle time of a flow. The epoch
 * wraps after 32: a bucket that was idle for exactly one round looks young and keeps its thread,
 * which is harmless. */
#define CONSUMER_BITS 11
#define EPOCHS (1u << (16 - CONSUMER_BITS))
#define EPOCHS_IDLE 4u
_Static_assert(THREADS_MAX < (1 << CONSUMER_BITS), "a consumer and 0 fit");

struct algorithm {
    const char *name;
    unsigned (*pick)(struct scheduler *scheduler, const struct packet *p);
};

struct scheduler {
    const struct algorithm *algorithm;
    struct scheduler_conf conf;
    uint16_t bucket[SCHEDULER_BUCKETS];      /* consumer; fixed schedulers */
    uint16_t *flow_bucket;              /* last epoch << CONSUMER_BITS | consumer + 1; 0: free */
    uint32_t epoch_s;                   /* 0: a bucket is never free again */
    uint32_t next;                      /* round-robin */
};

/* The tuple that identifies the packet's flow. An ICMP error belongs to the flow that it quotes. */
struct tuple {
    struct ip a, b;
    uint16_t a_port, b_port;
    uint8_t proto;
};

/* The first four bytes of TCP, UDP and SCTP are the ports. RFC 792 guarantees 8 bytes of the quoted
 * payload; a shorter quote gives ports 0. */
static void tuple_ports(struct tuple *t, struct bytes in)
{
    if (t->proto != 6 && t->proto != 17 && t->proto != 132)
        return;
    t->a_port = take_be16(&in);
    t->b_port = take_be16(&in);
}

/* The quoted header of an ICMP error is hostile input like any other: its length is checked before
 * the addresses are read, and IHL only moves the cursor. */
static bool tuple_embedded(struct tuple *t, const struct packet *p)
{
    struct bytes in = bytes_of(p->icmp.embedded, p->icmp.embedded_len);
    unsigned version = peek_u8(&in) >> 4;

    if (version == 4 && bytes_have(&in, 20)) {
        const uint8_t *h = in.next;

        *t = (struct tuple){ .a = ip_v4(h + 12), .b = ip_v4(h + 16), .proto = h[9] };
        take_skip(&in, (h[0] & 15u) * 4u);
    } else if (version == 6 && bytes_have(&in, 40)) {
        const uint8_t *h = in.next;

        *t = (struct tuple){ .a = ip_v6(h + 8), .b = ip_v6(h + 24), .proto = h[6] };
        take_skip(&in, 40);
    } else {
        return false;
    }
    tuple_ports(t, in);
    return true;
}

static void tuple_of(struct tuple *t, const struct packet *p)
{
    if ((p->flags & PACKET_ICMP_ERROR) != 0 && p->icmp.embedded != NULL && tuple_embedded(t, p))
        return;
    *t = (struct tuple){ .a = p->src, .b = p->dst, .a_port = p->src_port, .b_port = p->dst_port,
                         .proto = p->ip_proto };
}

/* Symmetric: both directions have the same key. */
static uint32_t pair_key(const struct tuple *t)
{
    return host_pair_hash(&t->a, &t->b);
}

static unsigned pick_fixed(struct scheduler *scheduler, uint32_t key)
{
    return scheduler->bucket[scheduler_bucket(key)];
}

static unsigned pick_hash(struct scheduler *scheduler, const struct packet *p)
{
    return pick_fixed(scheduler, p->flow_hash);
}

static unsigned pick_ippair(struct scheduler *scheduler, const struct packet *p)
{
    struct tuple t;

    tuple_of(&t, p);
    return pick_fixed(scheduler, pair_key(&t));
}

/* Control connections use port 21, active data connections port 20, passive ones two high ports.
 * The two must meet on one thread, because the control connection announces the data connection. */
static bool may_be_ftp(const struct tuple *t)
{
    uint16_t a = t->a_port, b = t->b_port;

    return t->proto == 6 &&
           ((a >= 1024 && b >= 1024) || a == 21 || b == 21 || a == 20 || b == 20);
}

static unsigned pick_ftp_hash(struct scheduler *scheduler, const struct packet *p)
{
    struct tuple t;

    tuple_of(&t, p);
    return pick_fixed(scheduler, may_be_ftp(&t) ? pair_key(&t) : p->flow_hash);
}

/* XORs addresses and ports and takes the remainder. The modulus is prime, because a remainder by a
 * power of two would only keep the low bits. */
static unsigned pick_xor(struct scheduler *scheduler, const struct packet *p)
{
    struct tuple t;
    uint32_t sum = 0;

    tuple_of(&t, p);
    for (unsigned i = 0; i < 4; i++)
        sum ^= t.a.w[i] ^ t.b.w[i];
    sum ^= (uint32_t)(t.a_port ^ t.b_port) << 8;
    return sum % XOR_PRIME % scheduler->conf.consumers;
}

/* Wraps at 2^32; that changes the order once, which does not matter. */
static unsigned next_thread(struct scheduler *scheduler)
{
    return __atomic_fetch_add(&scheduler->next, 1, __ATOMIC_RELAXED) % scheduler->conf.consumers;
}

/* Starts at another thread each time, so that equal loads are shared evenly. */
static unsigned least_loaded(struct scheduler *scheduler)
{
    unsigned start = next_thread(scheduler), best = start;
    uint64_t best_load = UINT64_MAX;

    for (unsigned i = 0; i < scheduler->conf.consumers; i++) {
        unsigned consumer = (start + i) % scheduler->conf.consumers;
        uint64_t load = scheduler->conf.load != NULL
                            ? scheduler->conf.load(scheduler->conf.load_arg, consumer)
                            : 0;

        if (load < best_load) {
            best = consumer;
            best_load = load;
        }
    }
    return best;
}

static uint64_t packet_time_s(const struct packet *p)
{
    return packet_order_us(p) / 1000000;
}

/* A bucket that was idle for longer than any flow may live holds no flow and gets a thread again.
 * Pseudo packets follow their flow, however old it is. If another producer changes the bucket
 * first, its choice wins. */
static unsigned pick_following(struct scheduler *scheduler, const struct packet *p,
                               unsigned (*choose)(struct scheduler *scheduler))
{
    uint16_t *at = &scheduler->flow_bucket[(uint32_t)(p->flow_hash * 0x9e3779b1u) >> 16];
    uint16_t was = __atomic_load_n(at, __ATOMIC_RELAXED), is;
    unsigned epoch = scheduler->epoch_s > 0 ? (unsigned)(packet_time_s(p) / scheduler->epoch_s) : 0;
    unsigned consumer = was & ((1u << CONSUMER_BITS) - 1);
    unsigned age = (epoch - (was >> CONSUMER_BITS)) % EPOCHS;

    if (LIKELY(consumer != 0 && (age == 0 || (p->flags & PACKET_PSEUDO))))
        return consumer - 1;
    /* The latest packet may be older than the one before it: the difference is negative, not an
     * age. */
    if (consumer == 0 || (age > EPOCHS_IDLE && age < EPOCHS - 1))
        consumer = choose(scheduler) + 1;
    is = (uint16_t)(epoch % EPOCHS << CONSUMER_BITS | consumer);
    if (__atomic_compare_exchange_n(at, &was, is, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        was = is;
    return (was & ((1u << CONSUMER_BITS) - 1)) - 1;
}

static unsigned pick_round_robin(struct scheduler *scheduler, const struct packet *p)
{
    return pick_following(scheduler, p, next_thread);
}

static unsigned pick_least_loaded(struct scheduler *scheduler, const struct packet *p)
{
    return pick_following(scheduler, p, least_loaded);
}

/* The capture queue of a packet is that of its pool; a packet from a tunnel has its outer
 * packet's. */
static unsigned pick_capture(struct scheduler *scheduler, const struct packet *p)
{
    const struct packet_pool *pool = p->root != NULL ? p->root->pool : p->pool;

    for (unsigned i = 0; i < scheduler->conf.pool_count; i++)
        if (scheduler->conf.pools[i] == pool)
            return i % scheduler->conf.consumers;
    return 0;
}

/* Names as in `autofp-scheduler` and `balance`. active-packets is a name of older Suricata
 * versions. */
static const struct algorithm algorithms[] = {
    { "hash", pick_hash },
    { "flow-hash", pick_hash },
    { "ippair", pick_ippair },
    { "ftp-hash", pick_ftp_hash },
    { "xor-251", pick_xor },
    { "round-robin", pick_round_robin },
    { "active-packets", pick_least_loaded },
    { "least-loaded", pick_least_loaded },
    { "capture", pick_capture },
};

static const struct algorithm *algorithm_find(const char *name)
{
    for (unsigned i = 0; i < ARRAY_LEN(algorithms); i++)
        if (strcasecmp(algorithms[i].name, name) == 0)
            return &algorithms[i];
    return NULL;
}

bool scheduler_known(const char *scheduler)
{
    return algorithm_find(scheduler) != NULL;
}

/* An unknown name cannot reach this: the plan rejects it. `hash` is the fallback. */
struct scheduler *scheduler_new(const struct scheduler_conf *conf)
{
    struct scheduler *scheduler = xcalloc(1, sizeof(*scheduler));

    scheduler->conf = *conf;
    scheduler->algorithm = algorithm_find(conf->scheduler != NULL ? conf->scheduler : "hash");
    if (scheduler->algorithm == NULL)
        scheduler->algorithm = &algorithms[0];
    for (unsigned i = 0; i < SCHEDULER_BUCKETS; i++)
        scheduler->bucket[i] = (uint16_t)(i % conf->consumers);
    if (scheduler->algorithm->pick == pick_round_robin ||
        scheduler->algorithm->pick == pick_least_loaded)
        scheduler->flow_bucket = xcalloc(FLOW_BUCKETS, sizeof(scheduler->flow_bucket[0]));
    scheduler->epoch_s = (conf->idle_s + EPOCHS_IDLE - 1) / EPOCHS_IDLE;
    return scheduler;
}

void scheduler_free(struct scheduler *scheduler)
{
    if (scheduler == NULL)
        return;
    free(scheduler->flow_bucket);
    free(scheduler);
}

/* Hash 0 means that the packet belongs to no flow; thread 0 takes all of these, in order. */
unsigned scheduler_pick(struct scheduler *scheduler, const struct packet *p)
{
    if (UNLIKELY(p->flow_hash == 0 && scheduler->algorithm->pick != pick_capture))
        return 0;
    return scheduler->algorithm->pick(scheduler, p);
}

const char *scheduler_name(const struct scheduler *scheduler)
{
    return scheduler->algorithm->name;
}
