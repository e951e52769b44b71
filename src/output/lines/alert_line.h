/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/alert_line.h - an alert as one line of text: fast.log and syslog. */
#ifndef OUTPUT_ALERT_LINE_H
#define OUTPUT_ALERT_LINE_H

#include "output/logger.h"

/* The `self` of an output that writes each alert of a packet as a line. */
struct alert_lines {
    struct sink *sink;
    bool is_inline;
    bool is_dated;              /* begins with the time, and has asterisks around the message */
};

void alert_lines_packet(struct render *r, void *self, struct packet *p);

#endif
