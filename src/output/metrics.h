/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/metrics.h - all counters in Prometheus' text format: "ids_decoder_pkts 17". */
#ifndef OUTPUT_METRICS_H
#define OUTPUT_METRICS_H

#include "base/memory/buf.h"

/* Any thread. Figures of the engine's threads (engine.*) come one a thread, by a label. */
void output_metrics(struct buf *out);

#endif
