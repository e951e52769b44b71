/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smtp/smtp.h - the parts of the SMTP parser, and what they share (RFC 5321, 1870, 2920,
 * 3030, 3207). */
#ifndef APP_SMTP_SMTP_H
#define APP_SMTP_SMTP_H

#include "app/core/file.h"
#include "app/lib/mime/mime.h"
#include "app/log.h"
#include "app/parser.h"
#include "app/rules.h"

#define SMTP_LINE_MAX 4096              /* of a command or reply; what is beyond is dropped */

#define SMTP_EVENT_LIST(E)                                                                 \
    E(SMTP_EVENT_INVALID_REPLY, "INVALID_REPLY")                                           \
    E(SMTP_EVENT_UNABLE_TO_MATCH_REPLY_WITH_REQUEST, "UNABLE_TO_MATCH_REPLY_WITH_REQUEST") \
    E(SMTP_EVENT_MAX_COMMAND_LINE_LEN_EXCEEDED, "MAX_COMMAND_LINE_LEN_EXCEEDED")           \
    E(SMTP_EVENT_MAX_REPLY_LINE_LEN_EXCEEDED, "MAX_REPLY_LINE_LEN_EXCEEDED")               \
    E(SMTP_EVENT_INVALID_PIPELINED_SEQUENCE, "INVALID_PIPELINED_SEQUENCE")                 \
    E(SMTP_EVENT_BDAT_CHUNK_LEN_EXCEEDED, "BDAT_CHUNK_LEN_EXCEEDED")                       \
    E(SMTP_EVENT_NO_SERVER_WELCOME_MESSAGE, "NO_SERVER_WELCOME_MESSAGE")                   \
    E(SMTP_EVENT_TLS_REJECTED, "TLS_REJECTED")                                             \
    E(SMTP_EVENT_DATA_COMMAND_REJECTED, "DATA_COMMAND_REJECTED")                           \
    E(SMTP_EVENT_FAILED_PROTOCOL_CHANGE, "FAILED_PROTOCOL_CHANGE")                         \
    E(SMTP_EVENT_MIME_PARSE_FAILED, "MIME_PARSE_FAILED")                                   \
    E(SMTP_EVENT_MIME_INVALID_BASE64, "MIME_INVALID_BASE64")                               \
    E(SMTP_EVENT_MIME_INVALID_QP, "MIME_INVALID_QP")                                       \
    E(SMTP_EVENT_MIME_LONG_LINE, "MIME_LONG_LINE")                                         \
    E(SMTP_EVENT_MIME_LONG_ENC_LINE, "MIME_LONG_ENC_LINE")                                 \
    E(SMTP_EVENT_MIME_LONG_HEADER_NAME, "MIME_LONG_HEADER_NAME")                           \
    E(SMTP_EVENT_MIME_LONG_HEADER_VALUE, "MIME_LONG_HEADER_VALUE")                         \
    E(SMTP_EVENT_MIME_LONG_BOUNDARY, "MIME_LONG_BOUNDARY")                                 \
    E(SMTP_EVENT_MIME_LONG_FILENAME, "MIME_LONG_FILENAME")                                 \
    E(SMTP_EVENT_DUPLICATE_FIELDS, "DUPLICATE_FIELDS")                                     \
    E(SMTP_EVENT_UNPARSABLE_CONTENT, "UNPARSABLE_CONTENT")                                 \
    E(SMTP_EVENT_TRUNCATED_LINE, "TRUNCATED_LINE")

enum smtp_event { SMTP_EVENT_NONE, SMTP_EVENT_LIST(APP_EVENT_ID) };

#define SMTP_FRAME_LIST(E)                       \
    E(SMTP_FRAME_STREAM, "stream")               \
    E(SMTP_FRAME_COMMAND_LINE, "command_line")   \
    E(SMTP_FRAME_DATA, "data")                   \
    E(SMTP_FRAME_RESPONSE_LINE, "response_line")
enum smtp_frame { SMTP_FRAME_LIST(APP_ENUM_ID) };

#define SMTP_FEATURE_BODY_MD5 (1u << 0)    /* app_feature() bit */

struct smtp_settings {
    bool decode_mime, raw_extraction;
    bool bdat_lines;                    /* see chunk.c */
    bool body_md5_auto;                 /* computed when a rule needs it */
    struct mime_settings mime;
    struct file_window window;
};

#define SMTP_SPARES 64

struct smtp_thread {
    struct arena scratch;
    struct buf spare[SMTP_SPARES];      /* of connections that are over */
    unsigned spares;
};

struct smtp_recipient {
    struct smtp_recipient *next;
    struct slice address;
};

struct smtp_tx {
    struct app_tx tx;
    bool done;                          /* nothing more belongs to it, but QUIT and RSET */
    bool has_data;                      /* DATA was sent */
    struct slice helo;                  /* the connection's, as it was given */
    struct slice mail_from;
    struct smtp_recipient *recipients, **recipients_end;
    uint32_t recipients_size;
    struct mime_message *message;       /* NULL: none, or not wanted */
    struct app_file *file;              /* that is open */
    struct slice body_md5;              /* in hex, once a rule has asked */
};

/* Steps of progress. Suricata 8 has the first and the last. */
enum smtp_progress { SMTP_STARTED, SMTP_DATA, SMTP_COMPLETE };

enum smtp_command {
    SMTP_COMMAND_NONE, SMTP_COMMAND_OTHER, SMTP_COMMAND_STARTTLS, SMTP_COMMAND_DATA,
    SMTP_COMMAND_BDAT, SMTP_COMMAND_RSET,
    SMTP_COMMAND_MAIL,                  /* the end of a mail, which is answered, too */
};

struct smtp_state {
    struct app_flow *af;
    struct smtp_tx *tx;                 /* the current one, which is alive; or NULL */
    enum smtp_command command;          /* the last one */
    bool data_mode;                     /* what the client sends is no command */
    bool welcomed;                      /* the first reply is over */
    bool multiline;                     /* reply goes on */
    bool pipelining;                    /* the server offers it */
    bool discard[2];                    /* the rest of a line that was too long */
    bool in_line;                       /* in a body: a line has begun */
    struct buf waiting;                 /* commands (a byte each) that wait for a reply */
    uint32_t replied;                  /* of them, the first ones */
    struct slice helo;                  /* data NULL: none yet */
    uint64_t chunk_left;                /* BDAT */
    bool chunk_ragged;                  /* the chunk did not end with its last line */
    struct {                            /* see chunk.c */
        uint64_t size, counted;
        bool empty, cr_last, told;
    } chunk;
    uint32_t data_frame;
    uint64_t data_frame_start;
};

/* A line as commands and replies have it: its end (0 to 2 bytes) is behind data[len]. */
struct smtp_line {
    struct slice text;
    uint32_t end_len;                   /* 0: it was cut off */
    uint64_t offset;                    /* of its first byte in the stream */
};

static inline void smtp_event(struct smtp_state *s, enum smtp_event event)
{
    if (s->tx != NULL)
        app_tx_event(&s->tx->tx, event);
}

/* No transaction may be had: -1. These stop the parser with -1, too, where the connection makes
 * no sense any more. */
int smtp_request(struct smtp_state *s, const struct smtp_line *line);
int smtp_reply(struct smtp_state *s, const struct smtp_line *line);
void smtp_complete(struct smtp_state *s);           /* the current transaction */

/* mail.c: the mail of a DATA command. */
bool smtp_mail_open(struct smtp_state *s);
void smtp_mail_line(struct smtp_state *s, const struct mime_line *line);
void smtp_mail_end(struct smtp_state *s);

/* chunk.c: events of BDAT chunks. */
void smtp_chunk_begin(struct smtp_state *s, uint64_t size);
void smtp_chunk_data(struct smtp_state *s, struct slice chunk);
void smtp_chunk_line(struct smtp_state *s, struct slice text);  /* the next line */

int smtp_configure(const struct conf_node *node, const struct conf_node *root, void *settings,
                   struct err *err);
void smtp_settings_free(void *settings);

bool smtp_starts_nocase(struct slice text, const char *lower);
bool smtp_is_command(struct slice text);        /* does it begin with a verb of SMTP? */

extern const struct app_name smtp_events[];
extern const struct app_buffer *const smtp_buffers[];
extern const struct app_log *const smtp_logs[];
void smtp_alert_metadata(struct json *j, struct app_tx *tx);

#endif
