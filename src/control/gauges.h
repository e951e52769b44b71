/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/gauges.h - gauges that belong to no packet thread: memory that threads share. */
#ifndef CONTROL_GAUGES_H
#define CONTROL_GAUGES_H

#include "modules/context.h"

struct gauges;

/* Creates them in counters of their own, "Global"; the context is borrowed. */
struct gauges *gauges_new(const struct run_context *ctx);
void gauges_free(struct gauges *g);
/* Call it before the values are read; not on packet threads. NULL is allowed. */
void gauges_update(struct gauges *g);

#endif
