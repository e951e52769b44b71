/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/krb5/log.c - EVE `krb5`: one record for each message. */
#include "app/proto/krb5/krb5.h"

#include <string.h>

/* The parts with slashes between them, as principals are written ("host/server"). The text is cut
 * at 1024 bytes: a name comes from the network and can have 8 parts of any length. */
static void log_name(struct json *j, const char *key, bool has, const struct krb5_name *name)
{
    uint8_t text[1024];
    uint32_t n = 0;

    if (!has) {
        json_string(j, key, "<empty>");
        return;
    }
    for (unsigned i = 0; i < name->count; i++) {
        /* `n` never exceeds the size, so this does not wrap. */
        uint32_t len = MIN(name->part[i].len, (uint32_t)sizeof(text) - n);

        if (i > 0 && n < sizeof(text)) {
            text[n++] = '/';
            len = MIN(len, (uint32_t)sizeof(text) - n);
        }
        if (len > 0)
            memcpy(text + n, name->part[i].data, len);
        n += len;
    }
    json_lossy(j, key, (struct slice){ text, n });
}

/* A record has the same fields for each type of message: "<empty>" or "<none>" where the message
 * has no such field. `failed_request` is the type of the last request that the flow has seen. */
static bool krb5_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf UNUSED)
{
    const struct krb5_tx *t = krb5_tx_of(tx);
    const struct krb5_message *m = &t->message;
    char text[KRB5_NAME_TEXT];

    json_string(j, "msg_type", krb5_message_name(m->type, text));
    if (m->type == KRB5_ERROR) {
        json_string(j, "failed_request",
                    t->request_type != 0 ? krb5_message_name(t->request_type, text) : "UNKNOWN");
        json_string(j, "error_code", krb5_error_name(m->error, text));
    }
    log_name(j, "cname", m->has_client, &m->client);
    if (m->has_realm)
        json_lossy(j, "realm", m->realm);
    else
        json_string(j, "realm", "<empty>");
    log_name(j, "sname", m->has_server, &m->server);
    json_string(j, "encryption",
                m->has_encryption ? krb5_encryption_name(m->encryption, text) : "<none>");
    json_bool(j, "weak_encryption", m->has_encryption && krb5_is_weak(m->encryption));
    if (m->has_ticket) {
        json_string(j, "ticket_encryption", krb5_encryption_name(m->ticket_encryption, text));
        json_bool(j, "ticket_weak_encryption", krb5_is_weak(m->ticket_encryption));
    }
    return true;
}

/* The same fields within an alert. The direction does not matter to log_krb5. */
void krb5_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "krb5");
    krb5_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve = {
    .as_packet = true,
    .conf_name = "krb5", .event_type = "krb5", .key = "krb5", .progress = { 1, 1 },
    .log = krb5_log,
};

const struct app_log *const krb5_logs[] = { &eve, NULL };
