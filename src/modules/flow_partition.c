/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/flow_partition.c - whose a frame is, among threads that read one file. */
#include "modules/flow_partition.h"

#include "app/session.h"
#include "base/array.h"
#include "packet/decode/peek.h"

#include <stdlib.h>

/* Whose the flows of a hash are. Set once, by the thread that meets the first of them first. */
#define CLAIM_BITS 16
struct file_claims {
    uint32_t users;                             /* atomic */
    CACHE_ALIGNED uint16_t owner[1 << CLAIM_BITS];  /* thread + 1; 0: nobody's yet; atomic */
};

/* A frame that share_takes() has taken. */
struct taken {
    bool is_ours;                   /* and plain; else the decoder knows */
    uint64_t hosts_after;           /* then, of plain frames */
};

struct file_share {
    struct run_context *ctx;
    struct module_env env;
    struct file_claims *claims;
    struct counters *elsewhere;     /* not thread 0: what thread 0 counts */
    ARRAY_OF(struct taken) taken;   /* of this vector */
    struct host_places *plain, *decoded;    /* hosts met by a look, and by the decoder behind it;
                                             * NULL: nobody takes turns, or elsewhere */
    bool decode_all;
};

static struct counters *counters_dummy(void)
{
    struct counters *c = xcalloc(1, sizeof(*c));

    c->value = xcalloc(COUNTERS_MAX, sizeof(c->value[0]));
    c->samples = xcalloc(COUNTERS_MAX, sizeof(c->samples[0]));
    return c;
}

struct file_share *share_new(const struct module_env *env)
{
    struct run_context *ctx = env->context;
    struct file_share *s;

    if (!ctx->shares_file)
        return NULL;
    s = xcalloc(1, sizeof(*s));
    s->ctx = ctx;
    s->env = *env;
    if (ctx->claims == NULL)
        ctx->claims = xaligned(CACHE_LINE, sizeof(*ctx->claims));
    s->claims = ctx->claims;
    __atomic_fetch_add(&s->claims->users, 1, __ATOMIC_RELAXED);
    if (ctx->turns != NULL && ctx->inspects_share)
        s->plain = host_places_new(ctx->turns), s->decoded = host_places_new(ctx->turns);
    if (env->thread > 0)
        s->elsewhere = counters_dummy();
    return s;
}

void share_free(struct file_share *s)
{
    if (s == NULL)
        return;
    if (s->elsewhere != NULL) {
        free(s->elsewhere->value);
        free(s->elsewhere->samples);
        free(s->elsewhere);
    }
    ARRAY_FREE(&s->taken);
    host_places_free(s->plain);
    host_places_free(s->decoded);
    if (__atomic_sub_fetch(&s->claims->users, 1, __ATOMIC_ACQ_REL) == 0) {
        s->ctx->claims = NULL;          /* another run makes its own */
        free(s->claims);
    }
    free(s);
}

struct file_share *share_of(const struct module_env *env)
{
    const struct run_context *ctx = env->context;

    for (unsigned i = 0; i < ctx->queue_count && ctx->shares_file; i++)
        if (ctx->queues[i].pool == env->pool)
            return ctx->queues[i].share;
    return NULL;
}

void share_begin(struct file_share *s)
{
    s->taken.count = 0;
}

/* Announcements are seen by all, whoever's packet they are in. */
static void note(const struct file_share *s, const struct packet_peek *peek, uint64_t order)
{
    const struct run_context *ctx = s->ctx;

    if (!peek->is_tcp || ctx->turns == NULL || ctx->app == NULL ||
        LIKELY(!expectation_parent_is_likely(ctx->app, peek->payload, peek->payload_len)))
        return;
    expectation_parent_add(ctx->app, &(struct expectation_opening){
        packet_peek_src(peek), packet_peek_dst(peek), peek->flow_hash, order, false });
}

static bool is_ours(const struct file_share *s, uint32_t flow_hash)
{
    uint16_t *at = &s->claims->owner[(flow_hash * 0x9e3779b1u) >> (32 - CLAIM_BITS)];
    uint16_t mine = (uint16_t)(s->env.thread + 1), was = __atomic_load_n(at, __ATOMIC_RELAXED);

    if (UNLIKELY(flow_hash == 0))
        return s->env.thread == 0;
    if (UNLIKELY(was == 0) && __atomic_compare_exchange_n(at, &was, mine, false, __ATOMIC_RELAXED,
                                                          __ATOMIC_RELAXED))
        return true;
    return was == mine;
}

/* The packet.hosts_after of one that is ours. */
static uint64_t meet_hosts(struct host_places *hosts, const struct ip *src, const struct ip *dst,
                           uint64_t order, bool ours)
{
    if (hosts == NULL)
        return 0;
    if (ours)
        return host_places_own(hosts, src, dst, order);
    host_places_other(hosts, src, dst, order);
    return 0;
}

/* Ours or not, of a plain frame. */
static struct taken look_at(struct file_share *s, const struct packet_peek *peek, uint64_t order)
{
    struct ip src = packet_peek_src(peek), dst = packet_peek_dst(peek);
    struct taken out = { .is_ours = is_ours(s, peek->flow_hash) };

    note(s, peek, order);
    out.hosts_after = meet_hosts(s->plain, &src, &dst, order, out.is_ours);
    return out;
}

static bool takes(struct file_share *s, enum datalink link, const uint8_t *frame, uint32_t len,
                  uint64_t order)
{
    struct taken taken = { .is_ours = false };
    struct packet_peek peek;

    if (LIKELY(!s->decode_all && packet_peek(s->ctx->decode, link, frame, len, &peek))) {
        taken = look_at(s, &peek, order);
        if (!taken.is_ours)
            return false;
    }
    ARRAY_PUSH(&s->taken, taken);
    return true;
}

/* Who waits for us waits shorter when we do not fill the vector first with what stands behind. */
unsigned share_takes(void *share, enum datalink link, const uint8_t *frame, uint32_t len,
                     uint64_t order)
{
    struct file_share *s = share;
    unsigned choice = takes(s, link, frame, len, order) ? CAPTURE_OURS : 0;

    if (s->ctx->turns != NULL && UNLIKELY(turns_wait_for(s->ctx->turns, order)))
        choice |= CAPTURE_HAND_OFF;
    return choice;
}

enum share_answer share_look(struct file_share *s, unsigned number, struct packet *p)
{
    struct taken taken = s->taken.at[number];
    struct packet_peek peek;

    if (UNLIKELY(!taken.is_ours)) {
        if (s->decode_all ||
            !packet_peek(s->ctx->decode, (enum datalink)p->datalink, p->data, p->len, &peek))
            return SHARE_DECODE;
        /* it was taken when all were decoded */
        taken = look_at(s, &peek, p->order);
    }
    p->hosts_after = taken.hosts_after;
    return taken.is_ours ? SHARE_OURS : SHARE_FOREIGN;
}

static uint64_t later(uint64_t one, uint64_t other)
{
    return one != 0 && other != 0 ? MAX(one, other) : 0;
}

void share_decoded(struct file_share *s, struct packet *p)
{
    if (s->decoded != NULL)
        p->hosts_after = later(p->hosts_after,
                               host_places_own(s->decoded, &p->src, &p->dst, p->order));
}

bool share_has(struct file_share *s, struct packet *p)
{
    bool ours = is_ours(s, p->flow_hash);
    uint64_t decoded = meet_hosts(s->decoded, &p->src, &p->dst, p->order, ours);

    /* plain frames have been looked at to the end of the vector; what is behind p is too late */
    if (ours && s->plain != NULL)
        p->hosts_after = later(decoded, host_places_last(s->plain, &p->src, &p->dst));
    return ours;
}

void share_decode_all(struct file_share *s, bool on)
{
    s->decode_all = on;
}

struct counters *share_counters(struct file_share *s)
{
    return s->elsewhere != NULL ? s->elsewhere : s->env.counters;
}
