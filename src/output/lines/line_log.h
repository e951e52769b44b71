/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/line_log.h - common code of `http-log` and `tls-log`: one line per transaction, in
 * the log's own form or in a format of the operator (`custom: yes`, `customformat`).
 *
 * A format is text with items %X, %[MOST]X, %{NAME}X and %[MOST]{NAME}X. Items for times and
 * addresses mean the same in each log. */
#ifndef OUTPUT_LINE_LOG_H
#define OUTPUT_LINE_LOG_H

#include "base/array.h"
#include "output/logger.h"

struct line_item {
    char what;                  /* '%': literal text */
    uint32_t most;              /* maximum of bytes of the value; 0: all */
    char *text;                 /* the name, "" if there is none, or the literal text */
};

struct line_format {
    ARRAY_OF(struct line_item) items;
};

struct line_log {
    struct sink *sink;
    uint16_t bit;               /* of app_tx.lines_logged */
    bool extended;
    bool custom;
    struct line_format format;
};

/* A line shows a transaction from client to server, whichever side sent the packet. */
struct line_ends {
    const struct ip *client, *server;
    uint16_t client_port, server_port;
};

int line_format_read(struct line_format *format, const char *text, struct err *err);
void line_format_free(struct line_format *format);

/* Reads the settings; the caller opens the sink then. -1: line_log_fini() is due. */
int line_log_init(struct line_log *log, struct output_conf *conf, const struct conf_node *node,
                  struct err *err);
void line_log_fini(struct line_log *log);

/* True once per transaction: when it has reached this progress in both directions, or cannot get
 * further. */
bool line_log_due(const struct line_log *log, struct app_tx *tx, const uint8_t progress[2]);
struct line_ends line_ends_of(const struct packet *p);
/* Writes an item that every log has; false: it is another item. */
bool line_add_common(struct buf *out, const struct line_item *item, const struct packet *p,
                     const struct line_ends *ends);
/* Writes a value, escaped by text_escape(); "-" if there is none. */
void line_add_value(struct buf *out, struct slice value, uint32_t most);
/* Ends the record; truncates a line that is too long, and leaves out what log-limit does not
 * allow. */
void line_end(struct render *r, const struct packet *p);

#endif
