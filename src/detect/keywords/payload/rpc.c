/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rpc - a call of ONC RPC (RFC 5531, section 9) in the packet's payload: program, version,
 * procedure. */
#include "base/text/bytes.h"
#include "detect/rule/keyword.h"

/* A number without its `has_` flag matches any. */
struct rpc { uint32_t program, version, procedure; bool has_version, has_procedure; };

/* "*" or nothing: any number. */
static int rpc_number(struct rule_parser *p, struct text in, uint32_t *out, bool *has)
{
    uint64_t value;

    *has = !text_equal(in, "*") && in.n > 0;
    if (!*has)
        return 0;
    if (!text_to_decimal(in, UINT32_MAX, &value))
        return rule_error(p, "rpc: expected a number or *, got \"%.*s\"", TEXT(in));
    *out = (uint32_t)value;
    return 0;
}

/* The program is required, as in Suricata; a trailing part that is missing matches any. */
static int rpc_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct rpc *rpc = arg;
    struct text word;
    bool has = false;

    if (!text_split(&in, ',', &word) || rpc_number(p, word, &rpc->program, &has) < 0 || !has)
        return rule_error(p, "rpc: expected program[,version|*][,procedure|*]");
    if (text_split(&in, ',', &word) &&
        rpc_number(p, word, &rpc->version, &rpc->has_version) < 0)
        return -1;
    if (text_split(&in, ',', &word) &&
        rpc_number(p, word, &rpc->procedure, &rpc->has_procedure) < 0)
        return -1;
    p->rule->flags |= RULE_NEEDS_PACKET;
    return 0;
}

/* The header: xid, message type (0 is a call), RPC version, program, version, procedure,
 * each of four bytes. Over TCP a record mark of four bytes precedes it (RFC 5531, section
 * 11). A call that is split over two segments is not found: like Suricata, this looks at
 * one packet. */
static bool call_of(const struct packet *p, struct rpc *call)
{
    struct bytes b = bytes_of(p->payload, p->payload_len);
    uint32_t type;

    if (p->ip_proto == 6)
        take_skip(&b, 4);       /* record mark */
    else if (p->ip_proto != 17)
        return false;
    take_skip(&b, 4);
    type = take_be32(&b);
    take_skip(&b, 4);
    call->program = take_be32(&b);
    call->version = take_be32(&b);
    call->procedure = take_be32(&b);
    return !b.failed && type == 0;
}

static bool rpc_match(const struct match_input *in, const void *arg)
{
    const struct rpc *rpc = arg;
    struct rpc call;

    return call_of(in->packet, &call) && call.program == rpc->program &&
           (!rpc->has_version || call.version == rpc->version) &&
           (!rpc->has_procedure || call.procedure == rpc->procedure);
}

static bool rpc_tell(const struct rule_test *test UNUSED, const struct match_input *in,
                     struct buf *out)
{
    struct rpc call;

    if (call_of(in->packet, &call))
        buf_printf(out, "the call is to program %u, version %u, procedure %u", call.program,
                   call.version, call.procedure);
    else
        buf_add_string(out, "the packet is no RPC call");
    return true;
}

const struct keyword_ops keyword_rpc = {
    .name = "rpc",
    .doc = "program, version and procedure of an RPC call",
    .syntax = "<program>[,<version>|*[,<procedure>|*]]",
    .point = POINT_PACKET,
    .arg_size = sizeof(struct rpc),
    .parse = rpc_parse,
    .match = rpc_match,
    .tell = rpc_tell,
};
