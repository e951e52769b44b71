/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/record.c - the record layer (RFC 8446 section 5.1).
 *
 * Records of handshake, alert and heartbeat are buffered until complete, at most 17 KiB. The bodies
 * of all others are skipped as they come. */
#include "app/proto/tls/tls.h"

enum {
    RECORD_CHANGE_CIPHER_SPEC = 20, RECORD_ALERT = 21, RECORD_HANDSHAKE = 22,
    RECORD_APPLICATION_DATA = 23, RECORD_HEARTBEAT = 24,
};

#define HEADER_LEN 5                        /* type, version, length */
#define RECORD_MAX ((1u << 14) + 1024)      /* RFC 5246 section 6.2.2 */
#define ALERT_FATAL 2

struct record {
    uint8_t type;
    uint32_t len;               /* of the body */
};

void tls_event(struct tls_state *st, enum tls_event event)
{
    app_tx_event(&st->tx->tx, event);
}

/* Progress never goes back. */
void tls_progress(struct tls_state *st, enum direction d, unsigned progress)
{
    struct app_tx *tx = &st->tx->tx;

    if (tx->progress[d] < progress)
        tx->progress[d] = (uint8_t)progress;
}

static void finished(struct tls_state *st, enum direction d)
{
    tls_progress(st, d, d == TO_SERVER ? (unsigned)TLS_CLIENT_FINISHED
                                       : (unsigned)TLS_SERVER_FINISHED);
}

/* encryption-handling: track-only stops payload inspection, bypass stops all work on the flow. */
void tls_encrypted(struct app_flow *af, struct tls_state *st)
{
    const struct tls_settings *settings = af->settings;

    if (st->payload_off || settings->encryption == TLS_FULL)
        return;
    st->payload_off = true;
    app_stop(af, settings->encryption == TLS_BYPASS
                     ? APP_STOP_PAYLOAD | APP_STOP_REASSEMBLY | APP_STOP_PARSER | APP_STOP_BYPASS
                     : APP_STOP_PAYLOAD);
}

/* --- bodies --------------------------------------------------------------------------------- */

/* An alert of two bytes is in the clear; longer ones are encrypted. A fatal alert ends the session
 * (RFC 8446 section 6). */
static bool alert(struct tls_state *st, struct bytes body)
{
    if (!bytes_have(&body, 2)) {
        tls_event(st, TLS_EVENT_INVALID_ALERT);
        return false;
    }
    if (bytes_left(&body) == 2 && body.next[0] == ALERT_FATAL) {
        finished(st, TO_SERVER);
        finished(st, TO_CLIENT);
    }
    return true;
}

/* The client's is the last visible message of its handshake. */
static void change_cipher_spec(struct tls_state *st, enum direction d)
{
    st->cipher_changed[d] = true;
    if (d == TO_SERVER)
        tls_progress(st, d, TLS_CLIENT_HANDSHAKE_DONE);
}

/* Early data (0-RTT, RFC 8446 section 2.3) come before the server's hello and do not end the
 * handshake. */
static void application_data(struct app_flow *af, struct tls_state *st, enum direction d)
{
    if (st->early_data && !st->hello_seen[TO_CLIENT])
        return;
    tls_progress(st, d, d == TO_SERVER ? (unsigned)TLS_CLIENT_HANDSHAKE_DONE
                                       : (unsigned)TLS_SERVER_HANDSHAKE_DONE);
    tls_encrypted(af, st);
}

/* Are handshake records encrypted now? A TLS 1.3 client may send ChangeCipherSpec for middleboxes,
 * between two hellos (RFC 8446 appendix D.4): its second hello is still in the clear. */
static bool is_encrypted(const struct tls_state *st)
{
    if (!st->cipher_changed[TO_SERVER] && !st->cipher_changed[TO_CLIENT])
        return false;
    return !(st->hello_seen[TO_SERVER] && !st->hello_seen[TO_CLIENT] &&
             st->tx->ds[TO_SERVER].version > TLS_1_2);
}

/* --- headers -------------------------------------------------------------------------------- */

static bool is_known_type(unsigned type)
{
    return type >= RECORD_CHANGE_CIPHER_SPEC && type <= RECORD_HEARTBEAT;
}

/* Stops the parser: after an invalid record its boundaries are lost. */
static enum parse_status refuse(struct tls_state *st, enum tls_event event)
{
    tls_event(st, event);
    return PARSE_STOP;
}

/* Peers of TLS 1.0 and 1.1 may use other record types. Their length field cannot be trusted, so
 * that this direction is given up, but not the other one. */
static enum parse_status unknown_type(struct tls_state *st, uint16_t before, enum direction d)
{
    if (before != TLS_1_0 && before != TLS_1_1)
        return refuse(st, TLS_EVENT_INVALID_RECORD_TYPE);
    st->tx->ds[d].version = before;
    tls_event(st, TLS_EVENT_INVALID_RECORD_TYPE);
    st->is_abandoned[d] = true;
    return PARSE_OK;
}

/* The version of the hello counts once there is one. Until then each record sets the version, as in
 * Suricata: that of a refused one says what its bytes were taken for. */
static enum parse_status check_header(struct tls_state *st, const struct record *r,
                                      uint16_t version, enum direction d)
{
    struct tls_dir *ds = &st->tx->ds[d];
    uint16_t before = ds->version;

    if (!st->hello_seen[d] || before == TLS_UNDETERMINED)
        ds->version = version;
    if (!is_known_type(r->type))
        return unknown_type(st, before, d);
    if (r->len == 0)
        return refuse(st, TLS_EVENT_INVALID_RECORD_LENGTH);
    if (!tls_version_valid(ds->version))
        return refuse(st, TLS_EVENT_INVALID_RECORD_VERSION);
    return r->len > RECORD_MAX ? refuse(st, TLS_EVENT_INVALID_RECORD_LENGTH) : PARSE_OK;
}

/* Frames of the record: the header, all of it, its body. */
static void header_frames(struct app_flow *af, const struct app_input *in, uint32_t at,
                          const struct record *r)
{
    uint64_t offset = in->offset + at, tx = 0;

    app_frame(af, in->direction, TLS_FRAME_HDR, offset, HEADER_LEN, tx);
    app_frame(af, in->direction, TLS_FRAME_PDU, offset, HEADER_LEN + (int64_t)r->len, tx);
    app_frame(af, in->direction, TLS_FRAME_DATA, offset + HEADER_LEN, r->len, tx);
    if (r->type == RECORD_ALERT)
        app_frame(af, in->direction, TLS_FRAME_ALERT, offset + HEADER_LEN, r->len, tx);
    else if (r->type == RECORD_HEARTBEAT)
        app_frame(af, in->direction, TLS_FRAME_HEARTBEAT, offset + HEADER_LEN, r->len, tx);
}

/* --- records -------------------------------------------------------------------------------- */

/* True: the body is not needed, and is skipped without buffering. */
static bool pass_body(struct app_flow *af, struct tls_state *st, const struct record *r,
                      enum direction d)
{
    switch (r->type) {
    case RECORD_CHANGE_CIPHER_SPEC:
        change_cipher_spec(st, d);
        return true;
    case RECORD_APPLICATION_DATA:
        application_data(af, st, d);
        return true;
    case RECORD_HANDSHAKE:
        return is_encrypted(st);
    default:
        return false;
    }
}

/* Only complete bodies come here. */
static enum parse_status read_body(struct app_flow *af, struct tls_state *st,
                                   const struct record *r, struct bytes body, enum direction d)
{
    switch (r->type) {
    case RECORD_ALERT:
        return alert(st, body) ? PARSE_OK : PARSE_STOP;
    case RECORD_HEARTBEAT:
        return tls_heartbeat(st, body, d) ? PARSE_OK : PARSE_STOP;
    default:
        tls_handshake_record(af, st, body, d);
        return PARSE_OK;
    }
}

static enum parse_status wait_for(struct app_input *in, uint32_t need)
{
    in->need = need;
    return PARSE_MORE;
}

/* One record. header_seen: the header was checked already, and only the body was missing. */
static enum parse_status tls_record(struct app_flow *af, struct tls_state *st,
                                    struct app_input *in, uint32_t *at)
{
    struct bytes bytes = bytes_of(in->data + *at, in->len - *at);
    enum direction d = in->direction;
    struct record r = { .type = take_u8(&bytes) };
    uint16_t version = take_be16(&bytes);
    enum parse_status status;

    r.len = take_be16(&bytes);
    if (bytes.failed)
        return wait_for(in, HEADER_LEN);
    if (!st->header_seen[d]) {
        status = check_header(st, &r, version, d);
        if (status != PARSE_OK || st->is_abandoned[d])
            return status;
        header_frames(af, in, *at, &r);
        if (pass_body(af, st, &r, d)) {
            *at += HEADER_LEN;
            st->skip[d] = r.len;
            return PARSE_OK;
        }
    }
    st->header_seen[d] = !bytes_have(&bytes, r.len);
    if (st->header_seen[d])
        return wait_for(in, HEADER_LEN + r.len);
    *at += HEADER_LEN + r.len;
    app_trigger_raw_inspection(af, d);
    return read_body(af, st, &r, take_sub(&bytes, r.len), d);
}

/* SSL 2 lengths have one of the top two bits set, which no record type of TLS has. */
static enum parse_status any_record(struct app_flow *af, struct tls_state *st,
                                    struct app_input *in, uint32_t *at)
{
    enum direction d = in->direction;
    struct tls_dir *ds;

    if (st->skip[d] > 0) {
        uint32_t n = (uint32_t)MIN(st->skip[d], in->len - *at);

        st->skip[d] -= n;
        *at += n;
        if (st->skip[d] == 0)
            app_trigger_raw_inspection(af, d);
        return PARSE_OK;
    }
    /* After the transaction's end, and in an abandoned direction, data are ignored. */
    if (st->tx == NULL || st->is_abandoned[d]) {
        *at = in->len;
        return PARSE_OK;
    }
    ds = &st->tx->ds[d];
    if ((in->data[*at] & 0xc0) != 0) {
        if (ds->legacy_version == 0)
            ds->version = SSL_2;
        return tls_ssl2_record(af, st, in, at);
    }
    if (ds->version == SSL_2)
        ds->version = TLS_UNDETERMINED;
    return tls_record(af, st, in, at);
}

/* A flow has exactly one transaction. */
static bool begin(struct app_flow *af, struct tls_state *st)
{
    st->started = true;
    st->tx = (struct tls_tx *)app_tx_new(af);
    return st->tx != NULL;
}

/* The time of the log is that of the data which complete the certificate that it waits for, and
 * after which no body of a record is incomplete, as in Suricata. */
static void note_certificate(struct tls_tx *tx, uint64_t now_us)
{
    enum direction d = tx->requires_client_certificate ? TO_SERVER : TO_CLIENT;

    if (tx->certificate_us == 0 && tx->ds[d].has_certificate)
        tx->certificate_us = now_us;
}

/* Entry point. ssl_state shows messages of the current data only, so that `state` is cleared at the
 * start of a record. */
enum parse_status tls_parse(struct app_flow *af, struct app_input *in)
{
    struct tls_state *st = af->state;
    enum direction d = in->direction;
    enum parse_status status = PARSE_OK;
    uint32_t at = 0;

    if (!st->started && !begin(af, st))
        return PARSE_STOP;
    if (st->tx != NULL && !st->header_seen[d] && st->skip[d] == 0 && in->len > 0)
        st->tx->state = 0;
    while (at < in->len && status == PARSE_OK && !af->stopped)
        status = any_record(af, st, in, &at);
    in->consumed = af->stopped ? in->len : at;
    if (st->tx != NULL &&
        (status == PARSE_OK || (status == PARSE_MORE && in->len - at < HEADER_LEN)))
        note_certificate(st->tx, in->now_us);
    if (in->end && st->tx != NULL && status != PARSE_STOP)
        finished(st, d);
    return status;
}

/* Behind the server's hello of TLS 1.3 a client's messages are encrypted, so nothing that rules or
 * logs look at can follow its reset. Encrypted data of the server show that its hello did not ask
 * for a second one of the client. */
void tls_reset(struct app_flow *af, enum direction sender)
{
    struct tls_state *st = af->state;

    if (sender == TO_SERVER && st->tx != NULL && st->tx->without_certificate &&
        st->tx->tx.progress[TO_CLIENT] >= TLS_SERVER_HANDSHAKE_DONE)
        finished(st, TO_SERVER);
}
