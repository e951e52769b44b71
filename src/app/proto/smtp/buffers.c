/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smtp/buffers.c - the buffers that rules inspect: the envelope and the fields of the
 * mail. */
#include "app/proto/smtp/smtp.h"

#include "app/lib/digest.h"
#include "app/lib/log_text.h"
#include "app/values.h"

static struct smtp_tx *smtp_tx_of(struct app_tx *tx)
{
    return CONTAINER_OF(tx, struct smtp_tx, tx);
}

/* RECIPIENTS_MAX limits their number. */
static const struct app_path recipients_path = {
    APP_PATH_LIST(smtp_tx, recipients, smtp_recipient)
};

static bool has_name(const void *item, const void *name)
{
    return mime_field_is(item, name);
}

/* The field of this name, the nth for a buffer with several. NULL message: no mail yet, or raw
 * extraction. */
static bool find_field(struct app_tx *tx, enum direction d, const struct app_key *key,
                       unsigned index, struct slice *out)
{
    const struct mime_message *m = smtp_tx_of(tx)->message;
    const struct app_values values = {
        .first = m != NULL ? mime_main_fields(m) : NULL,
        .next = offsetof(struct mime_field, next), .fits = has_name, .arg = key->name[d],
    };
    const struct mime_field *found = app_value_at(tx, &values, index);

    if (found == NULL)
        return false;
    *out = found->value;
    return true;
}

/* A struct mime_item. */
static const void *nth_url(struct app_tx *tx, enum direction d UNUSED, unsigned index)
{
    const struct mime_message *m = smtp_tx_of(tx)->message;

    return APP_ITEM_AT(tx, m != NULL ? mime_urls(m) : NULL, mime_item, index);
}

static const struct app_path urls_path = { .find = nth_url };

/* Known when the message is complete. */
static bool get_body_md5(struct app_tx *tx, enum direction d UNUSED, unsigned index,
                         struct slice *out)
{
    struct smtp_tx *t = smtp_tx_of(tx);
    static const char digits[] = "0123456789abcdef";
    uint8_t md5[16], text[2 * sizeof(md5)];

    if (index > 0 || t->message == NULL || !mime_body_md5(t->message, md5))
        return false;
    if (t->body_md5.data == NULL) {
        for (unsigned i = 0; i < sizeof(md5); i++) {
            text[2 * i] = (uint8_t)digits[md5[i] >> 4];
            text[2 * i + 1] = (uint8_t)digits[md5[i] & 0xf];
        }
        t->body_md5 = app_text_copy(&tx->arena, (struct slice){ text, sizeof(text) });
    }
    *out = t->body_md5;
    return out->len > 0;
}

#define FIELD(symbol, rule_name, field, text)                                                  \
    static const struct app_buffer buffer_##symbol = {                                         \
        .name = rule_name, .doc = text, .directions = APP_TS, .progress = { SMTP_DATA, 0 },    \
        .find = find_field, .key = APP_KEY(field),                                             \
    }
FIELD(from, "email.from", "from", "From field of a mail");
FIELD(subject, "email.subject", "subject", "Subject field of a mail");
FIELD(to, "email.to", "to", "To field of a mail");
FIELD(cc, "email.cc", "cc", "Cc field of a mail");
FIELD(date, "email.date", "date", "Date field of a mail");
FIELD(message_id, "email.message_id", "message-id", "Message-Id field of a mail");
FIELD(x_mailer, "email.x_mailer", "x-mailer", "X-Mailer field of a mail");

static const struct app_buffer buffer_helo = {
    .name = "smtp.helo", .doc = "what the client calls itself", .directions = APP_TS,
    .field = APP_FIELD(smtp_tx, helo, FILLED),
};
/* An empty sender ("MAIL FROM:<>", a bounce) is a buffer, too. */
static const struct app_buffer buffer_mail_from = {
    .name = "smtp.mail_from", .doc = "sender of the envelope", .directions = APP_TS,
    .field = APP_FIELD(smtp_tx, mail_from, KNOWN),
};
static const struct app_buffer buffer_rcpt_to = {
    .name = "smtp.rcpt_to", .doc = "each recipient of the envelope", .directions = APP_TS,
    .multi = true, .lasts = true,
    .field = APP_FIELD_PART(&recipients_path, smtp_recipient, address, ALWAYS),
};
static const struct app_buffer buffer_received = {
    .name = "email.received", .doc = "each Received field of a mail", .directions = APP_TS,
    .progress = { SMTP_DATA, 0 }, .multi = true, .lasts = true,
    .find = find_field, .key = APP_KEY("received"),
};
static const struct app_buffer buffer_url = {
    .name = "email.url", .doc = "each URL in the body of a mail", .directions = APP_TS,
    .progress = { SMTP_DATA, 0 }, .multi = true, .lasts = true,
    .field = APP_FIELD_PART(&urls_path, mime_item, text, ALWAYS),
};

static const struct app_buffer buffer_body_md5 = {
    .name = "email.body_md5", .doc = "MD5 of the body of a mail, in hex", .directions = APP_TS,
    .progress = { SMTP_DATA, 0 }, .any_case = true, .check = md5_pattern_check,
    .feature = SMTP_FEATURE_BODY_MD5,
    .get = get_body_md5,
};

APP_FILE_BUFFERS(APP_TS, SMTP_DATA, 0);

const struct app_buffer *const smtp_buffers[] = {
    &buffer_helo, &buffer_mail_from, &buffer_rcpt_to, &buffer_from, &buffer_subject, &buffer_to,
    &buffer_cc, &buffer_date, &buffer_message_id, &buffer_x_mailer, &buffer_received, &buffer_url,
    &buffer_body_md5, &file_data, &file_name, &file_magic, NULL,
};
