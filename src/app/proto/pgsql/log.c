/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/pgsql/log.c - EVE pgsql: requests and responses of a transaction.
 *
 * Field numbers and letters are those of the chapter "Frontend/Backend Protocol" of PostgreSQL's
 * manual, sections "Message Formats" and "Error and Notice Message Fields". */
#include "app/proto/pgsql/pgsql.h"

#include "app/lib/log_text.h"
#include "base/array.h"

/* Options of this log; one instance for the output, read-only afterwards. */
struct pgsql_log_settings {
    bool passwords;     /* false: a password becomes `password_redacted: true` */
};

static void *pgsql_log_configure(const struct conf_node *node, struct err *err UNUSED)
{
    struct pgsql_log_settings *s = xcalloc(1, sizeof(*s));

    s->passwords = conf_bool(node, "passwords", false);
    return s;
}

/* The key of a parameter in records; NULL: a parameter that is not in the list, for which the name
 * on the wire becomes the key. Only three differ: Suricata writes them in snake case. */
static const char *parameter_name(struct slice name)
{
    static const struct { const char *wire, *key; } names[] = {
        { "user", "user" }, { "database", "database" }, { "options", "options" },
        { "replication", "replication" }, { "server_version", "server_version" },
        { "server_encoding", "server_encoding" }, { "client_encoding", "client_encoding" },
        { "application_name", "application_name" },
        { "default_transaction_read_only", "default_transaction_read_only" },
        { "in_hot_standby", "in_hot_standby" }, { "is_superuser", "is_superuser" },
        { "session_authorization", "session_authorization" }, { "DateStyle", "date_style" },
        { "IntervalStyle", "interval_style" }, { "TimeZone", "time_zone" },
        { "integer_datetimes", "integer_datetimes" },
        { "standard_conforming_strings", "standard_conforming_strings" },
    };

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (slice_is(name, names[i].wire))
            return names[i].key;
    return NULL;
}

/* The name comes from the network: it must become valid UTF-8 before it can be a JSON key. */
static void log_parameter(struct json *j, struct slice name, struct slice value,
                          struct arena *arena)
{
    const char *key = parameter_name(name);

    json_object(j, NULL);
    json_slice(j, key != NULL ? key : app_json_key(arena, app_text_utf8(arena, name)), value);
    json_object_end(j);
}

/* The user comes first, whatever its place in the message; other parameters follow as a list. `a`
 * and `b` are the two halves of the protocol version, 3 and 0. */
static void log_startup(struct json *j, const struct pgsql_message *m, struct arena *arena)
{
    struct bytes in = bytes_of_slice(m->text);
    struct slice name, value;
    bool open = false;

    json_printf(j, "protocol_version", "%u.%u", m->a, m->b);
    json_object(j, "startup_parameters");
    while (pgsql_take_pair(&in, &name, &value))
        if (slice_is(name, "user"))
            json_slice(j, "user", value);
    in = bytes_of_slice(m->text);
    while (pgsql_take_pair(&in, &name, &value)) {
        if (slice_is(name, "user"))
            continue;
        if (!open)
            json_array(j, "optional_parameters");
        open = true;
        log_parameter(j, name, value, arena);
    }
    if (open)
        json_array_end(j);
    json_object_end(j);
}

/* Rows are only counted: `rows` messages with `size` bytes of content. `key` NULL: fields go
 * straight into the object that is open. */
static void log_rows(struct json *j, const char *key, const char *count,
                     const struct pgsql_message *m)
{
    if (key != NULL)
        json_object(j, key);
    json_u64(j, count, m->rows);
    json_u64(j, "data_size", m->size);
    if (key != NULL)
        json_object_end(j);
}

/* The parser decided what kind a message is; kinds without a case here have no fields. The password
 * is written only when the configuration allows it. SASL data are written in any case: SCRAM does
 * not send the password. */
static void log_request(struct json *j, const struct pgsql_message *m, struct arena *arena,
                        const struct pgsql_log_settings *s)
{
    switch (m->kind) {
    case PGSQL_STARTUP:       log_startup(j, m, arena); break;
    case PGSQL_SSL_REQUEST:   json_string(j, "message", "SSL Request"); break;
    case PGSQL_SASL_INITIAL:
        json_string(j, "sasl_authentication_mechanism",
                    /* sasl_initial() accepts only these two. */
                    m->b ? "scram_SHA256_plus" : "scram_SHA256");
        json_slice(j, "sasl_param", m->text);
        break;
    case PGSQL_PASSWORD:
        if (s->passwords)
            json_slice(j, "password", m->text);
        else
            json_bool(j, "password_redacted", true);
        break;
    case PGSQL_SASL_RESPONSE: json_slice(j, "sasl_response", m->text); break;
    case PGSQL_QUERY:         json_slice(j, "simple_query", m->text); break;
    case PGSQL_COPY_FAIL:     json_slice(j, "copy_fail", m->text); break;
    case PGSQL_CANCEL:
        json_string(j, "message", "cancel_request");
        json_u64(j, "process_id", m->a);
        json_u64(j, "secret_key", m->b);
        break;
    case PGSQL_COPY_DATA:     log_rows(j, "copy_data_in", "msg_count", m); break;
    case PGSQL_COPY_DONE:     json_string(j, "message", "copy_done"); break;
    case PGSQL_TERMINATE:     json_string(j, "message", "termination_message"); break;
    default: break;
    }
}

/* The letter in front of each field of an ErrorResponse; fields that a later version of PostgreSQL
 * adds have one common name. */
static const char *field_name(uint8_t letter)
{
    static const struct { char letter; const char *name; } fields[] = {
        { 'S', "severity_localizable" }, { 'V', "severity_non_localizable" }, { 'C', "code" },
        { 'M', "message" }, { 'D', "detail" }, { 'H', "hint" }, { 'P', "position" },
        { 'p', "internal_position" }, { 'q', "internal_query" }, { 'W', "where" },
        { 's', "schema_name" }, { 't', "table_name" }, { 'c', "column_name" },
        { 'd', "data_type" }, { 'n', "constraint_name" }, { 'F', "file" }, { 'L', "line" },
        { 'R', "routine" },
    };

    for (unsigned i = 0; i < ARRAY_LEN(fields); i++)
        if ((uint8_t)fields[i].letter == letter)
            return fields[i].name;
    return "unknown_field_type";
}

/* Fields until a zero byte. The loop also ends at the end of the text, where take_u8 gives 0, and
 * at a field without its own zero byte. */
static void log_error(struct json *j, const struct pgsql_message *m)
{
    struct bytes in = bytes_of_slice(m->text);
    struct slice value;

    for (;;) {
        uint8_t letter = take_u8(&in);

        if (letter == 0 || !take_until(&in, 0, &value))
            return;
        json_slice(j, field_name(letter), value);
    }
}

/* The number of columns that a COPY transfers. */
static void log_columns(struct json *j, const char *key, uint32_t columns)
{
    json_object(j, key);
    json_u64(j, "columns", columns);
    json_object_end(j);
}

/* All responses of a transaction become fields of one object. ReadyForQuery has no fields. */
static void log_response(struct json *j, const struct pgsql_message *m)
{
    switch (m->kind) {
    case PGSQL_SSL_ACCEPTED:       json_bool(j, "ssl_accepted", true); break;
    case PGSQL_SSL_REJECTED:       json_bool(j, "ssl_accepted", false); break;
    case PGSQL_ERROR:              log_error(j, m); break;
    case PGSQL_AUTH_OK:            json_string(j, "message", "authentication_ok"); break;
    case PGSQL_AUTH_CLEARTEXT:
        json_string(j, "message", "authentication_cleartext_password");
        break;
    case PGSQL_AUTH_SASL:          json_string(j, "message", "authentication_sasl"); break;
    case PGSQL_AUTH_SASL_CONTINUE:
        json_string(j, "message", "authentication_sasl_continue");
        break;
    case PGSQL_COPY_DONE:          json_string(j, "message", "copy_done"); break;
    /* The salt, 4 bytes. */
    case PGSQL_AUTH_MD5:           json_slice(j, "authentication_md5_password", m->text); break;
    case PGSQL_AUTH_SASL_FINAL:    json_slice(j, "authentication_sasl_final", m->text); break;
    case PGSQL_COMPLETE:           json_slice(j, "command_completed", m->text); break;
    case PGSQL_COPY_OUT:           log_columns(j, "copy_out_response", m->a); break;
    case PGSQL_COPY_IN:            log_columns(j, "copy_in_response", m->a); break;
    case PGSQL_BACKEND_KEY:
        json_u64(j, "process_id", m->a);
        json_u64(j, "secret_key", m->b);
        break;
    case PGSQL_COPY_DATA:          log_rows(j, "copy_data_out", "row_count", m); break;
    case PGSQL_ROW_DESCRIPTION:    json_u64(j, "field_count", m->a); break;
    case PGSQL_DATA_ROW:           log_rows(j, NULL, "data_rows", m); break;
    default: break;
    }
}

/* Parameters that follow each other become one list. Any other message closes the list. */
static void log_responses(struct json *j, const struct pgsql_message *m, struct arena *arena)
{
    struct slice name, value;
    bool open = false;

    for (; m != NULL; m = m->next) {
        struct bytes in = bytes_of_slice(m->text);

        if (m->kind != PGSQL_PARAMETER) {
            if (open)
                json_array_end(j);
            open = false;
            log_response(j, m);
        } else if (pgsql_take_pair(&in, &name, &value)) {
            if (!open)
                json_array(j, "parameter_status");
            open = true;
            log_parameter(j, name, value, arena);
        }
    }
    if (open)
        json_array_end(j);
}

/* Transactions have numbers from 1 in records. */
static bool pgsql_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                      const void *conf)
{
    const struct pgsql_tx *t = pgsql_tx_of(tx);

    json_u64(j, "tx_id", tx->id + 1);
    if (t->requests.first != NULL) {
        json_object(j, "request");
        for (const struct pgsql_message *m = t->requests.first; m != NULL; m = m->next)
            log_request(j, m, &tx->arena, conf);
        json_object_end(j);
    }
    if (t->responses.first != NULL) {
        json_object(j, "response");
        log_responses(j, t->responses.first, &tx->arena);
        json_object_end(j);
    }
    return true;
}

/* Within an alert a password is never written, whatever the configuration of the log says. */
void pgsql_alert_metadata(struct json *j, struct app_tx *tx)
{
    static const struct pgsql_log_settings settings = { .passwords = false };

    json_object(j, "pgsql");
    pgsql_log(j, tx, TO_SERVER, &settings);
    json_object_end(j);
}

static const struct app_log eve_pgsql = {
    .conf_name = "pgsql", .event_type = "pgsql", .key = "pgsql",
    .progress = { PGSQL_DONE, PGSQL_DONE }, .configure = pgsql_log_configure,
    .log = pgsql_log,
};
const struct app_log *const pgsql_logs[] = { &eve_pgsql, NULL };
