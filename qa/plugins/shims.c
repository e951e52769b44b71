/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shims.c - a plugin with two decoders: a tag of four bytes between Ethernet and what follows
 * (EtherType 0x88b5: two bytes of a number, then the next EtherType), and a tunnel in IP protocol
 * 253 with a header of two bytes: a version, and the length of what is between it and IP. */
#include <ids/plugin.h>

static const struct ids_api *ids;

static void tag_decode(struct ids_decoding *decoding, struct ids_bytes bytes)
{
    uint16_t type;

    ids_number(&bytes, 2);
    type = (uint16_t)ids_number(&bytes, 2);
    if (!bytes.failed)
        ids->decode_ethertype(decoding, type, bytes);
}

static void tunnel_decode(struct ids_decoding *decoding, struct ids_bytes bytes)
{
    uint64_t version = ids_number(&bytes, 1);

    ids_take(&bytes, (size_t)ids_number(&bytes, 1));
    if (version == 9)           /* a mistake: it claims bytes that it was not given */
        bytes.end += 1000;
    ids->decode_tunnel(decoding, bytes);
}

static const struct ids_decoder tag = { .number = 0x88b5, .decode = tag_decode };
static const struct ids_decoder tunnel = {
    .is_ip_protocol = true, .number = 253, .decode = tunnel_decode,
};

static int load(struct ids_engine *engine, const struct ids_api *api)
{
    ids = api;
    return ids->add_decoder(engine, &tag) < 0 ? -1 : ids->add_decoder(engine, &tunnel);
}

IDS_PLUGIN("shims", "1.0", load);
