/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/expectation_parents.c - the pairs of hosts that have a connection which may create
 * expectations.
 *
 * The scan of a file sees each packet once, in order, before any thread inspects it, and adds each
 * that begins as an announcing protocol does. The thread that inspects the connection removes it
 * when it ends, in its place in the order.
 *
 * Connections go by their hash. Two of the same hosts and hash count as one and are removed
 * together; that others are not waited for needs the same 32 bits on both. */
#include "app/core/expectations.h"
#include "app/core/settings.h"
#include "app/session.h"
#include "base/array.h"
#include "base/containers/hash.h"
#include "packet/flow_hash.h"
#include "sequencer/sequencer.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

/* Bytes of a pattern that are compared: few enough for a short first segment. */
#define OPENING 3
#define PAIR_BITS 14                        /* index bits of the host pair table */
#define PAIR_PARENTS 3 /* more than these set `stays`: the pair has parents for ever */
#define PARENTS_MANY UINT32_MAX

/* One expectation parent. Written under the table's lock only. */
struct parent {
    uint64_t seqno; /* order of its newest opening packet; 0: the slot is free */
    uint32_t flow_hash;
    bool anywhere; /* another connection with this hash may belong to another thread */
};

/* The parents between two hosts; pairs with equal hash bits share one, which only costs waits. */
struct pair {
    uint32_t only;                          /* the one parent's hash; 0: there is none; atomic */
    bool stays;                             /* there are more than these */
    struct parent parent[PAIR_PARENTS];
};

/* Shared by all threads of a run; 2^14 pairs, allocated once, never resized. */
struct expectation_parents {
    ARRAY_OF(const char *) openings;        /* of connections that may announce others */
    bool opens[256];                        /* by first byte */
    uint32_t pairs_open;                    /* written under the lock; atomic */
    pthread_mutex_t lock;
    struct pair pair[1u << PAIR_BITS];      /* written under the lock */
};

/* is_opening() ignores case, so the table of first bytes holds both cases. */
static void add_opening(struct expectation_parents *parents, const char *bytes)
{
    ARRAY_PUSH(&parents->openings, bytes);
    parents->opens[toupper((unsigned char)bytes[0])] = true;
    parents->opens[tolower((unsigned char)bytes[0])] = true;
}

/* Takes the patterns of every protocol that declares `expects`. */
struct expectation_parents *expectation_parents_new(void)
{
    struct expectation_parents *parents = xcalloc(1, sizeof(*parents));

    pthread_mutex_init(&parents->lock, NULL);
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        if (proto == NULL || !proto->expects)
            continue;
        for (const struct app_pattern *at = proto->patterns; at->bytes != NULL; at++)
            add_opening(parents, at->bytes);
    }
    return parents;
}

void expectation_parents_free(struct expectation_parents *parents)
{
    if (parents == NULL)
        return;
    ARRAY_FREE(&parents->openings);
    pthread_mutex_destroy(&parents->lock);
    free(parents);
}

/* A first segment may hold less than an opening. */
static bool is_opening(const struct expectation_parents *parents, const uint8_t *payload,
                       uint32_t len)
{
    size_t n = MIN(len, (uint32_t)OPENING);

    for (size_t i = 0; i < parents->openings.count; i++)
        if (strncasecmp(parents->openings.at[i], (const char *)payload, n) == 0)
            return true;
    return false;
}

/* Called for every TCP packet that a reader sees: one table look-up decides nearly all. A false
 * positive costs waiting, a false negative would lose an expectation, so it matches loosely. */
bool expectation_parent_is_likely(const struct app_conf *conf, const uint8_t *payload, uint32_t len)
{
    const struct expectation_parents *parents = conf->parents;

    return len > 0 && UNLIKELY(parents->opens[payload[0]]) && is_opening(parents, payload, len);
}

static struct pair *pair_of(struct expectation_parents *parents, const struct ip *src,
                            const struct ip *dst)
{
    return &parents->pair[host_pair_hash(src, dst) >> (32 - PAIR_BITS)];
}

/* The summary of a pair that readers take without the lock. */
static uint32_t only_parent(const struct pair *pair)
{
    uint32_t only = 0;

    for (unsigned i = 0; i < PAIR_PARENTS; i++) {
        if (pair->parent[i].seqno == 0)
            continue;
        if (only != 0 || pair->parent[i].anywhere)
            return PARENTS_MANY;
        only = pair->parent[i].flow_hash;
    }
    return pair->stays ? PARENTS_MANY : only;
}

/* Publishes the summary. A thread that reads "none" here also sees what the removed parents have
 * announced: the release pairs with the acquire in expectation_parents_of(). */
static void pair_changed(struct expectation_parents *parents, struct pair *pair)
{
    uint32_t was = pair->only, is = only_parent(pair);

    __atomic_store_n(&pair->only, is, __ATOMIC_RELEASE);
    if ((was != 0) != (is != 0))
        __atomic_fetch_add(&parents->pairs_open, is != 0 ? 1u : UINT32_MAX, __ATOMIC_RELAXED);
}

/* Updates a known connection, else takes a free slot. A hash of 0 cannot be kept apart from "none",
 * so it never leaves the pair either. */
static void add_parent(struct pair *pair, const struct expectation_opening *o)
{
    struct parent *to = NULL;

    for (unsigned i = 0; i < PAIR_PARENTS; i++) {
        struct parent *at = &pair->parent[i];

        if (at->seqno != 0 && at->flow_hash == o->flow_hash) {
            at->seqno = o->seqno;
            return;
        }
        if (at->seqno == 0)
            to = at;
    }
    if (to != NULL && o->flow_hash != 0)
        *to = (struct parent){ o->seqno, o->flow_hash, o->anywhere };
    else
        pair->stays = true;
}

/* Called by readers, in packet order. The first check needs no lock: `noted` only grows, and a
 * reader that lags finds its packet noted already. */
void expectation_parent_add(const struct app_conf *conf, const struct expectation_opening *o)
{
    struct expectation_parents *parents = conf->parents;
    struct pair *pair = pair_of(parents, &o->src, &o->dst);

    pthread_mutex_lock(&parents->lock);
    add_parent(pair, o);
    pair_changed(parents, pair);
    pthread_mutex_unlock(&parents->lock);
}

void expectation_parent_packet(const struct app_conf *conf, const struct packet *p, bool anywhere)
{
    if (packet_is_tcp(p) && expectation_parent_is_likely(conf, p->payload, p->payload_len))
        expectation_parent_add(conf, &(struct expectation_opening){ p->src, p->dst, p->flow_hash,
                                                                    p->seqno, anywhere });
}

/* An opening with a later order stays: it is of a new connection with the same hash. */
static COLD void remove_pair(struct expectation_parents *parents, struct pair *pair,
                             const struct packet *p)
{
    pthread_mutex_lock(&parents->lock);
    for (unsigned i = 0; i < PAIR_PARENTS; i++) {
        struct parent *at = &pair->parent[i];

        if (at->seqno != 0 && at->flow_hash == p->flow_hash && at->seqno <= p->seqno)
            at->seqno = 0;
    }
    pair_changed(parents, pair);
    pthread_mutex_unlock(&parents->lock);
}

/* Called by the inspecting thread when a flow ends. The relaxed loads may be stale, but this
 * thread's own parent is in for certain: its reader noted it before it passed the packet on. */
void expectation_parent_remove(const struct app_conf *conf, const struct packet *p)
{
    struct expectation_parents *parents = conf->parents;
    struct pair *pair;
    uint32_t only;

    if (LIKELY(__atomic_load_n(&parents->pairs_open, __ATOMIC_RELAXED) == 0))
        return;
    pair = pair_of(parents, &p->src, &p->dst);
    only = __atomic_load_n(&pair->only, __ATOMIC_RELAXED);
    if (only == PARENTS_MANY || (only != 0 && only == p->flow_hash))
        remove_pair(parents, pair, p);
}

/* SELF: only this flow can announce between the two hosts. Needs no lock, see pair_changed(). */
enum parent_kind expectation_parents_of(struct expectation_parents *parents, const struct packet *p)
{
    uint32_t only = __atomic_load_n(&pair_of(parents, &p->src, &p->dst)->only, __ATOMIC_ACQUIRE);

    if (only == 0)
        return PARENT_NONE;
    return only == p->flow_hash && only != PARENTS_MANY ? PARENT_SELF : PARENT_OTHERS;
}
