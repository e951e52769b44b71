/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/toy.h"

#include "app/core/file.h"
#include "app/log.h"
#include "app/rules.h"
#include "base/text/text.h"

#include <string.h>

/* --- toy -------------------------------------------------------------------------------------- */

#define TOY_EVENT_LIST(E)                          \
    E(TOY_EVENT_UNKNOWN, "unknown_command")        \
    E(TOY_EVENT_UNASKED, "unasked")                \
    E(TOY_EVENT_TOO_MANY, "too_many_transactions") \
    E(TOY_EVENT_GAP, "gap")
enum { TOY_EVENT_NONE, TOY_EVENT_LIST(APP_EVENT_ID) };

struct toy_tx {
    struct app_tx tx;
    struct slice request, reply;
};

struct toy_state {
    struct toy_tx *putting;
    struct app_file *file;
    bool skip[2];               /* after a gap: until the next line end */
};

static struct slice keep(struct app_tx *tx, struct slice s)
{
    return (struct slice){ arena_copy(&tx->arena, s.data, s.len), s.len };
}

static bool starts(struct slice s, const char *word)
{
    return s.len >= strlen(word) && memcmp(s.data, word, strlen(word)) == 0;
}

static struct slice after(struct slice s, size_t n)
{
    return (struct slice){ s.data + n, s.len - (uint32_t)n };
}

static struct toy_tx *new_request(struct app_flow *af, struct slice line, bool waits)
{
    struct toy_tx *tx = (struct toy_tx *)app_tx_new(af);

    if (tx == NULL)
        return NULL;
    tx->request = keep(&tx->tx, line);
    tx->tx.progress[TO_SERVER] = 1;
    tx->tx.unidirectional[TO_CLIENT] = !waits;
    return tx;
}

static uint64_t number(struct slice s)
{
    uint64_t n = 0;

    (void)text_to_u64((struct text){ (const char *)s.data, s.len }, 65535, &n);
    return n;
}

static void expect_box(struct app_flow *af, struct slice port)
{
    struct app_expected e = { .dst_port = (uint16_t)number(port), .proto = APP_PROTO_box };

    app_expect(af, &e);
}

static enum parse_status request_line(struct app_flow *af, struct slice line)
{
    struct toy_state *st = af->state;

    if (starts(line, "STOP"))
        return PARSE_STOP;
    if (starts(line, "ASK ")) {
        new_request(af, line, true);
    } else if (starts(line, "PUT ")) {
        st->putting = new_request(af, line, false);
        st->putting->tx.progress[TO_SERVER] = 0;
        st->file = app_file_open(&st->putting->tx, TO_SERVER, after(line, 4), NULL);
    } else if (starts(line, "SWITCH")) {
        new_request(af, line, false);
        app_change_protocol(af, APP_PROTO_box, 0);
    } else if (starts(line, "ENCRYPT")) {
        app_stop(af, APP_STOP_PARSER | APP_STOP_PAYLOAD);
    } else if (starts(line, "EXPECT ")) {
        expect_box(af, after(line, 7));
    } else if (!starts(line, "HELLO") && !starts(line, "hello")) {
        app_event(af, TO_SERVER, TOY_EVENT_UNKNOWN);
    }
    return PARSE_OK;
}

static struct toy_tx *first_without_response(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        if (!tx->unidirectional[TO_CLIENT] && tx->progress[TO_CLIENT] == 0)
            return (struct toy_tx *)tx;
    return NULL;
}

static void reply_line(struct app_flow *af, struct slice line)
{
    struct toy_tx *tx = first_without_response(af);

    if (starts(line, "WELCOME"))
        return;
    if (tx == NULL) {
        tx = (struct toy_tx *)app_tx_new(af);
        tx->tx.unidirectional[TO_SERVER] = true;
        app_tx_event(&tx->tx, TOY_EVENT_UNASKED);
    }
    tx->reply = keep(&tx->tx, line);
    tx->tx.progress[TO_CLIENT] = 1;
}

/* "n:bytes"; "0:" ends the file. */
static enum parse_status put_part(struct app_flow *af, struct app_input *in)
{
    struct toy_state *st = af->state;
    struct bytes b = app_input_bytes(in);
    struct slice digits;

    in->consumed = 0;
    if (!take_until(&b, ':', &digits))
        return PARSE_MORE;
    uint32_t n = (uint32_t)number(digits);
    uint32_t head = (uint32_t)(b.next - in->data);

    if (!bytes_have(&b, n)) {
        in->need = head + n;
        return PARSE_MORE;
    }
    in->consumed = head + n;
    if (n > 0) {
        app_file_append(st->file, b.next, n);
        return PARSE_OK;
    }
    app_file_close(st->file, FILE_CLOSED);
    st->putting->tx.progress[TO_SERVER] = 1;
    st->putting = NULL;
    return PARSE_OK;
}

static enum parse_status toy_gap(struct app_flow *af, struct app_input *in)
{
    struct toy_state *st = af->state;

    app_event(af, in->direction, TOY_EVENT_GAP);
    st->skip[in->direction] = true;
    return PARSE_OK;
}

static enum parse_status toy_parse(struct app_flow *af, struct app_input *in)
{
    struct toy_state *st = af->state;
    struct bytes b = app_input_bytes(in);
    struct slice line;

    if (in->gap > 0)
        return toy_gap(af, in);
    if (in->len == 0)
        return PARSE_OK;
    if (in->direction == TO_SERVER && st->putting != NULL)
        return put_part(af, in);
    in->consumed = 0;
    if (!take_line(&b, &line))
        return PARSE_MORE;
    in->consumed = (uint32_t)(b.next - in->data);
    app_frame(af, in->direction, 1, in->offset, in->consumed, APP_FRAME_NO_TX);
    if (st->skip[in->direction])
        st->skip[in->direction] = false;
    else if (in->direction == TO_SERVER)
        return request_line(af, line);
    else if (starts(line, "STOP"))
        return PARSE_STOP;
    else
        reply_line(af, line);
    return PARSE_OK;
}

static void toy_finish(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        app_files_leave(tx, TO_SERVER);
}

static bool toy_log_write(struct json *j, struct app_tx *tx, enum direction direction,
                          const void *conf)
{
    const struct toy_tx *t = (const struct toy_tx *)tx;

    (void)direction;
    (void)conf;
    if (t->request.len > 0)
        json_slice(j, "request", t->request);
    if (t->reply.len > 0)
        json_slice(j, "reply", t->reply);
    return true;
}

static const struct app_log toy_log = {
    .conf_name = "toy", .event_type = "toy", .key = "toy", .progress = { 1, 1 },
    .log = toy_log_write,
};

static enum app_probe_result box_probe(struct bytes in, enum direction direction,
                                       const struct flow *flow)
{
    (void)direction;
    (void)flow;
    if (bytes_left(&in) < 3)
        return peek_u8(&in) == 0xb0 || bytes_left(&in) == 0 ? APP_PROBE_MORE : APP_PROBE_NO;
    return take_u8(&in) == 0xb0 ? APP_PROBE_YES : APP_PROBE_NO;
}

const struct app_proto app_toy = {
    .id = APP_PROTO_toy,
    .name = "toy",
    .transports = APP_TCP | APP_UDP,
    .first_sender = APP_TS,
    .patterns = (const struct app_pattern[]){
        { .transport = APP_TCP | APP_UDP, .directions = APP_TS, .bytes = "HELLO ",
          .nocase = true },
        { .transport = APP_TCP | APP_UDP, .directions = APP_TC, .bytes = "WELCOME " },
        { .transport = APP_TCP, .directions = APP_TC, .bytes = "oldtoy", .offset = 2,
          .depth = 10 },
        { .bytes = NULL } },
    .state_size = sizeof(struct toy_state),
    .tx_size = sizeof(struct toy_tx),
    .tx_limit = 40,
    .too_many_tx_event = TOY_EVENT_TOO_MANY,
    .parse = toy_parse,
    .handles_gaps = true,
    .buffer_limit = 8192,
    .finish = toy_finish,
    .progress_done = { 1, 1 },
    .events = (const struct app_name[]){ TOY_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } },
    .frames = (const char *const[]){ "stream", "line", NULL },
    .logs = (const struct app_log *const[]){ &toy_log, NULL },
    .file_directions = APP_BOTH,
};

/* --- box -------------------------------------------------------------------------------------- */

struct box_tx {
    struct app_tx tx;
    struct slice content;
    bool after_toy;
};

struct box_state {
    bool after_toy;
};

static bool box_open(struct app_flow *af)
{
    struct box_state *st = af->state;

    const struct app_flow *previous = app_previous(af);

    st->after_toy = previous != NULL && previous->proto == &app_toy && previous->state != NULL;
    return true;
}

static enum parse_status box_parse(struct app_flow *af, struct app_input *in)
{
    struct box_state *st = af->state;
    struct bytes b = app_input_bytes(in);

    if (in->len == 0)
        return PARSE_OK;
    in->consumed = 0;
    if (take_u8(&b) != 0xb0)
        return PARSE_STOP;
    uint16_t len = take_be16(&b);
    struct slice content = take_slice(&b, len);

    if (b.failed) {
        in->need = in->len < 3 ? 3 : 3u + len;
        return PARSE_MORE;
    }
    in->consumed = 3u + len;
    struct box_tx *tx = (struct box_tx *)app_tx_new(af);

    tx->content = keep(&tx->tx, content);
    tx->after_toy = st->after_toy;
    tx->tx.progress[in->direction] = 1;
    tx->tx.unidirectional[OTHER_DIRECTION(in->direction)] = true;
    return PARSE_OK;
}

static bool box_log_write(struct json *j, struct app_tx *tx, enum direction direction,
                          const void *conf)
{
    const struct box_tx *t = (const struct box_tx *)tx;

    (void)conf;
    json_string(j, "direction", direction == TO_SERVER ? "ts" : "tc");
    json_slice(j, "content", t->content);
    if (t->after_toy)
        json_bool(j, "after_toy", true);
    return true;
}

static const struct app_log box_log = {
    .conf_name = "box", .event_type = "box", .progress = { 1, 1 }, .each_direction = true,
    .log = box_log_write,
};

const struct app_proto app_box = {
    .id = APP_PROTO_box,
    .name = "box",
    .transports = APP_TCP,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "9000,9100:9200", .max = 16,
          .probe = box_probe },
        { .probe = NULL } },
    .state_size = sizeof(struct box_state),
    .tx_size = sizeof(struct box_tx),
    .open = box_open,
    .parse = box_parse,
    .progress_done = { 1, 1 },
    .logs = (const struct app_log *const[]){ &box_log, NULL },
};

const struct app_proto *const toy_protocols[] = { &app_toy, &app_box, NULL };
