/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/expectation_parents.c - between which hosts there is a connection that may announce others.
 *
 * Those who read a file see all packets before they are inspected, and note each that begins as an
 * announcing protocol does. When the connection ends it is forgotten, by the thread that inspects
 * it and in its place in the order: whoever stands behind that has noted all that stands before.
 * Several threads may note the same packets, each in their order; what one of them has noted the
 * others pass over, or one that lags behind would bring back what is over.
 *
 * Connections go by their hash. Two of the same hosts and hash count as one, and are forgotten
 * together; that others are not waited for needs the same 32 bits on both. */
#include "app/private.h"

#include "base/array.h"
#include "packet/flow_hash.h"
#include "packet/turn.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

/* So few bytes of a pattern tell enough. */
#define OPENING 3
#define PAIR_BITS 14                        /* of hosts, by hash */
#define PAIR_OPENERS 3                      /* more at once are never forgotten */
#define OPENERS_MANY UINT32_MAX

struct opener {
    uint64_t order;                         /* of its newest opening; 0: free */
    uint32_t flow_hash;
    bool anywhere;                          /* another of this hash may be another thread's */
};

struct pair {
    uint64_t noted;                         /* all openings up to this place; atomic */
    uint32_t only;                          /* the one opener's hash; 0: there is none; atomic */
    bool stays;                             /* some are not among these */
    struct opener opener[PAIR_OPENERS];
};

struct app_openers {
    ARRAY_OF(const char *) openings;        /* of connections that may announce others */
    bool opens[256];                        /* by first byte */
    uint32_t pairs_open;                    /* written under the lock; atomic */
    pthread_mutex_t lock;
    struct pair pair[1u << PAIR_BITS];      /* written under the lock */
};

static void add_opening(struct app_openers *openers, const char *bytes)
{
    ARRAY_PUSH(&openers->openings, bytes);
    openers->opens[toupper((unsigned char)bytes[0])] = true;
    openers->opens[tolower((unsigned char)bytes[0])] = true;
}

struct app_openers *app_openers_new(void)
{
    struct app_openers *openers = xcalloc(1, sizeof(*openers));

    pthread_mutex_init(&openers->lock, NULL);
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        if (proto == NULL || !proto->announces)
            continue;
        for (const struct app_pattern *at = proto->patterns; at->bytes != NULL; at++)
            add_opening(openers, at->bytes);
    }
    return openers;
}

void app_openers_free(struct app_openers *openers)
{
    if (openers == NULL)
        return;
    ARRAY_FREE(&openers->openings);
    pthread_mutex_destroy(&openers->lock);
    free(openers);
}

/* A first segment may hold less than an opening. */
static bool is_opening(const struct app_openers *openers, const uint8_t *payload, uint32_t len)
{
    size_t n = MIN(len, (uint32_t)OPENING);

    for (size_t i = 0; i < openers->openings.count; i++)
        if (strncasecmp(openers->openings.at[i], (const char *)payload, n) == 0)
            return true;
    return false;
}

bool app_note_wanted(const struct app_conf *conf, const uint8_t *payload, uint32_t len)
{
    const struct app_openers *openers = conf->openers;

    return len > 0 && UNLIKELY(openers->opens[payload[0]]) && is_opening(openers, payload, len);
}

static struct pair *pair_of(struct app_openers *openers, const struct ip *src,
                            const struct ip *dst)
{
    return &openers->pair[host_pair_hash(src, dst) >> (32 - PAIR_BITS)];
}

static uint32_t only_opener(const struct pair *pair)
{
    uint32_t only = 0;

    for (unsigned i = 0; i < PAIR_OPENERS; i++) {
        if (pair->opener[i].order == 0)
            continue;
        if (only != 0 || pair->opener[i].anywhere)
            return OPENERS_MANY;
        only = pair->opener[i].flow_hash;
    }
    return pair->stays ? OPENERS_MANY : only;
}

/* Who finds nobody here sees what they have announced. */
static void pair_changed(struct app_openers *openers, struct pair *pair)
{
    uint32_t was = pair->only, is = only_opener(pair);

    __atomic_store_n(&pair->only, is, __ATOMIC_RELEASE);
    if ((was != 0) != (is != 0))
        __atomic_fetch_add(&openers->pairs_open, is != 0 ? 1u : UINT32_MAX, __ATOMIC_RELAXED);
}

static void add_opener(struct pair *pair, const struct app_opening *o)
{
    struct opener *to = NULL;

    for (unsigned i = 0; i < PAIR_OPENERS; i++) {
        struct opener *at = &pair->opener[i];

        if (at->order != 0 && at->flow_hash == o->flow_hash) {
            at->order = o->order;
            return;
        }
        if (at->order == 0)
            to = at;
    }
    if (to != NULL && o->flow_hash != 0)
        *to = (struct opener){ o->order, o->flow_hash, o->anywhere };
    else
        pair->stays = true;
}

void app_note_opening(const struct app_conf *conf, const struct app_opening *o)
{
    struct app_openers *openers = conf->openers;
    struct pair *pair = pair_of(openers, &o->src, &o->dst);

    if (o->order <= __atomic_load_n(&pair->noted, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&openers->lock);
    if (o->order > pair->noted) {
        add_opener(pair, o);
        pair_changed(openers, pair);
        __atomic_store_n(&pair->noted, o->order, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&openers->lock);
}

void app_note_packet(const struct app_conf *conf, const struct packet *p, bool anywhere)
{
    if (packet_is_tcp(p) && app_note_wanted(conf, p->payload, p->payload_len))
        app_note_opening(conf, &(struct app_opening){ p->src, p->dst, p->flow_hash, p->order,
                                                      anywhere });
}

static COLD void forget(struct app_openers *openers, struct pair *pair, const struct packet *p)
{
    pthread_mutex_lock(&openers->lock);
    for (unsigned i = 0; i < PAIR_OPENERS; i++) {
        struct opener *at = &pair->opener[i];

        if (at->order != 0 && at->flow_hash == p->flow_hash && at->order <= p->order)
            at->order = 0;
    }
    pair_changed(openers, pair);
    pthread_mutex_unlock(&openers->lock);
}

void app_forget_opener(const struct app_conf *conf, const struct packet *p)
{
    struct app_openers *openers = conf->openers;
    struct pair *pair;
    uint32_t only;

    if (LIKELY(__atomic_load_n(&openers->pairs_open, __ATOMIC_RELAXED) == 0))
        return;
    pair = pair_of(openers, &p->src, &p->dst);
    only = __atomic_load_n(&pair->only, __ATOMIC_RELAXED);
    if (only == OPENERS_MANY || (only != 0 && only == p->flow_hash))
        forget(openers, pair, p);
}

enum app_opened app_openers_of(struct app_openers *openers, const struct packet *p)
{
    uint32_t only = __atomic_load_n(&pair_of(openers, &p->src, &p->dst)->only, __ATOMIC_ACQUIRE);

    if (only == 0)
        return OPENED_BY_NOBODY;
    return only == p->flow_hash && only != OPENERS_MANY ? OPENED_BY_ITSELF : OPENED_BY_OTHERS;
}
