/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/limits.h - limits on memory, seen and changed while packets flow. */
#ifndef CONTROL_LIMITS_H
#define CONTROL_LIMITS_H

#include "modules/context.h"

struct memory_limit {
    const char *name;           /* as commands call it: "host" */
    const char *used_counter, *limit_counter;           /* of gauges; NULL: none, or counted else */
    uint64_t (*get)(const struct run_context *ctx);     /* all three: of the engine's own */
    uint64_t (*used)(const struct run_context *ctx);
    bool (*set)(const struct run_context *ctx, uint64_t bytes);
    const struct app_memcap *app;                       /* in their place: of a protocol */
};

/* From 0; false: there are no more. First the engine's own, then those of the protocols. */
bool memory_limit_at(unsigned n, struct memory_limit *out);
bool memory_limit_find(const char *name, struct memory_limit *out);

/* 0: none. */
uint64_t memory_limit_get(const struct memory_limit *limit, const struct run_context *ctx);
uint64_t memory_limit_used(const struct memory_limit *limit, const struct run_context *ctx);
/* False: it cannot be that. */
bool memory_limit_set(const struct memory_limit *limit, const struct run_context *ctx,
                      uint64_t bytes);

#endif
