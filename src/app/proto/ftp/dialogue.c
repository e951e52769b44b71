/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/dialogue.c - commands and replies, and the data connections they agree on.
 *
 * Each command is a transaction, done with its final reply. Replies come in the order of the
 * commands; one without a command (the greeting) is a transaction of its own. */
#include "app/parser.h"
#include "app/proto/ftp/ftp.h"
#include "base/memory/lib_memory.h"
#include "base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX (256u << 10)         /* of one transaction's lines */

static struct slice trim_end(struct slice s)
{
    while (s.len > 0 && (s.data[s.len - 1] == ' ' ||
                         (s.data[s.len - 1] >= '\t' && s.data[s.len - 1] <= '\r')))
        s.len--;
    return s;
}

static bool take_memory(struct ftp_tx *tx, uint32_t size)
{
    return tx->memory + size <= MEMORY_MAX && ftp_memory_take(tx, size);
}

static struct ftp_tx *oldest_open(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        if (tx->progress[TO_CLIENT] < FTP_DONE)
            return (struct ftp_tx *)tx;
    return NULL;
}

static void complete(struct app_flow *af, struct ftp_tx *tx)
{
    struct ftp_state *s = af->state;

    tx->replied = true;
    tx->tx.progress[TO_CLIENT] = FTP_DONE;
    s->open -= s->open > 0;
}

/* Commands that pile up without replies end the parsing. */
static bool is_too_many(struct app_flow *af)
{
    const struct ftp_settings *settings = af->settings;
    const struct ftp_state *s = af->state;
    struct ftp_tx *oldest;

    if (s->open < settings->max_tx)
        return false;
    oldest = oldest_open(af);
    if (oldest == NULL)
        return false;
    app_tx_event(&oldest->tx, FTP_EVENT_TOO_MANY_TRANSACTIONS);
    complete(af, oldest);
    return true;
}

static struct ftp_tx *new_transaction(struct app_flow *af)
{
    struct ftp_state *s = af->state;
    struct ftp_tx *tx = is_too_many(af) ? NULL : (struct ftp_tx *)app_tx_new(af);

    if (tx == NULL)
        return NULL;
    s->open++;
    tx->tx.progress[TO_SERVER] = FTP_DONE;
    tx->replies_end = &tx->replies;
    if (ftp_memory_take(tx, sizeof(*tx)))
        return tx;
    app_tx_discard(&tx->tx);
    return NULL;
}

/* --- transfers ------------------------------------------------------------------------------ */

static bool has_no_file(enum ftp_command c)
{
    return c == FTP_COMMAND_NLST || c == FTP_COMMAND_LIST || c == FTP_COMMAND_MLSD;
}

static bool is_upload(enum ftp_command c)
{
    return c == FTP_COMMAND_STOR || c == FTP_COMMAND_APPE || c == FTP_COMMAND_STOU;
}

/* Of the data within their connection, which the client opens in passive mode and the server in
 * active mode. */
static enum direction direction_of_data(const struct ftp_state *s, enum ftp_command c)
{
    return is_upload(c) == s->active ? TO_CLIENT : TO_SERVER;
}

static struct slice file_name(const struct ftp_tx *tx)
{
    static const char unnamed[] = "<stou>";
    struct bytes in = bytes_of_slice(tx->request);

    if (has_no_file(tx->command))
        return (struct slice){ 0 };
    if (tx->request.len < 6)
        return (struct slice){ .data = (const uint8_t *)unnamed, .len = sizeof(unnamed) - 1 };
    take_skip(&in, 5);
    return take_slice(&in, MIN(bytes_left(&in), FTP_NAME_MAX));
}

static bool expect_data(struct app_flow *af, const struct ftp_tx *tx)
{
    struct ftp_state *s = af->state;
    struct slice name = file_name(tx);
    struct ftp_transfer *transfer = lib_malloc(sizeof(*transfer) + name.len);
    struct app_expected expected = { .dst_port = s->dynamic_port, .proto = APP_PROTO_ftp_data,
                                     .data = transfer };

    if (transfer == NULL)
        return false;
    transfer->command = tx->command;
    transfer->direction = direction_of_data(s, tx->command);
    transfer->name_len = name.len;
    if (name.len > 0)
        memcpy(transfer->name, name.data, name.len);
    expected.directions = APP_DIRECTION_BIT(transfer->direction);
    return app_expect(af, &expected);
}

static int begin_transfer(struct app_flow *af, struct ftp_tx *tx)
{
    struct ftp_state *s = af->state;

    if (tx->request.len < 6 && !has_no_file(tx->command) && tx->command != FTP_COMMAND_STOU) {
        app_tx_event(&tx->tx, FTP_EVENT_FILE_WITHOUT_NAME);
        return 0;
    }
    if (s->dynamic_port == 0) {
        app_tx_event(&tx->tx, FTP_EVENT_FILE_BEFORE_PORT);
        return 0;
    }
    if (!expect_data(af, tx))
        return -1;
    s->dynamic_port = 0;
    s->active = false;
    return 0;
}

/* --- commands ------------------------------------------------------------------------------- */

static int act(struct app_flow *af, struct ftp_tx *tx)
{
    struct ftp_state *s = af->state;

    switch (tx->command) {
    case FTP_COMMAND_PORT:
        s->announced = ftp_port_of_port(tx->request);
        return 0;
    case FTP_COMMAND_EPRT:
        s->announced = ftp_port_of_eprt(tx->request);
        return 0;
    case FTP_COMMAND_RETR:
    case FTP_COMMAND_STOR:
    case FTP_COMMAND_APPE:
    case FTP_COMMAND_STOU:
    case FTP_COMMAND_NLST:
    case FTP_COMMAND_LIST:
    case FTP_COMMAND_MLSD:
        return begin_transfer(af, tx);
    default:
        return 0;
    }
}

/* RFC 4217, 4. No transaction, as for all commands that are not known. */
static bool is_auth_tls(struct slice line)
{
    static const char expected[] = "AUTH TLS";
    uint32_t i = 0;

    for (; i < sizeof(expected) - 1; i++)
        if (i >= line.len || (line.data[i] != (uint8_t)expected[i] &&
                              line.data[i] != ((uint8_t)expected[i] | 0x20)))
            return false;
    return true;
}

static void keep_request(struct ftp_tx *tx, struct slice line)
{
    line = trim_end(line);
    if (line.len == 0 || !take_memory(tx, line.len))
        return;
    tx->request.data = arena_copy(&tx->tx.arena, line.data, line.len);
    tx->request.len = tx->request.data != NULL ? line.len : 0;
}

int ftp_request(struct app_flow *af, struct slice line, bool line_truncated)
{
    struct ftp_state *s = af->state;
    uint32_t end = 0;
    enum ftp_command command = ftp_command_find(line, &end);
    struct ftp_tx *tx;

    s->command = command;
    if (command == FTP_UNKNOWN) {
        s->auth_tls = is_auth_tls(line);
        return 0;
    }
    tx = new_transaction(af);
    if (tx == NULL)
        return -1;
    tx->command = command;
    keep_request(tx, line);
    tx->request_truncated = line_truncated;
    if (line_truncated)
        app_tx_event(&tx->tx, FTP_EVENT_REQUEST_COMMAND_TOO_LONG);
    return act(af, tx);
}

/* --- replies -------------------------------------------------------------------------------- */

static struct ftp_tx *transaction_of_reply(struct app_flow *af)
{
    struct ftp_tx *tx = oldest_open(af);

    if (tx != NULL)
        return tx;
    tx = new_transaction(af);
    if (tx != NULL)
        tx->tx.unidirectional[TO_SERVER] = true;
    return tx;
}

static unsigned reply_code(struct slice line)
{
    unsigned code = 0;

    for (unsigned i = 0; i < 3; i++) {
        if (i >= line.len || line.data[i] < '0' || line.data[i] > '9')
            return 0;
        code = code * 10 + (unsigned)(line.data[i] - '0');
    }
    return code;
}

static bool separates(struct slice line, char c)
{
    return reply_code(line) != 0 && line.len > 3 && line.data[3] == (uint8_t)c;
}

static void data_port(struct ftp_state *s, struct ftp_tx *tx, uint16_t port, bool active)
{
    if (port == 0)
        return;
    s->dynamic_port = tx->dynamic_port = port;
    s->active = tx->active = active;
}

/* Of which command it speaks, the latest one says: where replies are one behind (the greeting was
 * not seen), a data connection would else be missed. One that is not known makes unknown what its
 * reply is put to. */
static void heed_reply(struct app_flow *af, struct ftp_tx *tx, struct slice line)
{
    struct ftp_state *s = af->state;
    unsigned code = separates(line, ' ') ? reply_code(line) : 0;

    if (s->command == FTP_UNKNOWN && !s->auth_tls)
        tx->command = FTP_UNKNOWN;
    if (s->command == FTP_COMMAND_PORT || s->command == FTP_COMMAND_EPRT)
        data_port(s, tx, s->announced, true);
    else if (s->command == FTP_COMMAND_PASV && code == 227)
        data_port(s, tx, ftp_port_of_pasv(line), false);
    else if (s->command == FTP_COMMAND_EPSV && code == 229)
        data_port(s, tx, ftp_port_of_epsv(line), false);
    else if (s->auth_tls && code == 234)
        (void)app_change_protocol(af, APP_PROTO_tls, 443);
}

static struct slice lossy_copy(struct ftp_tx *tx, struct slice s)
{
    uint8_t *text = arena_alloc(&tx->tx.arena, (size_t)s.len * 3 + 1);

    if (text == NULL)
        return (struct slice){ 0 };
    return (struct slice){ .data = text, .len = (uint32_t)utf8_lossy(s, text) };
}

static void keep_reply(struct ftp_tx *tx, struct slice line)
{
    struct bytes in;
    struct ftp_reply *r;

    line = trim_end(line);
    if (line.len == 0 || !take_memory(tx, line.len * 3 + (uint32_t)sizeof(*r)))
        return;
    in = bytes_of_slice(line);
    r = arena_zalloc(&tx->tx.arena, sizeof(*r));
    if (r == NULL)
        return;
    if (separates(line, ' ')) {
        r->code = lossy_copy(tx, take_slice(&in, 3));
        take_skip(&in, 1);
    }
    r->text = lossy_copy(tx, take_rest(&in));
    *tx->replies_end = r;
    tx->replies_end = &r->next;
}

/* "230-" begins a reply of several lines, which ends with one that has a code and no dash. */
static bool is_last_line(struct ftp_state *s, struct slice line)
{
    bool has_code = reply_code(line) != 0;

    if (separates(line, '-'))
        s->multiline = true;
    else if (has_code && (line.len == 3 || line.data[3] == ' '))
        s->multiline = false;
    return !s->multiline;
}

int ftp_reply(struct app_flow *af, struct slice line, bool line_truncated)
{
    struct ftp_state *s = af->state;
    struct ftp_tx *tx = transaction_of_reply(af);

    if (tx == NULL)
        return -1;
    heed_reply(af, tx, line);
    keep_reply(tx, line);
    if (line_truncated) {
        tx->reply_truncated = true;
        app_tx_event(&tx->tx, FTP_EVENT_RESPONSE_COMMAND_TOO_LONG);
    }
    if (!is_last_line(s, line))
        return 0;
    if (separates(line, ' ') && line.data[0] == '1')
        return 0;                       /* preliminary: another one follows */
    complete(af, tx);
    return 0;
}
