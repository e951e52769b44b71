/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/certificate.c - walks a certificate (RFC 5280 section 4.1) from field to field.
 *
 * libcrypto's parser is not used: it allocates some hundred objects under its locks for each
 * handshake, refuses certificates that peers accept, and does not report which field is bad. Rules
 * and logs need only names, dates, the serial number and alternative names. Nothing is verified. */
#include "app/proto/tls/certificate.h"

#include <string.h>

#include "app/proto/tls/x509_name.h"

/* --- dates ---------------------------------------------------------------------------------- */

/* False: not `n` digits. */
static bool take_digits(struct bytes *in, unsigned n, unsigned *out)
{
    *out = 0;
    while (n-- > 0) {
        uint8_t c = take_u8(in);

        if (c < '0' || c > '9')
            return false;
        *out = *out * 10 + (c - '0');
    }
    return true;
}

/* Days from 1970-01-01 in the Gregorian calendar, which repeats every 400 years. */
static int64_t days_from_civil(int64_t year, unsigned month, unsigned day)
{
    int64_t era, day_of_era;
    unsigned year_of_era, day_of_year;

    year -= month <= 2;     /* the year starts in March: leap days come last */
    era = (year >= 0 ? year : year - 399) / 400;
    year_of_era = (unsigned)(year - era * 400);
    day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    day_of_era = (int64_t)year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

/* "Z", "+hhmm" or "-hhmm". *seconds is what to add to get UTC. */
static bool take_offset(struct bytes *in, int64_t *seconds, bool *is_local)
{
    uint8_t sign = take_u8(in);
    unsigned hours, minutes;

    *seconds = 0;
    if (sign == 'Z')
        return true;
    if ((sign != '+' && sign != '-') || !take_digits(in, 2, &hours) ||
        !take_digits(in, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *is_local = true;
    *seconds = (int64_t)(hours * 60 + minutes) * 60;
    if (sign == '+')
        *seconds = -*seconds;
    return true;
}

/* Seconds since 1970. A UTCTime has two digits for the year: 1950 to 2049 (RFC 5280 section
 * 4.1.2.5.1). Seconds may be missing, which only old certificates use. */
static bool parse_time(const struct der *time, int64_t *out, bool *is_local)
{
    struct bytes in = bytes_of_slice(time->content);
    unsigned year, month, day, hour, minute, second = 0;
    int64_t offset;

    if (time->tag == DER_UTC_TIME) {
        if (!take_digits(&in, 2, &year))
            return false;
        year += year < 50 ? 2000 : 1900;
    } else if (time->tag != DER_GENERALIZED_TIME || !take_digits(&in, 4, &year)) {
        return false;
    }
    if (!take_digits(&in, 2, &month) || !take_digits(&in, 2, &day) ||
        !take_digits(&in, 2, &hour) || !take_digits(&in, 2, &minute))
        return false;
    if (peek_u8(&in) >= '0' && peek_u8(&in) <= '9' && !take_digits(&in, 2, &second))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
        second > 59 || !take_offset(&in, &offset, is_local))
        return false;
    *out = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second + offset;
    return true;
}

/* Both dates must be valid, whatever their order. */
static bool parse_validity(struct bytes *in, struct tls_certificate *c)
{
    struct slice validity;
    struct bytes inner;
    struct der before, after;

    if (!der_take_tag(in, DER_SEQUENCE, &validity))
        return false;
    inner = bytes_of_slice(validity);
    return der_take(&inner, &before) && der_take(&inner, &after) &&
           parse_time(&before, &c->not_before, &c->has_local_date) &&
           parse_time(&after, &c->not_after, &c->has_local_date);
}

/* --- extensions ----------------------------------------------------------------------------- */

/* Bounds the array: a hostile certificate may list thousands of names. */
static unsigned count_elements(struct slice list)
{
    struct bytes in = bytes_of_slice(list);
    unsigned n = 0;
    struct der element;

    while (bytes_left(&in) > 0 && der_take(&in, &element))
        n++;
    return MIN(n, TLS_ALT_NAMES_MAX);
}

/* SubjectAltName, RFC 5280 section 4.2.1.6. The first list counts; an invalid name ends it. */
static void read_alt_names(struct slice value, struct arena *arena, struct tls_certificate *c)
{
    struct bytes in = bytes_of_slice(value);
    struct slice list;
    struct der name;
    unsigned space;

    if (c->alt_names != NULL || !der_take_tag(&in, DER_SEQUENCE, &list))
        return;
    space = count_elements(list);
    c->alt_names = arena_alloc(arena, (space + 1) * sizeof(*c->alt_names));
    in = bytes_of_slice(list);
    while (c->alt_names != NULL && c->alt_name_count < space && der_take(&in, &name) &&
           x509_general_name_text(&name, arena, &c->alt_names[c->alt_name_count]))
        c->alt_name_count++;
}

/* RFC 5280 section 4.2: identifier, optional `critical`, value. False: malformed. */
static bool parse_extension(struct slice extension, struct arena *arena,
                            struct tls_certificate *c)
{
    struct bytes in = bytes_of_slice(extension);
    struct slice oid;
    struct der value;

    if (!der_take_tag(&in, DER_OID, &oid) || !der_take(&in, &value))
        return false;
    if (value.tag == DER_BOOLEAN && !der_take(&in, &value))
        return false;
    if (value.tag != DER_OCTET_STRING)
        return false;
    if (oid.len == 3 && memcmp(oid.data, "\x55\x1d\x11", 3) == 0)   /* 2.5.29.17 */
        read_alt_names(value.content, arena, c);
    return true;
}

static bool parse_extensions(struct slice tagged, struct arena *arena, struct tls_certificate *c)
{
    struct bytes in = bytes_of_slice(tagged);
    struct slice list, extension;

    if (!der_take_tag(&in, DER_SEQUENCE, &list))
        return false;
    in = bytes_of_slice(list);
    while (bytes_left(&in) > 0)
        if (!der_take_tag(&in, DER_SEQUENCE, &extension) ||
            !parse_extension(extension, arena, c))
            return false;
    return true;
}

/* After the public key: optional unique identifiers (1, 2), then extensions (3). */
static bool parse_rest(struct bytes *in, struct arena *arena, struct tls_certificate *c)
{
    struct der element;

    while (bytes_left(in) > 0) {
        if (!der_take(in, &element))
            return false;
        if (element.tag == (DER_CONTEXT_CONSTRUCTED | 3))
            return parse_extensions(element.content, arena, c);
    }
    return true;
}

/* --- the certificate ------------------------------------------------------------------------ */

/* "0A:FF": two digits per byte, colons between. */
static struct slice hex_slice(struct slice bytes, const char digits[16], struct arena *arena)
{
    char *text = arena_alloc(arena, 3 * (size_t)bytes.len + 1);

    if (text == NULL)
        return (struct slice){ 0 };
    return (struct slice){ (const uint8_t *)text,
                           (uint32_t)hex_text(bytes.data, bytes.len, ':', digits, text) };
}

/* Version 1 has no field. Its value is not checked, only its form. */
static bool parse_version(struct bytes *in)
{
    struct slice tagged, number;
    struct bytes inner;

    if (peek_u8(in) != DER_CONTEXT_CONSTRUCTED)
        return true;
    if (!der_take_tag(in, DER_CONTEXT_CONSTRUCTED, &tagged))
        return false;
    inner = bytes_of_slice(tagged);
    return der_take_tag(&inner, DER_INTEGER, &number) && number.len >= 1 && number.len <= 5;
}

static bool parse_name(struct bytes *in, struct arena *arena, struct slice *out)
{
    struct slice name;

    return der_take_tag(in, DER_SEQUENCE, &name) && x509_name_text(name, arena, out);
}

/* The fields of TBSCertificate in their order (RFC 5280 section 4.1). The result names the first
 * bad one, which becomes an event. */
static enum tls_certificate_fault parse_fields(struct bytes *in, struct arena *arena,
                                               struct tls_certificate *c)
{
    struct slice serial, skipped;

    if (!parse_version(in))
        return CERT_VERSION;
    if (!der_take_tag(in, DER_INTEGER, &serial))
        return CERT_SERIAL;
    c->serial = hex_slice(serial, HEX_UPPER, arena);
    if (!der_take_tag(in, DER_SEQUENCE, &skipped))
        return CERT_ALGORITHM;
    if (!parse_name(in, arena, &c->issuer))
        return CERT_NAME;
    if (!parse_validity(in, c))
        return CERT_DATE;
    if (!parse_name(in, arena, &c->subject))
        return CERT_NAME;
    if (!der_take_tag(in, DER_SEQUENCE, &skipped))
        return CERT_INVALID;
    return parse_rest(in, arena, c) ? CERT_SOUND : CERT_EXTENSIONS;
}

/* The fault of the first inner header: cut short, indefinite length, or a length field longer than
 * the data. */
static enum tls_certificate_fault header_fault(struct slice at)
{
    if (at.len < 2)
        return CERT_LENGTH;
    if (at.data[1] == 0x80)
        return CERT_DER;
    return (at.data[1] & 0x80) && (at.data[1] & 0x7fu) > at.len - 2 ? CERT_LENGTH : CERT_INVALID;
}

/* An outer length beyond the data is a certificate that was cut short. Anything else wrong there is
 * no DER. *fields is set as soon as TBSCertificate was found: its faults come first. */
static enum tls_certificate_fault take_body(struct slice der, struct bytes *fields)
{
    struct bytes in = bytes_of_slice(der);
    struct slice body, tbs, skipped;

    if (der.len > 0 && der.data[0] != DER_SEQUENCE)
        return CERT_DER;
    if (der.len > 1 && der.data[1] == 0x80)
        return CERT_DER;
    if (!der_take_tag(&in, DER_SEQUENCE, &body))
        return CERT_LENGTH;
    in = bytes_of_slice(body);
    if (!der_take_tag(&in, DER_SEQUENCE, &tbs))
        return header_fault(body);
    *fields = bytes_of_slice(tbs);
    if (!der_take_tag(&in, DER_SEQUENCE, &skipped))
        return CERT_ALGORITHM;
    return der_take_tag(&in, DER_BIT_STRING, &skipped) ? CERT_SOUND : CERT_INVALID;
}

/* A faulty certificate leaves *out empty: no rule matches half of one. The fingerprint is the SHA1
 * of all bytes. */
enum tls_certificate_fault tls_certificate_parse(struct slice der, struct digests *digests,
                                                 struct arena *arena, struct tls_certificate *out)
{
    uint8_t hash[DIGEST_MAX];
    struct bytes fields = { 0 };
    enum tls_certificate_fault outer = take_body(der, &fields), inner;

    *out = (struct tls_certificate){ 0 };
    if (outer == CERT_LENGTH || fields.next == NULL)
        return outer;
    inner = parse_fields(&fields, arena, out);
    if (inner != CERT_SOUND || outer != CERT_SOUND) {
        *out = (struct tls_certificate){ 0 };
        return inner != CERT_SOUND ? inner : outer;
    }
    out->fingerprint = hex_slice((struct slice){ hash, digest(digests, DIGEST_SHA1, der.data,
                                                              der.len, hash) },
                                 HEX_LOWER, arena);
    return CERT_SOUND;
}
