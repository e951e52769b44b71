/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/pgsql/pgsql.h - PostgreSQL's frontend/backend protocol, version 3.
 *
 * A transaction is a request and all messages of the server until it is ready for the next. Rows
 * and copied data are counted, not stored. All memory is in the transaction's arena. */
#ifndef APP_PGSQL_PGSQL_H
#define APP_PGSQL_PGSQL_H

#include "app/log.h"
#include "app/rules.h"

#define PGSQL_EVENT_LIST(E)                                 \
    E(PGSQL_INVALID_LENGTH, "invalid_length")               \
    E(PGSQL_MALFORMED_REQUEST, "malformed_request")         \
    E(PGSQL_MALFORMED_RESPONSE, "malformed_response")       \
    E(PGSQL_TOO_MANY_TRANSACTIONS, "too_many_transactions")

enum pgsql_event { PGSQL_EVENT_NONE, PGSQL_EVENT_LIST(APP_EVENT_ID) };

enum { PGSQL_RECEIVED = 1, PGSQL_DONE };       /* progress */

enum pgsql_kind {
    PGSQL_NOTHING,                      /* not kept: unknown, or of no interest */
    /* requests */
    PGSQL_SSL_REQUEST, PGSQL_STARTUP, PGSQL_PASSWORD, PGSQL_SASL_INITIAL, PGSQL_SASL_RESPONSE,
    PGSQL_QUERY, PGSQL_COPY_DATA, PGSQL_COPY_DONE, PGSQL_COPY_FAIL, PGSQL_CANCEL, PGSQL_TERMINATE,
    /* responses */
    PGSQL_SSL_ACCEPTED, PGSQL_SSL_REJECTED, PGSQL_ERROR, PGSQL_AUTH_OK, PGSQL_AUTH_CLEARTEXT,
    PGSQL_AUTH_MD5, PGSQL_AUTH_SSPI, PGSQL_AUTH_SASL, PGSQL_AUTH_SASL_CONTINUE,
    PGSQL_AUTH_SASL_FINAL, PGSQL_PARAMETER, PGSQL_BACKEND_KEY, PGSQL_COMPLETE, PGSQL_COPY_OUT,
    PGSQL_COPY_IN, PGSQL_READY, PGSQL_ROW_DESCRIPTION, PGSQL_DATA_ROW,
};

struct pgsql_message {
    struct pgsql_message *next;
    enum pgsql_kind kind;
    uint32_t a, b;                      /* versions; process and key; columns; plus */
    uint64_t rows, size;                /* PGSQL_COPY_DATA, PGSQL_DATA_ROW */
    struct slice text;                  /* query, password, fields, parameters ... */
};

struct pgsql_list {
    struct pgsql_message *first, *last;
};

struct pgsql_tx {
    struct app_tx tx;
    struct pgsql_list requests, responses;
    uint64_t rows, size;
};
static inline struct pgsql_tx *pgsql_tx_of(const struct app_tx *tx)
{
    return (struct pgsql_tx *)(uintptr_t)tx;
}

/* "name\0value\0"; false at the end. */
bool pgsql_take_pair(struct bytes *in, struct slice *name, struct slice *value);

enum pgsql_result { PGSQL_OK, PGSQL_MORE, PGSQL_BAD_LENGTH, PGSQL_BAD_TYPE, PGSQL_BAD };
/* What a message that begins with a letter 'p' is depends on what came before. */
enum pgsql_result pgsql_request(struct bytes in, enum pgsql_kind p_is, struct pgsql_message *out,
                                uint32_t *size);
enum pgsql_result pgsql_response(struct bytes in, struct pgsql_message *out, uint32_t *size);

extern const struct app_log *const pgsql_logs[];
void pgsql_alert_metadata(struct json *j, struct app_tx *tx);

#endif
