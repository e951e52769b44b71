/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/buffers.c - the buffers that rules inspect: hellos, certificates, fingerprints.
 *
 * Fingerprints are computed on first use, because most handshakes meet no rule for them; then they
 * stay with the transaction. */
#include "app/lib/digest.h"
#include "app/proto/tls/fingerprint.h"
#include "app/proto/tls/tls.h"
#include "app/values.h"

#include <string.h>

static const struct tls_dir *dir_of(struct app_tx *tx, enum direction d)
{
    return &tls_tx_of(tx)->ds[d];
}

/* False: the field was not seen. Empty and missing are different things for rules. */
static bool some(struct slice s, struct slice *out)
{
    *out = s;
    return s.data != NULL;
}

/* --- hellos --------------------------------------------------------------------------------- */

static bool get_alpn(struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    const struct app_encoded names = {
        .list = bytes_of_slice(dir_of(tx, d)->alpn), .take = tls_hello_next_alpn,
    };

    return app_encoded_value_at(tx, &names, index, out);
}

/* --- certificates --------------------------------------------------------------------------- */

/* Present only while a rule or log needs certificates as sent (TLS_FEATURE_CHAIN). */
static bool get_certs(struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    const struct tls_dir *ds = dir_of(tx, d);

    return index < tls_chain_retained(ds) && some(ds->chain->der[index], out);
}

static bool get_alt_name(struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    const struct tls_certificate *c = tls_certificate_of(dir_of(tx, d));

    return index < c->alt_name_count && some(c->alt_names[index], out);
}

/* --- fingerprints --------------------------------------------------------------------------- */

/* `auto` turns JA3 on when a rule or log needs it, as in Suricata. */
static bool ja3_enabled(const struct app_flow *af)
{
    const struct tls_settings *settings = af->settings;

    return settings->ja3 == TLS_FINGERPRINT_YES ||
           (settings->ja3 == TLS_FINGERPRINT_AUTO && app_feature(af, TLS_FEATURE_JA3));
}

/* The struct tls_dir of a side. NULL: no hello yet, or JA3 is off. JA3 of the client's hello, JA3S
 * of the server's. */
static const void *with_ja3(struct app_tx *tx, enum direction d, unsigned index UNUSED)
{
    struct tls_dir *ds = &tls_tx_of(tx)->ds[d];
    struct tls_hello hello;

    if (ds->ja3_done)
        return ds;
    if (!ds->has_hello || !ja3_enabled(tx->flow))
        return NULL;
    ds->ja3_done = true;
    tls_hello_of(tls_tx_of(tx), d, &hello);
    ds->ja3 = tls_ja3_string(&hello, &tx->arena);
    ds->ja3_hash = tls_ja3_hash(ds->ja3, tls_digests(tx->flow), &tx->arena);
    return ds;
}

static const struct app_path ja3_path = { .find = with_ja3 };

const struct slice *tls_ja3_of(struct app_tx *tx, enum direction d)
{
    const struct tls_dir *ds = with_ja3(tx, d, 0);

    return ds != NULL ? &ds->ja3 : NULL;
}

const struct slice *tls_ja3_hash_of(struct app_tx *tx, enum direction d)
{
    const struct tls_dir *ds = with_ja3(tx, d, 0);

    return ds != NULL && ds->ja3_hash.len > 0 ? &ds->ja3_hash : NULL;
}

const struct slice *tls_ja4_of(struct app_tx *tx)
{
    struct tls_tx *t = tls_tx_of(tx);
    const struct tls_settings *settings = tx->flow->settings;
    struct tls_hello hello;

    if (settings->ja4 == TLS_FINGERPRINT_NO)
        return NULL;
    if (!t->ja4_done) {
        t->ja4_done = t->ds[TO_SERVER].has_hello;     /* without one: that of an empty hello */
        tls_hello_of(t, TO_SERVER, &hello);
        t->ja4 = tls_ja4(&hello, false, tls_digests(tx->flow), &tx->arena);
    }
    return &t->ja4;
}

static bool given(const struct slice *s, struct slice *out)
{
    if (s == NULL)
        return false;
    *out = *s;
    return true;
}

static bool get_ja4(struct app_tx *tx, enum direction d UNUSED, unsigned index UNUSED,
                    struct slice *out)
{
    return given(tls_ja4_of(tx), out);
}

/* --- checks of patterns --------------------------------------------------------------------- */

/* A pattern of any other form can never match: an error when rules load, not silence. */
static bool check_fingerprint(struct slice pattern, bool nocase UNUSED, struct err *err)
{
    if (pattern.len == 59 && memchr(pattern.data, ':', pattern.len) != NULL)
        return true;
    err_set(err, "a fingerprint is 20 bytes in hex with colons between: this will never match");
    return false;
}

/* A serial number of one byte has no colon; longer ones have colons between bytes. */
static bool check_serial(struct slice pattern, bool nocase UNUSED, struct err *err)
{
    if (pattern.len <= 2 || memchr(pattern.data, ':', pattern.len) != NULL)
        return true;
    err_set(err, "a serial number is written with colons: this will never match");
    return false;
}

/* --- declarations --------------------------------------------------------------------------- */

#define HELLO_PROGRESS { TLS_CLIENT_HELLO_DONE, TLS_SERVER_HELLO }
#define CERT_PROGRESS { TLS_CLIENT_CERT_DONE, TLS_SERVER_CERT_DONE }

static const struct app_path certificate_path = {
    APP_PATH_POINTERS(tls_tx, ds[TO_SERVER].certificate, ds[TO_CLIENT].certificate)
};

static const struct app_buffer buffer_sni = {
    .name = "tls.sni", .alias = "tls_sni", .doc = "server name that the client asks for",
    .directions = APP_TS, .progress = HELLO_PROGRESS,
    .field = APP_FIELD(tls_tx, ds[TO_SERVER].sni, KNOWN),
};
static const struct app_buffer buffer_alpn = {
    .name = "tls.alpn", .doc = "each protocol offered, or the one chosen",
    .directions = APP_BOTH, .progress = HELLO_PROGRESS, .multi = true, .get = get_alpn,
};
static const struct app_buffer buffer_random = {
    .name = "tls.random", .doc = "the 32 random bytes of the hello",
    .directions = APP_BOTH, .progress = HELLO_PROGRESS,
    .field = APP_FIELD_BY_DIRECTION_WITH(tls_tx, ds, random, has_random),
};
static const struct app_buffer buffer_random_time = {
    .name = "tls.random_time", .doc = "the first 4 random bytes, once a time",
    .directions = APP_BOTH, .progress = HELLO_PROGRESS,
    .field = APP_FIELD_BY_DIRECTION_WITH(tls_tx, ds, random_time, has_random),
};
static const struct app_buffer buffer_random_bytes = {
    .name = "tls.random_bytes", .doc = "the last 28 random bytes",
    .directions = APP_BOTH, .progress = HELLO_PROGRESS,
    .field = APP_FIELD_BY_DIRECTION_WITH(tls_tx, ds, random_bytes, has_random),
};
static const struct app_buffer buffer_subject = {
    .name = "tls.cert_subject", .alias = "tls_cert_subject",
    .doc = "subject of the certificate: \"C=US, O=Example, CN=example.org\"",
    .directions = APP_BOTH, .progress = CERT_PROGRESS,
    .field = APP_FIELD_PART(&certificate_path, tls_certificate, subject, KNOWN),
};
static const struct app_buffer buffer_issuer = {
    .name = "tls.cert_issuer", .alias = "tls_cert_issuer", .doc = "issuer of the certificate",
    .directions = APP_BOTH, .progress = CERT_PROGRESS,
    .field = APP_FIELD_PART(&certificate_path, tls_certificate, issuer, KNOWN),
};
static const struct app_buffer buffer_serial = {
    .name = "tls.cert_serial", .alias = "tls_cert_serial",
    .doc = "serial number of the certificate: \"0A:FF:...\"",
    .directions = APP_BOTH, .progress = CERT_PROGRESS,
    .field = APP_FIELD_PART(&certificate_path, tls_certificate, serial, KNOWN),
    .any_case = true, .check = check_serial,
};
static const struct app_buffer buffer_fingerprint = {
    .name = "tls.cert_fingerprint", .alias = "tls_cert_fingerprint",
    .doc = "SHA1 of the certificate: \"0a:ff:...\"",
    .directions = APP_BOTH, .progress = CERT_PROGRESS,
    .field = APP_FIELD_PART(&certificate_path, tls_certificate, fingerprint, KNOWN),
    .any_case = true, .check = check_fingerprint,
};
static const struct app_buffer buffer_certs = {
    .name = "tls.certs", .doc = "each certificate of the chain, as sent (DER)",
    .directions = APP_BOTH, .progress = CERT_PROGRESS, .multi = true, .get = get_certs,
    .feature = TLS_FEATURE_CHAIN,
};
static const struct app_buffer buffer_alt_name = {
    .name = "tls.subjectaltname", .doc = "each alternative name of the certificate",
    .directions = APP_TC, .progress = CERT_PROGRESS, .multi = true, .get = get_alt_name,
};
static const struct app_buffer buffer_ja3_hash = {
    .name = "ja3.hash", .alias = "ja3_hash", .doc = "JA3 of the client, the MD5",
    .directions = APP_TS, .progress = HELLO_PROGRESS,
    .field = APP_FIELD_PART(&ja3_path, tls_dir, ja3_hash, FILLED),
    .any_case = true, .check = md5_pattern_check, .feature = TLS_FEATURE_JA3,
};
static const struct app_buffer buffer_ja3_string = {
    .name = "ja3.string", .alias = "ja3_string", .doc = "JA3 of the client, the text",
    .directions = APP_TS, .progress = HELLO_PROGRESS,
    .field = APP_FIELD_PART(&ja3_path, tls_dir, ja3, ALWAYS),
    .feature = TLS_FEATURE_JA3,
};
static const struct app_buffer buffer_ja3s_hash = {
    .name = "ja3s.hash", .doc = "JA3S of the server, the MD5",
    .directions = APP_TC, .progress = HELLO_PROGRESS,
    .field = APP_FIELD_PART(&ja3_path, tls_dir, ja3_hash, FILLED),
    .any_case = true, .check = md5_pattern_check, .feature = TLS_FEATURE_JA3,
};
static const struct app_buffer buffer_ja3s_string = {
    .name = "ja3s.string", .doc = "JA3S of the server, the text",
    .directions = APP_TC, .progress = HELLO_PROGRESS,
    .field = APP_FIELD_PART(&ja3_path, tls_dir, ja3, ALWAYS),
    .feature = TLS_FEATURE_JA3,
};
static const struct app_buffer buffer_ja4 = {
    .name = "ja4.hash", .alias = "ja4_hash", .doc = "JA4 of the client",
    .directions = APP_TS, .progress = HELLO_PROGRESS, .get = get_ja4, .feature = TLS_FEATURE_JA4,
};

const struct app_buffer *const tls_buffers[] = {
    &buffer_sni, &buffer_alpn, &buffer_random, &buffer_random_time, &buffer_random_bytes,
    &buffer_subject, &buffer_issuer, &buffer_serial, &buffer_fingerprint, &buffer_certs,
    &buffer_alt_name, &buffer_ja3_hash, &buffer_ja3_string, &buffer_ja3s_hash,
    &buffer_ja3s_string, &buffer_ja4, NULL,
};

static const struct app_integer integer_chain_len = {
    .name = "tls.cert_chain_len", .doc = "number of certificates that the server sent",
    .bits = 32, .directions = APP_TC, .progress = CERT_PROGRESS,
    .field = APP_FIELD_BY_DIRECTION(tls_tx, ds, chain_len, ALWAYS),
};

const struct app_integer *const tls_integers[] = { &integer_chain_len, NULL };
