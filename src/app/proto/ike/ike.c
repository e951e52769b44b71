/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ike/ike.c - IKE over UDP: detection, and the header (RFC 7296 section 3.1, the same in
 * RFC 2408 section 3.1). */
#include "app/proto/ike/ike.h"

#include "app/proto.h"

#include <stdio.h>

/* Exchanges of version 2: IKE_SA_INIT to INFORMATIONAL (RFC 7296 section 3.1). */
#define EXCHANGE_FIRST 34
#define EXCHANGE_LAST  37

static bool read_header(struct bytes *in, struct ike_header *out)
{
    uint8_t version;

    out->initiator = take_be64(in);
    out->responder = take_be64(in);
    out->next_payload = take_u8(in);
    version = take_u8(in);
    out->major = version >> 4;
    out->minor = version & 15;
    out->exchange = take_u8(in);
    out->flags = take_u8(in);
    out->message_id = take_be32(in);
    out->length = take_be32(in);
    return !in->failed;
}

/* Version 2 has enough fixed values to be sure. A responder SPI of 0 is an initiator's first
 * message. */
static enum app_probe_result ike_probe(struct bytes in, enum direction direction,
                                       const struct flow *flow UNUSED)
{
    size_t len = bytes_left(&in);
    struct ike_header h;

    if (!read_header(&in, &h) || h.major < 1 || h.major > 2)
        return APP_PROBE_NO;
    if (h.major == 2 && (h.minor != 0 || h.exchange < EXCHANGE_FIRST ||
                         h.exchange > EXCHANGE_LAST || h.length != len))
        return APP_PROBE_NO;
    return h.responder == 0 && direction == TO_CLIENT ? APP_PROBE_YES_REVERSED : APP_PROBE_YES;
}

/* Each datagram is a transaction with one direction. */
static struct ike_tx *message_new(struct app_flow *af, const struct app_input *in,
                                  const struct ike_header *header)
{
    struct ike_tx *t = ike_tx_of(app_tx_new(af));

    if (t == NULL)
        return NULL;
    t->direction = in->direction;
    t->header = *header;
    snprintf(t->initiator, sizeof(t->initiator), "%016llx", (unsigned long long)header->initiator);
    snprintf(t->responder, sizeof(t->responder), "%016llx", (unsigned long long)header->responder);
    t->tx.progress[in->direction] = 1;
    t->tx.unidirectional[OTHER_DIRECTION(in->direction)] = true;
    return t;
}

/* A malformed datagram of version 1 leaves no transaction. */
static enum parse_status ike_parse(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in);
    struct ike_header header;
    struct slice body;
    struct ike_tx *t;

    if (in->len == 0)
        return PARSE_OK;
    if (!read_header(&b, &header) || header.major < 1 || header.major > 2)
        return PARSE_STOP;
    t = message_new(af, in, &header);
    if (t == NULL)
        return PARSE_STOP;
    body = take_rest(&b);
    body = arena_slice(&t->tx.arena, body);
    if (header.major == 2)
        ike_read_v2(af->state, t, body);
    else if (!ike_read_v1(af->state, t, body))
        app_tx_discard(&t->tx);
    return PARSE_OK;
}

/* The default means: the responder has chosen no encryption. */
static bool ike_open(struct app_flow *af)
{
    struct ike_state *st = af->state;

    st->chosen[IKE_ENC] = IKE_DEFAULT_ENC;
    return true;
}

static void ike_close(struct app_flow *af)
{
    struct ike_state *st = af->state;

    for (unsigned d = 0; d < 2; d++) {
        buf_fini(&st->ds[d].key_exchange);
        buf_fini(&st->ds[d].nonce);
        buf_fini(&st->ds[d].transform);
    }
}

static const struct app_name events[] = { IKE_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

const struct app_proto app_ike = {
    .id = APP_PROTO_ike,
    .name = "ike",
    .rule_alias = "ikev2",
    .transports = APP_UDP,
    .probes = (const struct app_probe[]){
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "500", .max = IKE_HEADER_LEN,
          .probe = ike_probe },
        { .probe = NULL } },
    .state_size = sizeof(struct ike_state),
    .tx_size = sizeof(struct ike_tx),
    .open = ike_open,
    .close = ike_close,
    .parse = ike_parse,
    .progress_done = { 1, 1 },
    .events = events,
    .buffers = ike_buffers,
    .integers = ike_integers,
    .matches = ike_matches,
    .logs = ike_logs,
    .alert_metadata = ike_alert_metadata,
};
