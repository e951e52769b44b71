/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/decode.c - the decoder as a thread module, and two things that are known only behind
 * it: which flows are this thread's when several read one file, and whether a file was captured
 * with checksum offloading. */
#include "app/session.h"
#include "base/array.h"
#include "base/report/log.h"
#include "modules/context.h"
#include "modules/flow_partition.h"
#include "packet/checksum.h"

#include <stdlib.h>
#include <string.h>

/* checksum-checks: auto. More than one in ten of the first thousand packets wrong means that the
 * sender's card was to fill them in. */
#define CHECKSUM_SAMPLE 1000
#define CHECKSUM_RATIO 10

/* So many inner packets there never are: the frame gets no verdict on this thread. */
#define VERDICT_ELSEWHERE 0x8000

enum checksum_mode { CHECKSUM_AS_IS, CHECKSUM_SAMPLING, CHECKSUM_OFF, CHECKSUM_ASK };

struct decode_module {
    const struct run_context *ctx;
    struct module_env env;
    struct decoder *decoder;
    enum checksum_mode checksums;
    unsigned sampled, bad;
    struct file_share *share;       /* NULL: all packets are ours */
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
    if (ctx->offline && !conf_bool(ctx->conf, "stream.checksum-validation", true))
        return CHECKSUM_AS_IS;      /* nobody counts wrong ones */
    if (ctx->offline ? text_equal_nocase(text_of(value), "auto") : is_auto_live(ctx))
        return CHECKSUM_SAMPLING;
    return CHECKSUM_AS_IS;
}

/* A sample is of all packets. */
static void choose_checksums(struct decode_module *m, enum checksum_mode mode)
{
    m->checksums = mode;
    if (m->share != NULL)
        share_decode_all(m->share, mode == CHECKSUM_SAMPLING);
}

static void *decode_open(const struct module_env *env, struct err *err)
{
    struct decode_module *m = xcalloc(1, sizeof(*m));

    (void)err;
    m->ctx = env->context;
    m->env = *env;
    m->share = share_of(env);
    m->decoder = decoder_new(m->ctx->decode, env->pool,
                             m->share != NULL ? share_counters(m->share) : env->counters);
    choose_checksums(m, checksum_mode(m->ctx));
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
static void resolve_partial_checksums(struct packet_vector *v)
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

static COLD void sample_without_verdict(struct decode_module *m)
{
    choose_checksums(m, m->bad > 0 && CHECKSUM_SAMPLE / m->bad < CHECKSUM_RATIO
                        ? CHECKSUM_OFF : CHECKSUM_AS_IS);
    if (m->env.thread == 0 && m->checksums == CHECKSUM_OFF)
        log_info("pcap", "%u of the first %u packets have a wrong checksum: offloading is "
                 "assumed, checksums are not looked at", m->bad, CHECKSUM_SAMPLE);
}

static COLD void sample(struct decode_module *m, struct packet *p)
{
    if (m->checksums == CHECKSUM_SAMPLING && p->root == NULL && ++m->sampled == CHECKSUM_SAMPLE)
        sample_without_verdict(m);
    if (m->checksums == CHECKSUM_SAMPLING && packet_is_tcp(p))
        m->bad += !packet_l4_checksum_ok(p);
    /* Live, offloading is what one has to expect until it is known. */
    if (m->checksums == CHECKSUM_OFF || (m->checksums == CHECKSUM_SAMPLING && !m->ctx->offline))
        ignore_checksum(p);
}

static bool notes_expectation_parents(const struct decode_module *m)
{
    return m->ctx->turns != NULL && m->ctx->app != NULL;
}

static void release(struct decode_module *m, struct packet **at)
{
    (*at)->inner_count = VERDICT_ELSEWHERE;
    packet_release(*at, m->env.thread_index);
    *at = NULL;
}

/* A frame that all threads decode, and what comes out of it; returns how many packets stand
 * behind it. */
static unsigned decode_shared(struct decode_module *m, struct packet_vector *v, unsigned at)
{
    bool sampling = m->checksums == CHECKSUM_SAMPLING;
    unsigned inner;

    decoder_count_into(m->decoder, share_counters(m->share));
    inner = decode_packet(m->decoder, v, at);
    decoder_count_into(m->decoder, m->env.counters);
    for (unsigned i = at; i <= at + inner; i++) {
        struct packet *p = v->packet[i];

        if (sampling)
            sample(m, p);
        if (notes_expectation_parents(m))
            expectation_parent_packet(m->ctx->app, p, false);
        if (!share_has(m->share, p))
            release(m, &v->packet[i]);
    }
    return inner;
}

static void drop_gaps(struct packet_vector *v)
{
    unsigned retained = 0;

    for (unsigned i = 0; i < v->count; i++)
        if (v->packet[i] != NULL)
            v->packet[retained++] = v->packet[i];
    v->count = retained;
}

/* Of frames that all threads see, the flows that are ours; packets without one are thread 0's. */
static void decode_share(struct decode_module *m, struct packet_vector *v)
{
    bool gaps = false;

    decoder_count_into(m->decoder, m->env.counters);
    for (unsigned i = 0, number = 0; i < v->count; i++, number++) {
        switch (share_look(m->share, number, v->packet[i])) {
        case SHARE_OURS:
            decode_packet(m->decoder, v, i);
            share_decoded(m->share, v->packet[i]);
            break;
        case SHARE_FOREIGN:
            release(m, &v->packet[i]);
            gaps = true;
            break;
        case SHARE_DECODE:
            i += decode_shared(m, v, i);
            gaps = true;
            break;
        }
    }
    if (gaps)
        drop_gaps(v);
    decode_end(m->decoder, v);
}

static void decode_all(struct decode_module *m, struct packet_vector *v)
{
    bool sampling = m->checksums == CHECKSUM_SAMPLING;

    decode_vector(m->decoder, v);
    for (unsigned i = 0; UNLIKELY(sampling) && i < v->count; i++)
        sample(m, v->packet[i]);
    for (unsigned i = 0; notes_expectation_parents(m) && i < v->count; i++)
        expectation_parent_packet(m->ctx->app, v->packet[i], true);
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
    if (m->share != NULL)
        decode_share(m, v);
    else
        decode_all(m, v);
    if (m->checksums == CHECKSUM_ASK)
        resolve_partial_checksums(v);
    if (m->ctx->gives_verdict)
        count_inner(v);
    return MODULE_OK;
}

/* What follows, if anything does, is another capture. */
static bool decode_flush(void *self, struct packet_vector *v)
{
    struct decode_module *m = self;

    (void)v;
    decoder_clear(m->decoder);
    m->sampled = m->bad = 0;
    choose_checksums(m, checksum_mode(m->ctx));
    return false;
}

static void decode_close(void *self)
{
    struct decode_module *m = self;

    decoder_free(m->decoder);
    share_free(m->share);
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
