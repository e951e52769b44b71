/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/share.c - whose a frame is, among threads that read one file. */
#include "modules/share.h"

#include "base/array.h"
#include "engine/deal.h"
#include "engine/engine.h"
#include "packet/peek.h"

#include <stdlib.h>

/* What a packet is taken to cost, in bytes: its way through the engine and its content. */
#define COST_OF_PACKET 512

struct file_share {
    const struct run_context *ctx;
    struct module_env env;
    struct deal *deal;
    uint64_t *cost;                 /* dealt so far, by thread */
    struct counters *elsewhere;     /* not thread 0: what thread 0 counts */
    unsigned ours;                  /* of this vector, up to the first that takes the decoder */
    bool behind_other;              /* such a one has been seen */
    bool decode_all;
};

static uint64_t cost_of(void *arg, unsigned consumer)
{
    const struct file_share *s = arg;

    return s->cost[consumer];
}

static struct counters *counters_nowhere(void)
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
    s->cost = xcalloc(env->thread_count, sizeof(s->cost[0]));
    s->deal = deal_new(&(struct deal_conf){
        .scheduler = "least-loaded", .consumers = env->thread_count, .load = cost_of,
        .load_arg = s, .idle_s = engine_flow_idle_s(ctx->conf) });
    if (env->thread > 0)
        s->elsewhere = counters_nowhere();
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
    deal_free(s->deal);
    free(s->cost);
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
    s->ours = 0;
    s->behind_other = false;
}

/* Announcements are seen by all, whoever's packet they are in. */
static void note(const struct file_share *s, const struct packet_peek *peek)
{
    const struct run_context *ctx = s->ctx;
    struct ip src, dst;

    if (!peek->is_tcp || ctx->turns == NULL || ctx->app == NULL ||
        LIKELY(!app_note_wanted(ctx->app, peek->payload, peek->payload_len)))
        return;
    src = packet_peek_src(peek);
    dst = packet_peek_dst(peek);
    app_note_hosts(ctx->app, &src, &dst);
}

static bool deal(struct file_share *s, uint32_t flow_hash, uint64_t time_us, uint32_t len)
{
    unsigned thread = deal_to_least(s->deal, flow_hash, time_us);

    s->cost[thread] += COST_OF_PACKET + len;
    return thread == s->env.thread;
}

bool share_takes(void *share, enum datalink link, const uint8_t *frame, uint32_t len,
                 uint64_t time_us)
{
    struct file_share *s = share;
    struct packet_peek peek;

    if (UNLIKELY(s->behind_other || s->decode_all ||
                 !packet_peek(s->ctx->decode, link, frame, len, &peek))) {
        s->behind_other = true;
        return true;
    }
    note(s, &peek);
    if (!deal(s, peek.flow_hash, time_us, len))
        return false;
    s->ours++;
    return true;
}

unsigned share_ours(const struct file_share *s)
{
    return s->ours;
}

enum share_answer share_look(struct file_share *s, const struct packet *p)
{
    struct packet_peek peek;

    if (s->decode_all ||
        !packet_peek(s->ctx->decode, (enum datalink)p->datalink, p->data, p->len, &peek))
        return SHARE_DECODE;
    note(s, &peek);
    return deal(s, peek.flow_hash, p->time_us, p->len) ? SHARE_OURS : SHARE_FOREIGN;
}

bool share_deal(struct file_share *s, const struct packet *p)
{
    return deal(s, p->flow_hash, p->time_us, p->len);
}

void share_decode_all(struct file_share *s, bool on)
{
    s->decode_all = on;
}

struct counters *share_counters(struct file_share *s)
{
    return s->elsewhere != NULL ? s->elsewhere : s->env.counters;
}
