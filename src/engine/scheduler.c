/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/scheduler.c - keys, buckets, and the schedulers as a table of functions. */
#include "engine/scheduler.h"

#include "base/array.h"
#include "base/bytes.h"
#include "engine/run_mode.h"
#include "packet/flow_hash.h"
#include "packet/turn.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define XOR_PRIME 251
/* Flows with different fates should rarely share a bucket when buckets are filled as flows come. */
#define FLOW_BUCKETS 65536

/* A bucket is asked at random for each packet, so it is small. Its time is in epochs, of which a
 * few make up the longest pause; it wraps, and a bucket that was idle for a whole round is taken
 * for a young one, which costs nothing but a chance to deal it anew. */
#define CONSUMER_BITS 11
#define EPOCHS (1u << (16 - CONSUMER_BITS))
#define EPOCHS_IDLE 4u
_Static_assert(THREADS_MAX < (1 << CONSUMER_BITS), "a consumer and 0 fit");

struct scheduler {
    const char *name;
    unsigned (*pick)(struct deal *deal, const struct packet *p);
};

struct deal {
    const struct scheduler *scheduler;
    struct deal_conf conf;
    uint16_t bucket[DEAL_BUCKETS];      /* consumer; fixed schedulers */
    uint16_t *flow_bucket;              /* last epoch << CONSUMER_BITS | consumer + 1; 0: free */
    uint32_t epoch_s;                   /* 0: a bucket is never free again */
    uint32_t turn;                      /* round-robin */
};

/* The tuple by which a packet belongs to its flow; an ICMP error belongs to the one it quotes. */
struct tuple {
    struct ip a, b;
    uint16_t a_port, b_port;
    uint8_t proto;
};

static void tuple_ports(struct tuple *t, struct bytes in)
{
    if (t->proto != 6 && t->proto != 17 && t->proto != 132)
        return;
    t->a_port = take_be16(&in);
    t->b_port = take_be16(&in);
}

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

static uint32_t pair_key(const struct tuple *t)
{
    return host_pair_hash(&t->a, &t->b);
}

static unsigned pick_fixed(struct deal *deal, uint32_t key)
{
    return deal->bucket[deal_bucket(key)];
}

static unsigned pick_hash(struct deal *deal, const struct packet *p)
{
    return pick_fixed(deal, p->flow_hash);
}

static unsigned pick_ippair(struct deal *deal, const struct packet *p)
{
    struct tuple t;

    tuple_of(&t, p);
    return pick_fixed(deal, pair_key(&t));
}

static bool may_be_ftp(const struct tuple *t)
{
    uint16_t a = t->a_port, b = t->b_port;

    return t->proto == 6 &&
           ((a >= 1024 && b >= 1024) || a == 21 || b == 21 || a == 20 || b == 20);
}

static unsigned pick_ftp_hash(struct deal *deal, const struct packet *p)
{
    struct tuple t;

    tuple_of(&t, p);
    return pick_fixed(deal, may_be_ftp(&t) ? pair_key(&t) : p->flow_hash);
}

/* Byte by byte, as in the flow-pinning literature: a remainder keeps all bits of the sum only
 * when the modulus is prime. */
static unsigned pick_xor(struct deal *deal, const struct packet *p)
{
    struct tuple t;
    uint32_t sum = 0;

    tuple_of(&t, p);
    for (unsigned i = 0; i < 4; i++)
        sum ^= t.a.w[i] ^ t.b.w[i];
    sum ^= (uint32_t)(t.a_port ^ t.b_port) << 8;
    return sum % XOR_PRIME % deal->conf.consumers;
}

static unsigned next_in_turn(struct deal *deal)
{
    return __atomic_fetch_add(&deal->turn, 1, __ATOMIC_RELAXED) % deal->conf.consumers;
}

static unsigned least_loaded(struct deal *deal)
{
    unsigned start = next_in_turn(deal), best = start;
    uint64_t best_load = UINT64_MAX;

    for (unsigned i = 0; i < deal->conf.consumers; i++) {
        unsigned consumer = (start + i) % deal->conf.consumers;
        uint64_t load = deal->conf.load != NULL ? deal->conf.load(deal->conf.load_arg, consumer)
                                                : 0;

        if (load < best_load) {
            best = consumer;
            best_load = load;
        }
    }
    return best;
}

/* Where packets stand in an order its time counts, which never goes back, whatever they say. */
static uint64_t deal_time_s(const struct packet *p)
{
    uint64_t us = p->order != 0 ? order_time_us(p->order) : p->time_us;

    return us / 1000000;
}

/* A bucket idle for longer than any flow may live holds no flow and is dealt anew. Packets of ours
 * follow their flow. */
static unsigned pick_following(struct deal *deal, const struct packet *p,
                               unsigned (*choose)(struct deal *deal))
{
    uint16_t *at = &deal->flow_bucket[(uint32_t)(p->flow_hash * 0x9e3779b1u) >> 16];
    uint16_t was = __atomic_load_n(at, __ATOMIC_RELAXED), is;
    unsigned epoch = deal->epoch_s > 0 ? (unsigned)(deal_time_s(p) / deal->epoch_s) : 0;
    unsigned consumer = was & ((1u << CONSUMER_BITS) - 1);
    unsigned age = (epoch - (was >> CONSUMER_BITS)) % EPOCHS;

    if (LIKELY(consumer != 0 && (age == 0 || (p->flags & PACKET_PSEUDO))))
        return consumer - 1;
    /* The latest packet may be older than the one before: that is no age. */
    if (consumer == 0 || (age > EPOCHS_IDLE && age < EPOCHS - 1))
        consumer = choose(deal) + 1;
    is = (uint16_t)(epoch % EPOCHS << CONSUMER_BITS | consumer);
    if (__atomic_compare_exchange_n(at, &was, is, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        was = is;
    return (was & ((1u << CONSUMER_BITS) - 1)) - 1;
}

static unsigned pick_round_robin(struct deal *deal, const struct packet *p)
{
    return pick_following(deal, p, next_in_turn);
}

static unsigned pick_least_loaded(struct deal *deal, const struct packet *p)
{
    return pick_following(deal, p, least_loaded);
}

static unsigned pick_capture(struct deal *deal, const struct packet *p)
{
    const struct packet_pool *home = p->root != NULL ? p->root->home : p->home;

    for (unsigned i = 0; i < deal->conf.pool_count; i++)
        if (deal->conf.pools[i] == home)
            return i % deal->conf.consumers;
    return 0;
}

static const struct scheduler schedulers[] = {
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

static const struct scheduler *scheduler_find(const char *name)
{
    for (unsigned i = 0; i < ARRAY_LEN(schedulers); i++)
        if (strcasecmp(schedulers[i].name, name) == 0)
            return &schedulers[i];
    return NULL;
}

bool deal_known(const char *scheduler)
{
    return scheduler_find(scheduler) != NULL;
}

struct deal *deal_new(const struct deal_conf *conf)
{
    struct deal *deal = xcalloc(1, sizeof(*deal));

    deal->conf = *conf;
    deal->scheduler = scheduler_find(conf->scheduler != NULL ? conf->scheduler : "hash");
    if (deal->scheduler == NULL)
        deal->scheduler = &schedulers[0];
    for (unsigned i = 0; i < DEAL_BUCKETS; i++)
        deal->bucket[i] = (uint16_t)(i % conf->consumers);
    if (deal->scheduler->pick == pick_round_robin || deal->scheduler->pick == pick_least_loaded)
        deal->flow_bucket = xcalloc(FLOW_BUCKETS, sizeof(deal->flow_bucket[0]));
    deal->epoch_s = (conf->idle_s + EPOCHS_IDLE - 1) / EPOCHS_IDLE;
    return deal;
}

void deal_free(struct deal *deal)
{
    if (deal == NULL)
        return;
    free(deal->flow_bucket);
    free(deal);
}

unsigned deal_packet(struct deal *deal, const struct packet *p)
{
    if (UNLIKELY(p->flow_hash == 0 && deal->scheduler->pick != pick_capture))
        return 0;
    return deal->scheduler->pick(deal, p);
}

const char *deal_name(const struct deal *deal)
{
    return deal->scheduler->name;
}
