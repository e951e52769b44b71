/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/output.c - the last module: writes finished records to their sinks. */
#include "modules/context.h"

static void *output_module_open(const struct module_env *env, struct err *err)
{
    const struct run_context *ctx = env->context;

    (void)err;
    return output_writer_new(ctx->output, env->counters);
}

static enum module_status output_module_process(void *self, struct packet_vector *v)
{
    output_write(self, v);
    return MODULE_OK;
}

static void output_module_close(void *self)
{
    output_writer_free(self);
}

const struct thread_module module_output = {
    .name = "output",
    .doc = "writes the records that detect has made",
    .open = output_module_open,
    .process = output_module_process,
    .close = output_module_close,
};
