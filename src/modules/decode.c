/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/decode.c - the decoder as a thread module, and two things that are known only behind
 * it: which flows are this thread's when several read one file, and whether a file was captured
 * with checksum offloading. */
#include "base/array.h"
#include "base/log.h"
#include "engine/deal.h"
#include "engine/engine.h"
#include "modules/context.h"
#include "modules/share.h"
#include "packet/checksum.h"

#include <stdlib.h>
#include <string.h>

/* checksum-checks: auto. More than one in ten of the first thousand packets wrong means that the
 * sender's card was to fill them in. */
#define CHECKSUM_SAMPLE 1000
#define CHECKSUM_RATIO 10

/* What a packet is taken to cost, in bytes: its way through the engine and its content. */
#define COST_OF_PACKET 512

/* So many inner packets there never are: the frame is not judged on this thread. */
#define JUDGED_ELSEWHERE 0x8000

enum checksum_mode { CHECKSUM_AS_IS, CHECKSUM_SAMPLING, CHECKSUM_OFF, CHECKSUM_ASK };

struct decode_module {
    const struct run_context *ctx;
    struct module_env env;
    struct counters *counters;
    struct decoder *decoder;
    enum checksum_mode checksums;
    unsigned sampled, bad;
    struct deal *deal;              /* NULL: all packets are ours */
    uint64_t *cost;                 /* dealt so far, by thread */
};

/* libpcap does not tell whose checksum a card will fill in; other live captures do. */
static bool is_auto_live(const struct run_context *ctx)
{
    if (strcmp(ctx->capture->name, "pcap") != 0)
        return false;
    CONF_EACH(item, conf_find(ctx->conf, "pcap"))
        if (!text_equal_nocase(text_of(conf_string(item, "checksum-checks", "auto")), "auto"))
            return false;
    return true;
}

static enum checksum_mode checksum_mode(const struct run_context *ctx)
{
    const char *value = conf_string(ctx->conf, "pcap-file.checksum-checks", "auto");

    if (ctx->capture->asks_checksums)
        return CHECKSUM_ASK;
    if (ctx->offline ? text_equal_nocase(text_of(value), "auto") : is_auto_live(ctx))
        return CHECKSUM_SAMPLING;
    return CHECKSUM_AS_IS;
}

static uint64_t cost_of(void *arg, unsigned consumer)
{
    const struct decode_module *m = arg;

    return m->cost[consumer];
}

/* All threads see the same packets in the same order, so that each knows what was dealt to the
 * others, and a new flow can go to whom has least, with no word between them. */
static void open_deal(struct decode_module *m)
{
    m->cost = xcalloc(m->env.thread_count, sizeof(m->cost[0]));
    m->deal = deal_new(&(struct deal_conf){
        .scheduler = "least-loaded", .consumers = m->env.thread_count, .load = cost_of,
        .load_arg = m, .idle_s = engine_flow_idle_s(m->ctx->conf) });
}

static void *decode_open(const struct module_env *env, struct err *err)
{
    struct decode_module *m = xcalloc(1, sizeof(*m));

    (void)err;
    m->ctx = env->context;
    m->env = *env;
    m->counters = share_counters(env);
    m->checksums = checksum_mode(m->ctx);
    m->decoder = decoder_new(m->ctx->decode, env->pool, m->counters);
    if (m->ctx->shares_file)
        open_deal(m);
    return m;
}

static void ignore_checksum(struct packet *p)
{
    p->flags |= PACKET_NO_CHECKSUM;
    p->flags &= ~(uint32_t)PACKET_BAD_CHECKSUM;
}

static void ignore_all(struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++)
        ignore_checksum(v->packet[i]);
}

/* The kernel does not say which packets lack their checksum, but these show it. */
static void settle_open(struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i];

        if ((p->flags & PACKET_OPEN_CHECKSUM) == 0)
            continue;
        if (packet_checksum_is_open(p))
            p->flags |= PACKET_NO_CHECKSUM;
        else
            p->flags &= ~(uint32_t)PACKET_OPEN_CHECKSUM;
    }
}

static COLD void judge_sample(struct decode_module *m)
{
    m->checksums = m->bad > 0 && CHECKSUM_SAMPLE / m->bad < CHECKSUM_RATIO ? CHECKSUM_OFF
                                                                           : CHECKSUM_AS_IS;
    if (m->env.thread == 0 && m->checksums == CHECKSUM_OFF)
        log_info("pcap", "%u of the first %u packets have a wrong checksum: offloading is "
                 "assumed, checksums are not looked at", m->bad, CHECKSUM_SAMPLE);
}

static COLD void sample(struct decode_module *m, const struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i];

        if (m->checksums == CHECKSUM_SAMPLING && p->root == NULL &&
            ++m->sampled == CHECKSUM_SAMPLE)
            judge_sample(m);
        if (m->checksums == CHECKSUM_SAMPLING && packet_is_tcp(p))
            m->bad += !packet_l4_checksum_ok(p);
        /* Live, offloading is what one has to expect until it is known. */
        if (m->checksums == CHECKSUM_OFF ||
            (m->checksums == CHECKSUM_SAMPLING && !m->ctx->offline))
            ignore_checksum(p);
    }
}

/* Of a vector that all threads see, the flows that are ours; packets without one are thread 0's. */
static void keep_share(struct decode_module *m, struct packet_vector *v)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i];
        unsigned thread = deal_packet(m->deal, p);

        m->cost[thread] += COST_OF_PACKET + p->len;
        if (thread == m->env.thread) {
            v->packet[kept++] = p;
            continue;
        }
        p->inner_count = JUDGED_ELSEWHERE;
        packet_release(p, m->env.lane);
    }
    v->count = kept;
}

/* Before any packet moves on: later the inner ones may be on other threads. */
static void count_inner(struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i];

        if (p->root != NULL && p->root != p)
            p->root->inner_count++;
    }
}

static enum module_status decode_process(void *self, struct packet_vector *v)
{
    struct decode_module *m = self;

    if (m->checksums == CHECKSUM_OFF)
        ignore_all(v);
    decode_vector(m->decoder, v);
    if (UNLIKELY(m->checksums == CHECKSUM_SAMPLING))
        sample(m, v);
    if (m->checksums == CHECKSUM_ASK)
        settle_open(v);
    if (m->ctx->turns != NULL && m->ctx->app != NULL)
        for (unsigned i = 0; i < v->count; i++)
            app_note_packet(m->ctx->app, v->packet[i]);
    if (m->deal != NULL)
        keep_share(m, v);
    if (m->ctx->judges)
        count_inner(v);
    return MODULE_OK;
}

/* What follows, if anything does, is another capture. */
static bool decode_flush(void *self, struct packet_vector *v)
{
    struct decode_module *m = self;

    (void)v;
    decoder_forget(m->decoder);
    m->sampled = m->bad = 0;
    m->checksums = checksum_mode(m->ctx);
    return false;
}

static void decode_close(void *self)
{
    struct decode_module *m = self;

    decoder_free(m->decoder);
    deal_free(m->deal);
    free(m->cost);
    share_counters_free(m->counters, &m->env);
    free(m);
}

const struct thread_module module_decode = {
    .name = "decode",
    .doc = "layers located, fragments put together, tunnels opened",
    .makes_packets = true,
    .open = decode_open,
    .process = decode_process,
    .flush = decode_flush,
    .close = decode_close,
};
