/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wild.c - a protocol whose functions do what they must not: the engine must live on, and its
 * records stay whole. The byte after WILD says what the parser does. */
#include <ids/plugin.h>

static const struct ids_api *ids;

static enum ids_parse wild_parse(struct ids_app *app, void *state, struct ids_input *in)
{
    size_t left = (size_t)(in->bytes.end - in->bytes.next);
    void *tx;

    (void)state;
    if (left < 5)
        return IDS_NEED_MORE;
    switch (in->bytes.next[4]) {
    case 'b':                   /* takes bytes that are not there */
        in->bytes.next = in->bytes.end + 1000;
        return IDS_PARSED;
    case 'n':
        in->bytes.next = NULL;
        return IDS_PARSED;
    case 's':                   /* takes nothing, for ever */
        return IDS_PARSED;
    case 'm':                   /* wants more than a flow may keep */
        in->need = UINT32_MAX;
        return IDS_NEED_MORE;
    case 'f':                   /* reads past the end and does not look */
        ids_take(&in->bytes, left - 1);
        ids_number(&in->bytes, 8);
        return IDS_PARSED;
    case 'x':
        return (enum ids_parse)99;
    }
    ids_take(&in->bytes, left);
    if ((tx = ids->tx_new(app)) == NULL)
        return IDS_STOP;
    ids->tx_set_key(tx, 7);
    ids->tx_set_key(tx, 8);     /* it has one */
    ids->tx_event(tx, 77);      /* there is none */
    ids->tx_event(tx, 0);
    ids->tx_done(tx, (enum ids_direction)5);
    ids->tx_done(tx, IDS_TO_CLIENT);
    return IDS_PARSED;
}

static bool wild_log(const void *tx, struct ids_json *json)
{
    (void)tx;
    ids->json_end(json);        /* nothing is open */
    ids->json_number(json, "forged\":1,\"k", 1);
    ids->json_text(json, "none", (struct ids_slice){ NULL, 1000 });
    for (int i = 0; i < 100; i++)
        (i % 2 ? ids->json_array : ids->json_object)(json, i % 2 ? "a" : NULL);
    ids->json_number(json, "deep", 1);
    return true;                /* ... and now all is */
}

static bool no_bytes(const void *tx, enum ids_direction direction, unsigned index,
                     struct ids_slice *out)
{
    (void)tx, (void)direction, (void)index;
    *out = (struct ids_slice){ NULL, 1000 };
    return true;
}

/* Never says that there are no more. */
static bool endless(const void *tx, enum ids_direction direction, unsigned index,
                    struct ids_slice *out)
{
    static const uint8_t last[] = "item 1024";

    (void)tx, (void)direction;
    *out = (struct ids_slice){ last, index == 1023 ? 9 : 4 };
    return true;
}

static const struct ids_protocol wild = {
    .name = "wild", .transports = IDS_TCP | IDS_UDP, .parse = wild_parse, .log = wild_log,
    .patterns = (const struct ids_pattern[]){
        { IDS_TCP | IDS_UDP, IDS_BOTH, "WILD", 0 }, { 0 } },
    .buffers = (const struct ids_buffer[]){
        { "wild.none", "no bytes", IDS_BOTH, true, no_bytes },
        { "wild.endless", "items", IDS_BOTH, true, endless }, { 0 } },
};

static int load(struct ids_engine *engine, const struct ids_api *api)
{
    ids = api;
    return ids->add_protocol(engine, &wild);
}

IDS_PLUGIN("wild", "1.0", load);
