/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/alert_line.h - an alert in one line, for people: fast.log and syslog. */
#ifndef OUTPUT_ALERT_LINE_H
#define OUTPUT_ALERT_LINE_H

#include "output/logger.h"

/* Those of a packet, one after the other, for one that writes lines. */
struct alert_lines {
    struct sink *sink;
    bool is_inline;
    bool is_dated;              /* begins with the time, and has stars around the message */
};

void alert_lines_packet(struct render *r, void *self, struct packet *p);

#endif
