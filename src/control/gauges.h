/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/gauges.h - figures that belong to no packet thread: memory of what threads share. */
#ifndef CONTROL_GAUGES_H
#define CONTROL_GAUGES_H

#include "modules/context.h"

struct gauges;

/* In counters of their own, "Global"; the context is borrowed. */
struct gauges *gauges_new(const struct run_context *ctx);
void gauges_free(struct gauges *g);
/* Call before the figures are read, on any thread but packet threads. NULL is fine. */
void gauges_update(struct gauges *g);

#endif
