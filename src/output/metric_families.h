/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/metric_families.h - the metric name, labels and help text of each counter.
 *
 * Only this table connects names of statistics ("decoder.pkts") with names of metrics
 * ("ids_decoder_pkts_total"). Dashboards and alert rules of users depend on these names: rows may
 * be added, but a released name must stay. */
#ifndef OUTPUT_METRIC_FAMILIES_H
#define OUTPUT_METRIC_FAMILIES_H

#include "base/base.h"

/* The number of labels that a row can take from the asterisks of its pattern. */
#define METRIC_LABELS_MAX 2

struct metric_family {
    const char *pattern;    /* pattern of counter names; each '*' is one part between dots, the
                             * last one is all the rest */
    const char *name;   /* without "ids_" and "_total"; NULL: the counter's name with underscores */
    const char *label[METRIC_LABELS_MAX];   /* label for each '*'; NULL: none */
    const char *help;       /* one sentence without full stop */
    bool by_thread;         /* a sample for each thread, by labels `thread` and `interface` */
};

extern const struct metric_family metric_families[];
extern const unsigned metric_family_count;

/* The part of a counter's name that matches an asterisk; borrowed from that name. */
struct metric_part {
    const char *at;
    size_t len;
};

/* Returns the first matching row and the parts that match its asterisks; NULL: none. */
const struct metric_family *metric_family_find(const char *counter,
                                               struct metric_part part[METRIC_LABELS_MAX]);

#endif
