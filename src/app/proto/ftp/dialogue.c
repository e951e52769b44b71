/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/dialogue.c - commands and replies (RFC 959 sections 4.1 and 4.2), and the data
 * connections that they agree on.
 *
 * Each command is a transaction, done with the first line that is no preliminary reply. Replies
 * come in the order of the commands. One without a command (the greeting) is a transaction of its
 * own. */
#include "app/parser.h"
#include "app/proto/ftp/ftp.h"
#include "base/memory/lib_memory.h"
#include "base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX (256u << 10)         /* bytes of one transaction's lines */

static struct slice trim_end(struct slice s)
{
    while (s.len > 0 && (s.data[s.len - 1] == ' ' ||
                         (s.data[s.len - 1] >= '\t' && s.data[s.len - 1] <= '\r')))
        s.len--;
    return s;
}

/* False: over MEMORY_MAX, or over the memcap of all flows. */
static bool take_memory(struct ftp_tx *tx, uint32_t size)
{
    return tx->memory + size <= MEMORY_MAX && ftp_memory_take(tx, size);
}

#define WITHOUT_REPLY 0                 /* the key of all such commands: a queue */

/* The command that the next reply belongs to. */
static struct ftp_tx *oldest_open(struct app_flow *af)
{
    return (struct ftp_tx *)app_tx_by_key(af, WITHOUT_REPLY);
}

static void complete(struct app_flow *af, struct ftp_tx *tx)
{
    struct ftp_state *s = af->state;

    tx->replied = true;
    tx->tx.progress[TO_CLIENT] = FTP_DONE;
    app_tx_key_drop(&tx->tx);
    s->open -= s->open > 0;
}

/* Commands that pile up without replies stop the parser: the oldest gets the event. */
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

/* The struct itself counts against the memcap. */
static struct ftp_tx *new_transaction(struct app_flow *af)
{
    struct ftp_state *s = af->state;
    struct ftp_tx *tx = is_too_many(af) ? NULL : (struct ftp_tx *)app_tx_new(af);

    if (tx == NULL)
        return NULL;
    s->open++;
    tx->tx.progress[TO_SERVER] = FTP_DONE;
    tx->replies_end = &tx->replies;
    app_tx_key(&tx->tx, WITHOUT_REPLY);
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

/* Direction of the data within the data connection: the client opens it in passive mode, the server
 * in active mode. */
static enum direction direction_of_data(const struct ftp_state *s, enum ftp_command c)
{
    return is_upload(c) == s->active ? TO_CLIENT : TO_SERVER;
}

/* The name after "RETR " or "STOR ". STOU may have none: the server chooses. */
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

/* The new flow's parser gets `transfer`; app_expect() takes it over, also on failure. */
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

/* A transfer uses the port once. -1: no memory, and the parser stops. */
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

/* Notes the port of PORT and EPRT: the reply makes it valid. */
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

/* AUTH TLS, RFC 4217 section 4. It makes no transaction, as all unknown commands. */
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

/* One line of the client. -1 stops the parser. */
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
    tx->tx.untouched[TO_CLIENT] = true;
    keep_request(tx, line);
    tx->request_truncated = line_truncated;
    if (line_truncated)
        app_tx_event(&tx->tx, FTP_EVENT_REQUEST_COMMAND_TOO_LONG);
    return act(af, tx);
}

/* --- replies -------------------------------------------------------------------------------- */

/* Each line but a preliminary reply ends a command, as in Suricata: which line ends a reply of
 * several is not looked at. Those that follow belong to the next open command, or to the last one
 * as long as it is not freed. Without any, a line starts a transaction. */
static struct ftp_tx *transaction_of_reply(struct app_flow *af)
{
    struct ftp_tx *tx = oldest_open(af);

    if (tx == NULL)
        tx = (struct ftp_tx *)af->last;
    if (tx != NULL)
        return tx;
    tx = new_transaction(af);
    if (tx != NULL)
        tx->tx.unidirectional[TO_SERVER] = true;
    return tx;
}

/* 0: the line has no code. */
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

/* Is there a code with this character after it? '-' continues a reply (RFC 959 section 4.2). */
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

static bool announces_port(const struct ftp_state *s)
{
    return s->command == FTP_COMMAND_PORT || s->command == FTP_COMMAND_EPRT;
}

/* The latest command decides what the reply means. If replies are one behind (the greeting was not
 * seen), a data connection would otherwise be missed. An unknown command makes the reply's
 * transaction unknown. */
static void heed_reply(struct app_flow *af, struct ftp_tx *tx, struct slice line)
{
    struct ftp_state *s = af->state;
    unsigned code = separates(line, ' ') ? reply_code(line) : 0;

    if (s->command == FTP_UNKNOWN && !s->auth_tls)
        tx->command = FTP_UNKNOWN;
    if (announces_port(s))
        data_port(s, tx, s->announced, true);
    else if (s->command == FTP_COMMAND_PASV && code == 227)
        data_port(s, tx, ftp_port_of_pasv(line), false);
    else if (s->command == FTP_COMMAND_EPSV && code == 229)
        data_port(s, tx, ftp_port_of_epsv(line), false);
    else if (s->auth_tls && code == 234)
        (void)app_change_protocol(af, APP_PROTO_tls, 443);
}

/* Invalid bytes become U+FFFD: three bytes each. */
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

int ftp_reply(struct app_flow *af, struct slice line, bool line_truncated)
{
    struct ftp_state *s = af->state;
    struct ftp_tx *tx = transaction_of_reply(af);

    if (tx == NULL)
        return -1;
    app_tx_mark(&tx->tx);
    tx->tx.untouched[TO_CLIENT] = false;
    heed_reply(af, tx, line);
    /* As in Suricata, replies are passed over while the port that the client announced is none. */
    if (!announces_port(s) || s->announced != 0) {
        keep_reply(tx, line);
        if (line_truncated) {
            tx->reply_truncated = true;
            app_tx_event(&tx->tx, FTP_EVENT_RESPONSE_COMMAND_TOO_LONG);
        }
        if (separates(line, ' ') && line.data[0] == '1')
            return 0;                   /* preliminary: another one follows */
    }
    if (!tx->replied)
        complete(af, tx);
    return 0;
}
