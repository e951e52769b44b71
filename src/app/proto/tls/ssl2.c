/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/ssl2.c - records of SSL 2, and the hello in its format with which old clients offer
 * newer versions (RFC 5246 appendix E.2).
 *
 * A length has two bytes if its top bit is set, otherwise three, of which the third counts padding.
 * The message type follows; the length includes it. */
#include "app/proto/tls/tls.h"

enum {
    SSL2_ERROR = 0, SSL2_CLIENT_HELLO, SSL2_CLIENT_MASTER_KEY, SSL2_CLIENT_FINISHED,
    SSL2_SERVER_HELLO, SSL2_SERVER_VERIFY, SSL2_SERVER_FINISHED, SSL2_REQUEST_CERTIFICATE,
    SSL2_CLIENT_CERTIFICATE,
};

/* False: too short. A client without a session id cannot resume. */
static bool client_hello(struct tls_state *st, struct bytes body, enum direction d)
{
    uint16_t version = take_be16(&body), session_len;

    take_skip(&body, 2);    /* length of the cipher list */
    session_len = take_be16(&body);
    if (body.failed)
        return false;
    st->hello_seen[d] = st->ssl2_hello[TO_SERVER] = true;
    st->ssl2_no_session = session_len == 0;
    st->tx->state = TLS_STATE_CLIENT_HELLO;
    st->tx->ds[d].version = version;
    tls_progress(st, TO_SERVER, TLS_CLIENT_HELLO_DONE);
    return true;
}

static void server_hello(struct tls_state *st, enum direction d)
{
    st->hello_seen[d] = st->ssl2_hello[TO_CLIENT] = true;
    st->tx->state = TLS_STATE_SERVER_HELLO;
    tls_progress(st, TO_CLIENT, TLS_SERVER_HELLO);
}

/* From these messages on the sender encrypts. A client that resumes needs no master key message. */
static void encrypted_message(struct app_flow *af, struct tls_state *st, enum direction d)
{
    if (!st->ssl2_hello[TO_SERVER] || !st->ssl2_hello[TO_CLIENT])
        return;
    if (d == TO_CLIENT || st->ssl2_no_session || st->ssl2_master_key)
        st->ssl2_encrypted[d] = true;
    if (st->ssl2_encrypted[TO_SERVER] && st->ssl2_encrypted[TO_CLIENT])
        tls_encrypted(af, st);
}

/* False: a malformed hello, the only message that is read. */
static bool message(struct app_flow *af, struct tls_state *st, unsigned type, struct bytes body,
                    enum direction d)
{
    switch (type) {
    case SSL2_ERROR:
        tls_event(st, TLS_EVENT_ERROR_MESSAGE_ENCOUNTERED);
        return true;
    case SSL2_CLIENT_HELLO:
        return d != TO_SERVER || client_hello(st, body, d);
    case SSL2_CLIENT_MASTER_KEY:
        st->ssl2_master_key = true;
        return true;
    case SSL2_SERVER_HELLO:
        if (d == TO_CLIENT)
            server_hello(st, d);
        return true;
    case SSL2_CLIENT_CERTIFICATE:
        if (d == TO_SERVER)
            st->tx->state = TLS_STATE_CLIENT_KEYX;
        tls_progress(st, TO_CLIENT, TLS_SERVER_CERT_DONE);
        encrypted_message(af, st, d);
        return true;
    case SSL2_SERVER_VERIFY:
    case SSL2_SERVER_FINISHED:
    case SSL2_CLIENT_FINISHED:
    case SSL2_REQUEST_CERTIFICATE:
        encrypted_message(af, st, d);
        return true;
    default:
        return true;
    }
}

/* Stops the parser: without a length there is no next record. */
static enum parse_status refuse(struct tls_state *st, bool bad_header)
{
    if (bad_header)
        tls_event(st, TLS_EVENT_INVALID_SSLV2_HEADER);
    tls_event(st, TLS_EVENT_INVALID_SSL_RECORD);
    return PARSE_STOP;
}

/* Called if the first byte has one of its top two bits set. */
enum parse_status tls_ssl2_record(struct app_flow *af, struct tls_state *st,
                                  struct app_input *in, uint32_t *at)
{
    struct bytes bytes = bytes_of(in->data + *at, in->len - *at);
    enum direction d = in->direction;
    uint32_t header = (peek_u8(&bytes) & 0x80) != 0 ? 2 : 3, len;
    unsigned type;

    len = take_be16(&bytes) & (header == 2 ? 0x7fff : 0x3fff);
    take_skip(&bytes, header - 2);
    if (bytes.failed || !bytes_have(&bytes, 1)) {
        in->need = header + 1;
        return PARSE_MORE;
    }
    if (len == 0)
        return refuse(st, true);
    if (!st->header_seen[d]) {
        app_frame(af, d, TLS_FRAME_SSL2_HDR, in->offset + *at, header + 1, 0);
        app_frame(af, d, TLS_FRAME_SSL2_PDU, in->offset + *at, (int64_t)header + len, 0);
    }
    st->header_seen[d] = !bytes_have(&bytes, len);
    if (st->header_seen[d]) {
        in->need = header + len;
        return PARSE_MORE;
    }
    *at += header + len;
    bytes = take_sub(&bytes, len);
    type = take_u8(&bytes);
    if (st->tx->ds[d].legacy_version != 0)
        return PARSE_OK;            /* no peer goes back from TLS: framing was lost */
    return message(af, st, type, bytes, d) ? PARSE_OK : refuse(st, false);
}
