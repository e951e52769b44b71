/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_plugin.c - a plugin that does anything with what the engine gives it.
 *
 * The first byte chooses: bit 0 a decoder instead of a parser, bit 1 UDP. The second one is the
 * length of the script in units of two bytes; behind it stand frames or segments. Each call of the
 * plugin takes its next actions from the script: where the cursor stands, which status comes back,
 * transactions, keys, events, sizes, buffers, numbers and the members of records. What stands
 * outside of the contract and cannot be checked is left out: pointers that lead nowhere.
 *
 * Records must be whole JSON, layers lie within the frame, and packets come home. */
#include "app/core/settings.h"
#include "app/tests/replay.h"
#include "packet/decode.h"
#include "plugins/ids/plugin.h"
#include "plugins/load.h"

#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define ETHERTYPE 0x88b5                /* for local experiments (IEEE 802) */
#define ETHERNET 14
#define ACTIONS_MAX 8

struct own_tx {
    struct ids_slice copy;
    bool is_endless;                    /* its buffer never says that there are no more items */
};

static const struct ids_api *api;
static struct app_fixture fixture;
static const struct app_proto *proto;
static struct bytes script;             /* gives zeros behind its end */

static unsigned next(unsigned below)
{
    return take_u8(&script) % below;
}

/* --- the parser ------------------------------------------------------------------------------- */

/* Bytes before, in and behind the input; the engine must see which. */
static void move_cursor(struct ids_input *in, const uint8_t *start)
{
    switch (next(4)) {
    case 0: in->bytes.next = (const uint8_t *)((uintptr_t)start + next(256)); break;
    case 1: in->bytes.next = (const uint8_t *)((uintptr_t)start - next(256)); break;
    case 2: in->bytes.next = in->bytes.end; break;
    default: in->bytes.failed = true;
    }
}

static void copy_some(void *tx, const struct ids_input *in, const uint8_t *start)
{
    uint32_t have = start != NULL ? (uint32_t)(in->bytes.end - start) : 0;

    ((struct own_tx *)tx)->copy =
        api->tx_copy(tx, (struct ids_slice){ start, next(256) % (have + 1) });
}

static void act_on_tx(void *tx, const struct ids_input *in, const uint8_t *start)
{
    uint8_t *space;
    size_t size;

    switch (next(7)) {
    case 0: api->tx_done(tx, (enum ids_direction)next(4)); break;
    case 1: api->tx_event(tx, next(256) * 3); break;
    case 2: api->tx_set_key(tx, next(4)); break;
    case 3: api->tx_drop_key(tx); break;
    case 4: copy_some(tx, in, start); break;
    case 5: ((struct own_tx *)tx)->is_endless = true; break;
    default:
        size = (size_t)next(256) << next(8);
        space = api->tx_alloc(tx, size);
        if (space != NULL)
            memset(space, 1, size);
    }
}

static enum ids_parse parse(struct ids_app *app, void *state, struct ids_input *in)
{
    const uint8_t *start = in->bytes.next;
    void *tx = NULL, *found;

    ++*(uint64_t *)state;
    in->bytes.next = in->bytes.end;
    for (unsigned i = next(ACTIONS_MAX); i > 0; i--) {
        switch (next(6)) {
        case 0: tx = api->tx_new(app); break;
        case 1:
            found = api->tx_by_key(app, next(4));
            tx = found != NULL ? found : tx;
            break;
        case 2: move_cursor(in, start); break;
        case 3: in->need = next(256) * 0x01010101u; break;
        default:
            if (tx != NULL)
                act_on_tx(tx, in, start);
        }
    }
    return (enum ids_parse)next(5);
}

static enum ids_probe probe(struct ids_bytes bytes UNUSED, enum ids_direction direction UNUSED)
{
    return (enum ids_probe)next(4);
}

static bool get_item(const void *tx, enum ids_direction direction UNUSED, unsigned index,
                     struct ids_slice *out)
{
    const struct own_tx *own = tx;
    unsigned how = next(8);

    *out = own->copy;
    if (how == 1)
        *out = (struct ids_slice){ NULL, 100 };
    return own->is_endless || index < how;
}

/* More than its bits hold. */
static bool get_number(const void *tx UNUSED, enum ids_direction direction UNUSED, uint64_t *out)
{
    *out = (uint64_t)next(256) << next(64);
    return next(2) == 0;
}

static bool log_members(const void *tx, struct ids_json *json)
{
    static const char *const keys[] = { "a", NULL, "", "a\"b", "\\", "\x01", "\xff", "tx_id" };

    for (unsigned i = next(64); i > 0; i--) {
        const char *key = keys[next(8)];

        switch (next(6)) {
        case 0: api->json_text(json, key, next(2) == 0 ? ((const struct own_tx *)tx)->copy
                                                       : (struct ids_slice){ NULL, 100 }); break;
        case 1: api->json_number(json, key, UINT64_MAX); break;
        case 2: api->json_yes(json, key, true); break;
        case 3: api->json_object(json, key); break;
        case 4: api->json_array(json, key); break;
        default: api->json_end(json);
        }
    }
    return next(4) != 0;
}

/* --- the decoder ------------------------------------------------------------------------------ */

static void decode(struct ids_decoding *decoding, struct ids_bytes bytes)
{
    static const uint16_t types[] = { 0x0800, 0x86dd, 0x8100, 0x8847, 0x8864, ETHERTYPE, 0,
                                      0xffff };

    for (unsigned i = next(4); i > 0; i--) {
        struct ids_bytes rest = bytes;

        rest.next += next(64);
        rest.end -= next(64);
        rest.failed = next(16) == 1;
        if (next(3) == 0)
            api->decode_tunnel(decoding, rest);
        else
            api->decode_ethertype(decoding, types[next(8)], rest);
    }
}

/* --- what is registered ----------------------------------------------------------------------- */

static const char *const events[] = { "first", "second", "third", NULL };
static const struct ids_buffer buffers[] = {
    { "fuzz.items", "items", IDS_BOTH, true, get_item },
    { "fuzz.item", "an item", IDS_TS, false, get_item }, { 0 } };
static const struct ids_number numbers[] = {
    { "fuzz.number", "a number", IDS_BOTH, 8, get_number }, { 0 } };
static const struct ids_protocol protocol = {
    .name = "fuzz", .transports = IDS_TCP | IDS_UDP, .ports = "1", .probe = probe, .probe_max = 64,
    .state_size = sizeof(uint64_t), .tx_size = sizeof(struct own_tx), .parse = parse,
    .handles_gaps = true, .events = events, .buffers = buffers, .numbers = numbers,
    .log = log_members };
static const struct ids_decoder decoder = { .number = ETHERTYPE, .decode = decode };

static int load(struct ids_engine *engine, const struct ids_api *functions)
{
    api = functions;
    return api->add_protocol(engine, &protocol) | api->add_decoder(engine, &decoder);
}

int LLVMFuzzerInitialize(int *argc UNUSED, char ***argv UNUSED)
{
    static const struct ids_plugin plugin = { IDS_PLUGIN_ABI, "fuzz", "1", load };
    struct err err = { 0 };

    if (plugin_start(&plugin, "fuzz.so", (struct where){ "fuzz", 1, 1 }, NULL, &err) < 0 ||
        app_fixture_open(&fixture, NULL, NULL) < 0)
        abort();
    proto = app_proto_by_name("fuzz");
    if (proto == NULL)
        abort();
    for (unsigned i = 0; i < APP_PROTO_MAX; i++)
        fixture.conf->required_features[i] = UINT32_MAX;
    return 0;
}

/* --- one input -------------------------------------------------------------------------------- */

/* Whether what is open is closed in its order, once. Strings have no quotes of their own. */
static void check_record(const char *at)
{
    char open[256];
    unsigned depth = 0;

    for (bool in_string = false; *at != '\0'; at++) {
        if (*at == '"')
            in_string = !in_string;
        else if (in_string && *at == '\\')
            at++;
        if (in_string || strchr("{[]}", *at) == NULL)
            continue;
        if (*at == '{' || *at == '[') {
            if (depth == sizeof(open))
                abort();
            open[depth++] = *at;
        } else if (depth == 0 || open[--depth] != (*at == '}' ? '{' : '[')) {
            abort();
        }
    }
    if (depth > 0)
        abort();
}

static void check_records(const struct replay *replay)
{
    for (size_t i = 0; i < replay->lines.count; i++) {
        const char *record = strchr(replay->lines.at[i].text, '{');

        if (record != NULL)
            check_record(record);
    }
}

static void play(struct bytes in, bool udp)
{
    struct replay replay;

    replay_begin(&replay, &fixture, udp, 1);
    replay.inspect = true;
    replay_force(&replay, proto->id);
    while (bytes_left(&in) > 1) {
        uint8_t control = take_u8(&in);
        uint32_t len = MIN((uint32_t)control >> 2, bytes_left(&in));
        struct slice chunk = take_slice(&in, len);

        if (control & 2)
            replay_data(&replay, (enum direction)(control & 1), NULL, len + 1);
        else if (len > 0)
            replay_data(&replay, (enum direction)(control & 1), chunk.data, len);
    }
    replay_end(&replay);
    check_records(&replay);
    replay_free(&replay);
}

static void check_packet(const struct packet *p)
{
    const uint8_t *end = p->data + p->len;

    if ((p->l3 != NULL && (p->l3 < p->data || p->l3 + p->l3_len > end)) ||
        (p->l4 != NULL && (p->l4 < p->data || p->l4 + p->l4_len > end)) ||
        (p->payload != NULL && (p->payload < p->data || p->payload + p->payload_len > end)))
        abort();
}

/* A frame whose EtherType is the plugin's. */
static void decode_frame(struct bytes in)
{
    static struct packet_pool *pool;
    static struct decoder *d;
    static struct packet_vector v;
    struct slice rest = take_rest(&in);
    uint8_t *frame = calloc(1, ETHERNET + rest.len);
    struct packet *p;
    struct err err;

    if (frame == NULL)
        return;
    if (d == NULL) {
        pool = packet_pool_new(64, 0);
        d = decoder_new(decode_conf_new(conf_root(fixture.yaml), &err), pool, fixture.counters);
    }
    frame[12] = ETHERTYPE >> 8;
    frame[13] = ETHERTYPE & 0xff;
    if (rest.len > 0)
        memcpy(frame + ETHERNET, rest.data, rest.len);
    p = packet_pool_get(pool);
    p->data = frame;
    p->len = p->wire_len = ETHERNET + rest.len;
    p->datalink = DATALINK_ETHERNET;
    p->time_us = v.now_us += 1000;
    vector_push(&v, p);
    decode_vector(d, &v);
    for (unsigned i = 0; i < v.count; i++)
        check_packet(v.packet[i]);
    for (unsigned i = 0; i < v.count; i++)
        packet_release(v.packet[i], PACKET_THREAD_OWNER);
    v.count = 0;
    if (packet_pool_out(pool) != 0)
        abort();
    free(frame);
}

int fuzz_input(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size);
    uint8_t kind = take_u8(&in);
    uint32_t len = take_u8(&in) * 2u;
    struct slice actions = take_slice(&in, MIN(len, bytes_left(&in)));

    if (in.failed)
        return 0;
    script = bytes_of(actions.data, actions.len);
    if (kind & 1)
        decode_frame(in);
    else
        play(in, (kind & 2) != 0);
    return 0;
}
