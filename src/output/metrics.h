/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/metrics.h - metrics in the text formats of Prometheus.
 *
 * There are two formats, OpenMetrics 1.0 and Prometheus' text format 0.0.4. They differ in the name
 * after "# TYPE" and in the end mark. */
#ifndef OUTPUT_METRICS_H
#define OUTPUT_METRICS_H

#include "base/memory/buf.h"

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS };
enum metrics_kind { METRICS_COUNTER, METRICS_GAUGE };

/* The text being written; the caller owns `out`. */
struct metrics_text {
    struct buf *out;
    enum metrics_format format;
    const char *name;           /* current family: without "ids_" and "_total" */
    enum metrics_kind kind;
};

/* Returns the interface or queue that a thread reads; NULL: none. */
typedef const char *metrics_source_fn(const char *thread, void *arg);

/* Data for the text in addition to the counters; may be all zero. */
struct metrics_sources {
    metrics_source_fn *source;
    void *arg;
};

/* Returns "text/plain; version=0.0.4; charset=utf-8" or OpenMetrics' type. */
const char *metrics_content_type(enum metrics_format format);

/* Writes all counters. Any thread may call it. */
void output_metrics(struct metrics_text *m, const struct metrics_sources *sources);

/* Writes metrics that are not counters: the head of a family, then all its samples. */
void metrics_family(struct metrics_text *m, const char *name, enum metrics_kind kind,
                    const char *help);
/* labels: "thread=\"W#01\"", written by metrics_label(); NULL: none. */
void metrics_sample(struct metrics_text *m, const char *labels, double value);
/* Writes the last line, if the format has one. */
void metrics_end(struct metrics_text *m);
/* Adds `name="value"` to a list of labels, escaped. */
void metrics_label(struct buf *labels, const char *name, const char *value);

#endif
