/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/handshake.c - handshake messages (RFC 5246 section 7.4, RFC 8446 section 4): found
 * in records, joined if they span several, and read.
 *
 * A message within one record is read in place. Only what outlives the packet is copied. */
#include <string.h>

#include "app/proto/tls/tls.h"

/* RFC 5246 section 7.4, RFC 5077 section 3.3, RFC 6066 sections 5 and 8. */
enum {
    HS_HELLO_REQUEST = 0, HS_CLIENT_HELLO = 1, HS_SERVER_HELLO = 2, HS_NEW_SESSION_TICKET = 4,
    HS_CERTIFICATE = 11, HS_SERVER_KEY_EXCHANGE = 12, HS_CERTIFICATE_REQUEST = 13,
    HS_SERVER_HELLO_DONE = 14, HS_CERTIFICATE_VERIFY = 15, HS_CLIENT_KEY_EXCHANGE = 16,
    HS_FINISHED = 20, HS_CERTIFICATE_URL = 21, HS_CERTIFICATE_STATUS = 22,
};

#define HEADER_LEN 4                /* type, length of 3 bytes */
#define FIRST_CAPACITY 4096         /* bytes of the first buffer for a joined message */
#define HELLO_COPIES_MAX 4          /* of one side, while none was complete */

/* --- hellos --------------------------------------------------------------------------------- */

/* A bit per problem of hello.c; each becomes an event. */
static void hello_events(struct tls_state *st, unsigned problems)
{
    static const struct { unsigned problem; enum tls_event event; } table[] = {
        { TLS_HELLO_LENGTH, TLS_EVENT_HANDSHAKE_INVALID_LENGTH },
        { TLS_HELLO_SNI_TYPE, TLS_EVENT_INVALID_SNI_TYPE },
        { TLS_HELLO_SNI_LENGTH, TLS_EVENT_INVALID_SNI_LENGTH },
        { TLS_HELLO_SNI_TWICE, TLS_EVENT_MULTIPLE_SNI_EXTENSIONS },
    };

    for (unsigned i = 0; i < ARRAY_LEN(table); i++)
        if (problems & table[i].problem)
            tls_event(st, table[i].event);
}

/* Keeps the first hello of a side in the arena, with all its lists. After a HelloRetryRequest (RFC
 * 8446 section 4.1.4) the client repeats its hello: version and random are then those of the last.
 * Hostile clients may repeat broken hellos, so that HELLO_COPIES_MAX limits the copies. */
static bool keep_hello(struct tls_tx *tx, struct slice body, enum direction d,
                       struct tls_hello *latest)
{
    struct tls_dir *ds = &tx->ds[d];
    bool first = !ds->has_hello && ds->hello_copies++ < HELLO_COPIES_MAX, complete;

    if (first)
        body = arena_slice(&tx->tx.arena, body);
    complete = tls_hello_parse(bytes_of_slice(body), d == TO_CLIENT, latest);
    if (first) {
        ds->hello = body;
        ds->sni = latest->sni;
        ds->alpn = latest->alpn;
        ds->legacy_version = latest->legacy_version;
        ds->has_supported_versions = latest->has_supported_versions;
        ds->has_hello = complete;
    } else if (ds->sni.data == NULL && latest->sni.data != NULL) {
        ds->sni = arena_slice(&tx->tx.arena, latest->sni);
    }
    ds->version = latest->version;
    if (latest->random.len == TLS_RANDOM_LEN) {
        memcpy(ds->random, latest->random.data, TLS_RANDOM_LEN);
        ds->has_random = true;
    }
    return complete;
}

void tls_hello_of(const struct tls_tx *tx, enum direction d, struct tls_hello *out)
{
    (void)tls_hello_parse(bytes_of_slice(tx->ds[d].hello), d == TO_CLIENT, out);
}

/* A session ticket means that the client hopes to resume. The hello's data may be followed by early
 * data. */
static void client_hello(struct tls_state *st, struct slice body)
{
    struct tls_tx *tx = st->tx;
    bool named = tx->ds[TO_SERVER].sni.data != NULL;
    struct tls_hello hello;
    bool complete = keep_hello(tx, body, TO_SERVER, &hello);

    /* Only a server's hello asks for another one of the client. */
    if (named && hello.sni.data != NULL && !st->hello_seen[TO_CLIENT])
        hello.problems |= TLS_HELLO_SNI_TWICE;
    st->hello_seen[TO_SERVER] = true;
    tx->state = TLS_STATE_CLIENT_HELLO;
    tx->resumed |= hello.has_session_ticket;
    st->early_data |= hello.has_early_data;
    hello_events(st, hello.problems);
    if (complete)
        tls_progress(st, TO_SERVER, TLS_CLIENT_HELLO_DONE);
}

/* The server repeats the client's session id: it resumes that session (RFC 5246 section
 * 7.4.1.3). */
static bool agree_on_session(const struct tls_tx *tx)
{
    struct slice a = tls_hello_session(bytes_of_slice(tx->ds[TO_SERVER].hello), false);
    struct slice b = tls_hello_session(bytes_of_slice(tx->ds[TO_CLIENT].hello), true);

    return a.len > 0 && a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* In TLS 1.3 the certificate is encrypted, so that logs need not wait for it. */
static bool is_tls13(const struct tls_tx *tx, const struct tls_hello *h)
{
    if (h->legacy_version == TLS_1_3 || tls_version_is_draft(h->legacy_version))
        return true;
    return h->has_supported_versions && h->version > TLS_1_2 &&
           tx->ds[TO_SERVER].has_supported_versions;
}

/* TLS 1.3 sends HelloRetryRequest with the same type: the later ServerHello replaces version and
 * random. */
static void server_hello(struct tls_state *st, struct slice body)
{
    struct tls_tx *tx = st->tx;
    struct tls_hello hello;
    bool complete = keep_hello(tx, body, TO_CLIENT, &hello);

    st->hello_seen[TO_CLIENT] = true;
    tx->state = TLS_STATE_SERVER_HELLO;
    tx->resumed |= agree_on_session(tx);
    tx->without_certificate |= is_tls13(tx, &hello);
    hello_events(st, hello.problems);
    if (complete)
        tls_progress(st, TO_CLIENT, TLS_SERVER_HELLO);
}

/* --- certificates --------------------------------------------------------------------------- */

/* The subset of faults that have their own events. */
static enum tls_event fault_event(enum tls_certificate_fault fault)
{
    switch (fault) {
    case CERT_LENGTH: return TLS_EVENT_CERTIFICATE_INVALID_LENGTH;
    case CERT_DER: return TLS_EVENT_CERTIFICATE_INVALID_DER;
    case CERT_VERSION: return TLS_EVENT_CERTIFICATE_INVALID_VERSION;
    case CERT_SERIAL: return TLS_EVENT_CERTIFICATE_INVALID_SERIAL;
    case CERT_ALGORITHM: return TLS_EVENT_CERTIFICATE_INVALID_ALGORITHM;
    case CERT_NAME: return TLS_EVENT_CERTIFICATE_INVALID_NAME;
    case CERT_DATE: return TLS_EVENT_CERTIFICATE_INVALID_DATE;
    case CERT_EXTENSIONS: return TLS_EVENT_CERTIFICATE_INVALID_EXTENSIONS;
    case CERT_INVALID: case CERT_SOUND: break;
    }
    return TLS_EVENT_INVALID_CERTIFICATE;
}

/* Where the peer's own certificate stays: with a chain it is there, for all flows that share it. */
static struct tls_certificate *certificate_space(struct tls_tx *tx, const struct tls_dir *ds)
{
    return ds->chain != NULL ? &ds->chain->certificate
                             : arena_alloc(&tx->tx.arena, sizeof(struct tls_certificate));
}

/* CERT_SOUND without memory for it, too. */
static enum tls_certificate_fault own_certificate(struct app_flow *af, struct tls_state *st,
                                                  struct tls_dir *ds, struct slice der)
{
    struct arena *arena = ds->chain != NULL ? &ds->chain->arena : &st->tx->tx.arena;
    struct tls_certificate read, *space;
    enum tls_certificate_fault fault = tls_certificate_parse(der, tls_digests(af), arena, &read);

    if (fault != CERT_SOUND)
        return fault;
    ds->has_certificate = true;
    space = certificate_space(st->tx, ds);
    if (space == NULL)
        return CERT_SOUND;
    *space = read;
    ds->certificate = space;
    return CERT_SOUND;
}

/* The first readable certificate is the peer's own; unreadable ones before it do not count. The
 * others are only counted, and kept with TLS_FEATURE_CHAIN. False: it raised an event. */
static bool add_certificate(struct app_flow *af, struct tls_state *st, struct tls_dir *ds,
                            struct slice der)
{
    bool is_sound = true;

    if (!ds->has_certificate) {
        enum tls_certificate_fault fault = own_certificate(af, st, ds, der);

        if (fault != CERT_SOUND) {
            tls_event(st, fault_event(fault));
            return false;
        }
        is_sound = !tls_certificate_of(ds)->has_local_date;
        if (!is_sound)                          /* RFC 5280 section 4.1.2.5 */
            tls_event(st, TLS_EVENT_CERTIFICATE_INVALID_DATE);
    }
    if (ds->chain_len < TLS_CHAIN_MAX) {
        if (tls_chain_retains(ds))
            ds->chain->der[ds->chain_len] = der;
        ds->chain_len++;
    }
    return is_sound;
}

/* Walks lengths only, to size the array. */
static unsigned count_chain(struct bytes list)
{
    unsigned n = 0;

    while (bytes_have(&list, 3) && n < TLS_CHAIN_MAX) {
        take_skip(&list, take_be24(&list));
        n++;
    }
    return n;
}

/* TLS_CHAIN_MAX bounds the work for a hostile list of empty certificates. False: it raised an
 * event. */
static bool read_certificates(struct app_flow *af, struct tls_state *st, struct bytes list,
                              struct tls_dir *ds)
{
    bool is_sound = true;
    unsigned tries = 0;

    while (bytes_left(&list) > 0 && tries++ < TLS_CHAIN_MAX) {
        struct slice der = take_slice(&list, take_be24(&list));

        if (list.failed) {
            tls_event(st, TLS_EVENT_INVALID_CERTIFICATE);
            return false;
        }
        is_sound &= add_certificate(af, st, ds, der);
    }
    return is_sound;
}

/* Another flow of this thread has had the same certificates. */
static void take_shared(struct tls_dir *ds, struct tls_chain *chain)
{
    ds->chain = chain;
    ds->certificate = chain->has_certificate ? &chain->certificate : NULL;
    ds->has_certificate = chain->has_certificate;
    ds->chain_len = (uint16_t)chain->count;
}

/* The list is copied once, and `der` slices point into the copy. A chain that raises an event is
 * not shared, because each flow must raise it. */
static void retain_certificates(struct app_flow *af, struct tls_state *st, struct slice list,
                                struct tls_dir *ds)
{
    struct tls_chains *chains = tls_chains_of(af);
    uint64_t hash = tls_chain_hash(list);
    struct tls_chain *chain = tls_chain_find(chains, hash, list);

    if (chain != NULL) {
        take_shared(ds, chain);
        return;
    }
    chain = ds->chain = tls_chain_new(hash, list);
    if (chain == NULL)
        return;
    chain->der = arena_alloc(&chain->arena,
                             count_chain(bytes_of_slice(chain->list)) * sizeof(*chain->der));
    if (!read_certificates(af, st, bytes_of_slice(chain->list), ds) || chain->der == NULL)
        return;
    chain->has_certificate = ds->has_certificate;
    chain->count = ds->chain_len;
    tls_chain_share(chains, chain);
}

static void certificate_list(struct app_flow *af, struct tls_state *st, struct bytes list,
                             struct tls_dir *ds)
{
    if (app_feature(af, TLS_FEATURE_CHAIN))
        retain_certificates(af, st, take_rest(&list), ds);
    else
        (void)read_certificates(af, st, list, ds);
}

/* RFC 5246 section 7.4.2. A later Certificate message (renegotiation) changes nothing. */
static void certificate(struct app_flow *af, struct tls_state *st, struct slice body,
                        enum direction d)
{
    struct tls_dir *ds = &st->tx->ds[d];
    struct bytes in = bytes_of_slice(body);
    struct bytes list = take_sub(&in, take_be24(&in));

    if (!list.failed && !ds->has_chain) {
        ds->has_chain = true;
        certificate_list(af, st, list, ds);
    }
    tls_progress(st, d, d == TO_SERVER ? (unsigned)TLS_CLIENT_CERT_DONE
                                       : (unsigned)TLS_SERVER_CERT_DONE);
}

/* --- messages ------------------------------------------------------------------------------- */

/* Both directions count as done, so that the log is written. */
static void both_done(struct tls_state *st)
{
    tls_progress(st, TO_SERVER, TLS_CLIENT_HANDSHAKE_DONE);
    tls_progress(st, TO_CLIENT, TLS_SERVER_HANDSHAKE_DONE);
}

/* Logs wait until both sides have finished the handshake. When the visible certificates are
 * complete, the remaining messages would only delay the log. */
static void server_hello_done(struct tls_state *st)
{
    const struct tls_tx *tx = st->tx;

    tls_progress(st, TO_CLIENT, TLS_SERVER_HELLO_DONE);
    if (tx->ds[TO_CLIENT].has_certificate && !tx->requires_client_certificate)
        both_done(st);
}

/* The client's certificate was the last thing to wait for. */
static void client_certificate(struct tls_state *st)
{
    if (st->tx->requires_client_certificate && st->tx->ds[TO_SERVER].has_certificate)
        both_done(st);
}

/* Messages from the wrong side are ignored. Others only set the state that ssl_state tests. */
static void message(struct app_flow *af, struct tls_state *st, unsigned type, struct slice body,
                    enum direction d)
{
    switch (type) {
    case HS_CLIENT_HELLO:
        if (d == TO_SERVER)
            client_hello(st, body);
        break;
    case HS_SERVER_HELLO:
        if (d == TO_CLIENT)
            server_hello(st, body);
        break;
    case HS_CERTIFICATE:
        certificate(af, st, body, d);
        if (d == TO_SERVER)
            client_certificate(st);
        break;
    case HS_SERVER_KEY_EXCHANGE:
        st->tx->state = TLS_STATE_SERVER_KEYX;
        break;
    case HS_CLIENT_KEY_EXCHANGE:
        st->tx->state = TLS_STATE_CLIENT_KEYX;
        break;
    case HS_CERTIFICATE_REQUEST:
        st->tx->requires_client_certificate |= d == TO_CLIENT;
        break;
    case HS_SERVER_HELLO_DONE:
        if (d == TO_CLIENT)
            server_hello_done(st);
        break;
    default:
        break;
    }
}

/* Types whose length can be trusted; after an unknown one the data are probably encrypted. */
static bool is_known(unsigned type)
{
    switch (type) {
    case HS_HELLO_REQUEST: case HS_CLIENT_HELLO: case HS_SERVER_HELLO:
    case HS_NEW_SESSION_TICKET: case HS_CERTIFICATE: case HS_SERVER_KEY_EXCHANGE:
    case HS_CERTIFICATE_REQUEST: case HS_SERVER_HELLO_DONE: case HS_CERTIFICATE_VERIFY:
    case HS_CLIENT_KEY_EXCHANGE: case HS_FINISHED: case HS_CERTIFICATE_URL:
    case HS_CERTIFICATE_STATUS:
        return true;
    default:
        return false;
    }
}

/* --- messages over records ------------------------------------------------------------------ */

/* Doubles the buffer. Arena memory is not returned, so that all buffers of a flow together are at
 * most twice the limit. */
static bool make_space(struct arena *arena, struct tls_message *m, uint32_t need)
{
    uint32_t cap = MAX(m->cap, FIRST_CAPACITY);
    uint8_t *data;

    if (need <= m->cap)
        return true;
    while (cap < need)
        cap *= 2;
    data = arena_alloc(arena, cap);
    if (data == NULL)
        return false;
    if (m->len > 0)
        memcpy(data, m->data, m->len);
    m->data = data;
    m->cap = cap;
    return true;
}

/* Adds to the joined message, up to `size` bytes. */
static void gather(struct arena *arena, struct tls_message *m, struct bytes *in, uint32_t size)
{
    uint32_t n = (uint32_t)MIN(bytes_left(in), size - m->len);
    const uint8_t *from = take_bytes(in, n);

    if (from == NULL || !make_space(arena, m, m->len + n))
        return;
    memcpy(m->data + m->len, from, n);
    m->len += n;
}

/* After ChangeCipherSpec an unknown type is encrypted data, which is no event. */
static void skip_unknown(struct tls_state *st, struct bytes *in, uint32_t len, enum direction d)
{
    take_skip(in, MIN(bytes_left(in), len));
    if (!st->cipher_changed[d])
        tls_event(st, TLS_EVENT_INVALID_HANDSHAKE_MESSAGE);
}

/* in->next is at a header. False: the message continues in the next record. A length above
 * TLS_MESSAGE_MAX is an event, and the message is skipped without buffering. */
static bool complete_message(struct app_flow *af, struct tls_state *st, struct bytes *in,
                          enum direction d)
{
    struct bytes ahead = *in;
    unsigned type = take_u8(&ahead);
    uint32_t len = take_be24(&ahead);

    if (!is_known(type)) {
        *in = ahead;
        skip_unknown(st, in, len, d);
        return true;
    }
    if (len > TLS_MESSAGE_MAX) {
        tls_event(st, TLS_EVENT_HANDSHAKE_INVALID_LENGTH);
        st->message[d].skip = len + HEADER_LEN;
        return true;
    }
    if (!bytes_have(&ahead, len))
        return false;
    *in = ahead;
    message(af, st, type, take_slice(in, len), d);
    return true;
}

/* Continues a message that an earlier record began; the header itself may be split. */
static void continue_message(struct app_flow *af, struct tls_state *st, struct bytes *in,
                             enum direction d)
{
    struct tls_message *m = &st->message[d];
    struct arena *arena = &st->tx->tx.arena;
    struct bytes complete;

    if (m->len < HEADER_LEN) {
        gather(arena, m, in, HEADER_LEN);
        if (m->len < HEADER_LEN)
            return;
    }
    m->size = HEADER_LEN + get_be24(m->data + 1);
    if (!is_known(m->data[0])) {
        m->len = 0;
        skip_unknown(st, in, m->size - HEADER_LEN, d);
        return;
    }
    if (m->size - HEADER_LEN <= TLS_MESSAGE_MAX) {
        gather(arena, m, in, m->size);
        if (m->len < m->size)
            return;
    }
    complete = bytes_of(m->data, m->len);
    m->len = 0;
    complete_message(af, st, &complete, d);
    if (m->skip > 0)
        m->skip -= HEADER_LEN;          /* the header has been consumed already */
}

static void skip_message(struct tls_message *m, struct bytes *in)
{
    uint32_t n = (uint32_t)MIN(bytes_left(in), m->skip);

    take_skip(in, n);
    m->skip -= n;
}

/* The body of one record: messages may share a record, and one may span many. */
void tls_handshake_record(struct app_flow *af, struct tls_state *st, struct bytes body,
                          enum direction d)
{
    struct tls_message *m = &st->message[d];

    while (bytes_left(&body) > 0) {
        if (m->skip > 0) {
            skip_message(m, &body);
        } else if (m->len > 0) {
            continue_message(af, st, &body, d);
        } else if (bytes_left(&body) < HEADER_LEN || !complete_message(af, st, &body, d)) {
            if (bytes_left(&body) < HEADER_LEN)
                /* A header that continues in the next record is unusual. */
                tls_event(st, TLS_EVENT_INVALID_SSL_RECORD);
            gather(&st->tx->tx.arena, m, &body, (uint32_t)bytes_left(&body));
        }
    }
}
