/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/krb5/message.c - KDC-REQ, KDC-REP and KRB-ERROR (RFC 4120 sections 5.4 and 5.9).
 *
 * Members have context tags [n] in ascending order. krb5_enter() leaves the cursor where it is when
 * the next tag is another one, so an optional member that is missing costs nothing; a mandatory one
 * that is missing shows as a failed cursor. */
#include "app/proto/krb5/krb5.h"

/* An optional member: skips it when it is there. */
static void skip_member(struct bytes *in, unsigned n)
{
    (void)krb5_enter(in, n);
}

/* `pvno` [n] and `msg-type` [n + 1]. Their values do not matter: the APPLICATION tag already says
 * which message this is. */
static bool take_version(struct bytes *in, unsigned n)
{
    struct bytes version = krb5_enter(in, n), type = krb5_enter(in, n + 1);

    (void)der_take_int(&version);
    (void)der_take_int(&type);
    return !version.failed && !type.failed;
}

/* True when the name is missing or readable; false only for a name that is there but malformed. */
static bool take_optional_name(struct bytes *in, unsigned n, bool *has, struct krb5_name *out)
{
    struct bytes name = krb5_enter(in, n);

    *has = !name.failed;
    return name.failed || krb5_take_name(&name, out);
}

/* KDC-REQ (RFC 4120 section 5.4.1): [1] version, [2] type, [3] padata, [4] KDC-REQ-BODY. The body:
 * [0] kdc-options, [1] cname (not in a TGS request), [2] realm, [3] sname (optional). */
static bool read_request(struct bytes in, struct krb5_message *m)
{
    struct bytes outer, body, options, realm;

    if (!take_version(&in, 1))
        return false;
    skip_member(&in, 3);    /* padata: authentication data, not examined */
    outer = krb5_enter(&in, 4);
    body = der_enter(&outer, DER_SEQUENCE);
    options = krb5_enter(&body, 0);
    if (options.failed || !take_optional_name(&body, 1, &m->has_client, &m->client))
        return false;
    realm = krb5_enter(&body, 2);
    m->has_realm = krb5_take_realm(&realm, &m->realm);
    return m->has_realm && take_optional_name(&body, 3, &m->has_server, &m->server);
}

/* KDC-REP (RFC 4120 section 5.4.2): [2] padata, [3] crealm, [4] cname, [5] ticket, [6] enc-part.
 * The server's name is in the ticket. All members but padata are mandatory. */
static bool read_reply(struct bytes in, struct krb5_message *m)
{
    struct bytes realm, client, ticket, sealed;
    struct krb5_ticket t;

    if (!take_version(&in, 0))
        return false;
    skip_member(&in, 2);
    realm = krb5_enter(&in, 3);
    client = krb5_enter(&in, 4);
    ticket = krb5_enter(&in, 5);
    sealed = krb5_enter(&in, 6);
    if (!krb5_take_realm(&realm, &m->realm) || !krb5_take_name(&client, &m->client) ||
        !krb5_take_ticket(&ticket, &t) || !krb5_take_encryption(&sealed, &m->encryption))
        return false;
    m->has_realm = m->has_client = m->has_server = m->has_encryption = m->has_ticket = true;
    m->server = t.server;
    m->ticket_encryption = t.encryption;
    return true;
}

/* KRB-ERROR (RFC 4120 section 5.9.1): [2] ctime and [3] cusec of the client, [4] stime and [5]
 * susec of the server, [6] error-code, [7] crealm, [8] cname, [9] realm, [10] sname. Client fields
 * are optional. The realm of the server is read for its syntax only; `realm` in records is the
 * client's. */
static bool read_error(struct bytes in, struct krb5_message *m)
{
    struct bytes code, realm, server_realm, server;
    struct slice ignored;

    if (!take_version(&in, 0))
        return false;
    skip_member(&in, 2);
    skip_member(&in, 3);        /* ctime */
    skip_member(&in, 4);        /* cusec */
    skip_member(&in, 5);        /* stime */
    code = krb5_enter(&in, 6);  /* susec */
    m->error = (int32_t)der_take_int(&code);
    realm = krb5_enter(&in, 7);
    m->has_realm = !realm.failed && krb5_take_realm(&realm, &m->realm);
    if (code.failed || !take_optional_name(&in, 8, &m->has_client, &m->client))
        return false;
    server_realm = krb5_enter(&in, 9);
    server = krb5_enter(&in, 10);
    m->has_server = true;
    return krb5_take_realm(&server_realm, &ignored) && krb5_take_name(&server, &m->server);
}

/* Sets out->type even when the result is false: the caller needs it to pair replies with requests.
 * Types other than these six have no fields that rules or records use. */
bool krb5_read_message(struct slice in, struct krb5_message *out)
{
    struct bytes bytes = bytes_of_slice(in), outer, body;

    /* The number of the tag is the message type (RFC 4120 section 5.10). */
    out->type = peek_u8(&bytes) & 0x1f;
    outer = der_enter(&bytes, peek_u8(&bytes));
    body = der_enter(&outer, DER_SEQUENCE);
    switch (out->type) {
    case KRB5_AS_REQ:
    case KRB5_TGS_REQ:
        return read_request(body, out);
    case KRB5_AS_REP:
    case KRB5_TGS_REP:
        return read_reply(body, out);
    case KRB5_ERROR:
        return read_error(body, out);
    default:
        return false;
    }
}
