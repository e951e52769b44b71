/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/reports.h - how Suricata counts and names what rules inspect in a protocol.
 *
 * Both grew with its parsers and follow no rule. --engine-analysis prints them, and a rule with a
 * hook is checked against them, so that both engines take the same rules. Inspection itself goes
 * by what app/rules.h declares. */
#ifndef APP_REPORTS_H
#define APP_REPORTS_H

#include "app/tx.h"

/* Names may end in `*`: the row is for all that begin like that. The first row that fits counts. */
struct app_report_name {
    const char *keyword;
    const char *list;           /* of a buffer the name, of a test that of the list it is in */
    const char *test;           /* in the list of a rule's tests; NULL: keyword */
};

/* A buffer or list is inspected in the order of these ranks, over all protocols that have it;
 * without any, in that of the list of protocols. 0: not in this direction. */
struct app_report_order { const char *list; uint8_t rank[2]; };

struct app_report_progress { const char *list; uint8_t directions, progress; };

struct app_reports {
    const struct app_report_name *names;            /* each ended by NULL */
    const struct app_report_order *order;
    const struct app_report_progress *progress;
    /* Of what has no row; NULL: as it is declared. */
    uint8_t (*other_progress)(const char *list, enum direction direction, uint8_t declared);
    uint8_t hook_progress;      /* of any hook but the first; 0: that of the hook */
    const char *any_hook;       /* list of tests that fit every hook */
    /* What the report says of a content on the payload; NULL: nothing. */
    const char *(*content_note)(struct slice content);
};

#endif
