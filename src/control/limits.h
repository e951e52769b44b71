/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/limits.h - memory limits that can be read and changed while packets flow. */
#ifndef CONTROL_LIMITS_H
#define CONTROL_LIMITS_H

#include "modules/context.h"

struct memory_limit {
    const char *name;           /* name in commands: "host" */
    const char *used_counter, *limit_counter;      /* of gauges; NULL: none, or counted elsewhere */
    uint64_t (*get)(const struct run_context *ctx);     /* all three: for limits of the engine */
    uint64_t (*used)(const struct run_context *ctx);
    bool (*set)(const struct run_context *ctx, uint64_t bytes);
    const struct app_memcap *app;                       /* used instead: a limit of a protocol */
};

/* Returns limit n, from 0; false: no more. The engine's own limits come before those of
 * protocols. */
bool memory_limit_at(unsigned n, struct memory_limit *out);
bool memory_limit_find(const char *name, struct memory_limit *out);

/* 0: no limit. */
uint64_t memory_limit_get(const struct memory_limit *limit, const struct run_context *ctx);
uint64_t memory_limit_used(const struct memory_limit *limit, const struct run_context *ctx);
/* False: the value is not possible. */
bool memory_limit_set(const struct memory_limit *limit, const struct run_context *ctx,
                      uint64_t bytes);

#endif
