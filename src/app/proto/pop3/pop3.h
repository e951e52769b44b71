/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/pop3/pop3.h - POP3 (RFC 1939, 2449, 5034, 2595): what its parts share. */
#ifndef APP_POP3_POP3_H
#define APP_POP3_POP3_H

#include "app/log.h"
#include "app/rules.h"

#define POP3_EVENT_LIST(E)                                             \
    E(POP3_EVENT_TOO_MANY_TRANSACTIONS, "too_many_transactions")       \
    E(POP3_EVENT_REQUEST_TOO_LONG, "request_too_long")                 \
    E(POP3_EVENT_INCORRECT_ARGUMENT_COUNT, "incorrect_argument_count") \
    E(POP3_EVENT_UNKNOWN_COMMAND, "unknown_command")                   \
    E(POP3_EVENT_RESPONSE_TOO_LONG, "response_too_long")

enum pop3_event { POP3_EVENT_NONE, POP3_EVENT_LIST(APP_EVENT_ID) };

struct pop3_item {                      /* an argument, or a line of a reply */
    struct pop3_item *next;
    struct slice text;
};

struct pop3_items {
    struct pop3_item *first, **end;
    unsigned count;
};

struct pop3_tx {
    struct app_tx tx;
    const struct pop3_command *command; /* NULL: unknown, or no command */
    struct slice keyword;               /* as sent; empty: no request */
    struct pop3_items arguments;
    bool replied;                      /* the first line of the reply is there */
    bool has_response;                  /* there is one to log */
    bool success;
    struct slice header;                /* of the reply, after its status */
    struct pop3_items lines;
    uint32_t memory;
};

struct pop3_state {
    bool drop[2];                       /* the rest of a line that was too long */
    bool lost[2];                       /* after a gap, until the next command or status */
    bool sasl;                          /* the client's next line responds to a challenge */
    struct pop3_tx *body;               /* its reply of several lines is incomplete; or NULL */
};

extern const struct app_log *const pop3_logs[];
void pop3_alert_metadata(struct json *j, struct app_tx *tx);

#endif
