/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/reports.h - Suricata's names and counts of what rules inspect in a protocol. */
#ifndef APP_REPORTS_H
#define APP_REPORTS_H

#include "app/tx.h"

/* A name may end in `*`: the row then covers all names with that prefix. The first match counts. */
struct app_report_name {
    const char *keyword;
    const char *list;           /* a buffer's name, or the list that a test belongs to */
    const char *test;           /* within the list of a rule's tests; NULL: keyword */
};

/* The rank by which a buffer or list is inspected, over all protocols that have it. Without any
 * rank the order of the protocol list applies. 0: not in this direction. */
struct app_report_order { const char *list; uint8_t rank[2]; };

struct app_report_progress { const char *list; uint8_t directions, progress; };

struct app_reports {
    const struct app_report_name *names;            /* each ended by NULL */
    const struct app_report_order *order;
    const struct app_report_progress *progress;
    /* For buffers without a row; NULL: as declared. */
    uint8_t (*other_progress)(const char *list, enum direction direction, uint8_t declared);
    uint8_t hook_progress;      /* of any hook but the first; 0: that of the hook */
    const char *any_hook;       /* list of tests that fit every hook */
    /* What the report prints for a content on the payload; NULL: nothing. */
    const char *(*content_note)(struct slice content);
};

#endif
