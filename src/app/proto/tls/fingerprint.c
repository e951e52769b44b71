/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/fingerprint.c - JA3 and JA4: texts and hashes, for TLS and QUIC. Formats as their
 * authors published them. */
#include "app/proto/tls/fingerprint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/proto/tls/version.h"

/* Text written into space whose size was computed before. */
struct writer {
    char *start, *to;
};

static void put_char(struct writer *w, char c)
{
    *w->to++ = c;
}

static void put_decimal(struct writer *w, unsigned value)
{
    char digits[10];
    unsigned n = 0;

    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0)
        put_char(w, digits[--n]);
}

/* Four digits. */
static void put_hex4(struct writer *w, uint16_t value)
{
    const uint8_t b[2] = { (uint8_t)(value >> 8), (uint8_t)value };

    w->to += hex_text(b, 2, '\0', HEX_LOWER, w->to);
}

static struct slice written(const struct writer *w)
{
    return (struct slice){ (const uint8_t *)w->start, (uint32_t)(w->to - w->start) };
}

/* --- JA3 ------------------------------------------------------------------------------------ */

/* Decimal numbers with '-' between. */
static void put_values(struct writer *w, struct slice list,
                       bool (*next)(struct bytes *list, uint16_t *value))
{
    struct bytes in = bytes_of_slice(list);
    uint16_t value;

    for (bool first = true; next(&in, &value); first = false) {
        if (!first)
            put_char(w, '-');
        put_decimal(w, value);
    }
}

static bool next_byte(struct bytes *list, uint16_t *value)
{
    if (!bytes_have(list, 1))
        return false;
    *value = take_u8(list);
    return true;
}

static size_t count_extensions(struct slice list)
{
    struct bytes in = bytes_of_slice(list);
    size_t n = 0;

    for (; bytes_have(&in, 4); n++) {
        take_skip(&in, 2);
        take_skip(&in, take_be16(&in));
    }
    return n;
}

#define JA3_USUAL 1024                  /* space for nearly all */

/* Upper limit: "65535-" for two bytes of a list and for an extension, whose contents are much
 * longer, "255-" for a point format. */
static size_t ja3_capacity(const struct tls_hello *h)
{
    return 16 + 3 * ((size_t)h->ciphers.len + h->groups.len) +
           6 * count_extensions(h->extensions) + 4 * (size_t)h->point_formats.len;
}

/* Includes GREASE values (RFC 8701). */
static bool next_any_value(struct bytes *list, uint16_t *value)
{
    *value = take_be16(list);
    return !list->failed;
}

/* Includes GREASE values, mapped by tls_extension_shown(). */
static bool next_any_extension(struct bytes *list, uint16_t *type)
{
    if (!bytes_have(list, 4))
        return false;
    *type = tls_extension_shown(take_be16(list));
    take_skip(list, take_be16(list));
    return !list->failed;
}

/* How to walk the lists of values and of extensions. */
struct ja3_lists {
    bool (*value)(struct bytes *list, uint16_t *value);
    bool (*extension)(struct bytes *list, uint16_t *value);
};

/* version,ciphers,extensions[,groups,formats]. A server's hello has the first three only (JA3S). */
static void put_ja3(struct writer *w, const struct tls_hello *h, struct ja3_lists next)
{
    put_decimal(w, h->legacy_version);
    put_char(w, ',');
    put_values(w, h->ciphers, next.value);
    put_char(w, ',');
    put_values(w, h->extensions, next.extension);
    if (h->is_server)
        return;
    put_char(w, ',');
    put_values(w, h->groups, next.value);
    put_char(w, ',');
    put_values(w, h->point_formats, next_byte);
}

/* The limit is nearly twice what a text needs, and the text stays with the flow. So most are
 * written elsewhere first. */
static struct slice ja3_string(const struct tls_hello *h, struct arena *arena,
                               struct ja3_lists next)
{
    char usual[JA3_USUAL];
    size_t capacity = ja3_capacity(h);
    struct writer w = { .start = capacity <= sizeof(usual) ? usual : arena_alloc(arena, capacity) };

    w.to = w.start;
    if (w.start == NULL)
        return (struct slice){ 0 };
    put_ja3(&w, h, next);
    return w.start == usual ? arena_slice(arena, written(&w)) : written(&w);
}

struct slice tls_ja3_string(const struct tls_hello *h, struct arena *arena)
{
    return ja3_string(h, arena, (struct ja3_lists){ .value = tls_hello_next_value,
                                                    .extension = tls_hello_next_extension });
}

struct slice tls_ja3_string_with_grease(const struct tls_hello *h, struct arena *arena)
{
    return ja3_string(h, arena, (struct ja3_lists){ .value = next_any_value,
                                                    .extension = next_any_extension });
}

/* MD5 of the text, in hex. Empty: the library refuses MD5, for instance in FIPS mode. */
struct slice tls_ja3_hash(struct slice string, struct digests *d, struct arena *arena)
{
    uint8_t hash[DIGEST_MAX];
    unsigned len = digest(d, DIGEST_MD5, string.data, string.len, hash);
    char *text;

    if (len == 0)
        return (struct slice){ 0 };
    text = arena_alloc(arena, 2 * (size_t)len);
    if (text == NULL)
        return (struct slice){ 0 };
    hex_text(hash, len, '\0', HEX_LOWER, text);
    return (struct slice){ (const uint8_t *)text, 2 * len };
}

/* --- JA4 ------------------------------------------------------------------------------------ */

/* The highest version that the hello offers. */
static const char *ja4_version(uint16_t version)
{
    switch (version) {
    case TLS_1_3: return "13";
    case TLS_1_2: return "12";
    case TLS_1_1: return "11";
    case TLS_1_0: return "10";
    case SSL_3: return "s3";
    default: return "00";
    }
}

/* First and last character of the first protocol name. If one of them is no letter or digit: the
 * first and the last hex digit. "00": none. */
static void ja4_alpn(const struct tls_hello *h, char out[2])
{
    struct slice name;
    uint8_t first, last;

    out[0] = out[1] = '0';
    if (!tls_hello_alpn(h, 0, &name))
        return;
    first = name.data[0];
    last = name.data[name.len - 1];
    if (name.len == 2 && tls_is_grease(get_be16(name.data)))
        return;
    if (isalnum(first) && isalnum(last)) {
        out[0] = (char)first;
        out[1] = (char)last;
    } else {
        out[0] = HEX_LOWER[first >> 4];
        out[1] = HEX_LOWER[last & 15];
    }
}

static int compare_values(const void *a, const void *b)
{
    return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

struct values {
    uint16_t *at;
    unsigned count;
};

/* `list` has at most so many values. */
static struct values collect(struct slice list, size_t most, struct arena *arena,
                             bool (*next)(struct bytes *list, uint16_t *value))
{
    struct values v = { .at = arena_alloc(arena, (most + 1) * sizeof(*v.at)) };
    struct bytes in = bytes_of_slice(list);

    while (v.at != NULL && next(&in, &v.at[v.count]))
        v.count++;
    return v;
}

static void put_hex_list(struct writer *w, const struct values *v)
{
    for (unsigned i = 0; i < v->count; i++) {
        if (i > 0)
            put_char(w, ',');
        put_hex4(w, v->at[i]);
    }
}

/* The first 12 hex digits of the SHA256. */
static void put_short_hash(struct writer *to, const struct writer *of, struct digests *d)
{
    uint8_t hash[DIGEST_MAX] = { 0 };

    digest(d, DIGEST_SHA256, of->start, (size_t)(of->to - of->start), hash);
    to->to += hex_text(hash, 6, '\0', HEX_LOWER, to->to);
}

/* Server name (0) and ALPN (16) are left out of the hash: they depend on the destination, not on
 * the program. */
static void drop_destination(struct values *v, bool *has_sni)
{
    unsigned retained = 0;

    for (unsigned i = 0; i < v->count; i++) {
        *has_sni |= v->at[i] == 0;
        if (v->at[i] != 0 && v->at[i] != 16)
            v->at[retained++] = v->at[i];
    }
    v->count = retained;
}

/* For example t13d1516h2_8daaf6152771_e5627efa2ab1: transport, version, server name present, counts
 * of ciphers and extensions (99 at most), ALPN; then the hashes of sorted ciphers and of sorted
 * extensions with signature algorithms, the latter in the client's order. */
struct slice tls_ja4(const struct tls_hello *h, bool is_quic, struct digests *d,
                     struct arena *arena)
{
    struct values ciphers = collect(h->ciphers, h->ciphers.len / 2, arena, tls_hello_next_value);
    struct values extensions = collect(h->extensions, count_extensions(h->extensions), arena,
                                       tls_hello_next_extension);
    struct values signatures = collect(h->signatures, h->signatures.len / 2, arena,
                                       tls_hello_next_value);
    size_t space = 5 * (size_t)MAX(ciphers.count, extensions.count + signatures.count) + 2;
    struct writer list = { .start = arena_alloc(arena, space) };
    struct writer w = { .start = arena_alloc(arena, TLS_JA4_LEN + 1) };
    unsigned extension_count = MIN(extensions.count, 99);
    uint16_t version = is_quic && h->highest_listed != 0 ? h->highest_listed : h->highest;
    bool has_sni = false;
    char alpn[2];

    if (ciphers.at == NULL || extensions.at == NULL || signatures.at == NULL ||
        list.start == NULL || w.start == NULL)
        return (struct slice){ 0 };
    drop_destination(&extensions, &has_sni);
    ja4_alpn(h, alpn);
    w.to = w.start + snprintf(w.start, TLS_JA4_LEN + 1, "%c%s%c%02u%02u%.2s_", is_quic ? 'q' : 't',
                              ja4_version(version), has_sni ? 'd' : 'i',
                              MIN(ciphers.count, 99), extension_count, alpn);
    qsort(ciphers.at, ciphers.count, sizeof(uint16_t), compare_values);
    qsort(extensions.at, extensions.count, sizeof(uint16_t), compare_values);
    list.to = list.start;
    put_hex_list(&list, &ciphers);
    put_short_hash(&w, &list, d);
    put_char(&w, '_');
    list.to = list.start;
    put_hex_list(&list, &extensions);
    put_char(&list, '_');
    put_hex_list(&list, &signatures);
    put_short_hash(&w, &list, d);
    return written(&w);
}
