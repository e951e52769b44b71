/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/highlow/highlow.c - a protocol of lines: "GUESS 50" asks, "HIGHER" answers. */
#include "app/log.h"
#include "app/proto.h"

#include <string.h>

#define HIGHLOW_EVENT_LIST(E)            \
    E(HIGHLOW_NO_NUMBER, "no_number")    \
    E(HIGHLOW_UNASKED, "unasked")

enum { HIGHLOW_EVENT_NONE, HIGHLOW_EVENT_LIST(APP_EVENT_ID) };

struct highlow_tx {
    struct app_tx tx;                   /* first */
    uint32_t number;
    bool has_number;
    struct slice answer;                /* in the arena */
};

static struct highlow_tx *highlow_tx_of(const struct app_tx *tx)
{
    return (struct highlow_tx *)(uintptr_t)tx;
}

/* --- recognition and lines -------------------------------------------------------------------- */

static const char prefix[] = "GUESS ";
static const char *const answers[] = { "HIGHER\n", "LOWER\n", "RIGHT\n" };

static enum app_probe_result begins_with(struct bytes in, const char *word)
{
    size_t n = MIN(bytes_left(&in), strlen(word));

    if (memcmp(in.next, word, n) != 0)
        return APP_PROBE_NO;
    return n == strlen(word) ? APP_PROBE_YES : APP_PROBE_MORE;
}

/* Both sides are recognized by what they send first; a word that was cut may yet be one of them. */
static enum app_probe_result highlow_probe(struct bytes in, enum direction direction,
                                           const struct flow *flow UNUSED)
{
    enum app_probe_result found = APP_PROBE_NO;

    if (direction == TO_SERVER)
        return begins_with(in, prefix);
    for (size_t i = 0; i < ARRAY_LEN(answers) && found == APP_PROBE_NO; i++)
        found = begins_with(in, answers[i]);
    return found;
}

static bool take_guess(struct app_flow *af, struct slice line)
{
    struct highlow_tx *t = (struct highlow_tx *)app_tx_new(af);
    struct text text = { (const char *)line.data, line.len };
    uint64_t number;

    if (t == NULL)
        return false;
    t->has_number = text_starts(text, prefix) &&
                    text_to_u64(text_from(text, strlen(prefix)), UINT32_MAX, &number);
    if (t->has_number)
        t->number = (uint32_t)number;
    else
        app_tx_event(&t->tx, HIGHLOW_NO_NUMBER);
    t->tx.progress[TO_SERVER] = 1;
    return true;
}

/* Answers come in the order of the guesses. One too many has a transaction of its own: which older
 * one were still there would depend on how TCP was cut. */
static bool take_answer(struct app_flow *af, struct slice line)
{
    struct app_tx *tx = af->first;

    while (tx != NULL && tx->progress[TO_CLIENT] != 0)
        tx = tx->next;
    if (tx == NULL) {
        tx = app_tx_new(af);
        if (tx == NULL)
            return false;
        app_tx_event(tx, HIGHLOW_UNASKED);
        tx->progress[TO_SERVER] = 1;
    }
    highlow_tx_of(tx)->answer = arena_slice(&tx->arena, line);
    tx->progress[TO_CLIENT] = 1;
    return true;
}

static enum parse_status highlow_parse(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in);
    struct slice line;

    while (take_line(&b, &line)) {
        if (!(in->direction == TO_SERVER ? take_guess : take_answer)(af, line))
            return PARSE_STOP;
    }
    in->consumed = (uint32_t)(b.next - in->data);
    return PARSE_OK;
}

/* --- rules and records ------------------------------------------------------------------------ */

static const struct app_integer number = {
    .name = "highlow.number", .doc = "the number that was guessed", .bits = 32,
    .directions = APP_TS, .progress = { 1, 0 },
    .field = APP_FIELD_WITH(highlow_tx, number, has_number),
};

static const struct app_buffer answer = {
    .name = "highlow.answer", .doc = "what the server answers", .directions = APP_TC,
    .progress = { 0, 1 }, .field = APP_FIELD(highlow_tx, answer, FILLED),
};

static bool highlow_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                        const void *conf UNUSED)
{
    const struct highlow_tx *t = highlow_tx_of(tx);

    if (t->has_number)
        json_u64(j, "number", t->number);
    json_slice(j, "answer", t->answer);
    return true;
}

static const struct app_log highlow_record = {
    .conf_name = "highlow", .event_type = "highlow", .key = "highlow", .progress = { 1, 1 },
    .log = highlow_log,
};

/* --- the declaration -------------------------------------------------------------------------- */

const struct app_proto app_highlow = {
    .id = APP_PROTO_highlow,
    .name = "highlow",
    .transports = APP_TCP,
    .first_sender = APP_TS,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "4747", .max = 16,
          .probe = highlow_probe },
        { .probe = NULL } },
    .tx_size = sizeof(struct highlow_tx),
    .parse = highlow_parse,
    .progress_done = { 1, 1 },
    .events = (const struct app_name[]){ HIGHLOW_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } },
    .buffers = (const struct app_buffer *const[]){ &answer, NULL },
    .integers = (const struct app_integer *const[]){ &number, NULL },
    .logs = (const struct app_log *const[]){ &highlow_record, NULL },
};
