/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smtp/log.c - EVE: the `smtp` and `email` objects of a mail, as in Suricata. */
#include "app/proto/smtp/smtp.h"
#include "base/system/digest.h"
#include "base/memory/lib_memory.h"
#include "base/text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* STRING: one text. EACH: an array of all fields of this name. LIST: an array of addresses. */
enum field_kind { FIELD_STRING, FIELD_EACH, FIELD_LIST };

struct mail_field {
    const char *key, *name;             /* in the record, in the mail */
    enum field_kind kind;
};

/* Fields of every record. */
static const struct mail_field basic_fields[] = {
    { "from", "from", FIELD_STRING },
    { "to", "to", FIELD_LIST },
    { "cc", "cc", FIELD_LIST },
};

/* Fields that `custom` may name, by key or by field name. */
static const struct mail_field fields[] = {
    { "reply_to", "reply-to", FIELD_STRING },
    { "bcc", "bcc", FIELD_LIST },
    { "message_id", "message-id", FIELD_STRING },
    { "subject", "subject", FIELD_STRING },
    { "x_mailer", "x-mailer", FIELD_STRING },
    { "user_agent", "user-agent", FIELD_STRING },
    { "received", "received", FIELD_EACH },
    { "x_originating_ip", "x-originating-ip", FIELD_STRING },
    { "in_reply_to", "in-reply-to", FIELD_STRING },
    { "references", "references", FIELD_STRING },
    { "importance", "importance", FIELD_STRING },
    { "priority", "priority", FIELD_STRING },
    { "sensitivity", "sensitivity", FIELD_STRING },
    { "organization", "organization", FIELD_STRING },
    { "content_md5", "content-md5", FIELD_STRING },
    { "date", "date", FIELD_STRING },
};

/* `extended` has no member: Suricata 8 never logs its fields. */
struct log_settings {
    uint32_t custom;                    /* bit per fields[] */
    bool body_md5, subject_md5;
};

static void add_custom(struct log_settings *s, const char *name)
{
    for (unsigned i = 0; i < ARRAY_LEN(fields); i++)
        if (strcmp(name, fields[i].key) == 0 || strcasecmp(name, fields[i].name) == 0)
            s->custom |= 1u << i;
}

static void *smtp_log_configure(const struct conf_node *node, struct err *err)
{
    struct log_settings *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        err_set(err, "out of memory");
        return NULL;
    }
    CONF_EACH (item, conf_find(node, "custom"))
        if (item->value != NULL)
            add_custom(s, item->value);
    CONF_EACH (item, conf_find(node, "md5")) {
        s->body_md5 |= item->value != NULL && strcmp(item->value, "body") == 0;
        s->subject_md5 |= item->value != NULL && strcmp(item->value, "subject") == 0;
    }
    return s;
}

/* --- text ------------------------------------------------------------------------------------- */

/* Bytes that are not UTF-8 become U+FFFD: three bytes each. */
static void log_lossy(struct json *j, const char *key, struct arena *scratch, struct slice s)
{
    uint8_t *text = arena_alloc(scratch, (size_t)s.len * 3 + 1);

    if (text != NULL)
        json_bytes(j, key, text, utf8_lossy(s, text));
    arena_reset(scratch);
}

/* Up to the first NUL, as Suricata's C strings. */
static void log_string(struct json *j, const char *key, struct slice s)
{
    const uint8_t *zero = s.len > 0 ? memchr(s.data, 0, s.len) : NULL;

    if (zero != NULL)
        s.len = (uint32_t)(zero - s.data);
    json_slice(j, key, s);
}

/* --- smtp ------------------------------------------------------------------------------------- */

static void log_envelope(struct json *j, const struct smtp_tx *tx)
{
    if (tx->helo.data != NULL)
        log_string(j, "helo", tx->helo);
    if (tx->mail_from.data != NULL)
        log_string(j, "mail_from", tx->mail_from);
    if (tx->recipients == NULL)
        return;
    json_array(j, "rcpt_to");
    for (const struct smtp_recipient *r = tx->recipients; r != NULL; r = r->next)
        log_string(j, NULL, r->address);
    json_array_end(j);
}

/* --- email ------------------------------------------------------------------------------------ */

/* The next address of "a, \"b, c\" <d>": up to a comma outside of quotes. */
static bool take_address(struct bytes *in, struct slice *out)
{
    const uint8_t *start;
    bool quoted = false;

    while (peek_u8(in) == ' ' || peek_u8(in) == '\t')
        take_u8(in);
    start = in->next;
    while (bytes_have(in, 1)) {
        uint8_t c = take_u8(in);

        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted && in->next - 1 > start) {
            *out = (struct slice){ .data = start, .len = (uint32_t)(in->next - 1 - start) };
            return true;
        }
    }
    *out = (struct slice){ .data = start, .len = (uint32_t)(in->next - start) };
    return out->len > 0;
}

/* An empty list is not logged: the mark takes the array back. */
static void log_list(struct json *j, const char *key, struct arena *scratch, struct slice value)
{
    struct json_mark mark = json_mark(j);
    struct bytes in = bytes_of_slice(value);
    struct slice address;
    bool some = false;

    json_array(j, key);
    for (; take_address(&in, &address); some = true)
        log_lossy(j, NULL, scratch, address);
    if (some)
        json_array_end(j);
    else
        json_rewind(j, mark);
}

static void log_each(struct json *j, const char *key, struct arena *scratch,
                     const struct mime_message *m, const char *name)
{
    struct slice first;

    if (!mime_field_find(m, name, &first))
        return;
    json_array(j, key);
    for (const struct mime_field *f = mime_main_fields(m); f != NULL; f = f->next)
        if (mime_field_is(f, name))
            log_lossy(j, NULL, scratch, f->value);
    json_array_end(j);
}

static void log_field(struct json *j, struct arena *scratch, const struct mime_message *m,
                      const struct mail_field *field)
{
    struct slice value;

    if (!mime_field_find(m, field->name, &value))
        return;
    if (field->kind == FIELD_EACH)
        log_each(j, field->key, scratch, m, field->name);
    else if (field->kind == FIELD_LIST)
        log_list(j, field->key, scratch, value);
    else
        log_lossy(j, field->key, scratch, value);
}

static void log_items(struct json *j, const char *key, struct arena *scratch,
                      const struct mime_item *item)
{
    if (item == NULL)
        return;
    json_array(j, key);
    for (; item != NULL; item = item->next)
        log_lossy(j, NULL, scratch, item->text);
    json_array_end(j);
}

/* Suricata logs the last URL first. */
static void log_urls(struct json *j, struct arena *scratch, const struct mime_item *first)
{
    unsigned count = 0;
    const struct mime_item **all;

    for (const struct mime_item *item = first; item != NULL; item = item->next)
        count++;
    if (count == 0)
        return;
    all = lib_malloc(count * sizeof(all[0]));
    if (all == NULL)
        return;
    for (unsigned i = 0; i < count; i++, first = first->next)
        all[i] = first;
    json_array(j, "url");
    while (count-- > 0)
        log_lossy(j, NULL, scratch, all[count]->text);
    json_array_end(j);
    lib_free(all);
}

static void log_mail(struct json *j, const struct smtp_tx *tx)
{
    struct smtp_thread *thread = tx->tx.flow->thread_data;
    const struct mime_message *m = tx->message;

    for (unsigned i = 0; i < ARRAY_LEN(basic_fields); i++)
        log_field(j, &thread->scratch, m, &basic_fields[i]);
    json_string(j, "status", "PARSE_DONE");
    log_items(j, "attachment", &thread->scratch, mime_attachments(m));
    log_urls(j, &thread->scratch, mime_urls(m));
}

/* MD5 of the subject is computed here; that of the body while it is read. */
static void log_hashes(struct json *j, const struct smtp_tx *tx, const struct log_settings *s)
{
    struct slice subject;
    struct digest_stream hash;
    uint8_t md5[DIGEST_MAX];

    if (s->subject_md5 && mime_field_find(tx->message, "subject", &subject)) {
        digest_begin(&hash, DIGEST_MD5);
        digest_add(&hash, subject.data, subject.len);
        json_hex(j, "subject_md5", md5, digest_end(&hash, md5));
    }
    if (s->body_md5 && mime_body_md5(tx->message, md5))
        json_hex(j, "body_md5", md5, 16);
}

static void log_email(struct json *j, const struct smtp_tx *tx, const struct log_settings *s)
{
    struct smtp_thread *thread = tx->tx.flow->thread_data;

    if (tx->message == NULL)
        return;
    json_object(j, "email");
    log_mail(j, tx);
    for (unsigned i = 0; s != NULL && i < ARRAY_LEN(fields); i++)
        if ((s->custom & 1u << i) != 0)
            log_field(j, &thread->scratch, tx->message, &fields[i]);
    if (s != NULL)
        log_hashes(j, tx, s);
    json_object_end(j);
}

/* --- records ---------------------------------------------------------------------------------- */

static void log_both(struct json *j, const struct smtp_tx *tx, const struct log_settings *s)
{
    json_object(j, "smtp");
    log_envelope(j, tx);
    json_object_end(j);
    log_email(j, tx, s);
}

static bool smtp_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf)
{
    log_both(j, CONTAINER_OF(tx, struct smtp_tx, tx), conf);
    return true;
}

void smtp_alert_metadata(struct json *j, struct app_tx *tx)
{
    log_both(j, CONTAINER_OF(tx, struct smtp_tx, tx), NULL);
}

/* Logged with the mail's last line: the server's reply to it is not part of the record. */
static const struct app_log log_smtp = {
    .has_tx_id = true,
    .conf_name = "smtp",
    .event_type = "smtp",
    .progress = { SMTP_COMPLETE, 0 },
    .configure = smtp_log_configure,
    .log = smtp_log,
};

const struct app_log *const smtp_logs[] = { &log_smtp, NULL };
