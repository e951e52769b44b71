/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/stream.c - the transport half of each flow, as a thread module. */
#include <stdlib.h>

#include "base/array.h"
#include "modules/context.h"

struct stream_module {
    struct stream_thread *stream;
    struct run_context *ctx;
    unsigned round;
};

static void *stream_module_open(const struct module_env *env, struct err *err)
{
    struct run_context *ctx = env->context;
    struct stream_module *m = xcalloc(1, sizeof(*m));

    /* detect elsewhere: chunks must not point into buffers that live on here */
    m->stream = stream_thread_new(ctx->stream, ctx->flow, env->pool, env->counters,
                                  !env->same_thread_as_next, err);
    if (m->stream == NULL) {
        free(m);
        return NULL;
    }
    m->ctx = ctx;
    run_round_join(ctx, &m->round);
    return m;
}

static enum module_status stream_module_process(void *self, struct packet_vector *v)
{
    struct stream_module *m = self;

    if (run_round_is_new(m->ctx, m->round))
        run_round_answer(m->ctx, m->stream, &m->round);
    return stream_vector(m->stream, v) ? MODULE_MORE : MODULE_OK;
}

static bool stream_module_flush(void *self, struct packet_vector *v)
{
    const struct stream_module *m = self;

    return stream_flush(m->stream, v, v->now_us);
}

static void stream_module_close(void *self)
{
    struct stream_module *m = self;

    run_round_leave(m->ctx, &m->round);
    stream_thread_free(m->stream);
    free(m);
}

const struct thread_module module_stream = {
    .name = "stream",
    .doc = "flows found, TCP followed, data put in order",
    .makes_packets = true,
    .open = stream_module_open,
    .process = stream_module_process,
    .flush = stream_module_flush,
    .close = stream_module_close,
};
