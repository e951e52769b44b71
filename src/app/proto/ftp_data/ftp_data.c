/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp_data/ftp_data.c - FTP's data connections.
 *
 * Their bytes have no signature. The control connection creates an expectation with the file name
 * and the direction of the data; app_expected_data() returns these. */
#include "app/core/file.h"
#include "app/log.h"
#include "app/proto.h"
#include "app/proto/ftp/ftp.h"
#include "app/reports.h"
#include "app/rules.h"

/* State of a flow, which has at most one transaction. */
struct data_state {
    struct app_tx *tx;          /* NULL before the first data and after its removal */
    enum ftp_command command;           /* FTP_UNKNOWN: not started */
    enum direction direction;           /* of the data */
    struct slice name;                  /* lives as long as the flow */
    struct app_file *file;              /* NULL: no file name, no file, or closed */
};

/* --- data ----------------------------------------------------------------------------------- */

/* Starts the transaction with the first bytes in the announced direction. Bytes in the other
 * direction are ignored: true. False ends the parser: the announcement is gone, or there are too
 * many transactions. */
static bool begin(struct app_flow *af, enum direction d)
{
    const struct ftp_transfer *transfer = app_expected_data(af);
    struct data_state *s = af->state;

    if (transfer == NULL)
        return false;
    if (transfer->direction != d)
        return true;
    s->command = transfer->command;
    s->direction = d;
    s->name = (struct slice){ .data = transfer->name, .len = transfer->name_len };
    s->tx = app_tx_new(af);
    if (s->tx == NULL)
        return false;
    s->tx->progress[OTHER_DIRECTION(d)] = 1;    /* the other side has nothing to say */
    if (s->name.len > 0)                        /* a listing has no name and makes no file */
        s->file = app_file_open(s->tx, d, s->name, NULL);
    return true;
}

/* Closes the file and completes the transaction. Safe without a file. */
static void end(struct data_state *s, enum file_state state)
{
    app_file_close(s->file, state);
    s->file = NULL;
    s->tx->progress[s->direction] = 1;
}

/* Only the end of the stream shows that a file is complete. */
static enum parse_status ftp_data_parse(struct app_flow *af, struct app_input *in)
{
    struct data_state *s = af->state;

    /* After the removal of the transaction no second one begins: `command` is set. */
    if (s->tx == NULL && s->command == FTP_UNKNOWN && in->len > 0 && !begin(af, in->direction))
        return PARSE_STOP;
    if (s->tx == NULL || in->direction != s->direction)
        return PARSE_OK;
    app_file_append(s->file, in->data, in->len);
    if (in->end)
        end(s, in->truncated ? FILE_TRUNCATED : FILE_CLOSED);
    return PARSE_OK;
}

/* The flow ends without the end of the stream: the file is truncated. */
static void ftp_data_finish(struct app_flow *af)
{
    struct data_state *s = af->state;

    if (s->tx != NULL)
        end(s, FILE_TRUNCATED);
}

/* The engine frees transaction and file; the state lives longer. */
static void ftp_data_tx_close(struct app_tx *tx)
{
    struct data_state *s = tx->flow->state;

    s->tx = NULL;
    s->file = NULL;
}

/* --- keywords ------------------------------------------------------------------------------- */

/* Commands that announce a data connection. */
static const enum ftp_command transfers[] = {
    FTP_COMMAND_STOR, FTP_COMMAND_APPE, FTP_COMMAND_STOU, FTP_COMMAND_RETR, FTP_COMMAND_NLST,
    FTP_COMMAND_LIST, FTP_COMMAND_MLSD,
};

/* The value of `ftpdata_command`: one command, in any case. */
static int command_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    enum ftp_command *command = arg;

    in = text_trim(in);
    for (unsigned i = 0; i < ARRAY_LEN(transfers); i++)
        if (text_equal_nocase(in, ftp_command_name(transfers[i])))
            *command = transfers[i];
    if (*command == FTP_UNKNOWN)
        return err_set(err, "ftpdata_command: expected stor, appe, stou, retr, nlst, list or mlsd, "
                            "got \"%.*s\"", TEXT(in));
    return 0;
}

static bool command_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    const struct data_state *s = tx->flow->state;
    const enum ftp_command *command = arg;

    return s->command == *command;
}

static bool tell_command(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    const struct data_state *s = tx->flow->state;

    if (s->command == FTP_UNKNOWN)
        buf_add_string(out, "the command is not known");
    else
        buf_printf(out, "the command is %s", ftp_command_name(s->command));
    return true;
}

static const struct app_match match_command = {
    .name = "ftpdata_command", .doc = "the command that the data belong to",
    .syntax = "stor|appe|stou|retr|nlst|list|mlsd",
    .directions = APP_BOTH, .arg_size = sizeof(enum ftp_command), .parse = command_parse,
    .match = command_match,
    .firewall = true, .tell = tell_command,
};
static const struct app_match *const matches[] = { &match_command, NULL };

APP_FILE_BUFFERS(APP_BOTH, 0, 0);
static const struct app_buffer *const buffers[] = { &file_data, &file_name, &file_magic, NULL };

/* --- EVE ------------------------------------------------------------------------------------ */

/* The name is absent for listings. */
static bool ftp_data_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                         const void *conf UNUSED)
{
    const struct data_state *s = tx->flow->state;

    if (s->name.len > 0)
        json_slice(j, "filename", s->name);
    json_string(j, "command", ftp_command_name(s->command));
    return true;
}

/* The same fields within an alert. */
static void ftp_data_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "ftp_data");
    (void)ftp_data_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log log_ftp_data = {
    .conf_name = "ftp",
    .event_type = "ftp_data",
    .key = "ftp_data",
    .progress = { 1, 1 },
    .log = ftp_data_log,
};
static const struct app_log *const logs[] = { &log_ftp_data, NULL };

/* --- the declaration ------------------------------------------------------------------------ */

/* As Suricata has them. */
static const struct app_reports reports = {
    .order = (const struct app_report_order[]){
        { "file*", { 8, 7 } }, { NULL, { 0, 0 } } },
};

const struct app_proto app_ftp_data = {
    .id = APP_PROTO_ftp_data,
    .name = "ftp-data",
    .reports = &reports,
    .transports = APP_TCP,
    .first_sender = APP_BOTH,
    .state_size = sizeof(struct data_state),
    .tx_size = sizeof(struct app_tx),
    .single_tx = true,
    .inspect_both_dirs = true,
    .parse = ftp_data_parse,
    .finish = ftp_data_finish,
    .tx_close = ftp_data_tx_close,
    .progress_done = { 1, 1 },
    .buffers = buffers,
    .matches = matches,
    .logs = logs,
    .alert_metadata = ftp_data_alert_metadata,
    .file_directions = APP_BOTH,
};
