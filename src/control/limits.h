/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/limits.h - limits on memory, seen and changed while packets flow. */
#ifndef CONTROL_LIMITS_H
#define CONTROL_LIMITS_H

#include "modules/context.h"

struct memory_limit {
    const char *name;                                   /* as commands call it: "host" */
    uint64_t (*get)(const struct run_context *ctx);     /* 0: none */
    uint64_t (*used)(const struct run_context *ctx);
    bool (*set)(const struct run_context *ctx, uint64_t bytes);     /* false: it cannot be that */
};

extern const struct memory_limit memory_limits[];       /* the last has no name */
const struct memory_limit *memory_limit_find(const char *name);     /* NULL: there is none */

#endif
