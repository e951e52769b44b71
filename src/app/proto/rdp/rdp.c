/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/rdp/rdp.c - RDP over TCP: protocol detection, TPKT and TLS records, X.224.
 *
 * Only the opening of a session is parsed. A stream is TPKT until a TLS handshake record appears;
 * from there it is TLS. */
#include "app/proto/rdp/rdp.h"

#include "app/proto.h"

#define TPKT_VERSION   3                /* T.123 section 8 */
#define TPKT_HEADER    4                /* bytes: version, reserved, length of the packet */
#define TLS_HEADER     5                /* bytes: type, version, length */
/* Bytes: the limit of TLS 1.3 for a ciphertext (RFC 8446 section 5.2). */
#define TLS_RECORD_MAX (16384 + 256)
#define X224_FIXED     6                /* bytes of the fixed part behind the length */

/* ContentType of a record. */
enum { TLS_CHANGE_CIPHER_SPEC = 20, TLS_HANDSHAKE = 22, TLS_HEARTBEAT = 24 };
enum { HANDSHAKE_CERTIFICATE = 11 };                /* RFC 5246 section 7.4 */
enum { X224_CONFIRM = 0x0d, X224_REQUEST = 0x0e };  /* upper half of the code byte */
/* [MS-RDPBCGR] sections 2.2.1.1.1, 2.2.1.2.1 and 2.2.1.2.2. */
enum { NEGOTIATION_REQUEST = 1, NEGOTIATION_RESPONSE = 2, NEGOTIATION_FAILURE = 3 };
#define NEGOTIATION_LEN 8                           /* bytes, fixed */

/* --- transactions ----------------------------------------------------------------------------- */

/* One transaction for each message, complete from the start. NULL: too many transactions. */
static struct rdp_tx *add(struct app_flow *af, enum direction d, enum rdp_kind kind)
{
    struct rdp_tx *t = rdp_tx_of(app_tx_new(af));

    if (t == NULL)
        return NULL;
    t->kind = kind;
    t->tx.unidirectional[OTHER_DIRECTION(d)] = true;
    t->tx.progress[TO_SERVER] = t->tx.progress[TO_CLIENT] = 1;
    return t;
}

/* To the transaction's arena: the input is gone after this call. */
static struct slice copy(struct rdp_tx *t, struct slice s)
{
    return arena_slice(&t->tx.arena, s);
}

/* --- X.224 ------------------------------------------------------------------------------------ */

/* Takes an X.224 header of class 0 and returns the data after it. Code and credit share a byte; the
 * destination reference must be 0. A length of 255 is reserved. False: not a message of this
 * type. */
static bool take_x224(struct bytes *in, uint8_t type, struct slice *data)
{
    uint8_t len = take_u8(in), code = take_u8(in);

    if (len == UINT8_MAX || len < X224_FIXED || code >> 4 != type || (code & 15) > 1 ||
        take_be16(in) != 0)
        return false;
    take_skip(in, 2);                   /* source reference */
    if (take_u8(in) != 0)               /* class and options */
        return false;
    *data = take_slice(in, len - X224_FIXED);
    return !in->failed;
}

/* The routing cookie of a connection request ([MS-RDPBCGR] section 2.2.1.1): text up to CR LF,
 * mostly a user name. Without one the cursor stays. A routing token has another prefix and is not
 * read. */
static bool take_cookie(struct bytes *in, struct slice *out)
{
    static const char head[] = "Cookie: mstshash=";
    struct bytes saved = *in;
    struct slice start = take_slice(in, sizeof(head) - 1);
    const uint8_t *end = in->failed ? NULL : memmem(in->next, bytes_left(in), "\r\n", 2);

    if (end == NULL || memcmp(start.data, head, start.len) != 0) {
        *in = saved;
        return false;
    }
    *out = take_slice(in, (size_t)(end - in->next));
    take_skip(in, 2);
    return true;
}

/* RDP_NEG_REQ, RDP_NEG_RSP and RDP_NEG_FAILURE share this layout: type, flags, length, value. False
 * also for flags that are unknown and for another length than 8. */
static bool take_negotiation(struct bytes in, uint8_t type, uint8_t flags_known, uint8_t *flags,
                             uint32_t *value)
{
    uint8_t found = take_u8(&in);
    uint16_t len;

    *flags = take_u8(&in);
    len = take_le16(&in);
    *value = take_le32(&in);
    return !in.failed && found == type && (*flags & ~flags_known) == 0 && len == NEGOTIATION_LEN;
}

/* A request without readable negotiation data is still a request: old clients send none. */
static void read_request(struct app_flow *af, struct slice data)
{
    struct rdp_tx *t = add(af, TO_SERVER, RDP_REQUEST);
    struct bytes in = bytes_of_slice(data);
    uint32_t protocols;
    uint8_t flags;

    if (t == NULL)
        return;
    if (take_cookie(&in, &t->cookie)) {
        t->has_cookie = true;
        t->cookie = copy(t, t->cookie);
    }
    if (take_negotiation(in, NEGOTIATION_REQUEST, 0x0b, &flags, &protocols) && /* flags 1, 2, 8 */
        (protocols & ~0x0fu) == 0)  /* PROTOCOL_SSL to PROTOCOL_HYBRID_EX */
        t->flags = flags;
}

/* The server chooses exactly one protocol; 0 is standard RDP security. */
static bool is_protocol(uint32_t p)
{
    return p == 0 || p == 1 || p == 2 || p == 4 || p == 8;
}

/* Neither acceptance nor refusal: an old server, or malformed data; `negotiation` stays NONE. */
static void read_confirm(struct app_flow *af, struct slice data)
{
    struct rdp_tx *t = add(af, TO_CLIENT, RDP_CONFIRM);
    struct bytes in = bytes_of_slice(data);
    uint32_t value;
    uint8_t flags;

    if (t == NULL)
        return;
    /* Flags 1 to 16. */
    if (take_negotiation(in, NEGOTIATION_RESPONSE, 0x1f, &flags, &value) && is_protocol(value)) {
        t->negotiation = RDP_ACCEPTED;
        t->flags = flags;
        t->protocol = value;
    } else if (take_negotiation(in, NEGOTIATION_FAILURE, UINT8_MAX, &flags, &value) &&
               value >= 1 && value <= 6) {  /* reasons that log.c has names for */
        t->negotiation = RDP_REFUSED;
        t->protocol = value;
    }
}

/* --- TPKT ------------------------------------------------------------------------------------- */

/* An X.224 data message with an MCS connect request or response (T.125; BER application tags 101
 * and 102). The response ends the parser's interest: what follows is encrypted or graphics. */
static void read_data(struct app_flow *af, enum direction d, struct bytes in)
{
    struct rdp_state *st = af->state;
    struct rdp_tx *t;
    uint8_t type;

    /* The length, DT (a data message), end of transmission, the first byte of an application tag
     * above 30. */
    if (take_u8(&in) != 2 || take_u8(&in) != 0xf0 || take_u8(&in) != 0x80 ||
        take_u8(&in) != 0x7f)
        return;
    type = take_u8(&in);                /* 0x65: 101, 0x66: 102 */
    if (type == 0x65 && d == TO_SERVER && !in.failed) {
        t = add(af, d, RDP_CONNECT_REQUEST);
        if (t != NULL)
            rdp_read_connect(take_rest(&in), t);
    } else if (type == 0x66 && d == TO_CLIENT) {
        add(af, d, RDP_CONNECT_RESPONSE);
        st->over = true;
    }
}

/* A request from the server or a confirm from the client is ignored. */
static void read_packet(struct app_flow *af, enum direction d, struct slice body)
{
    struct bytes request = bytes_of_slice(body), confirm = request;
    struct slice data;

    if (take_x224(&request, X224_REQUEST, &data)) {
        if (d == TO_SERVER)
            read_request(af, data);
    } else if (take_x224(&confirm, X224_CONFIRM, &data)) {
        if (d == TO_CLIENT)
            read_confirm(af, data);
    } else {
        read_data(af, d, bytes_of_slice(body));
    }
}

/* One TPKT. Anything else than version 3 ends the parser: RDP's fast-path output comes only after
 * the connection sequence. What the content means does not change the framing. */
static enum parse_status parse_tpkt(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in);
    uint16_t len;

    if (peek_u8(&b) != TPKT_VERSION)
        return PARSE_STOP;
    in->consumed = 0;
    in->need = TPKT_HEADER;
    take_skip(&b, 2);
    len = take_be16(&b);
    if (b.failed)
        return PARSE_MORE;
    if (len < TPKT_HEADER)
        return PARSE_STOP;
    in->need = len;
    if (in->len < len)
        return PARSE_MORE;
    in->consumed = len;
    read_packet(af, in->direction, take_slice(&b, len - TPKT_HEADER));
    return PARSE_OK;
}

/* --- TLS -------------------------------------------------------------------------------------- */

/* Handshake messages that are complete in one record. A message that continues in the next record
 * is not read; its certificates are then missing. */
static void read_handshake(struct app_flow *af, struct bytes in)
{
    struct rdp_state *st = af->state;
    struct rdp_tx *t;

    while (bytes_left(&in) > 0) {
        uint8_t type = take_u8(&in);
        struct slice message = take_slice(&in, take_be24(&in)), list;
        struct bytes body = bytes_of_slice(message);

        if (in.failed)
            return;
        if (type != HANDSHAKE_CERTIFICATE)
            continue;
        list = take_slice(&body, take_be24(&body));
        if (body.failed)
            return;
        t = add(af, TO_CLIENT, RDP_CERTIFICATES);
        if (t != NULL)
            t->certificates = copy(t, list);
        st->over = true;    /* the rest of the handshake, and all after it, has nothing for us */
    }
}

/* One TLS record, of which only the server's handshake messages matter. Records after
 * ChangeCipherSpec are encrypted; their content is then not a valid message and is ignored. */
static enum parse_status parse_tls(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in);
    uint8_t type = take_u8(&b), major = take_u8(&b);
    uint16_t len;

    if (type < TLS_CHANGE_CIPHER_SPEC || type > TLS_HEARTBEAT)
        return PARSE_STOP;
    in->consumed = 0;
    in->need = TLS_HEADER;
    take_skip(&b, 1);
    len = take_be16(&b);
    if (b.failed)
        return PARSE_MORE;
    if (major != 3 || len > TLS_RECORD_MAX)
        return PARSE_STOP;
    in->need = TLS_HEADER + len;
    if (in->len < in->need)
        return PARSE_MORE;
    in->consumed = in->need;
    if (type == TLS_HANDSHAKE && in->direction == TO_CLIENT)
        read_handshake(af, take_sub(&b, len));
    return PARSE_OK;
}

/* --- recognition and declaration -------------------------------------------------------------- */

/* One byte is little, so the port is part of the decision; see the declaration. */
static enum app_probe_result rdp_probe(struct bytes in, enum direction d UNUSED,
                                       const struct flow *flow UNUSED)
{
    return peek_u8(&in) == TPKT_VERSION ? APP_PROBE_YES : APP_PROBE_NO;
}

/* A handshake record of either side switches both sides to TLS: a TPKT never begins with 22. */
static enum parse_status rdp_parse(struct app_flow *af, struct app_input *in)
{
    struct rdp_state *st = af->state;

    if (in->len == 0 || st->over)
        return PARSE_OK;
    if (in->data[0] == TLS_HANDSHAKE)
        st->tls = true;
    return st->tls ? parse_tls(af, in) : parse_tpkt(af, in);
}

const struct app_proto app_rdp = {
    .id = APP_PROTO_rdp,
    .raw_on_tx_end = true,
    .name = "rdp",
    .transports = APP_TCP,
    .probes = (const struct app_probe[]){
        /* 3389: the registered port of RDP. */
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "3389", .min = 1, .max = 16,
          .probe = rdp_probe },
        { .probe = NULL } },
    .state_size = sizeof(struct rdp_state),
    .tx_size = sizeof(struct rdp_tx),
    .parse = rdp_parse,
    .progress_done = { 1, 1 },
    .logs = rdp_logs,
    .alert_metadata = rdp_alert_metadata,
};
