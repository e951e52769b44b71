/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smtp/mail.c - the mail of a DATA command: a MIME message, or with raw-extraction one
 * file of all its bytes. */
#include "app/proto/smtp/smtp.h"

/* Anomalies of app/lib/mime and their events. */
static const struct { unsigned anomaly; enum smtp_event event; } anomalies[] = {
    { MIME_INVALID_BASE64, SMTP_EVENT_MIME_INVALID_BASE64 },
    { MIME_INVALID_QP, SMTP_EVENT_MIME_INVALID_QP },
    { MIME_LONG_LINE, SMTP_EVENT_MIME_LONG_LINE },
    { MIME_LONG_ENC_LINE, SMTP_EVENT_MIME_LONG_ENC_LINE },
    { MIME_LONG_HEADER_NAME, SMTP_EVENT_MIME_LONG_HEADER_NAME },
    { MIME_LONG_HEADER_VALUE, SMTP_EVENT_MIME_LONG_HEADER_VALUE },
    { MIME_LONG_BOUNDARY, SMTP_EVENT_MIME_LONG_BOUNDARY },
    { MIME_LONG_FILENAME, SMTP_EVENT_MIME_LONG_FILENAME },
};

static const struct smtp_settings *settings_of(const struct smtp_state *s)
{
    return s->af->settings;
}

/* --- attachments ------------------------------------------------------------------------------ */

/* A sink for attachments: each becomes a file of the transaction. */
static void attachment_open(void *arg, struct slice name)
{
    struct smtp_tx *tx = arg;
    const struct smtp_settings *settings = tx->tx.flow->settings;

    tx->file = app_file_open(&tx->tx, TO_SERVER, name, &settings->window);
}

static void attachment_data(void *arg, const uint8_t *data, uint32_t len)
{
    struct smtp_tx *tx = arg;

    app_file_append(tx->file, data, len);
    /* Rules inspect the file now, and the raw stream with it. */
    if (tx->file != NULL && tx->file->inspected == 0 &&
        tx->file->size >= tx->file->limits.min_inspect)
        app_trigger_raw_inspection(tx->tx.flow, TO_SERVER);
}

static void attachment_close(void *arg)
{
    struct smtp_tx *tx = arg;

    app_file_close(tx->file, FILE_CLOSED);
    app_trigger_raw_inspection(tx->tx.flow, TO_SERVER);
    tx->file = NULL;
}

static const struct mime_sink attachments = {
    .open = attachment_open,
    .data = attachment_data,
    .close = attachment_close,
};

/* --- the mail --------------------------------------------------------------------------------- */

/* False: no memory for the message, and the parser stops. */
bool smtp_mail_open(struct smtp_state *s)
{
    static const char raw_name[] = "rawmsg";
    const struct slice name = { .data = (const uint8_t *)raw_name, .len = sizeof(raw_name) - 1 };
    const struct smtp_settings *settings = settings_of(s);
    struct smtp_thread *thread = s->af->thread_data;
    struct smtp_tx *tx = s->tx;

    if (settings->raw_extraction)
        tx->file = app_file_open(&tx->tx, TO_SERVER, name, &settings->window);
    else if (settings->decode_mime)
        tx->message = mime_message_new(&tx->tx.arena, &thread->scratch, &settings->mime,
                                       &attachments, tx);
    if (tx->message != NULL && settings->body_md5_auto &&
        app_feature(s->af, SMTP_FEATURE_BODY_MD5))
        mime_want_body_md5(tx->message);
    return !settings->decode_mime || tx->message != NULL;
}

/* A line, or a part of one. Anomalies may repeat: each line raises its own. */
void smtp_mail_line(struct smtp_state *s, const struct mime_line *line)
{
    struct smtp_tx *tx = s->tx;
    unsigned found;

    if (settings_of(s)->raw_extraction) {
        app_file_append(tx->file, line->text.data, line->text.len);
        app_file_append(tx->file, line->end.data, line->end.len);
        return;
    }
    if (tx->message == NULL)
        return;
    found = mime_message_line(tx->message, line);
    for (unsigned i = 0; found != 0 && i < ARRAY_LEN(anomalies); i++)
        if ((found & anomalies[i].anomaly) != 0)
            smtp_event(s, anomalies[i].event);
}

void smtp_mail_end(struct smtp_state *s)
{
    struct smtp_tx *tx = s->tx;

    if (tx->message != NULL)
        mime_message_end(tx->message);
    app_file_close(tx->file, FILE_CLOSED);
    tx->file = NULL;
}
