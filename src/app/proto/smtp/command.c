/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smtp/command.c - commands (RFC 5321 section 4.1), and the replies to them.
 *
 * Commands wait in a queue for their replies, which come in order (RFC 2920). A mail is a
 * transaction: it starts with the first command, and ends with the mail's last line or a granted
 * RSET. */
#include "app/proto/smtp/smtp.h"
#include "base/memory/lib_memory.h"

#include <string.h>

#define WAITING_MAX 65535               /* commands without a reply; a byte each */
#define RECIPIENTS_MAX (1u << 20)       /* bytes of all recipients of a mail */

bool smtp_starts_nocase(struct slice text, const char *lower)
{
    uint32_t i = 0;

    for (; lower[i] != '\0'; i++) {
        uint8_t c = i < text.len ? text.data[i] : 0;

        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        if (c != (uint8_t)lower[i])
            return false;
    }
    return true;
}

/* --- transactions ----------------------------------------------------------------------------- */

/* The client's part is complete. The server's reply may still come. */
void smtp_complete(struct smtp_state *s)
{
    s->tx->done = true;
    s->tx->tx.progress[TO_SERVER] = SMTP_COMPLETE;
}

/* The mail has begun, or its reply. */
static void smtp_data_begins(struct smtp_state *s, enum direction d)
{
    if (s->tx != NULL)
        s->tx->tx.progress[d] = MAX(s->tx->tx.progress[d], SMTP_DATA);
}

static struct slice copy(struct smtp_tx *tx, const void *data, size_t len)
{
    const uint8_t *p = len > 0 ? arena_copy(&tx->tx.arena, data, len) : NULL;

    return (struct slice){ .data = p, .len = p != NULL ? (uint32_t)len : 0 };
}

/* An empty name is one, too: records show that HELO came. */
static struct slice helo_of(struct smtp_state *s, struct smtp_tx *tx)
{
    if (s->helo.data != NULL && s->helo.len == 0)
        return (struct slice){ .data = (const uint8_t *)"", .len = 0 };
    return copy(tx, s->helo.data, s->helo.len);
}

/* The transaction before is done: no reply is matched to it any more. HELO is repeated in each
 * transaction, because a client says it once. */
static bool new_transaction(struct smtp_state *s)
{
    struct smtp_tx *tx;

    if (s->tx != NULL)
        s->tx->tx.progress[TO_CLIENT] = SMTP_COMPLETE;
    tx = (struct smtp_tx *)app_tx_new(s->af);
    if (tx == NULL)
        return false;
    tx->recipients_end = &tx->recipients;
    tx->helo = helo_of(s, tx);
    s->tx = tx;
    return true;
}

/* QUIT and RSET belong to the mail before them, if its reply has not come. */
static bool ends_what_is(const struct smtp_state *s, struct slice text)
{
    return !s->data_mode &&
           (smtp_starts_nocase(text, "rset") || smtp_starts_nocase(text, "quit"));
}

static bool ensure_transaction(struct smtp_state *s, struct slice text)
{
    bool fresh = s->tx == NULL || s->tx->tx.progress[TO_CLIENT] == SMTP_COMPLETE ||
                 (s->tx->done && !ends_what_is(s, text));

    return !fresh || new_transaction(s);
}

bool smtp_is_command(struct slice text)
{
    static const char *const verbs[] = {
        "auth", "bdat", "data", "ehlo", "expn", "helo", "help", "mail", "noop", "quit", "rcpt",
        "rset", "starttls", "vrfy",
    };

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (smtp_starts_nocase(text, verbs[i]))
            return true;
    return false;
}

/* --- the queue -------------------------------------------------------------------------------- */

/* Beyond the queue's end: NONE, a reply that no command waits for. */
static enum smtp_command waiting_at(const struct smtp_state *s, uint32_t i)
{
    return i < s->waiting.len ? (enum smtp_command)s->waiting.data[i] : SMTP_COMMAND_NONE;
}

/* A client must wait for the reply to STARTTLS and DATA (RFC 2920 section 3.1). -1: the queue is
 * full, and the parser stops. */
static int wait_for_reply(struct smtp_state *s, enum smtp_command command)
{
    uint32_t n = (uint32_t)s->waiting.len;

    if (n > 0 && (waiting_at(s, n - 1) == SMTP_COMMAND_STARTTLS ||
                  waiting_at(s, n - 1) == SMTP_COMMAND_DATA))
        smtp_event(s, SMTP_EVENT_INVALID_PIPELINED_SEQUENCE);
    if (n >= WAITING_MAX)
        return -1;
    buf_add_u8(&s->waiting, (uint8_t)command);
    return 0;
}

/* The queue shrinks only when it is empty: its bytes are never moved. */
static void command_replied(struct smtp_state *s)
{
    if (++s->replied < s->waiting.len)
        return;
    buf_clear(&s->waiting);
    s->replied = 0;
}

/* --- commands --------------------------------------------------------------------------------- */

/* "MAIL FROM:<a@b> SIZE=1": the text after the name and one byte, up to a space. */
static struct slice parameter(struct slice text, uint32_t name_len)
{
    struct bytes in = bytes_of_slice(text);
    struct slice out;

    take_skip(&in, MIN(name_len + 1, text.len));
    while (peek_u8(&in) == ' ')
        take_u8(&in);
    if (!take_until(&in, ' ', &out))
        out = take_rest(&in);
    return out;
}

/* A copy that outlives the packet. Also of an empty text: its pointer tells that HELO came. */
static struct slice keep(struct slice text)
{
    uint8_t *p = lib_malloc((size_t)text.len + 1);

    if (p == NULL)
        return (struct slice){ 0 };
    if (text.len > 0)
        memcpy(p, text.data, text.len);
    return (struct slice){ .data = p, .len = text.len };
}

/* Only the first HELO counts, as in Suricata. */
static void helo(struct smtp_state *s, struct slice text)
{
    if (s->helo.data != NULL) {
        smtp_event(s, SMTP_EVENT_DUPLICATE_FIELDS);
        return;
    }
    s->helo = keep(parameter(text, 4));
    s->tx->helo = helo_of(s, s->tx);
}

static void mail_from(struct smtp_state *s, struct slice text)
{
    struct slice from = parameter(text, 9);

    if (s->tx->mail_from.data != NULL) {
        smtp_event(s, SMTP_EVENT_DUPLICATE_FIELDS);
        return;
    }
    s->tx->mail_from = arena_slice(&s->tx->tx.arena, from);
}

/* Beyond RECIPIENTS_MAX recipients are dropped. */
static void rcpt_to(struct smtp_state *s, struct slice text)
{
    struct slice to = parameter(text, 7);
    struct smtp_tx *tx = s->tx;
    struct smtp_recipient *r;

    tx->recipients_size += to.len + (uint32_t)sizeof(*r);
    if (tx->recipients_size > RECIPIENTS_MAX) {
        tx->recipients_size = RECIPIENTS_MAX;
        return;
    }
    r = arena_zalloc(&tx->tx.arena, sizeof(*r));
    if (r == NULL)
        return;
    r->address = copy(tx, to.data, to.len);
    *tx->recipients_end = r;
    tx->recipients_end = &r->next;
}

/* Returns -1 to stop the parser. The mail starts after this line; its frame's length is set at its
 * end. */
static int data(struct smtp_state *s, const struct smtp_line *line)
{
    uint64_t start = line->offset + line->text.len + line->end_len;

    smtp_data_begins(s, TO_SERVER);
    if (s->tx->has_data) {
        /* The first one was never answered, and now another. */
        smtp_event(s, SMTP_EVENT_UNPARSABLE_CONTENT);
        return 0;
    }
    if (!smtp_mail_open(s))
        return -1;
    s->tx->has_data = true;
    s->data_frame_start = start;
    s->data_frame = app_frame(s->af, TO_SERVER, SMTP_FRAME_DATA, start, -1, s->tx->tx.id);
    /* With pipelining the mail may follow before the server's 354. */
    if (s->pipelining)
        s->data_mode = true;
    return wait_for_reply(s, SMTP_COMMAND_DATA);
}

/* "BDAT 86 LAST", RFC 3030 section 2. -1: no valid size, so that the chunk's end is not known. */
static int bdat(struct smtp_state *s, struct slice text)
{
    struct bytes in = bytes_of_slice(text);
    uint64_t size = 0;
    unsigned digits = 0;

    take_skip(&in, 4);
    if (peek_u8(&in) != ' ')
        return -1;
    while (peek_u8(&in) == ' ')
        take_u8(&in);
    for (; peek_u8(&in) >= '0' && peek_u8(&in) <= '9' && digits < 11; digits++)
        size = size * 10 + (uint64_t)(take_u8(&in) - '0');
    if (digits == 0 || size > UINT32_MAX)
        return -1;
    s->chunk_left = size;
    s->data_mode = size > 0;
    smtp_data_begins(s, TO_SERVER);
    smtp_chunk_begin(s, size);
    return wait_for_reply(s, SMTP_COMMAND_BDAT);
}

/* A command without state of its own. */
static int other(struct smtp_state *s, enum smtp_command command)
{
    s->command = command;
    return wait_for_reply(s, command);
}

/* Compares beginnings only, as Suricata does: "DATAX" is DATA. */
static int command(struct smtp_state *s, const struct smtp_line *line)
{
    struct slice text = line->text;

    s->command = SMTP_COMMAND_OTHER;
    if (smtp_starts_nocase(text, "starttls"))
        return other(s, SMTP_COMMAND_STARTTLS);
    if (smtp_starts_nocase(text, "data")) {
        s->command = SMTP_COMMAND_DATA;
        return data(s, line);
    }
    if (smtp_starts_nocase(text, "bdat")) {
        s->command = SMTP_COMMAND_BDAT;
        return bdat(s, text);
    }
    if (smtp_starts_nocase(text, "helo") || smtp_starts_nocase(text, "ehlo"))
        helo(s, text);
    else if (smtp_starts_nocase(text, "mail from"))
        mail_from(s, text);
    else if (smtp_starts_nocase(text, "rcpt to"))
        rcpt_to(s, text);
    else if (smtp_starts_nocase(text, "rset"))
        return other(s, SMTP_COMMAND_RSET);
    return other(s, SMTP_COMMAND_OTHER);
}

/* Two frames, as in Suricata: one with the line's end and no transaction, one without it and with
 * the transaction. */
static void command_frames(struct smtp_state *s, const struct smtp_line *line)
{
    app_frame(s->af, TO_SERVER, SMTP_FRAME_COMMAND_LINE, line->offset,
              line->text.len + line->end_len, APP_FRAME_NO_TX);
    app_frame(s->af, TO_SERVER, SMTP_FRAME_COMMAND_LINE, line->offset, line->text.len,
              s->tx->tx.id);
}

/* A line of the mail's header; a single dot ends the mail. */
static void mail_header_line(struct smtp_state *s, const struct smtp_line *line)
{
    const struct mime_line mail = {
        .text = line->text,
        .end = { .data = line->text.data + line->text.len, .len = line->end_len },
        .first = true,
    };

    if (line->text.len == 1 && line->text.data[0] == '.' && line->end_len > 0) {
        s->data_mode = false;
        (void)wait_for_reply(s, SMTP_COMMAND_MAIL);
        smtp_mail_end(s);
        smtp_complete(s);
        return;
    }
    smtp_mail_line(s, &mail);
}

/* One line of the client, from the framing in smtp.c. -1 stops the parser. */
int smtp_request(struct smtp_state *s, const struct smtp_line *line)
{
    bool is_mail = s->data_mode && s->command == SMTP_COMMAND_DATA;

    if (!ensure_transaction(s, line->text))
        return -1;
    if (!s->welcomed)
        smtp_event(s, SMTP_EVENT_NO_SERVER_WELCOME_MESSAGE);
    if (!is_mail)
        command_frames(s, line);
    if (is_mail)
        mail_header_line(s, line);
    else if (!s->data_mode)
        app_trigger_raw_inspection(s->af, TO_SERVER);
    return is_mail || s->data_mode ? 0 : command(s, line);
}

/* --- replies ---------------------------------------------------------------------------------- */

/* 0: not a code that SMTP uses (RFC 5321 section 4.2.3 and extensions). An unknown code is an
 * anomaly. */
static unsigned reply_code(struct slice text)
{
    static const uint16_t known[] = {
        211, 214, 220, 221, 235, 250, 251, 252, 334, 354, 401, 402, 421, 435, 450, 451, 452, 454,
        455, 500, 501, 502, 503, 504, 511, 521, 522, 525, 530, 534, 535, 541, 543, 550, 551, 552,
        553, 554, 555,
    };
    unsigned code = 0;

    for (unsigned i = 0; i < 3; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return 0;
        code = code * 10 + (unsigned)(text.data[i] - '0');
    }
    for (unsigned i = 0; i < ARRAY_LEN(known); i++)
        if (known[i] == code)
            return code;
    return 0;
}

/* The greeting (RFC 5321 section 4.2), or a reply that no command waits for. */
static void unasked(struct smtp_state *s, unsigned code)
{
    if (s->welcomed)
        return;
    if (!s->multiline)
        s->welcomed = true;
    if (code != 220)
        smtp_event(s, SMTP_EVENT_INVALID_REPLY);
}

/* With 220 the flow becomes TLS (RFC 3207). data_mode stops the parsing of further commands. */
static void starttls_replied(struct smtp_state *s, unsigned code)
{
    if (code != 220) {
        smtp_event(s, SMTP_EVENT_TLS_REJECTED);
        return;
    }
    s->data_mode = true;
    if (!app_change_protocol(s->af, APP_PROTO_tls, 443))
        smtp_event(s, SMTP_EVENT_FAILED_PROTOCOL_CHANGE);
    if (s->tx == NULL)
        return;
    smtp_complete(s);
    s->tx->tx.progress[TO_CLIENT] = SMTP_COMPLETE;
}

/* If other commands follow DATA in the queue, its mail is over already. A rejected DATA with
 * pipelining turns the mail's lines into commands again. */
static void data_replied(struct smtp_state *s, unsigned code)
{
    bool is_last = s->replied + 1 == s->waiting.len;

    if (code == 354) {
        smtp_data_begins(s, TO_CLIENT);
        s->data_mode = s->data_mode || is_last;
        return;
    }
    if (s->pipelining && is_last)
        s->data_mode = false;
    smtp_event(s, SMTP_EVENT_DATA_COMMAND_REJECTED);
}

/* The first reply after the mail's last line ends the transaction. */
static void mail_replied(struct smtp_state *s)
{
    if (s->tx != NULL && s->tx->done)
        s->tx->tx.progress[TO_CLIENT] = SMTP_COMPLETE;
}

/* Acts on the reply to the oldest waiting command. */
static void on_reply(struct smtp_state *s, unsigned code)
{
    switch (waiting_at(s, s->replied)) {
    case SMTP_COMMAND_STARTTLS:
        starttls_replied(s, code);
        break;
    case SMTP_COMMAND_DATA:
        data_replied(s, code);
        break;
    case SMTP_COMMAND_BDAT:
        smtp_data_begins(s, TO_CLIENT);
        break;
    case SMTP_COMMAND_RSET:
        if (code == 250 && s->tx != NULL && !s->multiline) {
            smtp_complete(s);
            mail_replied(s);           /* this is its last reply */
        }
        break;
    default:
        break;
    }
}

/* "250-PIPELINING", or "250 PIPELINING" as the last line. */
static bool offers_pipelining(unsigned code, struct slice text)
{
    const struct slice keyword = { .data = text.data + 4, .len = text.len - MIN(text.len, 4) };

    return code == 250 && keyword.len == 10 && smtp_starts_nocase(keyword, "pipelining");
}

/* One line of the server. A continued reply ("250-") answers its command only with its last
 * line. */
int smtp_reply(struct smtp_state *s, const struct smtp_line *line)
{
    struct slice text = line->text;
    unsigned code;

    app_frame(s->af, TO_CLIENT, SMTP_FRAME_RESPONSE_LINE, line->offset,
              text.len + line->end_len, s->tx != NULL ? s->tx->tx.id : APP_FRAME_NO_TX);
    if (text.len == 0 && line->end_len == 1)
        return 0;
    code = text.len >= 3 ? reply_code(text) : 0;
    if (code == 0) {
        smtp_event(s, SMTP_EVENT_INVALID_REPLY);
        return line->end_len == 0 ? 0 : -1;     /* an overlong line is noise, and skipped */
    }
    s->multiline = text.len >= 4 && text.data[3] == '-';
    mail_replied(s);
    if (s->replied == s->waiting.len) {
        unasked(s, code);
        return 0;
    }
    on_reply(s, code);
    if (!s->multiline)
        command_replied(s);
    else if (s->welcomed && offers_pipelining(code, text))
        s->pipelining = true;
    app_trigger_raw_inspection(s->af, TO_CLIENT);
    return 0;
}
