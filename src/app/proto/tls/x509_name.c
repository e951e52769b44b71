/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/x509_name.c - names of certificates as text. Two passes over the same code: the
 * first measures, the second writes into a buffer of that size. */
#include "app/proto/tls/x509_name.h"

#include <stdio.h>
#include <string.h>

/* Without `to` it only counts. */
struct text_sink {
    uint8_t *to;
    size_t len;
};

static void put(struct text_sink *s, const void *data, size_t len)
{
    if (s->to != NULL && len > 0)
        memcpy(s->to + s->len, data, len);
    s->len += len;
}

static void put_string(struct text_sink *s, const char *text)
{
    put(s, text, strlen(text));
}

static void put_number(struct text_sink *s, unsigned value)
{
    char text[12];

    put(s, text, (size_t)snprintf(text, sizeof(text), "%u", value));
}

static void put_hex(struct text_sink *s, struct slice bytes)
{
    static const char digits[] = "0123456789ABCDEF";

    for (uint32_t i = 0; i < bytes.len; i++) {
        put(s, &digits[bytes.data[i] >> 4], 1);
        put(s, &digits[bytes.data[i] & 15], 1);
    }
}

/* --- object identifiers --------------------------------------------------------------------- */

/* Names of the attributes under one arc, by the last number of the identifier. */
struct arc {
    const char *prefix;
    uint8_t prefix_len;
    const char *const *names;
    uint8_t count;
};

/* 2.5.4 (X.520); spelled as Suricata does, because rules match this text. */
static const char *const x520_names[] = {
    "objectClass", "aliasedEntryName", "knowledgeInformation", "CN", "surname", "serialNumber",
    "C", "L", "ST", "streetAddress", "O", "OU", "title", "description", "searchGuide",
    "businessCategory", "postalAddress", "postalCode",
    [41] = "name", [42] = "givenName", [43] = "initials", [44] = "generationQualifier",
    [45] = "uniqueIdentifier", [46] = "dnQualifier",
};
/* 0.9.2342.19200300.100.1 (RFC 4519) */
static const char *const pilot_names[] = { [1] = "uid", [25] = "DC" };
/* 1.2.840.113549.1.9 (PKCS #9) */
static const char *const pkcs9_names[] = {
    [1] = "Email", [2] = "unstructuredName", [3] = "contentType", [4] = "id-messageDigest",
    [5] = "signing-time", [7] = "challengePassword", [14] = "extensionRequest",
    [15] = "smimeCapabilities", [20] = "friendlyName",
};
/* 1.3.6.1.4.1.311.60.2.1 (EV certificates) */
static const char *const jurisdiction_names[] = {
    [1] = "msJurisdictionLocality", [2] = "msJurisdictionStateOrProvince",
    [3] = "msJurisdictionCountry",
};

/* 2.5.29. Identifiers of extensions also occur in names. */
static const char *const extension_names[] = {
    [1] = "oldAuthorityKeyIdentifier", [2] = "oldKeyAttributes", [3] = "oldCertificatePolicies",
    [4] = "oldKeyUsage", [5] = "oldPolicyMapping", [6] = "oldSubtreesConstraint",
    [7] = "oldSubjectAltNAme", [8] = "oldIssuerAltNAme", [14] = "subjectKeyIdentifier",
    [15] = "keyUsage", [16] = "privateKeyUsagePeriod", [17] = "subjectAltName",
    [18] = "issuerAltName", [19] = "basicConstraints", [20] = "crlNumber", [21] = "reasonCode",
    [23] = "holdInstructionCode", [24] = "invalidityDate", [27] = "deltaCRLIndicator",
    [28] = "issuerDistributionPoint", [29] = "issuer", [30] = "nameConstraints",
    [31] = "crlDistributionPoints", [32] = "certificatePolicies", [33] = "policyMappings",
    [35] = "authorityKeyIdentifier", [36] = "policyConstraints", [37] = "extendedKeyUsage",
    [46] = "freshestCRL", [54] = "inhibitantAnyPolicy",
};
/* 2.16.840.1.113730.1 */
static const char *const netscape_names[] = {
    [1] = "nsCertType", [2] = "nsBaseURL", [3] = "nsRevocationURL", [4] = "nsCARevocationURL",
    [5] = "nsCACRLURL", [6] = "nsCACertURL", [7] = "nsRenewalURL", [8] = "nsCAPolicyURL",
    [9] = "nsHomepageURL", [10] = "nsEntityLogo", [11] = "nsUserPicture",
    [12] = "nsSSLServerName", [13] = "nsComment",
};

/* Prefixes in DER. */
static const struct arc arcs[] = {
    { "\x55\x04", 2, x520_names, ARRAY_LEN(x520_names) },
    { "\x09\x92\x26\x89\x93\xf2\x2c\x64\x01", 9, pilot_names, ARRAY_LEN(pilot_names) },
    { "\x2a\x86\x48\x86\xf7\x0d\x01\x09", 8, pkcs9_names, ARRAY_LEN(pkcs9_names) },
    { "\x2b\x06\x01\x04\x01\x82\x37\x3c\x02\x01", 10, jurisdiction_names,
      ARRAY_LEN(jurisdiction_names) },
    { "\x55\x1d", 2, extension_names, ARRAY_LEN(extension_names) },
    { "\x60\x86\x48\x01\x86\xf8\x42\x01", 8, netscape_names, ARRAY_LEN(netscape_names) },
};

/* NULL: no name, printed as numbers. */
static const char *oid_name(struct slice oid)
{
    for (unsigned i = 0; i < ARRAY_LEN(arcs); i++) {
        const struct arc *arc = &arcs[i];

        if (oid.len == arc->prefix_len + 1u && memcmp(oid.data, arc->prefix, oid.len - 1) == 0 &&
            oid.data[oid.len - 1] < arc->count)
            return arc->names[oid.data[oid.len - 1]];
    }
    return NULL;
}

/* "2.5.4.97": the first number on the wire holds the first two (X.690 section 8.19). A number
 * beyond 64 bits loses its top bits, which only hostile names have. */
static void put_oid_numbers(struct text_sink *s, struct slice oid)
{
    char text[24];
    uint64_t value = 0;

    for (uint32_t i = 0, first = 1; i < oid.len; i++) {
        value = value << 7 | (oid.data[i] & 0x7f);
        if (oid.data[i] & 0x80)
            continue;
        if (first) {
            unsigned root = value < 80 ? (unsigned)value / 40 : 2;

            put_number(s, root);
            value -= root * 40;
            first = 0;
        }
        put(s, text, (size_t)snprintf(text, sizeof(text), ".%llu", (unsigned long long)value));
        value = 0;
    }
}

/* --- values --------------------------------------------------------------------------------- */

/* BMP strings have 16 bits per character: three bytes are enough. */
static void put_utf8(struct text_sink *s, unsigned c)
{
    uint8_t u[3];
    size_t n = 1;

    if (c < 0x80) {
        u[0] = (uint8_t)c;
    } else if (c < 0x800) {
        u[0] = (uint8_t)(0xc0 | c >> 6);
        u[1] = (uint8_t)(0x80 | (c & 0x3f));
        n = 2;
    } else {
        u[0] = (uint8_t)(0xe0 | c >> 12);
        u[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
        u[2] = (uint8_t)(0x80 | (c & 0x3f));
        n = 3;
    }
    put(s, u, n);
}

/* Byte strings stay as sent, even if they are no UTF-8, because rules look for bytes. Other types
 * are printed in hex. */
static void put_value(struct text_sink *s, const struct der *value)
{
    struct bytes in = bytes_of_slice(value->content);

    switch (value->tag) {
    case 0x07: case 0x0c: case 0x12: case 0x13: case 0x14: case 0x15: case 0x16: case 0x19:
    case 0x1a: case 0x1b:
        put(s, value->content.data, value->content.len);
        break;
    case DER_BMP_STRING:
        while (bytes_have(&in, 2))
            put_utf8(s, take_be16(&in));
        break;
    default:
        put_hex(s, value->content);
    }
}

/* "CN=example.org". False: malformed. */
static bool put_attribute(struct text_sink *s, struct slice attribute)
{
    struct bytes in = bytes_of_slice(attribute);
    struct slice oid;
    struct der value;
    const char *name;

    if (!der_take_tag(&in, DER_OID, &oid) || !der_take(&in, &value))
        return false;
    name = oid_name(oid);
    if (name != NULL) {
        put_string(s, name);
    } else {
        put_string(s, "OID(");
        put_oid_numbers(s, oid);
        put_string(s, ")");
    }
    put_string(s, "=");
    put_value(s, &value);
    return true;
}

/* A set of several attributes is rare: " + " is between them. */
static bool put_relative_name(struct text_sink *s, struct slice set)
{
    struct bytes in = bytes_of_slice(set);
    struct slice attribute;

    for (bool first = true; bytes_left(&in) > 0; first = false) {
        if (!first)
            put_string(s, " + ");
        if (!der_take_tag(&in, DER_SEQUENCE, &attribute) || !put_attribute(s, attribute))
            return false;
    }
    return true;
}

static bool put_name(struct text_sink *s, struct slice name)
{
    struct bytes in = bytes_of_slice(name);
    struct slice set;

    while (bytes_left(&in) > 0) {
        if (s->len > 0)
            put_string(s, ", ");
        if (!der_take_tag(&in, DER_SET, &set) || !put_relative_name(s, set))
            return false;
    }
    return true;
}

/* False: malformed DER, which becomes an event of the certificate. */
bool x509_name_text(struct slice name, struct arena *arena, struct slice *out)
{
    struct text_sink s = { 0 };

    if (!put_name(&s, name))
        return false;
    s.to = arena_alloc(arena, s.len + 1);
    if (s.to == NULL)
        return false;
    s.len = 0;
    put_name(&s, name);
    *out = (struct slice){ s.to, (uint32_t)s.len };
    return true;
}

/* --- alternative names ---------------------------------------------------------------------- */

/* As Suricata prints addresses: "[192, 0, 2, 1]". */
static void put_address(struct text_sink *s, struct slice address)
{
    put_string(s, "[");
    for (uint32_t i = 0; i < address.len; i++) {
        if (i > 0)
            put_string(s, ", ");
        put_number(s, address.data[i]);
    }
    put_string(s, "]");
}

/* An inner sink, so that the name starts without ", ". */
static bool put_directory_name(struct text_sink *s, struct slice content)
{
    struct bytes in = bytes_of_slice(content);
    struct text_sink inner = { .to = s->to != NULL ? s->to + s->len : NULL };
    struct slice name;

    if (!der_take_tag(&in, DER_SEQUENCE, &name) || !put_name(&inner, name))
        return false;
    s->len += inner.len;
    return true;
}

static bool put_other_name(struct text_sink *s, struct slice content)
{
    struct bytes in = bytes_of_slice(content);
    struct slice oid;

    if (!der_take_tag(&in, DER_OID, &oid))
        return false;
    put_oid_numbers(s, oid);
    put_string(s, ", [...]");
    return true;
}

/* RFC 5280 section 4.2.1.6: the tag is the kind. Kinds without a name here (DNS, URI, address) are
 * printed bare. */
static bool put_general_name(struct text_sink *s, const struct der *name)
{
    static const char *const kinds[] = {
        "OtherName(", "RFC822Name(", "", "X400Address(", "DirectoryName(", "EDIPartyName(", "", "",
        "RegisteredID(",
    };
    unsigned kind = name->tag & 0x1f;
    bool sound = true;

    if ((name->tag & 0xc0) != DER_CONTEXT || kind >= ARRAY_LEN(kinds))
        return false;
    put_string(s, kinds[kind]);
    switch (kind) {
    case 0:
        sound = put_other_name(s, name->content);
        break;
    case 3:
    case 5:
        put_string(s, "<unparsed>");
        break;
    case 4:
        sound = put_directory_name(s, name->content);
        break;
    case 7:
        put_address(s, name->content);
        break;
    case 8:
        put_oid_numbers(s, name->content);
        break;
    default:
        put(s, name->content.data, name->content.len);
    }
    if (kinds[kind][0] != '\0')
        put_string(s, ")");
    return sound;
}

bool x509_general_name_text(const struct der *name, struct arena *arena, struct slice *out)
{
    struct text_sink s = { 0 };

    if (!put_general_name(&s, name))
        return false;
    s.to = arena_alloc(arena, s.len + 1);
    if (s.to == NULL)
        return false;
    s.len = 0;
    put_general_name(&s, name);
    *out = (struct slice){ s.to, (uint32_t)s.len };
    return true;
}
