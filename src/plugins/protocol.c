/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/protocol.c - application protocols of plugins as those of the engine: detection, parser,
 * transactions, keywords and records.
 *
 * A plugin's transaction follows the engine's in memory, and its functions get a pointer to their
 * part. Both directions have one step: a transaction is done there, or it is not. */
#include <stdlib.h>
#include <string.h>

#include "app/log.h"
#include "app/proto.h"
#include "detect/keywords/registry.h"
#include "plugins/private.h"

#define ITEMS_MAX 1024          /* of a buffer with many; get() may be true for ever */

struct plugin_tx {
    struct app_tx tx;           /* first */
    _Alignas(max_align_t) uint8_t own[];
};

/* What a buffer or a number of the engine leads back to; `key` is all that its function gets. */
struct plugin_field {
    union {
        struct app_buffer buffer;
        struct app_integer number;
    };
    const struct ids_buffer *own_buffer;
    const struct ids_number *own_number;
};

struct plugin_protocol {
    struct app_proto proto;     /* first: flows and transactions lead to it */
    const struct ids_protocol *own;
    struct app_probe probes[2];
    struct app_log log;
    const struct app_log *logs[2];
};

static const struct plugin_protocol *protocol_of(const struct app_flow *af)
{
    return (const struct plugin_protocol *)(const void *)af->proto;
}

static struct plugin_tx *tx_of(const void *own)
{
    return CONTAINER_OF((uintptr_t)own, struct plugin_tx, own);
}

static struct app_flow *flow_of(struct ids_app *app)
{
    return (struct app_flow *)(void *)app;
}

static void *own_of(const struct app_tx *tx)
{
    return ((struct plugin_tx *)(uintptr_t)tx)->own;
}

/* --- detection -------------------------------------------------------------------------------- */

/* A probe gets nothing that leads to its protocol, so each of the few has a function. Filled while
 * plugins load. */
static enum ids_probe (*probes[APP_PROTO_PLUGINS_MAX])(struct ids_bytes, enum ids_direction);

static enum app_probe_result probe(unsigned slot, struct bytes in, enum direction direction)
{
    switch (probes[slot]((struct ids_bytes){ in.next, in.end, false },
                         (enum ids_direction)direction)) {
    case IDS_YES: return APP_PROBE_YES;
    case IDS_MORE: return APP_PROBE_MORE;
    case IDS_NO: break;
    }
    return APP_PROBE_NO;
}

#define SLOT_LIST(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define X(n)                                                                                      \
    static enum app_probe_result probe_##n(struct bytes in, enum direction direction,             \
                                           const struct flow *flow UNUSED)                        \
    {                                                                                             \
        return probe(n, in, direction);                                                           \
    }
SLOT_LIST(X)
#undef X
#define X(n) probe_##n,
static const app_probe_fn probe_of_slot[] = { SLOT_LIST(X) };
#undef X
_Static_assert(ARRAY_LEN(probe_of_slot) == APP_PROTO_PLUGINS_MAX, "a probe for each protocol");

static const struct app_pattern *patterns_of(const struct ids_protocol *own)
{
    struct app_pattern *patterns;
    size_t count = 0;

    while (own->patterns != NULL && own->patterns[count].bytes != NULL)
        count++;
    patterns = plugin_alloc((count + 1) * sizeof(*patterns));
    for (size_t i = 0; i < count; i++)
        patterns[i] = (struct app_pattern){
            .transport = (uint8_t)own->patterns[i].transports,
            .directions = (uint8_t)own->patterns[i].directions,
            .bytes = own->patterns[i].bytes, .offset = own->patterns[i].offset };
    return patterns;
}

/* --- the parser ------------------------------------------------------------------------------- */

/* A cursor that does not lie in what the parser was given would take bytes that are not there. */
static bool is_within(const struct ids_input *in, const struct app_input *given)
{
    return in->bytes.next == given->data ||
           (given->data != NULL && in->bytes.next >= given->data &&
            in->bytes.next <= given->data + given->len);
}

static enum parse_status protocol_parse(struct app_flow *af, struct app_input *given)
{
    const uint8_t *end = given->data != NULL ? given->data + given->len : NULL;
    struct ids_input in = {
        .bytes = { given->data, end, false }, .gap = given->gap, .end = given->end,
        .direction = (enum ids_direction)given->direction, .now_us = given->now_us,
    };
    enum ids_parse status = protocol_of(af)->own->parse((struct ids_app *)(void *)af, af->state,
                                                        &in);

    if ((status != IDS_PARSED && status != IDS_NEED_MORE) || !is_within(&in, given))
        return PARSE_STOP;
    given->consumed = in.bytes.failed || given->data == NULL
                          ? 0 : (uint32_t)(in.bytes.next - given->data);
    given->need = in.need;
    return status == IDS_NEED_MORE || in.bytes.failed ? PARSE_MORE : PARSE_OK;
}

static void protocol_close(struct app_flow *af)
{
    if (af->state != NULL && protocol_of(af)->own->state_close != NULL)
        protocol_of(af)->own->state_close(af->state);
}

static void protocol_tx_close(struct app_tx *tx)
{
    if (protocol_of(tx->flow)->own->tx_close != NULL)
        protocol_of(tx->flow)->own->tx_close(own_of(tx));
}

void *plugin_tx_new(struct ids_app *app)
{
    struct app_tx *tx = app_tx_new(flow_of(app));

    return tx != NULL ? own_of(tx) : NULL;
}

void plugin_tx_done(void *tx, enum ids_direction direction)
{
    struct app_tx *t = &tx_of(tx)->tx;

    t->progress[direction == IDS_TO_CLIENT ? TO_CLIENT : TO_SERVER] = 1;
    app_tx_mark(t);
}

/* Number 0, and one without a name, would be no event that a rule can name. */
void plugin_tx_event(void *tx, unsigned event)
{
    const char *const *names = protocol_of(tx_of(tx)->tx.flow)->own->events;
    unsigned count = 0;

    while (names != NULL && names[count] != NULL)
        count++;
    if (event > 0 && event <= count)
        app_tx_event(&tx_of(tx)->tx, event);
}

void plugin_tx_set_key(void *tx, uint64_t key)
{
    if (!tx_of(tx)->tx.keyed)
        app_tx_key(&tx_of(tx)->tx, key);
}

void *plugin_tx_by_key(struct ids_app *app, uint64_t key)
{
    struct app_tx *tx = app_tx_by_key(flow_of(app), key);

    return tx != NULL ? own_of(tx) : NULL;
}

void plugin_tx_drop_key(void *tx)
{
    app_tx_key_drop(&tx_of(tx)->tx);
}

struct ids_slice plugin_tx_copy(void *tx, struct ids_slice bytes)
{
    struct slice copy = arena_slice(&tx_of(tx)->tx.arena,
                                    (struct slice){ bytes.data, bytes.len });

    return (struct ids_slice){ copy.data, copy.len };
}

void *plugin_tx_alloc(void *tx, size_t size)
{
    return arena_zalloc(&tx_of(tx)->tx.arena, size);
}

/* --- rules and records ------------------------------------------------------------------------ */

static bool buffer_find_own(struct app_tx *tx, enum direction direction, const struct app_key *key,
                            unsigned index, struct slice *out)
{
    const struct plugin_field *field = CONTAINER_OF((uintptr_t)key, struct plugin_field,
                                                    buffer.key);
    struct ids_slice found = { NULL, 0 };

    if (index >= ITEMS_MAX ||
        !field->own_buffer->get(own_of(tx), (enum ids_direction)direction, index, &found) ||
        (found.data == NULL && found.len > 0))
        return false;
    *out = (struct slice){ found.data, found.len };
    return true;
}

static bool number_find_own(struct app_tx *tx, enum direction direction, const struct app_key *key,
                            unsigned index, uint64_t *out)
{
    const struct plugin_field *field = CONTAINER_OF((uintptr_t)key, struct plugin_field,
                                                    number.key);

    return index == 0 &&
           field->own_number->get(own_of(tx), (enum ids_direction)direction, out);
}

static bool protocol_log(struct json *j, struct app_tx *tx, enum direction direction UNUSED,
                         const void *conf UNUSED)
{
    struct ids_json json = { .to = j };
    bool any = protocol_of(tx->flow)->own->log(own_of(tx), &json);

    plugin_json_close(&json);
    return any;
}

static void protocol_alert_metadata(struct json *j, struct app_tx *tx)
{
    struct json_mark mark = json_mark(j);

    json_object(j, tx->flow->proto->name);
    if (protocol_log(j, tx, TO_SERVER, NULL))
        json_object_end(j);
    else
        json_rewind(j, mark);
}

/* --- registration ----------------------------------------------------------------------------- */

static const struct app_buffer *const *buffers_of(const struct ids_protocol *own)
{
    const struct app_buffer **list;
    size_t count = 0;

    while (own->buffers != NULL && own->buffers[count].name != NULL)
        count++;
    list = plugin_alloc((count + 1) * sizeof(*list));
    for (size_t i = 0; i < count; i++) {
        struct plugin_field *field = plugin_alloc(sizeof(*field));
        const struct ids_buffer *b = &own->buffers[i];

        field->own_buffer = b;
        field->buffer = (struct app_buffer){
            .name = b->name, .doc = b->doc, .directions = (uint8_t)b->directions, .multi = b->many,
            .progress = { (b->directions & IDS_TS) != 0, (b->directions & IDS_TC) != 0 },
            .find = buffer_find_own };
        list[i] = &field->buffer;
    }
    return list;
}

static const struct app_integer *const *numbers_of(const struct ids_protocol *own)
{
    const struct app_integer **list;
    size_t count = 0;

    while (own->numbers != NULL && own->numbers[count].name != NULL)
        count++;
    list = plugin_alloc((count + 1) * sizeof(*list));
    for (size_t i = 0; i < count; i++) {
        struct plugin_field *field = plugin_alloc(sizeof(*field));
        const struct ids_number *n = &own->numbers[i];

        field->own_number = n;
        field->number = (struct app_integer){
            .name = n->name, .doc = n->doc, .bits = (uint8_t)n->bits,
            .directions = (uint8_t)n->directions,
            .progress = { (n->directions & IDS_TS) != 0, (n->directions & IDS_TC) != 0 },
            .find = number_find_own };
        list[i] = &field->number;
    }
    return list;
}

static const struct app_name *events_of(const struct ids_protocol *own)
{
    struct app_name *names;
    size_t count = 0;

    while (own->events != NULL && own->events[count] != NULL)
        count++;
    names = plugin_alloc((count + 1) * sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = (struct app_name){ own->events[i], (int64_t)i + 1 };
    return names;
}

/* Keywords whose name exists would never be found, or mean two things. */
static int check_fields(struct ids_engine *engine, const struct ids_protocol *own)
{
    for (const struct ids_buffer *b = own->buffers; b != NULL && b->name != NULL; b++) {
        if (plugin_check_keyword(engine, b->name) < 0)
            return -1;
        if (b->get == NULL || b->directions == 0 || b->directions > IDS_BOTH)
            return plugin_refuse(engine, "buffer %s: it needs get and directions", b->name);
    }
    for (const struct ids_number *n = own->numbers; n != NULL && n->name != NULL; n++) {
        if (plugin_check_keyword(engine, n->name) < 0)
            return -1;
        if (n->get == NULL || n->directions == 0 || n->directions > IDS_BOTH ||
            (n->bits != 8 && n->bits != 16 && n->bits != 32 && n->bits != 64))
            return plugin_refuse(engine, "number %s: it needs get, directions, and 8, 16, 32 or "
                                 "64 bits", n->name);
        for (const struct ids_buffer *b = own->buffers; b != NULL && b->name != NULL; b++)
            if (strcmp(b->name, n->name) == 0)
                return plugin_refuse(engine, "%s is a buffer and a number", n->name);
    }
    return 0;
}

static int check_protocol(struct ids_engine *engine, const struct ids_protocol *own)
{
    if (own->name == NULL || own->parse == NULL || own->log == NULL)
        return plugin_refuse(engine, "a protocol needs a name, parse and log");
    if (plugin_check_name(engine, own->name) < 0)
        return -1;
    if (own->transports == 0 || own->transports > (IDS_TCP | IDS_UDP))
        return plugin_refuse(engine, "protocol %s: expected IDS_TCP, IDS_UDP or both", own->name);
    if ((own->ports == NULL) != (own->probe == NULL))
        return plugin_refuse(engine, "protocol %s: ports and probe go together", own->name);
    if (own->ports == NULL && (own->patterns == NULL || own->patterns[0].bytes == NULL))
        return plugin_refuse(engine, "protocol %s: it needs patterns or a probe", own->name);
    for (const struct ids_pattern *p = own->patterns; p != NULL && p->bytes != NULL; p++)
        if (p->bytes[0] == '\0' || strlen(p->bytes) > 255 || p->directions == 0 ||
            p->transports == 0)
            return plugin_refuse(engine, "protocol %s: a pattern needs bytes, transports and "
                                 "directions", own->name);
    return check_fields(engine, own);
}

/* The functions that all protocols of plugins share. */
static void fill_hooks(struct plugin_protocol *new)
{
    const struct ids_protocol *own = new->own;

    new->log = (struct app_log){ .conf_name = own->name, .event_type = own->name,
                                 .key = own->name, .progress = { 1, 1 }, .has_tx_id = true,
                                 .log = protocol_log };
    new->logs[0] = &new->log;
    new->proto = (struct app_proto){
        .name = own->name,
        .transports = (uint8_t)own->transports,
        .patterns = patterns_of(own),
        .probes = own->probe != NULL ? new->probes : NULL,
        .state_size = own->state_size,
        .tx_size = sizeof(struct plugin_tx) + own->tx_size,
        .close = protocol_close,
        .parse = protocol_parse,
        .handles_gaps = own->handles_gaps,
        .tx_close = protocol_tx_close,
        .progress_done = { 1, 1 },
        .events = events_of(own),
        .buffers = buffers_of(own),
        .integers = numbers_of(own),
        .logs = new->logs,
        .alert_metadata = protocol_alert_metadata,
        .marks_tx = true,
    };
}

int plugin_add_protocol(struct ids_engine *engine, const struct ids_protocol *protocol)
{
    struct plugin_protocol *new;
    unsigned slot;

    if (check_protocol(engine, protocol) < 0)
        return -1;
    new = plugin_alloc(sizeof(*new));
    new->own = protocol;
    fill_hooks(new);
    if (app_proto_register(&new->proto, &engine->error.err) < 0)
        return -1;
    slot = (unsigned)new->proto.id - APP_PROTO_PLUGIN_FIRST;
    probes[slot] = protocol->probe;
    new->probes[0] = (struct app_probe){
        .transport = (uint8_t)protocol->transports, .directions = APP_BOTH,
        .ports = protocol->ports, .max = protocol->probe_max, .probe = probe_of_slot[slot] };
    keyword_declared_add(&new->proto);
    return 0;
}
