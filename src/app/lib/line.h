/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/line.h - the lines of text protocols (SMTP, FTP, POP3), with a maximum length, for any
 * segmentation. */
#ifndef APP_LINE_H
#define APP_LINE_H

#include "base/text/bytes.h"

struct app_line {
    struct slice text;
    uint32_t end_len;           /* length of the CRLF or LF after text; 0: the line is truncated */
};

enum app_line_result {
    APP_LINE_COMPLETE,
    APP_LINE_TRUNCATED,               /* the first `max` bytes; the rest will be dropped */
    APP_LINE_DROPPED,           /* the rest of a truncated line: ignore it */
    APP_LINE_MORE,              /* no complete line yet; nothing consumed */
};

/* Takes the next line, if it has less than `max` bytes with its end. *drop: state of the
 * direction. */
enum app_line_result app_line_take(bool *drop, struct bytes *in, uint32_t max,
                                   struct app_line *line);

#endif
