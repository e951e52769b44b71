/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/stream.c - the transport half of each flow, as a thread module. */
#include <stdlib.h>

#include "modules/context.h"

static void *stream_module_open(const struct module_env *env, struct err *err)
{
    const struct run_context *ctx = env->context;

    /* detect elsewhere: chunks must not point into buffers that live on here */
    return stream_thread_new(ctx->stream, ctx->flow, env->pool, env->counters,
                             !env->same_thread_as_next, err);
}

static enum module_status stream_module_process(void *self, struct packet_vector *v)
{
    return stream_vector(self, v) ? MODULE_MORE : MODULE_OK;
}

static bool stream_module_flush(void *self, struct packet_vector *v)
{
    return stream_flush(self, v, v->now_us);
}

static void stream_module_close(void *self)
{
    stream_thread_free(self);
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
