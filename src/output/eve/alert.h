/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/alert.h - parts that alert records and drop records share. */
#ifndef OUTPUT_EVE_ALERT_H
#define OUTPUT_EVE_ALERT_H

#include "output/eve/eve.h"

/* An alert, and which optional members its object has. */
struct eve_alert {
    const struct packet_alert *alert;
    enum direction side;            /* direction of the data that the rule inspected */
    bool metadata, references, text;
    const char *xff;                /* NULL: none */
    bool cut;                       /* without contents: the flow has used up its space */
    bool files_cut;                 /* more files than the record shows */
    bool reduced;                     /* without details as well: what, when and between whom */
};

void eve_alert_object(const struct render *r, struct json *j, const struct eve *eve,
                      const struct packet *p, const struct eve_alert *shown);
bool eve_alert_prints_contents(const void *settings);
void eve_verdict(struct json *j, const struct eve *eve, const struct packet *p);

#endif
