/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/metrics.h - gauges that belong to no packet thread: memory that threads share; and all
 * metrics of the engine as text. */
#ifndef CONTROL_METRICS_H
#define CONTROL_METRICS_H

#include "modules/context.h"
#include "output/metrics.h"

struct gauges;

/* Creates them in counters of their own, "Global"; the context is borrowed. */
struct gauges *gauges_new(const struct run_context *ctx);
void gauges_free(struct gauges *g);
/* Call it before the values are read; not on packet threads. NULL is allowed. */
void gauges_update(struct gauges *g);

struct control;

/* Writes all but the end mark. The caller holds the control's lock. Between two captures there are
 * no threads, limits and outputs. */
void control_metrics(struct control *c, struct metrics_text *m);

/* Resident memory of the process. */
double control_resident_bytes(void);

#endif
