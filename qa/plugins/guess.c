/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guess.c - a protocol of lines: "GUESS 50" asks, "HIGHER", "LOWER" or "RIGHT" answers. */
#include <ids/plugin.h>

static const struct ids_api *ids;
struct guess_state { uint64_t asked, answered; };
struct guess_tx { uint32_t number; bool has_number; struct ids_slice answer; };
enum { NO_NUMBER = 1, UNASKED };
static const char *const events[] = { "no_number", "unasked", NULL };

/* Both sides are known by their first word; a part of it may yet become one. */
static enum ids_probe guess_probe(struct ids_bytes b, enum ids_direction direction)
{
    static const char *const words[][4] = { { "GUESS " }, { "HIGHER\n", "LOWER\n", "RIGHT\n" } };

    for (const char *const *word = words[direction]; *word != NULL; word++) {
        size_t len = strlen(*word), left = (size_t)(b.end - b.next);

        if (memcmp(b.next, *word, left < len ? left : len) == 0)
            return left < len ? IDS_MORE : IDS_YES;
    }
    return IDS_NO;
}

static void take_guess(struct guess_tx *tx, struct ids_slice line)
{
    tx->has_number = line.len > 6 && line.len < 15 && memcmp(line.data, "GUESS ", 6) == 0;
    for (uint32_t i = 6; i < line.len && tx->has_number; i++) {
        tx->has_number = line.data[i] >= '0' && line.data[i] <= '9';
        tx->number = tx->number * 10 + (line.data[i] - '0');
    }
    if (!tx->has_number)
        ids->tx_event(tx, NO_NUMBER);
}

/* Answers come in the order of the guesses: the n-th line answers the n-th line. */
static enum ids_parse guess_parse(struct ids_app *app, void *state, struct ids_input *in)
{
    struct guess_state *s = state;
    struct guess_tx *tx;
    struct ids_slice line;

    if (!ids_line(&in->bytes, &line))
        return IDS_NEED_MORE;
    tx = in->direction == IDS_TO_SERVER ? NULL : ids->tx_by_key(app, s->answered++);
    if (tx == NULL && (tx = ids->tx_new(app)) == NULL)
        return IDS_STOP;
    if (in->direction == IDS_TO_SERVER) {
        ids->tx_set_key(tx, s->asked++);
        take_guess(tx, line);
    } else {
        tx->answer = ids->tx_copy(tx, line);
        ids->tx_drop_key(tx);
    }
    if (s->answered > s->asked) {
        s->asked = s->answered;
        ids->tx_event(tx, UNASKED);
        ids->tx_done(tx, IDS_TO_SERVER);
    }
    ids->tx_done(tx, in->direction);
    return IDS_PARSED;
}

static bool number_get(const void *tx, enum ids_direction direction, uint64_t *out)
{
    (void)direction;
    *out = ((const struct guess_tx *)tx)->number;
    return ((const struct guess_tx *)tx)->has_number;
}

static bool answer_get(const void *tx, enum ids_direction d, unsigned i, struct ids_slice *out)
{
    (void)d, (void)i;
    *out = ((const struct guess_tx *)tx)->answer;
    return out->len > 0;
}

static bool guess_log(const void *tx, struct ids_json *json)
{
    const struct guess_tx *t = tx;

    if (t->has_number)
        ids->json_number(json, "number", t->number);
    if (t->answer.len > 0)
        ids->json_text(json, "answer", t->answer);
    return true;
}

static const struct ids_protocol guess = {
    .name = "guess", .transports = IDS_TCP, .ports = "4747",
    .state_size = sizeof(struct guess_state), .tx_size = sizeof(struct guess_tx),
    .probe = guess_probe, .probe_max = 16, .parse = guess_parse, .events = events, .log = guess_log,
    .buffers = (const struct ids_buffer[]){
        { "guess.answer", "what the server answers", IDS_TC, false, answer_get }, { 0 } },
    .numbers = (const struct ids_number[]){
        { "guess.number", "the number that was guessed", IDS_TS, 32, number_get }, { 0 } },
};

static int load(struct ids_engine *engine, const struct ids_api *api)
{
    ids = api;
    return ids->add_protocol(engine, &guess);
}
IDS_PLUGIN("guess", "1.0", load);
