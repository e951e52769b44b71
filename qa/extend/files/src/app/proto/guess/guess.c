/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/guess/guess.c - a protocol of lines: "GUESS 50" asks, "HIGHER" answers. */
#include "app/log.h"
#include "app/proto.h"

#include <string.h>

#define GUESS_EVENT_LIST(E)              \
    E(GUESS_NO_NUMBER, "no_number")      \
    E(GUESS_UNASKED, "unasked")

enum { GUESS_EVENT_NONE, GUESS_EVENT_LIST(APP_EVENT_ID) };

struct guess_tx {
    struct app_tx tx;                   /* first */
    uint32_t number;
    bool has_number;
    struct slice answer;                /* in the arena */
};

static struct guess_tx *guess_tx_of(const struct app_tx *tx)
{
    return (struct guess_tx *)(uintptr_t)tx;
}

/* --- recognition and lines -------------------------------------------------------------------- */

static const char prefix[] = "GUESS ";

static enum app_probe_result guess_probe(struct bytes in, enum direction direction UNUSED,
                                         const struct flow *flow UNUSED)
{
    size_t n = MIN(bytes_left(&in), strlen(prefix));

    if (memcmp(in.next, prefix, n) != 0)
        return APP_PROBE_NO;
    return n == strlen(prefix) ? APP_PROBE_YES : APP_PROBE_MORE;
}

static bool take_guess(struct app_flow *af, struct slice line)
{
    struct guess_tx *t = (struct guess_tx *)app_tx_new(af);
    struct text text = { (const char *)line.data, line.len };
    uint64_t number;

    if (t == NULL)
        return false;
    t->has_number = text_starts(text, prefix) &&
                    text_to_u64(text_from(text, strlen(prefix)), UINT32_MAX, &number);
    if (t->has_number)
        t->number = (uint32_t)number;
    else
        app_tx_event(&t->tx, GUESS_NO_NUMBER);
    t->tx.progress[TO_SERVER] = 1;
    return true;
}

/* Answers come in the order of the guesses. */
static void take_answer(struct app_flow *af, struct slice line)
{
    struct app_tx *tx = af->first;

    while (tx != NULL && tx->progress[TO_CLIENT] != 0)
        tx = tx->next;
    if (tx == NULL) {
        app_event(af, TO_CLIENT, GUESS_UNASKED);
        return;
    }
    guess_tx_of(tx)->answer.data = arena_copy(&tx->arena, line.data, line.len);
    guess_tx_of(tx)->answer.len = line.len;
    tx->progress[TO_CLIENT] = 1;
}

static enum parse_status guess_parse(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in);
    struct slice line;

    while (take_line(&b, &line)) {
        if (in->direction == TO_CLIENT)
            take_answer(af, line);
        else if (!take_guess(af, line))
            return PARSE_STOP;
    }
    in->consumed = (uint32_t)(b.next - in->data);
    return PARSE_OK;
}

/* --- rules and records ------------------------------------------------------------------------ */

static const struct app_integer number = {
    .name = "guess.number", .doc = "the number that was guessed", .bits = 32,
    .directions = APP_TS, .progress = { 1, 0 },
    .field = APP_FIELD_WITH(guess_tx, number, has_number),
};

static const struct app_buffer answer = {
    .name = "guess.answer", .doc = "what the server answers", .directions = APP_TC,
    .progress = { 0, 1 }, .field = APP_FIELD(guess_tx, answer, FILLED),
};

static bool guess_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                      const void *conf UNUSED)
{
    const struct guess_tx *t = guess_tx_of(tx);

    if (t->has_number)
        json_u64(j, "number", t->number);
    json_slice(j, "answer", t->answer);
    return true;
}

static const struct app_log guess_record = {
    .conf_name = "guess", .event_type = "guess", .key = "guess", .progress = { 1, 1 },
    .log = guess_log,
};

/* --- the declaration -------------------------------------------------------------------------- */

const struct app_proto app_guess = {
    .id = APP_PROTO_guess,
    .name = "guess",
    .transports = APP_TCP,
    .first_sender = APP_TS,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_TS, .ports = "4747", .max = 16,
          .probe = guess_probe },
        { .probe = NULL } },
    .tx_size = sizeof(struct guess_tx),
    .parse = guess_parse,
    .progress_done = { 1, 1 },
    .events = (const struct app_name[]){ GUESS_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } },
    .buffers = (const struct app_buffer *const[]){ &answer, NULL },
    .integers = (const struct app_integer *const[]){ &number, NULL },
    .logs = (const struct app_log *const[]){ &guess_record, NULL },
};
