/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/context.c - hands out the rules in force. */
#include "modules/context.h"

struct ruleset *run_context_rules(struct run_context *ctx, unsigned *generation)
{
    struct ruleset *set;

    pthread_mutex_lock(&ctx->rules_lock);
    set = ruleset_ref(ctx->rules);
    *generation = __atomic_load_n(&ctx->rules_generation, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&ctx->rules_lock);
    return set;
}

void run_context_set_rules(struct run_context *ctx, struct ruleset *set)
{
    struct ruleset *old;

    pthread_mutex_lock(&ctx->rules_lock);
    old = ctx->rules;
    ctx->rules = set;
    __atomic_fetch_add(&ctx->rules_generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&ctx->rules_lock);
    if (old != NULL)
        ruleset_unref(old);
}
