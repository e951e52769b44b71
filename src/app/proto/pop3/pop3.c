/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/pop3/pop3.c - POP3 (RFC 1939): protocol detection, commands and replies.
 *
 * Replies come in the order of the commands. Which of them have several lines follows from the
 * command. The parser skips the mails themselves (RETR). */
#include "app/proto/pop3/pop3.h"

#include "app/lib/line.h"
#include "app/proto.h"
#include "app/rules.h"
#include "base/text/text.h"

#include <string.h>

#define LINE_LIMIT 4096                 /* bytes of a line that are kept */
#define REQUEST_MAX 256                 /* with CRLF; RFC 2449 section 4, as Suricata counts */
#define RESPONSE_MAX 512                /* with CRLF; the same section */
#define PROBE_MAX 1024                  /* bytes; detection gives up after them */
#define LINES_MAX (256u << 10) /* bytes of arguments and reply lines that a transaction keeps */

/* Which replies have several lines when they begin with +OK. BODY_MAIL: always, and the lines are
 * skipped. */
enum pop3_body { BODY_NEVER, BODY_ALWAYS, BODY_WITHOUT_ARGUMENT, BODY_MAIL };

struct pop3_command {
    const char *name;
    uint8_t min, max;                   /* arguments */
    uint8_t body;
};

/* RFC 1939 sections 4 to 7; CAPA: RFC 2449, STLS: RFC 2595, AUTH: RFC 5034. Another number of
 * arguments is an event. */
static const struct pop3_command commands[] = {
    { "QUIT", 0, 0, BODY_NEVER },   { "STAT", 0, 0, BODY_NEVER },
    { "LIST", 0, 1, BODY_WITHOUT_ARGUMENT }, { "RETR", 1, 1, BODY_MAIL },
    { "DELE", 1, 1, BODY_NEVER },   { "NOOP", 0, 0, BODY_NEVER },
    { "RSET", 0, 0, BODY_NEVER },   { "TOP", 2, 2, BODY_ALWAYS },
    { "UIDL", 0, 1, BODY_WITHOUT_ARGUMENT }, { "USER", 1, 1, BODY_NEVER },
    { "PASS", 1, 1, BODY_NEVER },   { "APOP", 2, 2, BODY_NEVER },
    { "CAPA", 0, 0, BODY_ALWAYS },  { "STLS", 0, 0, BODY_NEVER },
    { "AUTH", 1, 2, BODY_WITHOUT_ARGUMENT }, { "SASL", 1, UINT8_MAX, BODY_NEVER },
};

static bool slice_is(struct slice s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

/* --- reading a line --------------------------------------------------------------------------- */

/* Takes a token up to a space, which is taken, too, or up to the end. */
static struct slice take_token(struct bytes *in)
{
    struct slice token;

    if (!take_until(in, ' ', &token))
        token = take_rest(in);
    return token;
}

/* Letters and digits in any case. The list of commands does not matter here: unknown commands must
 * parse, too. */
static bool is_keyword(struct slice s)
{
    for (uint32_t i = 0; i < s.len; i++) {
        uint8_t c = s.data[i] | 0x20;

        if ((c < 'a' || c > 'z') && (s.data[i] < '0' || s.data[i] > '9'))
            return false;
    }
    return s.len > 0;
}

static bool is_status(struct slice s)
{
    return slice_is(s, "+OK") || slice_is(s, "-ERR");
}

/* --- recognition ------------------------------------------------------------------------------ */

/* A complete line whose first token is right decides. A token of more than 16 bytes without a space
 * is not POP3. */
static enum app_probe_result pop3_probe(struct bytes in, enum direction direction,
                                        const struct flow *flow UNUSED)
{
    struct slice line, first;
    bool has_line = take_line(&in, &line);
    struct bytes head;

    if (!has_line)
        line = take_rest(&in);
    head = bytes_of_slice(line);
    first = take_token(&head);
    if (has_line || first.len < line.len) {
        if (direction == TO_SERVER ? !is_keyword(first) : !is_status(first))
            return APP_PROBE_NO;
        return has_line ? APP_PROBE_YES : APP_PROBE_MORE;
    }
    return first.len > 16 ? APP_PROBE_NO : APP_PROBE_MORE;
}

static const struct app_probe probes[] = {
    { .transport = APP_TCP, .directions = APP_BOTH, .ports = "110", .min = 5,
      .max = PROBE_MAX, .probe = pop3_probe },
    { .probe = NULL },
};

/* --- transactions ----------------------------------------------------------------------------- */

/* An empty slice has no memory of its own. */
static struct slice copy(struct pop3_tx *tx, struct slice s)
{
    const uint8_t *p = s.len > 0 ? arena_copy(&tx->tx.arena, s.data, s.len) : NULL;

    return (struct slice){ .data = p, .len = p != NULL ? s.len : 0 };
}

/* Drops the text when the transaction already keeps LINES_MAX bytes: a reply of any length must not
 * use more. The list entry counts, too, so that millions of empty lines hit the limit. */
static void add_item(struct pop3_tx *tx, struct pop3_items *items, struct slice text)
{
    uint32_t size = text.len + (uint32_t)sizeof(struct pop3_item);
    struct pop3_item *item;

    if (tx->memory + size > LINES_MAX)
        return;
    item = arena_zalloc(&tx->tx.arena, sizeof(*item));
    if (item == NULL)
        return;
    tx->memory += size;
    item->text = copy(tx, text);
    *items->end = item;
    items->end = &item->next;
    items->count++;
}

#define WITHOUT_REPLY 0                 /* the key of all such commands: a queue */

/* A command is complete when it is there. NULL: too many transactions. */
static struct pop3_tx *new_transaction(struct app_flow *af)
{
    struct pop3_tx *tx = (struct pop3_tx *)app_tx_new(af);

    if (tx == NULL)
        return NULL;
    tx->arguments.end = &tx->arguments.first;
    tx->lines.end = &tx->lines.first;
    tx->tx.progress[TO_SERVER] = 1;
    app_tx_key(&tx->tx, WITHOUT_REPLY);
    return tx;
}

/* Pipelined commands (RFC 2449 section 6.6) wait in order, so the oldest one without a reply gets
 * the next reply. */
static struct pop3_tx *oldest_without_reply(struct app_flow *af)
{
    struct app_tx *tx;

    while ((tx = app_tx_by_key(af, WITHOUT_REPLY)) != NULL && ((struct pop3_tx *)tx)->replied)
        app_tx_key_drop(tx);
    return (struct pop3_tx *)tx;
}

static void complete(struct pop3_tx *tx)
{
    tx->tx.progress[TO_CLIENT] = 1;
    app_tx_mark(&tx->tx);
    app_tx_key_drop(&tx->tx);
}

/* --- commands --------------------------------------------------------------------------------- */

/* NULL: unknown. Case does not matter to servers, so it does not here. */
static const struct pop3_command *find_command(struct slice keyword)
{
    struct text word = { (const char *)keyword.data, keyword.len };

    for (unsigned i = 0; i < ARRAY_LEN(commands); i++)
        if (text_equal_nocase(word, commands[i].name))
            return &commands[i];
    return NULL;
}

/* Several spaces in a row are one separator. */
static void take_arguments(struct pop3_tx *tx, struct bytes in)
{
    while (bytes_have(&in, 1)) {
        struct slice argument = take_token(&in);

        if (argument.len > 0)
            add_item(tx, &tx->arguments, argument);
    }
}

/* Events of a command. Lower-case commands are valid for servers, but Suricata calls them unknown,
 * so they cause the same event here. */
static void check_command(struct pop3_tx *tx, uint32_t line_len)
{
    const struct pop3_command *c = tx->command;

    if (c == NULL || !slice_is(tx->keyword, c->name))
        app_tx_event(&tx->tx, POP3_EVENT_UNKNOWN_COMMAND);
    else if (tx->arguments.count < c->min || tx->arguments.count > c->max)
        app_tx_event(&tx->tx, POP3_EVENT_INCORRECT_ARGUMENT_COUNT);
    if (line_len + 2 > REQUEST_MAX)
        app_tx_event(&tx->tx, POP3_EVENT_REQUEST_TOO_LONG);
}

/* The client's line after a challenge. It can be a password, so the record shows a fixed text in
 * its place. */
static int sasl_reply(struct app_flow *af)
{
    static const char name[] = "<SASL DATA>";
    struct pop3_state *s = af->state;
    struct pop3_tx *tx = new_transaction(af);

    s->sasl = false;
    if (tx == NULL)
        return -1;
    tx->keyword = (struct slice){ .data = (const uint8_t *)name, .len = sizeof(name) - 1 };
    return 0;
}

/* -1 ends the parser: a line that does not begin with a keyword is not POP3. After a gap such lines
 * are skipped until one does. */
static int request(struct app_flow *af, struct slice line)
{
    struct pop3_state *s = af->state;
    struct bytes in = bytes_of_slice(line);
    struct slice keyword;
    struct pop3_tx *tx;

    if (s->sasl)
        return sasl_reply(af);
    keyword = take_token(&in);
    if (!is_keyword(keyword))
        return s->lost[TO_SERVER] ? 0 : -1;
    s->lost[TO_SERVER] = false;
    tx = new_transaction(af);
    if (tx == NULL)
        return -1;
    tx->keyword = copy(tx, keyword);
    tx->command = find_command(keyword);
    take_arguments(tx, in);
    check_command(tx, MAX(line.len, keyword.len + 1));
    return 0;
}

/* --- replies ---------------------------------------------------------------------------------- */

/* After -ERR no command has further lines. */
static bool has_body(const struct pop3_tx *tx)
{
    if (tx->command == NULL || !tx->success)
        return false;
    switch (tx->command->body) {
    case BODY_NEVER:
        return false;
    case BODY_WITHOUT_ARGUMENT:
        return tx->arguments.count == 0;
    default:
        return true;
    }
}

static bool is_mail(const struct pop3_tx *tx)
{
    return tx->command != NULL && tx->command->body == BODY_MAIL;
}

/* Logs show a reply with several lines when all are there, and of a mail nothing. */
static void complete_body(struct pop3_state *s)
{
    s->body->has_response = !is_mail(s->body);
    complete(s->body);
    s->body = NULL;
}

/* One line of a reply with several lines. A line with only "." ends it; from other lines that begin
 * with a dot the dot is removed (RFC 1939 section 3). */
static void body_line(struct pop3_state *s, struct slice line)
{
    struct bytes in = bytes_of_slice(line);

    if (slice_is(line, ".")) {
        complete_body(s);
        return;
    }
    if (is_mail(s->body))
        return;
    if (peek_u8(&in) == '.')
        take_u8(&in);
    app_tx_mark(&s->body->tx);
    add_item(s->body, &s->body->lines, take_rest(&in));
}

/* The first line of a reply is there. Without further lines the transaction is complete; after the
 * reply to STLS the flow continues as TLS (RFC 2595 section 4). */
static void heed_reply(struct app_flow *af, struct pop3_tx *tx)
{
    struct pop3_state *s = af->state;

    if (has_body(tx)) {
        s->body = tx;
        tx->has_response = false;
        return;
    }
    complete(tx);
    if (tx->success && tx->command != NULL && strcmp(tx->command->name, "STLS") == 0)
        (void)app_change_protocol(af, APP_PROTO_tls, 443);
}

/* A challenge, "+ Y2hhbGxlbmdl" (RFC 5034 section 4): the command is answered, and the client's
 * next line is its response to it. */
static void challenge(struct pop3_state *s, struct pop3_tx *tx)
{
    tx->success = tx->has_response = tx->replied = true;
    complete(tx);
    s->sasl = true;
}

/* The first line of a reply. Without a waiting command it is the greeting, or a reply to a lost
 * command, and has a transaction of its own. -1 ends the parser. */
static int reply_line(struct app_flow *af, struct slice line)
{
    struct pop3_state *s = af->state;
    struct bytes in = bytes_of_slice(line);
    struct slice status = take_token(&in);
    bool is_challenge = slice_is(status, "+");
    struct pop3_tx *tx;

    if (!is_status(status) && !is_challenge)
        return s->lost[TO_CLIENT] ? 0 : -1;
    s->lost[TO_CLIENT] = false;
    tx = oldest_without_reply(af);
    if (tx == NULL)     /* the greeting */
        tx = new_transaction(af);
    if (tx == NULL)
        return -1;
    if (is_challenge) {
        challenge(s, tx);
        return 0;
    }
    tx->replied = tx->has_response = true;
    tx->success = slice_is(status, "+OK");
    tx->header = copy(tx, take_rest(&in));
    /* The status, a space, the text, CRLF. */
    if (status.len + 1 + tx->header.len + 2 > RESPONSE_MAX)
        app_tx_event(&tx->tx, POP3_EVENT_RESPONSE_TOO_LONG);
    heed_reply(af, tx);
    return 0;
}

/* Lines of the server belong to the current reply, or begin one. */
static int reply(struct app_flow *af, struct slice line)
{
    struct pop3_state *s = af->state;

    if (s->body == NULL)
        return reply_line(af, line);
    body_line(s, line);
    return 0;
}

/* --- the stream ------------------------------------------------------------------------------- */

/* Lines next to a gap are incomplete and dropped. A reply with several lines may have ended in the
 * gap, so it is completed. */
static enum parse_status gap(struct pop3_state *s, enum direction d)
{
    s->lost[d] = s->drop[d] = true;
    if (d == TO_SERVER)
        s->sasl = false;
    else if (s->body != NULL)
        complete_body(s);
    return PARSE_OK;
}

/* One line. 1: a line was there, 0: more bytes are needed, -1: the parser must end. */
static int step(struct app_flow *af, enum direction d, struct bytes *in)
{
    struct pop3_state *s = af->state;
    struct app_line line;
    enum app_line_result result = app_line_take(&s->drop[d], in, LINE_LIMIT, &line);

    if (result == APP_LINE_MORE)
        return 0;
    if (result == APP_LINE_DROPPED)
        return 1;
    return (d == TO_SERVER ? request(af, line.text) : reply(af, line.text)) < 0 ? -1 : 1;
}

static enum parse_status pop3_parse(struct app_flow *af, struct app_input *input)
{
    struct bytes in = app_input_bytes(input);
    uint16_t before = af->flow->app_proto_orig;
    int result = 1;

    if (input->gap > 0)
        return gap(af->state, input->direction);
    /* After the reply to STLS another protocol begins. */
    while (result > 0 && bytes_have(&in, 1) && af->flow->app_proto_orig == before)
        result = step(af, input->direction, &in);
    input->consumed = (uint32_t)(input->len - bytes_left(&in));
    if (result < 0)
        return PARSE_STOP;
    return result > 0 ? PARSE_OK : PARSE_MORE;
}

/* The engine may free the transaction whose reply is still coming. */
static void pop3_tx_close(struct app_tx *tx)
{
    struct pop3_state *s = tx->flow->state;

    if (s->body == (struct pop3_tx *)tx)
        s->body = NULL;
}

/* --- hand-over -------------------------------------------------------------------------------- */

static bool pop3_is_between(const struct app_flow *af)
{
    const struct pop3_state *s = af->state;

    return s->body == NULL && !s->sasl && !s->drop[TO_SERVER] && !s->drop[TO_CLIENT] &&
           !s->lost[TO_SERVER] && !s->lost[TO_CLIENT];
}

static const struct app_handover_ops handover = { .limit = 16u << 10,
                                                  .is_between = pop3_is_between };

/* --- the declaration -------------------------------------------------------------------------- */

static const struct app_name events[] = { POP3_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

const struct app_proto app_pop3 = {
    .id = APP_PROTO_pop3,
    .name = "pop3",
    .raw_on_tx_end = true,
    .inspect_both_dirs = true,
    .transports = APP_TCP,
    .probes = probes,
    .state_size = sizeof(struct pop3_state),
    .tx_size = sizeof(struct pop3_tx),
    .too_many_tx_event = POP3_EVENT_TOO_MANY_TRANSACTIONS,
    .stream_depth = -1,
    .marks_tx = true,
    .parse = pop3_parse,
    .handles_gaps = true,
    .handover = &handover,
    .tx_close = pop3_tx_close,
    .progress_done = { 1, 1 },
    .events = events,
    .logs = pop3_logs,
    .alert_metadata = pop3_alert_metadata,
};
