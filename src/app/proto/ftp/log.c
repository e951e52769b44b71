/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/log.c - EVE: the `ftp` object, as in Suricata. */
#include "app/proto/ftp/ftp.h"

/* Codes of all replies. Removes the array when it would be empty. */
static void log_codes(struct json *j, const struct ftp_tx *tx)
{
    struct json_mark mark = json_mark(j);
    bool some = false;

    json_array(j, "completion_code");
    for (const struct ftp_reply *r = tx->replies; r != NULL; r = r->next) {
        if (r->code.len > 0)
            json_slice(j, NULL, r->code);
        some |= r->code.len > 0;
    }
    if (some)
        json_array_end(j);
    else
        json_rewind(j, mark);
}

/* Texts of all replies; removes the array when it would be empty. */
static void log_replies(struct json *j, const struct ftp_tx *tx)
{
    struct json_mark mark = json_mark(j);
    bool some = false;

    json_array(j, "reply");
    for (const struct ftp_reply *r = tx->replies; r != NULL; r = r->next) {
        if (r->text.len > 0)
            json_slice(j, NULL, r->text);
        some |= r->text.len > 0;
    }
    if (some)
        json_array_end(j);
    else
        json_rewind(j, mark);
}

/* Without a known command, as for the greeting, nothing is written. No data: the command came
 * without an argument. An empty one is not written, as in Suricata. */
static void log_command(struct json *j, const struct ftp_tx *tx)
{
    struct slice data = ftp_command_data(tx);

    if (tx->command == FTP_UNKNOWN)
        return;
    json_string(j, "command", ftp_command_name(tx->command));
    if (data.data == NULL)
        return;
    if (data.len > 0)
        json_slice(j, "command_data", data);
    json_bool(j, "command_truncated", tx->request_truncated);
}

/* Only these commands say which side opens the data connection. */
static bool names_mode(enum ftp_command c)
{
    return c == FTP_COMMAND_PORT || c == FTP_COMMAND_EPRT || c == FTP_COMMAND_PASV ||
           c == FTP_COMMAND_EPSV;
}

/* The fields of a record and of an alert. */
static void log_members(struct json *j, const struct ftp_tx *tx)
{
    log_command(j, tx);
    log_codes(j, tx);
    log_replies(j, tx);
    if (tx->dynamic_port != 0)
        json_u64(j, "dynamic_port", tx->dynamic_port);
    if (names_mode(tx->command))
        json_string(j, "mode", tx->active ? "active" : "passive");
    json_string(j, "reply_received", tx->replied ? "yes" : "no");
    json_bool(j, "reply_truncated", tx->reply_truncated);
}

static bool ftp_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                    const void *conf UNUSED)
{
    log_members(j, CONTAINER_OF(tx, struct ftp_tx, tx));
    return true;
}

/* The same fields within an alert. */
void ftp_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "ftp");
    log_members(j, CONTAINER_OF(tx, struct ftp_tx, tx));
    json_object_end(j);
}

static const struct app_log log_ftp = {
    .conf_name = "ftp",
    .event_type = "ftp",
    .key = "ftp",
    .progress = { FTP_DONE, FTP_DONE },
    .log = ftp_log,
};

const struct app_log *const ftp_logs[] = { &log_ftp, NULL };
