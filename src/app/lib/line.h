/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/line.h - the lines of text protocols (SMTP, FTP, POP3), of bounded length, in any cut. */
#ifndef APP_LINE_H
#define APP_LINE_H

#include "base/text/bytes.h"

struct app_line {
    struct slice text;
    uint32_t end_len;           /* of CRLF or LF, which are behind text; 0: the line was cut off */
};

enum app_line_result {
    APP_LINE_COMPLETE,
    APP_LINE_TRUNCATED,               /* the first `max` bytes; the rest will be dropped */
    APP_LINE_DROPPED,           /* of a line that was cut: nothing to look at */
    APP_LINE_MORE,              /* not there yet, and nothing taken */
};

/* The next line, if with its end it has less than max bytes. *drop: kept for the direction. */
enum app_line_result app_line_take(bool *drop, struct bytes *in, uint32_t max,
                                   struct app_line *line);

#endif
