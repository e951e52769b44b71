/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/share.c - counters for what another thread counts already. */
#include "modules/share.h"

#include "base/array.h"
#include "modules/context.h"

#include <stdlib.h>

struct counters *share_counters(const struct module_env *env)
{
    const struct run_context *ctx = env->context;
    struct counters *c;

    if (!ctx->shares_file || env->thread == 0)
        return env->counters;
    c = xcalloc(1, sizeof(*c));
    c->value = xcalloc(COUNTERS_MAX, sizeof(c->value[0]));
    c->samples = xcalloc(COUNTERS_MAX, sizeof(c->samples[0]));
    return c;
}

void share_counters_free(struct counters *c, const struct module_env *env)
{
    if (c == NULL || c == env->counters)
        return;
    free(c->value);
    free(c->samples);
    free(c);
}
