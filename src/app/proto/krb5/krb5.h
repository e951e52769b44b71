/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/krb5/krb5.h - Kerberos 5 (RFC 4120); for this directory. Each message is a
 * transaction. */
#ifndef APP_KRB5_KRB5_H
#define APP_KRB5_KRB5_H

#include "app/log.h"
#include "app/proto/krb5/ticket.h"
#include "app/rules.h"

enum {
    KRB5_AS_REQ = 10, KRB5_AS_REP = 11, KRB5_TGS_REQ = 12, KRB5_TGS_REP = 13, KRB5_AP_REQ = 14,
    KRB5_AP_REP = 15, KRB5_ERROR = 30,
};

#define KRB5_EVENT_LIST(E)                     \
    E(KRB5_MALFORMED_DATA, "malformed_data")   \
    E(KRB5_WEAK_ENCRYPTION, "weak_encryption")

enum { KRB5_EVENT_NONE, KRB5_EVENT_LIST(APP_EVENT_ID) };

struct krb5_message {
    uint8_t type;
    bool has_client, has_server, has_realm, has_encryption, has_ticket;
    struct krb5_name client, server;
    struct slice realm;
    int32_t encryption, ticket_encryption;
    int32_t error;
};

struct krb5_tx {
    struct app_tx tx;
    struct krb5_message message;
    enum direction direction;   /* which way it went */
    uint8_t request_type;           /* of the request that this replies to; 0: not seen */
};

static inline struct krb5_tx *krb5_tx_of(const struct app_tx *tx)
{
    return (struct krb5_tx *)(uintptr_t)tx;
}

struct krb5_state {
    uint8_t request_type;
    uint32_t skip[2];           /* bytes of an oversized message to skip */
};

/* One message; borrows the bytes. False: malformed, or of a kind that is not parsed. */
bool krb5_read_message(struct slice in, struct krb5_message *out);

#define KRB5_NAME_TEXT 32
const char *krb5_encryption_name(int32_t type, char out[KRB5_NAME_TEXT]);
const char *krb5_error_name(int32_t code, char out[KRB5_NAME_TEXT]);
const char *krb5_message_name(int32_t type, char out[KRB5_NAME_TEXT]);
bool krb5_encryption_by_name(struct text name, int32_t *type);      /* or by number */
bool krb5_is_weak(int32_t type);

extern const struct app_log *const krb5_logs[];
void krb5_alert_metadata(struct json *j, struct app_tx *tx);

#endif
