/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/line_log.h - what `http-log` and `tls-log` share: a line for each transaction, in a
 * form of its own or in one that the operator has made up (`custom: yes`, `customformat`).
 *
 * A format is text with items %X, %[MOST]X, %{NAME}X and %[MOST]{NAME}X. Those that ask for the
 * time or for addresses mean the same in each log. */
#ifndef OUTPUT_LINE_LOG_H
#define OUTPUT_LINE_LOG_H

#include "base/array.h"
#include "output/logger.h"

struct line_item {
    char what;                  /* '%': literal text */
    uint32_t most;              /* bytes of the value; 0: all */
    char *text;                 /* the name, "" when there is none, or the text */
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

/* True once for each transaction: it has come as far as this in both directions, or gets no
 * further. */
bool line_log_due(const struct line_log *log, struct app_tx *tx, const uint8_t progress[2]);
struct line_ends line_ends_of(const struct packet *p);
/* The items that every log has; false: it is another one. */
bool line_add_common(struct buf *out, const struct line_item *item, const struct packet *p,
                     const struct line_ends *ends);
/* A value, escaped by text_escape(); "-" if there is none. */
void line_add_value(struct buf *out, struct slice value, uint32_t most);
/* Ends the line, which is cut where it is too long, and the record. */
void line_end(struct render *r);

#endif
