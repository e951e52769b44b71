/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/decoder.c - decoders of plugins, by EtherType and by IP protocol. */
#include "packet/decode.h"
#include "plugins/private.h"

struct plugin_decoder {
    struct decode_registered registered;        /* first: decode() gets it */
    const struct ids_decoder *decoder;
};

/* One call of a plugin's decoder: lives on the stack as long as the call. */
struct ids_decoding {
    struct decoder *decoder;
    struct packet *packet;
    struct slice in;            /* the bytes that the plugin was given */
};

static bool decoder_decode(const struct decode_registered *self, struct decoder *d,
                           struct packet *p, struct slice in)
{
    const struct plugin_decoder *own = (const struct plugin_decoder *)(const void *)self;
    struct ids_decoding decoding = { d, p, in };

    own->decoder->decode(&decoding, (struct ids_bytes){ in.data, in.data + in.len, false });
    return true;
}

/* What follows must lie in what was given: the packet's layers point into its frame. */
static bool rest_of(const struct ids_decoding *decoding, struct ids_bytes rest, struct slice *out)
{
    const uint8_t *start = decoding->in.data, *end = start + decoding->in.len;

    if (rest.failed || rest.next < start || rest.next > rest.end || rest.end > end)
        return false;
    *out = (struct slice){ rest.next, (uint32_t)(rest.end - rest.next) };
    return true;
}

bool plugin_decode_ethertype(struct ids_decoding *decoding, uint16_t type, struct ids_bytes rest)
{
    struct slice in;

    return rest_of(decoding, rest, &in) &&
           decode_next_ethertype(decoding->decoder, decoding->packet, type, in);
}

bool plugin_decode_tunnel(struct ids_decoding *decoding, struct ids_bytes rest)
{
    struct slice in;

    return rest_of(decoding, rest, &in) &&
           decode_tunnelled_ip(decoding->decoder, decoding->packet, in);
}

int plugin_add_decoder(struct ids_engine *engine, const struct ids_decoder *decoder)
{
    struct plugin_decoder *new;

    if (decoder->decode == NULL)
        return plugin_refuse(engine, "a decoder needs decode");
    new = plugin_alloc(sizeof(*new));
    new->decoder = decoder;
    new->registered.decode = decoder_decode;
    return decode_register(decoder->is_ip_protocol ? DECODE_BY_IP_PROTOCOL : DECODE_BY_ETHERTYPE,
                           decoder->number, &new->registered, &engine->error.err);
}
