/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/decode.c - the decoder as a thread module, and what is only known after decoding: which
 * frames of a shared file are this thread's, whether a file was captured with checksum offloading,
 * and which packets other engines inspect. */
#include "app/session.h"
#include "base/array.h"
#include "modules/checksum_sample.h"
#include "modules/context.h"
#include "modules/flow_partition.h"
#include "packet/checksum.h"

#include <stdlib.h>
#include <string.h>

struct decode_module {
    const struct run_context *ctx;
    struct module_env env;
    struct decoder *decoder;
    struct checksum_sample sample;
};

static void *decode_open(const struct module_env *env, struct err *err)
{
    struct decode_module *m = xcalloc(1, sizeof(*m));

    (void)err;
    m->ctx = env->context;
    m->env = *env;
    m->decoder = decoder_new(m->ctx->decode, env->pool, env->counters);
    checksum_sample_begin(&m->sample, m->ctx, env->thread == 0);
    return m;
}

static void ignore_all(struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++)
        checksum_ignore(v->packet[i]);
}

/* The kernel does not mark packets whose checksum is partial, but the checksum field shows it. */
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

static bool notes_expectation_parents(const struct decode_module *m)
{
    return m->ctx->seq != NULL && m->ctx->app != NULL;
}

/* Frames of a shared file. The scan has already decoded the frames that are not plain, and has
 * counted them for their thread. */
static void decode_partition(struct decode_module *m, struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++)
        if (LIKELY(!partition_decoded(m->ctx->partition, v->packet[i])))
            decode_packet(m->decoder, v, i);
    decode_end(m->decoder, v);
}

static void decode_all(struct decode_module *m, struct packet_vector *v)
{
    bool sampling = m->sample.mode == CHECKSUM_SAMPLING;

    decode_vector(m->decoder, v);
    for (unsigned i = 0; UNLIKELY(sampling) && i < v->count; i++)
        checksum_sample_add(&m->sample, v->packet[i]);
    for (unsigned i = 0; notes_expectation_parents(m) && i < v->count; i++)
        expectation_parent_packet(m->ctx->app, v->packet[i], true);
}

/* Releases the packets that other engines inspect. The decoder and the clock have seen them, so
 * the others fare as they would without shares. */
static void keep_share(const struct decode_module *m, struct packet_vector *v)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i];

        if (flow_share_has(&m->ctx->share, p))
            v->packet[kept++] = p;
        else
            packet_release(p, m->env.thread_index);
    }
    v->count = kept;
}

/* Before any packet moves on: later the inner packets may be on other threads. */
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

    if (m->ctx->partition != NULL) {
        decode_partition(m, v);
        return MODULE_OK;
    }
    if (m->sample.mode == CHECKSUM_OFF)
        ignore_all(v);
    decode_all(m, v);
    if (m->sample.mode == CHECKSUM_ASK)
        resolve_partial_checksums(v);
    if (UNLIKELY(m->ctx->share.count > 0))
        keep_share(m, v);
    if (m->ctx->gives_verdict)
        count_inner(v);
    return MODULE_OK;
}

/* Any data after this belongs to another capture. */
static bool decode_flush(void *self, struct packet_vector *v)
{
    struct decode_module *m = self;

    (void)v;
    decoder_clear(m->decoder);
    checksum_sample_begin(&m->sample, m->ctx, m->env.thread == 0);
    return false;
}

static void decode_close(void *self)
{
    struct decode_module *m = self;

    decoder_free(m->decoder);
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
