/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/keywords.c - keywords for versions, states, names and dates. */
#include <ctype.h>
#include <string.h>
#include <time.h>
#include <strings.h>

#include "app/proto/tls/tls.h"
#include "app/proto/tls/when.h"

#define CERT_PROGRESS { TLS_CLIENT_CERT_DONE, TLS_SERVER_CERT_DONE }

static uint16_t version_of(struct app_tx *tx, enum direction d)
{
    return tls_tx_of(tx)->ds[d].version;
}

/* --- tls.version ---------------------------------------------------------------------------- */

struct version_arg {
    uint16_t version;
    bool is_raw;                /* drafts are not TLS 1.3 */
};

/* Names mean drafts, too; a number means exactly that version. */
static int tls_version_parse(struct text in, void *arg, struct arena *arena UNUSED,
                             struct err *err)
{
    static const char *const names[] = { "1.0", "1.1", "1.2", "1.3" };
    struct version_arg *v = arg;
    uint64_t raw;

    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        if (text_equal(in, names[i])) {
            v->version = (uint16_t)(TLS_1_0 + i);
            return 0;
        }
    }
    if (!text_starts(in, "0x") || in.n != 6 || !text_to_u64(in, UINT16_MAX, &raw))
        return err_set(err, "tls.version: expected 1.0, 1.1, 1.2, 1.3 or 0xNNNN, found \"%.*s\"",
                       TEXT(in));
    v->version = (uint16_t)raw;
    v->is_raw = true;
    return 0;
}

static bool tls_version_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct version_arg *v = arg;
    uint16_t version = version_of(tx, d);

    if (!v->is_raw && tls_version_is_draft(version))
        version = TLS_1_3;
    return version == v->version;
}

static const char *version_name(uint16_t version);

/* "the version is tls1.2" */
static bool tell_version(struct app_tx *tx, enum direction d, struct buf *out)
{
    uint16_t version = version_of(tx, d);
    const char *name = version_name(tls_version_is_draft(version) ? TLS_1_3 : version);

    if (version == 0)
        buf_add_string(out, "no version is known");
    else if (name == NULL)
        buf_printf(out, "the version is 0x%04x", version);
    else
        buf_printf(out, "the version is %s (0x%04x)", name, version);
    return true;
}

static const struct app_match match_tls_version = {
    .name = "tls.version", .doc = "version of the session: 1.0 to 1.3, or 0xNNNN",
    .syntax = "1.0|1.1|1.2|1.3|0x<4 hex digits>",
    .directions = APP_BOTH, .arg_size = sizeof(struct version_arg),
    .parse = tls_version_parse, .match = tls_version_match,
    .firewall = true, .tell = tell_version,
};

/* --- ssl_version ---------------------------------------------------------------------------- */

struct ssl_version_arg {
    uint8_t required;             /* bit per entry of ssl_versions */
    bool negated;
};

static const struct { const char *name; uint16_t version; } ssl_versions[] = {
    { "sslv2", SSL_2 }, { "sslv3", SSL_3 }, { "tls1.0", TLS_1_0 }, { "tls1.1", TLS_1_1 },
    { "tls1.2", TLS_1_2 }, { "tls1.3", TLS_1_3 },
};

/* NULL: it has none. */
static const char *version_name(uint16_t version)
{
    for (unsigned i = 0; i < ARRAY_LEN(ssl_versions); i++)
        if (ssl_versions[i].version == version)
            return ssl_versions[i].name;
    return NULL;
}

/* The next word; blanks and any of `separators` are between words. */
static bool next_word(struct text *rest, const char *separators, struct text *word)
{
    size_t n = 0;

    while (rest->n > 0 && strchr(separators, rest->p[0]) != NULL)
        *rest = text_from(*rest, 1);
    while (n < rest->n && strchr(separators, rest->p[n]) == NULL)
        n++;
    *word = (struct text){ rest->p, n };
    *rest = text_from(*rest, n);
    return n > 0;
}

static int ssl_version_index(struct text word)
{
    for (unsigned i = 0; i < ARRAY_LEN(ssl_versions); i++)
        if (text_equal_nocase(word, ssl_versions[i].name))
            return (int)i;
    return -1;
}

/* "sslv3,tls1.0" or "!sslv2": negation applies to the complete list. */
static int ssl_version_parse(struct text in, void *arg, struct arena *arena UNUSED,
                             struct err *err)
{
    struct ssl_version_arg *v = arg;
    struct text word;

    if (text_starts(in, "!")) {
        v->negated = true;
        in = text_from(in, 1);
    }
    if (in.n > 0 && (isspace((unsigned char)in.p[0]) || in.p[0] == ','))
        return err_set(err, "ssl_version: expected a version before \"%.*s\"", TEXT(in));
    while (next_word(&in, " \t,", &word)) {
        int i = ssl_version_index(word);

        if (i < 0)
            return err_set(err, "ssl_version: expected sslv2, sslv3, tls1.0 ... tls1.3, found "
                           "\"%.*s\"", TEXT(word));
        if (v->required & 1u << i)
            return err_set(err, "ssl_version: \"%.*s\"occurs twice", TEXT(word));
        v->required |= (uint8_t)(1u << i);
    }
    return v->required != 0 || v->negated ? 0 :
           err_set(err, "ssl_version: expected at least one version");
}

/* A version without a name matches neither the list nor its negation. */
static bool ssl_version_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct ssl_version_arg *v = arg;
    uint16_t version = version_of(tx, d);

    if (tls_version_is_draft(version))
        version = TLS_1_3;
    for (unsigned i = 0; i < ARRAY_LEN(ssl_versions); i++)
        if (ssl_versions[i].version == version)
            return ((v->required & 1u << i) != 0) != v->negated;
    return false;
}

static const struct app_match match_ssl_version = {
    .name = "ssl_version", .doc = "versions: sslv2, sslv3, tls1.0, tls1.1, tls1.2, tls1.3",
    .syntax = "[!]<version>[,<version>]...",
    .directions = APP_BOTH, .arg_size = sizeof(struct ssl_version_arg),
    .parse = ssl_version_parse, .match = ssl_version_match, .tell = tell_version,
};

/* --- ssl_state ------------------------------------------------------------------------------ */

struct state_arg {
    uint8_t named, negated;     /* TLS_STATE_* */
};

static const struct { const char *name; uint8_t bit; } states[] = {
    { "client_hello", TLS_STATE_CLIENT_HELLO }, { "server_hello", TLS_STATE_SERVER_HELLO },
    { "client_keyx", TLS_STATE_CLIENT_KEYX }, { "server_keyx", TLS_STATE_SERVER_KEYX },
    { "unknown", TLS_STATE_UNKNOWN },
};

/* [!]STATE at the start of `rest`, which then stands behind it. */
static bool next_state(struct text *rest, struct text *word, bool *negated)
{
    size_t n = 0;

    *negated = text_starts(*rest, "!");
    *rest = text_from(*rest, *negated);
    while (n < rest->n && (isalnum((unsigned char)rest->p[n]) || rest->p[n] == '_'))
        n++;
    *word = (struct text){ rest->p, n };
    *rest = text_from(*rest, n);
    return n > 0;
}

/* True: a separator and white space around it are skipped. */
static bool skip_separator(struct text *rest)
{
    *rest = text_trim(*rest);
    if (!text_starts(*rest, "|") && !text_starts(*rest, ","))
        return false;
    *rest = text_trim(text_from(*rest, 1));
    return true;
}

/* Each state may be negated on its own. A separator stands between two states only. */
static int ssl_state_parse(struct text in, void *arg, struct arena *arena UNUSED,
                           struct err *err)
{
    struct state_arg *s = arg;
    struct text word, rest = in;
    bool negated;

    do {
        unsigned i = 0;

        if (!next_state(&rest, &word, &negated))
            return err_set(err, "ssl_state: expected states with \",\" or \"|\" between them, "
                           "found \"%.*s\"", TEXT(in));
        while (i < ARRAY_LEN(states) && !text_equal(word, states[i].name))
            i++;
        if (i == ARRAY_LEN(states))
            return err_set(err, "ssl_state: no state is called \"%.*s\"", TEXT(word));
        s->named |= states[i].bit;
        if (negated)
            s->negated |= states[i].bit;
    } while (skip_separator(&rest));
    return rest.n == 0 ? 0 : err_set(err, "ssl_state: expected \",\" or \"|\" before \"%.*s\"",
                                     TEXT(rest));
}

/* A negated state matches when it is absent. This is Suricata's formula. */
static bool ssl_state_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    const struct state_arg *s = arg;

    return ((s->named & tls_tx_of(tx)->state) ^ s->negated) != 0;
}

static bool tell_state(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    uint8_t state = tls_tx_of(tx)->state;
    const char *name = "another one";

    for (unsigned i = 0; i < ARRAY_LEN(states); i++)
        if (state & states[i].bit)
            name = states[i].name;
    buf_printf(out, "the last message of the handshake is %s", name);
    return true;
}

static const struct app_match match_ssl_state = {
    .name = "ssl_state",
    .doc = "handshake message: client_hello, server_hello, client_keyx, server_keyx, unknown",
    .syntax = "[!]<state>[|[!]<state>]...",
    .directions = APP_BOTH, .arg_size = sizeof(struct state_arg),
    .parse = ssl_state_parse, .match = ssl_state_match, .tell = tell_state,
};

/* --- tls.subject, tls.issuerdn, tls.fingerprint --------------------------------------------- */

struct name_arg {
    const char *text;
    size_t len;
    bool negated;
};

/* Suricata accepts only these characters in tls.subject and tls.issuerdn. */
static bool is_name(struct text in)
{
    for (size_t i = 0; i < in.n; i++)
        if (!isalnum((unsigned char)in.p[i]) && !isspace((unsigned char)in.p[i]) &&
            strchr("[\\]^_`-.=,*@", in.p[i]) == NULL)
            return false;
    return true;
}

static int text_parse(struct text in, void *arg, struct arena *arena, struct err *err)
{
    struct name_arg *n = arg;

    if (text_starts(in, "!")) {
        n->negated = true;
        in = text_from(in, 1);
    }
    if (in.n == 0)
        return err_set(err, "expected some text to look for");
    n->text = arena_text(arena, in);
    n->len = in.n;
    return 0;
}

static int name_parse(struct text in, void *arg, struct arena *arena, struct err *err)
{
    struct text name = text_from(in, text_starts(in, "!"));

    if (!is_name(name))
        return err_set(err, "expected letters, digits, blanks and -.=,*@, found \"%.*s\"",
                       TEXT(name));
    return text_parse(in, arg, arena, err);
}

/* Compared as text in any case: only the length can be checked. */
static int fingerprint_parse(struct text in, void *arg, struct arena *arena, struct err *err)
{
    struct name_arg *n = arg;

    if (text_parse(in, arg, arena, err) < 0)
        return -1;
    if (n->len == 59)
        return 0;
    return err_set(err, "tls.fingerprint: expected 20 bytes in hex with colons between, found "
                   "\"%.*s\"", TEXT(in));
}

static const struct tls_certificate *certificate_of(const struct app_tx *tx, enum direction d)
{
    return tls_certificate_of(&tls_tx_of(tx)->ds[d]);
}

/* A missing field matches neither the text nor its negation. */
static bool is_in(struct slice value, const struct name_arg *n)
{
    if (value.data == NULL)
        return false;
    return (memmem(value.data, value.len, n->text, n->len) != NULL) != n->negated;
}

static bool subject_match(struct app_tx *tx, enum direction d, const void *arg)
{
    return is_in(certificate_of(tx, d)->subject, arg);
}

static bool issuer_match(struct app_tx *tx, enum direction d, const void *arg)
{
    return is_in(certificate_of(tx, d)->issuer, arg);
}

static bool fingerprint_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct name_arg *n = arg;
    struct slice value = certificate_of(tx, d)->fingerprint;

    return value.len == n->len &&
           (strncasecmp((const char *)value.data, n->text, n->len) == 0) != n->negated;
}

/* Bytes that are not printable become dots: a certificate may hold any. */
static bool tell_name(const char *what, struct slice value, struct buf *out)
{
    if (value.data == NULL) {
        buf_printf(out, "there is no certificate, or it has no %s", what);
        return true;
    }
    buf_printf(out, "the %s is \"", what);
    for (uint32_t i = 0; i < MIN(value.len, 100u); i++)
        buf_add_u8(out, isprint(value.data[i]) ? value.data[i] : '.');
    buf_add_string(out, value.len > 100 ? "\"..." : "\"");
    return true;
}

static bool tell_subject(struct app_tx *tx, enum direction d, struct buf *out)
{
    return tell_name("subject", certificate_of(tx, d)->subject, out);
}

static bool tell_issuer(struct app_tx *tx, enum direction d, struct buf *out)
{
    return tell_name("issuer", certificate_of(tx, d)->issuer, out);
}

static bool tell_fingerprint(struct app_tx *tx, enum direction d, struct buf *out)
{
    return tell_name("fingerprint", certificate_of(tx, d)->fingerprint, out);
}

static const struct app_match match_subject = {
    .name = "tls.subject", .doc = "text in the subject of the certificate (old)",
    .syntax = "[!]\"<text>\"",
    .directions = APP_BOTH, .progress = CERT_PROGRESS, .quotes = true, .quotes_required = true,
    .arg_size = sizeof(struct name_arg), .parse = name_parse, .match = subject_match,
    .tell = tell_subject,
};
static const struct app_match match_issuer = {
    .name = "tls.issuerdn", .doc = "text in the issuer of the certificate (old)",
    .syntax = "[!]\"<text>\"",
    .directions = APP_BOTH, .progress = CERT_PROGRESS, .quotes = true, .quotes_required = true,
    .arg_size = sizeof(struct name_arg), .parse = name_parse, .match = issuer_match,
    .tell = tell_issuer,
};
static const struct app_match match_fingerprint = {
    .name = "tls.fingerprint", .doc = "SHA1 of the certificate (old)",
    .syntax = "[!]\"<20 bytes in hex with colons>\"",
    .directions = APP_BOTH, .progress = CERT_PROGRESS, .quotes = true,
    .arg_size = sizeof(struct name_arg), .parse = fingerprint_parse, .match = fingerprint_match,
    .tell = tell_fingerprint,
};

/* --- dates ---------------------------------------------------------------------------------- */

/* 0: no certificate. */
static bool notbefore_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct tls_certificate *c = certificate_of(tx, d);

    return c->not_before != 0 && when_has(arg, c->not_before);
}

static bool notafter_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct tls_certificate *c = certificate_of(tx, d);

    return c->not_after != 0 && when_has(arg, c->not_after);
}

/* Time of the traffic, not of the machine: a capture file gives the same result on each run. */
static int64_t flow_now(const struct app_tx *tx)
{
    return (int64_t)(tx->flow->flow->inspect_last_us / 1000000);
}

static void add_time(struct buf *out, int64_t seconds)
{
    time_t t = (time_t)seconds;
    struct tm tm;
    char text[40] = "?";

    if (gmtime_r(&t, &tm) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
    buf_add_string(out, text);
}

static bool tell_validity(struct app_tx *tx, enum direction d, struct buf *out)
{
    const struct tls_certificate *c = certificate_of(tx, d);

    if (c->not_after == 0) {
        buf_add_string(out, "there is no certificate");
        return true;
    }
    buf_add_string(out, "the certificate is valid from ");
    add_time(out, c->not_before);
    buf_add_string(out, " to ");
    add_time(out, c->not_after);
    buf_add_string(out, " UTC, and this is ");
    add_time(out, flow_now(tx));
    return true;
}

static bool expired_match(struct app_tx *tx, enum direction d, const void *arg UNUSED)
{
    int64_t end = certificate_of(tx, d)->not_after;

    return end != 0 && flow_now(tx) > end;
}

static bool valid_match(struct app_tx *tx, enum direction d, const void *arg UNUSED)
{
    int64_t end = certificate_of(tx, d)->not_after;

    return end != 0 && flow_now(tx) <= end;
}

/* Dates are those of when.h. */
static int when_argument(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    return when_parse(in, arg, err);
}

static const struct app_match match_notbefore = {
    .name = "tls_cert_notbefore",
    .doc = "start of validity: that date, before it (<), after it (>) or between two",
    .syntax = "[<op>]<date>\n"
              "<date><><date>",
    .directions = APP_TC, .progress = CERT_PROGRESS, .arg_size = sizeof(struct when),
    .parse = when_argument, .match = notbefore_match, .tell = tell_validity,
};
static const struct app_match match_notafter = {
    .name = "tls_cert_notafter",
    .doc = "end of validity: that date, before it (<), after it (>) or between two",
    .syntax = "[<op>]<date>\n"
              "<date><><date>",
    .directions = APP_TC, .progress = CERT_PROGRESS, .arg_size = sizeof(struct when),
    .parse = when_argument, .match = notafter_match, .tell = tell_validity,
};
static const struct app_match match_expired = {
    .name = "tls_cert_expired", .doc = "the certificate is out of date",
    .directions = APP_TC, .progress = CERT_PROGRESS, .no_argument = true, .match = expired_match,
    .tell = tell_validity,
};
static const struct app_match match_valid = {
    .name = "tls_cert_valid", .doc = "the certificate is not out of date",
    .directions = APP_TC, .progress = CERT_PROGRESS, .no_argument = true, .match = valid_match,
    .tell = tell_validity,
};

const struct app_match *const tls_matches[] = {
    &match_tls_version, &match_ssl_version, &match_ssl_state, &match_subject, &match_issuer,
    &match_fingerprint, &match_notbefore, &match_notafter, &match_expired, &match_valid, NULL,
};
