/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/text_facts.h - what a buffer does not have in traffic that keeps to its protocol. A content
 * that wants it is probably a mistake (ids --lint). */
#ifndef APP_TEXT_FACTS_H
#define APP_TEXT_FACTS_H

#include "base/text/bytes.h"

struct app_text_facts {
    uint32_t most;              /* bytes; 0: any number */
    const char *alphabet;       /* it has these bytes alone; NULL: any */
    const char *never_last;     /* bytes with which it does not end; NULL: any */
    const char *const *lines;   /* no line of it begins so, in any case; NULL-ended, or NULL */
    /* Says what of a content is not in it: "port"; NULL: nothing. */
    const char *(*odd)(struct slice content);
    const char *mend;           /* what to write instead */
};

#endif
