/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/quic/buffers.c - the buffers that rules inspect of a packet. */
#include "app/lib/digest.h"
#include "app/proto/quic/quic.h"
#include "app/proto/tls/fingerprint.h"
#include "app/values.h"

static const struct quic_thread *thread_of(const struct quic_tx *t)
{
    return t->tx.flow->thread_data;
}

/* --- fingerprints ----------------------------------------------------------------------------- */

/* JA3 of QUIC includes GREASE values, as in Suricata. */
static void make_ja3(struct quic_tx *t)
{
    t->ja3_done = true;
    t->ja3 = tls_ja3_string_with_grease(&t->hello, &t->tx.arena);
    t->ja3_hash = tls_ja3_hash(t->ja3, thread_of(t)->digests, &t->tx.arena);
}

const struct slice *quic_ja3(struct quic_tx *t)
{
    if (!t->has_hello)
        return NULL;
    if (!t->ja3_done)
        make_ja3(t);
    return &t->ja3;
}

const struct slice *quic_ja3_hash(struct quic_tx *t)
{
    return quic_ja3(t) != NULL && t->ja3_hash.len > 0 ? &t->ja3_hash : NULL;
}

/* JA4 is defined for clients. */
const struct slice *quic_ja4(struct quic_tx *t)
{
    if (!t->has_hello || t->direction != TO_SERVER)
        return NULL;
    if (!t->ja4_done) {
        t->ja4_done = true;
        t->ja4 = tls_ja4(&t->hello, true, thread_of(t)->digests, &t->tx.arena);
    }
    return &t->ja4;
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* False: the packet has no such value. */
static bool set_slice(const struct slice *s, struct slice *out)
{
    if (s == NULL || s->data == NULL)
        return false;
    *out = *s;
    return true;
}

static const struct app_path cyu_path = { APP_PATH_LIST(quic_tx, cyu, quic_cyu) };

static bool get_ja3_hash(struct app_tx *tx, enum direction d, unsigned i UNUSED,
                         struct slice *out)
{
    return quic_tx_of(tx)->direction == d && set_slice(quic_ja3_hash(quic_tx_of(tx)), out);
}

static bool get_ja3_string(struct app_tx *tx, enum direction d, unsigned i UNUSED,
                           struct slice *out)
{
    return quic_tx_of(tx)->direction == d && set_slice(quic_ja3(quic_tx_of(tx)), out);
}

static bool get_ja4(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED,
                    struct slice *out)
{
    return set_slice(quic_ja4(quic_tx_of(tx)), out);
}

static const struct app_buffer sni = {
    .name = "quic.sni", .doc = "server name", .directions = APP_TS, .progress = { 1, 1 },
    .field = APP_FIELD(quic_tx, sni, KNOWN),
};
static const struct app_buffer ua = {
    .name = "quic.ua", .doc = "user agent of Google's versions", .directions = APP_TS,
    .progress = { 1, 1 }, .field = APP_FIELD(quic_tx, ua, KNOWN),
};
/* Short headers have no version. */
static const struct app_buffer version = {
    .name = "quic.version", .doc = "version, four bytes", .directions = APP_BOTH,
    .progress = { 1, 1 }, .field = APP_FIELD_WITH(quic_tx, version_bytes, is_long),
};
static const struct app_buffer cyu_hash = {
    .name = "quic.cyu.hash", .doc = "CYU of the client, the MD5", .directions = APP_TS,
    .progress = { 1, 1 }, .multi = true, .field = APP_FIELD_PART(&cyu_path, quic_cyu, hash, KNOWN),
    .check = md5_pattern_check,
};
static const struct app_buffer cyu_string = {
    .name = "quic.cyu.string", .doc = "CYU of the client, the text", .directions = APP_TS,
    .progress = { 1, 1 }, .multi = true, .field = APP_FIELD_PART(&cyu_path, quic_cyu, text, KNOWN),
};

#define BUFFER(symbol, name_, alias_, directions_, doc_, get_)                                   \
    static const struct app_buffer symbol = {                                                    \
        .name = (name_), .alias = (alias_), .doc = (doc_), .directions = (directions_),          \
        .progress = { 1, 1 }, .get = (get_),                                                     \
    }
BUFFER(ja3_hash, "ja3.hash", "ja3_hash", APP_TS, "JA3 of the client, the MD5",
       get_ja3_hash);
BUFFER(ja3_string, "ja3.string", "ja3_string", APP_TS, "JA3 of the client, the text",
       get_ja3_string);
BUFFER(ja3s_hash, "ja3s.hash", NULL, APP_TC, "JA3S of the server, the MD5",
       get_ja3_hash);
BUFFER(ja3s_string, "ja3s.string", NULL, APP_TC, "JA3S of the server, the text",
       get_ja3_string);
BUFFER(ja4, "ja4.hash", "ja4_hash", APP_TS, "JA4 of the client", get_ja4);

const struct app_buffer *const quic_buffers[] = {
    &sni, &ua, &version, &cyu_hash, &cyu_string, &ja3_hash, &ja3_string, &ja3s_hash,
    &ja3s_string, &ja4, NULL,
};
