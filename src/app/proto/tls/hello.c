/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/hello.c - reads ClientHello and ServerHello in place (RFC 8446 sections 4.1.2 and
 * 4.1.3).
 *
 * An invalid extension ends the list; the hello keeps what came before. A length beyond the message
 * makes it no hello. */
#include "app/proto/tls/hello.h"

#include "app/proto/tls/version.h"

/* IANA's numbers of extensions. */
enum {
    EXT_SERVER_NAME = 0,
    EXT_SUPPORTED_GROUPS = 10,
    EXT_POINT_FORMATS = 11,
    EXT_SIGNATURE_ALGORITHMS = 13,
    EXT_ALPN = 16,
    EXT_SESSION_TICKET = 35,
    EXT_EARLY_DATA = 42,
    EXT_SUPPORTED_VERSIONS = 43,
};

#define SNI_MAX 255                 /* bytes of the longest domain name */

/* --- extensions ----------------------------------------------------------------------------- */

/* Notes the problem and ends the walk. */
static bool bad_length(struct tls_hello *h)
{
    h->problems |= TLS_HELLO_LENGTH;
    return false;
}

/* RFC 6066 section 3. Only the first name of the list is read, as in Suricata; type 0 is a host
 * name. A second extension is an event. */
static bool parse_server_name(struct bytes in, struct tls_hello *h)
{
    struct slice name;
    unsigned type, len;

    take_skip(&in, 2);  /* length of the list */
    type = take_u8(&in);
    if (in.failed)
        return bad_length(h);
    if (type != 0) {
        h->problems |= TLS_HELLO_SNI_TYPE;
        return false;
    }
    len = take_be16(&in);
    if (in.failed)
        return bad_length(h);
    name = take_slice(&in, len);
    if (in.failed || len > SNI_MAX || len == 0) {
        h->problems |= TLS_HELLO_SNI_LENGTH;
        return false;
    }
    if (h->sni.data != NULL)
        h->problems |= TLS_HELLO_SNI_TWICE;
    else
        h->sni = name;
    return true;
}

/* A list with a length field of 1 or 2 bytes. */
static bool parse_list(struct bytes in, unsigned length_bytes, struct tls_hello *h,
                       struct slice *out)
{
    struct slice list = take_slice(&in, length_bytes == 1 ? take_u8(&in) : take_be16(&in));

    if (in.failed)
        return bad_length(h);
    *out = list;
    return true;
}

/* RFC 8446 section 4.2.3: two bytes each. An odd length is dropped, because JA4 hashes the list. */
static bool parse_signatures(struct bytes in, struct tls_hello *h)
{
    if (!parse_list(in, 2, h, &h->signatures))
        return false;
    if (h->signatures.len % 2 == 0)
        return true;
    h->signatures = (struct slice){ 0 };
    return bad_length(h);
}

/* GREASE values (RFC 8701) never count as the highest version. */
static void set_version(struct tls_hello *h, uint16_t version)
{
    h->version = version;
    if (!tls_is_grease(version))
        h->highest = MAX(h->highest, version);
}

/* RFC 8446 section 4.2.1. A client lists versions, best first, and the first valid one counts. A
 * server names its choice. */
static bool parse_supported_versions(struct bytes in, struct tls_hello *h)
{
    struct slice list;
    bool chosen = false;

    if (h->is_server) {
        uint16_t version = take_be16(&in);

        if (in.failed)
            return bad_length(h);
        h->version = version;
        h->has_supported_versions = true;
        return true;
    }
    if (!parse_list(in, 1, h, &list))
        return false;
    if (list.len < 2)
        return bad_length(h);
    h->has_supported_versions = true;
    in = bytes_of_slice(list);
    while (bytes_have(&in, 2)) {
        uint16_t version = take_be16(&in);

        if (tls_version_valid(version) && !chosen)
            set_version(h, version);
        chosen |= tls_version_valid(version);
        if (!tls_is_grease(version))
            h->highest_listed = MAX(h->highest_listed, version);
    }
    return true;
}

/* An empty extension is valid in a ServerHello. Unknown types are skipped. */
static bool parse_extension(uint16_t type, struct bytes body, struct tls_hello *h)
{
    bool empty = bytes_left(&body) == 0;

    switch (type) {
    case EXT_SESSION_TICKET:
        h->has_session_ticket = true;
        return true;
    case EXT_EARLY_DATA:
        h->has_early_data = true;
        return true;
    case EXT_SERVER_NAME:
        return empty || parse_server_name(body, h);
    case EXT_SUPPORTED_GROUPS:
        return empty || parse_list(body, 2, h, &h->groups);
    case EXT_POINT_FORMATS:
        return empty || parse_list(body, 1, h, &h->point_formats);
    case EXT_SIGNATURE_ALGORITHMS:
        return empty || parse_signatures(body, h);
    case EXT_ALPN:
        return empty || parse_list(body, 2, h, &h->alpn);
    case EXT_SUPPORTED_VERSIONS:
        return empty || parse_supported_versions(body, h);
    default:
        return true;
    }
}

/* `extensions` grows with each valid extension: fingerprints stop where the hello becomes
 * invalid. */
static bool parse_extensions(struct bytes *in, struct tls_hello *h)
{
    struct bytes list;
    const uint8_t *start;

    if (!bytes_have(in, 2))
        return true;                /* extensions are optional */
    list = take_sub(in, take_be16(in));
    if (list.failed)
        return bad_length(h);
    start = list.next;
    while (bytes_left(&list) > 0) {
        uint16_t type = take_be16(&list);
        struct bytes body = take_sub(&list, take_be16(&list));

        if (list.failed)
            return bad_length(h);
        if (!parse_extension(type, body, h))
            break;
        h->extensions = (struct slice){ start, (uint32_t)(list.next - start) };
    }
    return true;
}

/* --- the message ---------------------------------------------------------------------------- */

/* Drafts 1 to 21 of TLS 1.3 have the version here, and in the ServerHello neither session id nor
 * compression. */
static bool is_short_server_hello(const struct tls_hello *h)
{
    return h->is_server &&
           (h->legacy_version == TLS_1_3 || tls_version_is_draft(h->legacy_version));
}

/* Versions of early drafts are mapped to one. */
static void parse_version(struct bytes *in, struct tls_hello *h)
{
    uint16_t version = take_be16(in);

    h->legacy_version = version;
    set_version(h, version);
    if ((version >= 0x7f01 && version < 0x7f10) || version == TLS_1_3)
        h->version = TLS_1_3_EARLY_DRAFT;
}

/* What comes before the list of ciphers. */
static void parse_head(struct bytes *in, bool is_server, struct tls_hello *h)
{
    *h = (struct tls_hello){ .is_server = is_server };
    parse_version(in, h);
    h->random = take_slice(in, TLS_RANDOM_LEN);
    if (!is_short_server_hello(h))
        h->session_id = take_slice(in, take_u8(in));
}

struct slice tls_hello_session(struct bytes in, bool is_server)
{
    struct tls_hello h;

    parse_head(&in, is_server, &h);
    return h.session_id;
}

/* False: no hello. *h then has the fields up to the fault. */
bool tls_hello_parse(struct bytes in, bool is_server, struct tls_hello *h)
{
    bool is_short;

    parse_head(&in, is_server, h);
    is_short = is_short_server_hello(h);
    h->ciphers = take_slice(&in, is_server ? 2 : take_be16(&in));
    if (in.failed || h->ciphers.len % 2 != 0)
        return bad_length(h);
    if (!is_short)
        take_skip(&in, is_server ? 1 : take_u8(&in));   /* compression methods */
    if (in.failed)
        return bad_length(h);
    return parse_extensions(&in, h);
}

/* --- lists ---------------------------------------------------------------------------------- */

/* The iterators skip GREASE values and return false at the end or at a truncated entry. */
bool tls_hello_next_value(struct bytes *list, uint16_t *value)
{
    while (bytes_have(list, 2)) {
        *value = take_be16(list);
        if (!tls_is_grease(*value))
            return true;
    }
    return false;
}

bool tls_hello_next_extension(struct bytes *list, uint16_t *type)
{
    while (bytes_have(list, 4)) {
        *type = take_be16(list);
        take_skip(list, take_be16(list));
        if (list->failed)
            return false;
        if (!tls_is_grease(*type))
            return true;
    }
    return false;
}

bool tls_hello_next_alpn(struct bytes *list, struct slice *name)
{
    while (bytes_have(list, 1)) {
        *name = take_slice(list, take_u8(list));
        if (list->failed)
            return false;
        if (name->len > 0)
            return true;
    }
    return false;
}

/* The name at `index`, counted over names that are not empty. */
bool tls_hello_alpn(const struct tls_hello *hello, unsigned index, struct slice *name)
{
    struct bytes list = bytes_of_slice(hello->alpn);

    do {
        if (!tls_hello_next_alpn(&list, name))
            return false;
    } while (index-- > 0);
    return true;
}
