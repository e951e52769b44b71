/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/template/template.c - a protocol to learn from: "12:Hello World!" is a request,
 * "4:Bye." a response.
 *
 * It shows what every parser here does: incomplete input, limits, gaps, one transaction for each
 * exchange. */
#include "app/log.h"
#include "app/proto.h"
#include "app/rules.h"

#include "base/text/utf8.h"

#define DIGITS_MAX 10   /* of a length; 4294967295 has ten */

#define TEMPLATE_EVENT_LIST(E)                                 \
    E(TEMPLATE_TOO_MANY_TRANSACTIONS, "too_many_transactions")

enum { TEMPLATE_EVENT_NONE, TEMPLATE_EVENT_LIST(APP_EVENT_ID) };

struct template_settings { uint32_t max_tx; };  /* open transactions of a flow */

/* In memory that belongs to the engine, zeroed at first. */
struct template_tx {
    struct app_tx tx;
    struct slice text[2];               /* request and response; in the arena */
    bool responded;
};

static struct template_tx *template_tx_of(const struct app_tx *tx)
{
    return (struct template_tx *)(uintptr_t)tx;
}

/* --- messages --------------------------------------------------------------------------------- */

/* MORE: the message is incomplete. BAD: it is not a message at all. */
enum take { TAKE_MORE, TAKE_BAD, TAKE_OK };

/* Takes one message, or nothing. The length is the sender's and needs its own check: below 4 GiB,
 * digits only. The text must be UTF-8. */
static enum take take_message(struct bytes *in, struct slice *out)
{
    struct bytes look = *in;
    uint64_t len = 0;
    unsigned digits = 0;

    for (; bytes_have(&look, 1) && peek_u8(&look) != ':'; digits++) {
        uint8_t c = take_u8(&look);

        if (c < '0' || c > '9' || digits == DIGITS_MAX)
            return TAKE_BAD;
        len = len * 10 + (uint64_t)(c - '0');
    }
    if (!bytes_have(&look, 1))
        return TAKE_MORE;
    take_skip(&look, 1);
    if (digits == 0 || len > UINT32_MAX)
        return TAKE_BAD;
    if (!bytes_have(&look, (size_t)len))
        return TAKE_MORE;
    *out = take_slice(&look, (uint32_t)len);
    *in = look;
    return utf8_is_valid(*out) ? TAKE_OK : TAKE_BAD;
}

/* Looks only at the length and its colon, which may still be incomplete. */
static enum app_probe_result template_probe(struct bytes in, enum direction direction UNUSED,
                                            const struct flow *flow UNUSED)
{
    unsigned digits = 0;

    if (!bytes_have(&in, 2))
        return APP_PROBE_MORE;
    for (; digits < DIGITS_MAX && peek_u8(&in) >= '0' && peek_u8(&in) <= '9'; digits++)
        take_u8(&in);
    if (digits == 0 || digits == DIGITS_MAX)
        return APP_PROBE_NO;
    if (!bytes_have(&in, 1))
        return APP_PROBE_MORE;
    return peek_u8(&in) == ':' ? APP_PROBE_YES : APP_PROBE_NO;
}

/* --- transactions ----------------------------------------------------------------------------- */

/* False ends the parser. The transaction that reaches the limit still exists, and has the event. */
static bool take_request(struct app_flow *af, struct slice text)
{
    const struct template_settings *settings = af->settings;
    struct template_tx *t = template_tx_of(app_tx_new(af));

    if (t == NULL)
        return false;
    t->text[TO_SERVER] = arena_slice(&t->tx.arena, text);
    if (af->tx_count < settings->max_tx)
        return true;
    app_tx_event(&t->tx, TEMPLATE_TOO_MANY_TRANSACTIONS);
    return false;
}

/* Responses come in the order of the requests. A response without a request is ignored. */
static bool take_response(struct app_flow *af, struct slice text)
{
    struct app_tx *tx = af->first;
    struct template_tx *t;

    while (tx != NULL && template_tx_of(tx)->responded)
        tx = tx->next;
    if (tx == NULL)
        return true;
    t = template_tx_of(tx);
    t->responded = true;
    t->text[TO_CLIENT] = arena_slice(&tx->arena, text);
    tx->progress[TO_SERVER] = tx->progress[TO_CLIENT] = 1;
    return true;
}

/* After a gap the parser skips segments until one begins like a message. The state is one flag for
 * each direction: still lost. */
static enum parse_status template_parse(struct app_flow *af, struct app_input *in)
{
    bool *lost = &((bool *)af->state)[in->direction];
    struct bytes b = app_input_bytes(in);
    enum take result = TAKE_OK;
    struct slice text;

    *lost |= in->gap > 0;
    if (*lost && in->len > 0)
        *lost = template_probe(b, in->direction, NULL) == APP_PROBE_NO;
    if (*lost || in->len == 0)
        return PARSE_OK;
    while (bytes_have(&b, 1) && result == TAKE_OK) {
        result = take_message(&b, &text);
        if (result == TAKE_OK &&
            !(in->direction == TO_SERVER ? take_request(af, text) : take_response(af, text)))
            return PARSE_STOP;
    }
    in->consumed = (uint32_t)(b.next - in->data); /* complete messages only; the rest comes again */
    return result == TAKE_OK ? PARSE_OK : result == TAKE_MORE ? PARSE_MORE : PARSE_STOP;
}

/* --- rules and records ------------------------------------------------------------------------ */

/* A request is there from the start; a response may be missing. */
static bool get_text(struct app_tx *tx, enum direction d, unsigned i UNUSED, struct slice *out)
{
    *out = template_tx_of(tx)->text[d];
    return d == TO_SERVER || template_tx_of(tx)->responded;
}

static const struct app_buffer buffer = {
    .name = "template.buffer", .doc = "text of the request, or of the response",
    .directions = APP_BOTH, .get = get_text,
};

/* One record when the response is there, or at the end of the flow. */
static bool template_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                         const void *conf UNUSED)
{
    const struct template_tx *t = template_tx_of(tx);

    json_slice(j, "request", t->text[TO_SERVER]);
    if (t->responded)
        json_slice(j, "response", t->text[TO_CLIENT]);
    return true;
}

static const struct app_log log_template = {
    .conf_name = "template", .event_type = "template", .key = "template", .progress = { 1, 1 },
    .log = template_log,
};

/* The same fields within an alert. */
static void template_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "template");
    template_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

/* --- the declaration -------------------------------------------------------------------------- */

static int template_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                              void *settings, struct err *err UNUSED)
{
    struct template_settings *s = settings;

    s->max_tx = (uint32_t)conf_u64_range(node, "max-tx", 256, 1, UINT32_MAX);
    return 0;
}

const struct app_proto app_template = {
    .id = APP_PROTO_template,
    .name = "template",
    .off_by_default = true,
    .transports = APP_TCP,
    .first_sender = APP_BOTH,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "7000", .max = 16,
          .probe = template_probe },
        { .probe = NULL } },
    .settings_size = sizeof(struct template_settings),
    .configure = template_configure,
    .state_size = 2 * sizeof(bool),
    .tx_size = sizeof(struct template_tx),
    .parse = template_parse,
    .handles_gaps = true,
    .progress_done = { 1, 1 },
    .events = (const struct app_name[]){ TEMPLATE_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } },
    .buffers = (const struct app_buffer *const[]){ &buffer, NULL },
    .logs = (const struct app_log *const[]){ &log_template, NULL },
    .alert_metadata = template_alert_metadata,
};
