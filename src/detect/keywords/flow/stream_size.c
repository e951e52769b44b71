/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/stream_size.c - stream_size: how much each side of a TCP flow has
 * sent. */
#include "detect/rule/keyword.h"
#include "stream/slot.h"

/* "server" is what the server sent, so the direction is to the client. */
enum { SIDE_SERVER, SIDE_CLIENT, SIDE_BOTH, SIDE_EITHER };

struct stream_size_arg { /* `side`: SIDE_* */
    uint8_t side;
    struct int_match size;
};

static bool side_parse(struct text in, uint8_t *side)
{
    static const char *const names[] = { "server", "client", "both", "either" };

    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        if (text_equal(in, names[i])) {
            *side = (uint8_t)i;
            return true;
        }
    }
    return false;
}

/* 32 bits: the amount comes from sequence numbers. */
static int stream_size_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct stream_size_arg *a = arg;
    struct text rest = in, side, op, size;

    if (!text_split(&rest, ',', &side) || !side_parse(side, &a->side) ||
        !text_split(&rest, ',', &op) || !int_op_parse(op, &a->size.op) ||
        !text_split(&rest, ',', &size) || rest.n > 0 ||
        !text_to_u64(size, UINT32_MAX, &a->size.a))
        return rule_error(p,
                          "stream_size: expected server, client, both or either, an operator of < "
                          "> <= >= = !=, and a number, found \"%.*s\"",
                          TEXT(in));
    return 0;
}

/* SYN and FIN count as one byte each in sequence space. A session is therefore never at 0
 * on both sides, and 0 on both means that the stream module does not track the flow. */
static bool stream_size_match(const struct match_input *in, const void *arg)
{
    const struct stream_size_arg *a = arg;
    const struct packet *p = in->packet;
    bool client, server;

    if (!packet_is_tcp(p) || in->flow == NULL ||
        (stream_slot(p)->sent[TO_SERVER] == 0 && stream_slot(p)->sent[TO_CLIENT] == 0))
        return false;
    client = int_match_has(&a->size, stream_slot(p)->sent[TO_SERVER]);
    server = int_match_has(&a->size, stream_slot(p)->sent[TO_CLIENT]);
    switch (a->side) {
    case SIDE_SERVER: return server;
    case SIDE_CLIENT: return client;
    case SIDE_BOTH: return client && server;
    default: return client || server;
    }
}

static bool stream_size_tell(const struct rule_test *test UNUSED, const struct match_input *in,
                             struct buf *out)
{
    const struct packet *p = in->packet;

    if (!packet_is_tcp(p) || in->flow == NULL ||
        (stream_slot(p)->sent[TO_SERVER] == 0 && stream_slot(p)->sent[TO_CLIENT] == 0))
        buf_add_string(out, "the packet belongs to no TCP session that is tracked");
    else
        buf_printf(out, "the client has sent %u, the server %u", stream_slot(p)->sent[TO_SERVER],
                   stream_slot(p)->sent[TO_CLIENT]);
    return true;
}

const struct keyword_ops keyword_stream_size = {
    .name = "stream_size",
    .doc = "bytes that a side of the TCP flow has sent: < > <= >= = or !=",
    .syntax = "server|client|both|either,<op>,<bytes>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .arg_size = sizeof(struct stream_size_arg),
    .parse = stream_size_parse,
    .match = stream_size_match,
    .tell = stream_size_tell,
};
