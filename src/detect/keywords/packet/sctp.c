/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/sctp.c - sctp.vtag, sctp.chunk_type and sctp.chunk_cnt: the verification
 * tag, the type of any chunk, and how many chunks there are (RFC 9260 section 3). */
#include "packet/sctp.h"
#include "detect/rule/keyword.h"

#define PROTO_SCTP 132
#define TYPES_MAX 16            /* chunks whose types are compared; Suricata's limit */

/* A packet whose chunks are cut off matches none of these, as in Suricata. */
static bool is_sctp(const struct packet *p)
{
    return p->l4 != NULL && p->ip_proto == PROTO_SCTP && !p->sctp.malformed;
}

/* What any of these looks at. */
static bool sctp_tell(const struct rule_test *test UNUSED, const struct match_input *in,
                      struct buf *out)
{
    struct bytes rest = bytes_of(in->packet->l4, in->packet->l4_len);
    struct sctp_chunk chunk;

    if (!is_sctp(in->packet))
        return false;
    buf_printf(out, "the verification tag is %u, the %u chunks have type",
               get_be32(in->packet->l4 + 4), in->packet->sctp.chunks);
    (void)take_slice(&rest, SCTP_HEADER);
    for (unsigned i = 0; i < 8 && sctp_take_chunk(&rest, &chunk); i++)
        buf_printf(out, " %u", chunk.type);
    return true;
}

static bool vtag_match(const struct match_input *in, const void *arg)
{
    return is_sctp(in->packet) && int_match_has(arg, get_be32(in->packet->l4 + 4));
}

const struct keyword_ops keyword_sctp_vtag = {
    .name = "sctp.vtag",
    .doc = "verification tag of SCTP",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u32,
    .match = vtag_match,
    .tell = sctp_tell,
};

static bool chunk_cnt_match(const struct match_input *in, const void *arg)
{
    return is_sctp(in->packet) && int_match_has(arg, in->packet->sctp.chunks);
}

const struct keyword_ops keyword_sctp_chunk_cnt = {
    .name = "sctp.chunk_cnt",
    .doc = "number of chunks in an SCTP packet",
    .syntax = "<number>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = int_parse_u16,
    .match = chunk_cnt_match,
    .tell = sctp_tell,
};

static const struct app_name type_names[] = {
    { "data", 0 },           { "init", 1 },          { "init_ack", 2 },
    { "sack", 3 },           { "heartbeat", 4 },     { "hb_ack", 5 },
    { "abort", 6 },          { "shutdown", 7 },      { "shutdown_ack", 8 },
    { "error", 9 },          { "cookie_echo", 10 },  { "cookie_ack", 11 },
    { "ecne", 12 },          { "cwr", 13 },          { "shutdown_complete", 14 },
    { "forward_tsn", 192 },  { NULL, 0 },
};

static int chunk_type_parse(struct rule_parser *p, struct text in, void *arg)
{
    return int_match_parse(p, in, 8, type_names, arg);
}

/* "!data" holds for a packet with another chunk, too. */
static bool chunk_type_match(const struct match_input *in, const void *arg)
{
    struct bytes rest = bytes_of(in->packet->l4, in->packet->l4_len);
    struct sctp_chunk chunk;

    if (!is_sctp(in->packet))
        return false;
    (void)take_slice(&rest, SCTP_HEADER);
    for (unsigned i = 0; i < TYPES_MAX && sctp_take_chunk(&rest, &chunk); i++)
        if (int_match_has(arg, chunk.type))
            return true;
    return false;
}

const struct keyword_ops keyword_sctp_chunk_type = {
    .name = "sctp.chunk_type",
    .doc = "type of any chunk in an SCTP packet, by number or name",
    .syntax = "<number or name>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct int_match),
    .parse = chunk_type_parse,
    .match = chunk_type_match,
    .tell = sctp_tell,
};
