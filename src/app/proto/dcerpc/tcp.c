/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dcerpc/tcp.c - fragments over TCP, and their pairing by call id. */
#include "app/proto/dcerpc/dcerpc.h"
#include "packet/packet.h"

#include <string.h>

/* Types of PDUs that answer each other. */
static uint8_t response_of(uint8_t type)
{
    switch (type) {
    case DCE_REQUEST:
        return DCE_RESPONSE;
    case DCE_BIND:
        return DCE_BIND_ACK;
    case DCE_ALTER_CONTEXT:
        return DCE_ALTER_CONTEXT_RESP;
    default:
        return DCE_UNKNOWN;
    }
}

/* The reverse of response_of(). */
static uint8_t request_of(uint8_t type)
{
    switch (type) {
    case DCE_RESPONSE:
        return DCE_REQUEST;
    case DCE_BIND_ACK:
        return DCE_BIND;
    case DCE_ALTER_CONTEXT_RESP:
        return DCE_ALTER_CONTEXT;
    default:
        return DCE_UNKNOWN;
    }
}

/* The type tells the direction. Reserved bits of the representation must be 0. */
enum app_probe_result dcerpc_probe_tcp(struct bytes in, enum direction d,
                                       const struct flow *f UNUSED)
{
    struct dce_header h;
    enum direction own;

    if (!dce_take_header(&in, &h))
        return APP_PROBE_MORE;
    if (h.major != 5 || h.minor != 0 || (h.representation[0] & 0xee) != 0 ||
        h.representation[1] > 3)
        return APP_PROBE_NO;
    own = h.type == DCE_REQUEST || h.type == DCE_BIND || h.type == DCE_ALTER_CONTEXT
              ? TO_SERVER : TO_CLIENT;
    return own == d ? APP_PROBE_YES : APP_PROBE_YES_REVERSED;
}

/* --- transactions --------------------------------------------------------------------------- */

/* The types are preset for a call whose other part is never seen. */
static struct dcerpc_tx *new_tx(struct app_flow *af, const struct dce_header *h)
{
    struct dcerpc_tx *t = dcerpc_tx_of(app_tx_new(af));

    if (t == NULL)
        return NULL;
    t->call_id = h->call_id;
    t->little = h->little;
    t->minor = h->minor;
    t->ds[TO_SERVER].type = DCE_REQUEST;
    t->ds[TO_CLIENT].type = DCE_RESPONSE;
    return t;
}

/* Of a call that has its part of type `type`, and whose part of direction `missing` is to come. */
static uint64_t key_of(uint32_t call_id, uint8_t type, enum direction missing)
{
    return (uint64_t)call_id << 16 | (uint64_t)type << 8 | missing;
}

/* The call whose part of this direction is missing, and whose other part fits. */
static struct dcerpc_tx *find_tx(struct app_flow *af, const struct dce_header *h,
                                 enum direction d)
{
    uint8_t other = d == TO_SERVER ? response_of(h->type) : request_of(h->type);
    struct app_tx *tx = app_tx_by_key(af, key_of(h->call_id, other, d));

    return tx != NULL ? dcerpc_tx_of(tx) : NULL;
}

/* NULL: too many transactions. */
static struct dcerpc_tx *find_or_new(struct app_flow *af, const struct dce_header *h,
                                     enum direction d)
{
    struct dcerpc_tx *t = find_tx(af, h, d);

    return t != NULL ? t : new_tx(af, h);
}

/* Each fragment is a transaction, so that its direction is done at once. */
static void dir_done(struct dcerpc_tx *t, enum direction d, uint8_t type)
{
    t->ds[d].type = type;
    t->ds[d].fragments = 1;
    t->tx.progress[d] = 1;
    if (t->tx.progress[OTHER_DIRECTION(d)] == 0)
        app_tx_key(&t->tx, key_of(t->call_id, type, OTHER_DIRECTION(d)));
    else
        app_tx_key_drop(&t->tx);
}

/* --- PDUs ----------------------------------------------------------------------------------- */

/* A bind adds the offered interfaces to the flow's list. False stops the parser. */
static bool bind(struct app_flow *af, const struct dce_header *h, struct bytes body)
{
    struct dcerpc_state *st = af->state;
    struct dcerpc_tx *t;

    if (!dce_read_bind(body, h, &st->interfaces))
        return false;
    t = new_tx(af, h);
    if (t != NULL)
        dir_done(t, TO_SERVER, h->type);
    return t != NULL;
}

/* An acknowledgement gives each offered interface its result. False stops the parser. */
static bool bind_ack(struct app_flow *af, const struct dce_header *h, struct bytes body)
{
    struct dcerpc_state *st = af->state;
    struct dcerpc_tx *t;

    if (!dce_read_bind_ack(body, h, &st->interfaces))
        return false;
    t = find_or_new(af, h, TO_CLIENT);
    if (t != NULL)
        dir_done(t, TO_CLIENT, h->type);
    return t != NULL;
}

/* False stops the parser: a malformed request, or too many transactions. */
static bool call(struct app_flow *af, const struct dce_header *h, struct bytes body,
                 enum direction d)
{
    const struct dcerpc_settings *settings = af->settings;
    struct dce_request request = { 0 };
    struct dcerpc_tx *t;

    if (d == TO_SERVER && !dce_take_request(&body, h->little, &request))
        return false;
    t = find_or_new(af, h, d);
    if (t == NULL)
        return false;
    if (d == TO_SERVER) {
        t->context = request.context;
        t->opnum = request.opnum;
        t->request_seen = true;
    }
    dce_stub_add(&t->ds[d].stub, &t->tx.arena, take_rest(&body), settings->max_stub_size);
    dir_done(t, d, h->type);
    return true;
}

/* Other types carry nothing that rules or logs use. */
static bool pdu(struct app_flow *af, const struct dce_header *h, struct bytes body)
{
    switch (h->type) {
    case DCE_BIND:
    case DCE_ALTER_CONTEXT:
        return bind(af, h, body);
    case DCE_BIND_ACK:
    case DCE_ALTER_CONTEXT_RESP:
        return bind_ack(af, h, body);
    case DCE_REQUEST:
        return call(af, h, body, TO_SERVER);
    case DCE_RESPONSE:
        return call(af, h, body, TO_CLIENT);
    default:
        return true;
    }
}

/* Frames for rules: header, complete PDU, and data if there are any. */
static void frames(struct app_flow *af, const struct app_input *in, uint32_t len)
{
    app_frame(af, in->direction, DCERPC_FRAME_HDR, in->offset, DCE_HEADER_LEN, APP_FRAME_NO_TX);
    app_frame(af, in->direction, DCERPC_FRAME_PDU, in->offset, len, APP_FRAME_NO_TX);
    if (len > DCE_HEADER_LEN)
        app_frame(af, in->direction, DCERPC_FRAME_DATA, in->offset + DCE_HEADER_LEN,
                  (int64_t)len - DCE_HEADER_LEN, APP_FRAME_NO_TX);
}

/* Skips to a possible version number, after a midstream pickup. One byte stays, because the second
 * may follow. */
static enum parse_status search(struct dcerpc_state *st, struct app_input *in)
{
    const uint8_t *hit = memmem(in->data, in->len, "\x05\x00", 2);

    if (hit != NULL) {
        st->searching[in->direction] = false;
        in->consumed = (uint32_t)(hit - in->data);
        return PARSE_OK;
    }
    in->consumed = in->len > 0 ? in->len - 1 : 0;
    in->need = 2;
    return PARSE_MORE;
}

/* Suricata keeps one header for both directions, so what is no PDU waits like the other direction
 * while that one's PDU is incomplete. This is how it takes SOCKS, whose first bytes look like a
 * PDU of 30 kB. */
static enum parse_status no_header(const struct dcerpc_state *st, struct app_input *in)
{
    in->need = st->wanted[OTHER_DIRECTION(in->direction)];
    return in->need > 0 ? PARSE_MORE : PARSE_STOP;
}

/* A gap ends the parser: fragments have no marker to find the next one by. */
enum parse_status dcerpc_parse_tcp(struct app_flow *af, struct app_input *in)
{
    struct bytes bytes = app_input_bytes(in);
    struct dcerpc_state *st = af->state;
    enum direction d = in->direction;
    struct dce_header h;

    if (in->gap > 0)
        return PARSE_STOP;
    if (in->len == 0)
        return PARSE_OK;
    if (!st->started[d])
        st->searching[d] = (in->packet->flags & PACKET_MIDSTREAM) != 0;
    st->started[d] = true;
    if (st->searching[d]) {
        enum parse_status status = search(st, in);

        if (status != PARSE_OK || in->consumed > 0)
            return status;
    }
    in->consumed = 0;
    if (!dce_take_header(&bytes, &h)) {
        in->need = DCE_HEADER_LEN;
        return PARSE_MORE;
    }
    if (h.major != 5 || h.minor > 1 || h.length < DCE_HEADER_LEN)
        return no_header(st, in);
    if (in->len < h.length) {
        in->need = st->wanted[d] = h.length;
        return PARSE_MORE;
    }
    st->wanted[d] = 0;
    frames(af, in, h.length);
    in->consumed = h.length;
    return pdu(af, &h, take_sub(&bytes, h.length - DCE_HEADER_LEN)) ? PARSE_OK : PARSE_STOP;
}
