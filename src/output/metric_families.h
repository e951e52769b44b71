/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/metric_families.h - how each counter is called, labelled and explained as a metric.
 *
 * The one place where the names of the statistics ("decoder.pkts") meet those of the metrics
 * ("ids_decoder_pkts_total"). A user's dashboards and alert rules hold these names: a row may be
 * added, but a name that was released stays. */
#ifndef OUTPUT_METRIC_FAMILIES_H
#define OUTPUT_METRIC_FAMILIES_H

#include "base/base.h"

/* Labels that a row may take from the asterisks of its pattern. */
#define METRIC_LABELS_MAX 2

struct metric_family {
    const char *pattern;    /* of counters; each '*' stands for one part between dots, the last
                             * one for all the rest */
    const char *name;       /* without "ids_" and "_total"; NULL: the counter's, by underscores */
    const char *label[METRIC_LABELS_MAX];   /* what each '*' is; NULL: there is none */
    const char *help;       /* one sentence without its full stop */
    bool by_thread;         /* a sample for each thread, by labels `thread` and `interface` */
};

extern const struct metric_family metric_families[];
extern const unsigned metric_family_count;

/* A part of a counter's name that an asterisk stands for; borrowed from that name. */
struct metric_part {
    const char *at;
    size_t len;
};

/* The first row that fits, with what its asterisks stand for; NULL: none. */
const struct metric_family *metric_family_find(const char *counter,
                                               struct metric_part part[METRIC_LABELS_MAX]);

#endif
