/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/krb5/ticket.c - names and tickets (RFC 4120 section 5). */
#include "app/proto/krb5/ticket.h"

/* APPLICATION tags 1 and 14 of RFC 4120; tag 0 of RFC 2743 section 3.1. */
enum { APPLICATION_TICKET = 0x61, APPLICATION_AP_REQ = 0x6e, GSS_TOKEN = 0x60 };

/* Does not consume anything when the next member has another tag: members can be optional. */
struct bytes krb5_enter(struct bytes *in, unsigned n)
{
    if (bytes_left(in) == 0 || der_peek(in) != (DER_CONTEXT_CONSTRUCTED | n))
        return (struct bytes){ .next = NULL, .end = NULL, .failed = true };
    return der_enter(in, (uint8_t)(DER_CONTEXT_CONSTRUCTED | n));
}

/* PrincipalName (RFC 4120 section 5.2.2): [0] name-type, [1] a sequence of KerberosString. Parts
 * after the eighth are parsed for their syntax and dropped, so a name of thousands of parts does
 * not cost memory. An empty list is valid: zero parts. */
bool krb5_take_name(struct bytes *in, struct krb5_name *out)
{
    struct bytes name = der_enter(in, DER_SEQUENCE), type = krb5_enter(&name, 0);
    struct bytes parts = krb5_enter(&name, 1), list = der_enter(&parts, DER_SEQUENCE);

    *out = (struct krb5_name){ 0 };
    (void)der_take_int(&type);
    while (!list.failed && bytes_left(&list) > 0) {
        struct der part;

        if (!der_take(&list, &part))
            return false;
        if (out->count < KRB5_NAME_PARTS)
            out->part[out->count++] = part.content;
    }
    return !type.failed && !list.failed;
}

/* Realm (RFC 4120 section 5.2.2) is a GeneralString; its characters are not checked. */
bool krb5_take_realm(struct bytes *in, struct slice *out)
{
    return der_take_tag(in, DER_GENERAL_STRING, out);
}

/* EncryptedData (RFC 4120 section 5.2.9): [0] etype comes first. The rest is cipher text. */
bool krb5_take_encryption(struct bytes *in, int32_t *out)
{
    struct bytes data = der_enter(in, DER_SEQUENCE), type = krb5_enter(&data, 0);

    *out = (int32_t)der_take_int(&type);
    return !type.failed;
}

/* Ticket (RFC 4120 section 5.3): [0] tkt-vno, [1] realm, [2] sname, [3] enc-part. A member that is
 * missing fails its cursor, and all four are mandatory. */
bool krb5_take_ticket(struct bytes *in, struct krb5_ticket *out)
{
    struct bytes outer = der_enter(in, APPLICATION_TICKET);
    struct bytes ticket = der_enter(&outer, DER_SEQUENCE), version = krb5_enter(&ticket, 0);
    struct bytes realm = krb5_enter(&ticket, 1), name = krb5_enter(&ticket, 2);
    struct bytes sealed = krb5_enter(&ticket, 3);

    (void)der_take_int(&version);
    return krb5_take_realm(&realm, &out->realm) && krb5_take_name(&name, &out->server) &&
           krb5_take_encryption(&sealed, &out->encryption) && !version.failed;
}

/* AP-REQ (RFC 4120 section 5.5.1): [0] pvno, [1] msg-type, [2] ap-options, [3] ticket, then an
 * authenticator, which is encrypted and not read. */
bool krb5_take_ap_req(struct bytes *in, struct krb5_ticket *out)
{
    struct bytes outer = der_enter(in, APPLICATION_AP_REQ), req = der_enter(&outer, DER_SEQUENCE);
    struct bytes version = krb5_enter(&req, 0), type = krb5_enter(&req, 1);
    struct bytes options = krb5_enter(&req, 2), ticket = krb5_enter(&req, 3);

    return !version.failed && !type.failed && !options.failed && krb5_take_ticket(&ticket, out);
}

/* The initial context token of GSS-API (RFC 4121 section 4.1): an OID of the mechanism, a token
 * identifier of two bytes, and for the first token an AP-REQ. Which OID it is does not matter:
 * another mechanism's token does not parse as an AP-REQ. */
bool krb5_gss_ticket(struct slice token, struct krb5_ticket *out)
{
    struct bytes in = bytes_of_slice(token), inner = der_enter(&in, GSS_TOKEN);
    struct slice mechanism;

    if (!der_take_tag(&inner, DER_OID, &mechanism))
        return false;
    take_skip(&inner, 2);               /* TOK_ID */
    return krb5_take_ap_req(&inner, out);
}
