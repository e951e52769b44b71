/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/auth.c - the user who logs on: SPNEGO (RFC 4178) around NTLMSSP ([MS-NLMP]) or a
 * Kerberos ticket (RFC 4121); NTLMSSP also without SPNEGO. Nothing is decrypted: names are sent in
 * the clear. */
#include "app/parser.h"
#include "app/proto/smb/events.h"
#include "app/proto/smb/tx.h"

#define NTLMSSP_AUTHENTICATE 3      /* [MS-NLMP] section 2.2.1.3 */
#define FLAG_VERSION 0x02000000u    /* NTLMSSP_NEGOTIATE_VERSION */

/* Object identifiers in DER: SPNEGO 1.3.6.1.5.5.2, Kerberos 5 1.2.840.113554.1.2.2, NTLMSSP
 * 1.3.6.1.4.1.311.2.2.10. */
static const uint8_t spnego_oid[] = { 0x2b, 6, 1, 5, 5, 2 };
static const uint8_t kerberos_oid[] = { 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2 };
static const uint8_t ntlmssp_oid[] = { 0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10 };

/* --- NTLMSSP -------------------------------------------------------------------------------- */

struct field { uint32_t offset, len; };     /* from the start of the NTLMSSP message */

/* Length and offset of a field come from the client: one beyond the message fails here, before
 * anything reads it. *first becomes the lowest offset, where the payload begins. */
static struct field take_field(struct bytes *in, uint32_t complete, uint32_t *first)
{
    struct field f;

    f.len = take_le16(in);
    take_skip(in, 2);               /* allocated length */
    f.offset = take_le32(in);
    if (f.len >= complete || f.offset >= complete)
        in->failed = true;
    *first = MIN(*first, f.offset);
    return f;
}

/* Copies a field without the zero bytes of UTF-16. 12 bytes are signature and message type: a field
 * cannot begin within them. */
static bool get_field(struct smb_tx *t, struct slice message, struct field f, struct slice *out)
{
    struct bytes in = bytes_of_slice(message);

    if (f.offset < 12)
        return false;
    take_skip(&in, f.offset);
    *out = smb_keep_text(t, take_slice(&in, f.len));
    return !in.failed;
}

/* AUTHENTICATE_MESSAGE, [MS-NLMP] section 2.2.1.3. The version (8 bytes) is present when the flag
 * is set and the payload leaves space for it. Normal clients send domain, user and host in this
 * order; another order is an event, because tools that build the message by hand differ here. A
 * malformed message leaves the transaction without names. */
static void read_authenticate(struct smb_tx *t, struct slice message)
{
    struct bytes in = bytes_of_slice(message);
    struct field field[6];          /* LM and NT response, domain, user, host, session key */
    struct smb_ntlmssp n = { 0 };
    uint32_t first = UINT32_MAX, flags;

    take_skip(&in, 12);     /* signature, message type */
    for (unsigned i = 0; i < ARRAY_LEN(field); i++)
        field[i] = take_field(&in, message.len, &first);
    flags = take_le32(&in);
    if (in.failed)
        return;
    n.has_version = (flags & FLAG_VERSION) != 0 &&
                    first >= (uint32_t)(in.next - message.data) + 8;
    if (n.has_version) {
        n.major = take_u8(&in);
        n.minor = take_u8(&in);
        n.build = take_le16(&in);
        take_skip(&in, 3);  /* reserved */
        n.revision = take_u8(&in);
    }
    if (in.failed || !get_field(t, message, field[2], &n.domain) ||
        !get_field(t, message, field[3], &n.user) || !get_field(t, message, field[4], &n.host))
        return;
    n.unusual_order =
        (field[3].offset > 0 && field[3].offset < field[2].offset + field[2].len) ||
        (field[4].offset > 0 && field[4].offset < field[3].offset + field[3].len);
    if (n.unusual_order)
        app_tx_event(&t->tx, SMB_UNUSUAL_NTLMSSP_ORDER);
    t->setup.ntlmssp = arena_copy(&t->tx.arena, &n, sizeof(n));
}

/* Finds the signature anywhere in the token, so that SPNEGO with malformed DER does not hide it.
 * Only the third message of the exchange names the user. */
static void read_ntlmssp(struct smb_tx *t, struct slice token)
{
    const uint8_t *hit = token.len > 0 ? memmem(token.data, token.len, "NTLMSSP", 8) : NULL;
    struct bytes in;
    struct slice message;

    if (hit == NULL)
        return;
    message = (struct slice){ hit, token.len - (uint32_t)(hit - token.data) };
    in = bytes_of_slice(message);
    take_skip(&in, 8);
    if (take_le32(&in) == NTLMSSP_AUTHENTICATE)
        read_authenticate(t, message);
}

/* --- SPNEGO --------------------------------------------------------------------------------- */

static bool is_oid(struct slice s, const uint8_t *oid, size_t len)
{
    return s.len == len && memcmp(s.data, oid, len) == 0;
}

struct mechanisms { bool kerberos, ntlmssp; };  /* what mechTypes lists */

/* RFC 4178 section 4.2.1: the list of mechanisms that the client offers. */
static void read_mechanisms(struct bytes list, struct mechanisms *m)
{
    struct der d;

    while (bytes_left(&list) > 0 && der_take(&list, &d)) {
        if (d.tag != DER_OID)
            continue;
        m->kerberos |= is_oid(d.content, kerberos_oid, sizeof(kerberos_oid));
        m->ntlmssp |= is_oid(d.content, ntlmssp_oid, sizeof(ntlmssp_oid));
    }
}

/* The ticket borrows from the record: its names are copied into the transaction's arena. */
static void keep_ticket(struct smb_tx *t, const struct krb5_ticket *found)
{
    struct krb5_ticket *ticket = arena_copy(&t->tx.arena, found, sizeof(*found));

    if (ticket == NULL)
        return;
    ticket->realm = smb_keep(t, ticket->realm);
    for (unsigned i = 0; i < ticket->server.count; i++)
        ticket->server.part[i] = smb_keep(t, ticket->server.part[i]);
    t->setup.ticket = ticket;
}

/* The token of the client's preferred mechanism. Kerberos first: a ticket names the realm and the
 * server; NTLMSSP is tried when there is none. */
static void read_inner_token(struct smb_tx *t, struct slice token, const struct mechanisms *m)
{
    struct krb5_ticket ticket;

    if (m->kerberos && krb5_gss_ticket(token, &ticket))
        keep_ticket(t, &ticket);
    if (m->ntlmssp && t->setup.ticket == NULL)
        read_ntlmssp(t, token);
}

/* The members of NegTokenInit (RFC 4178 section 4.2.1): each is wrapped in a context tag. The list
 * of mechanisms comes before the token, which is read by what the list holds. */
static void read_negotiation(struct smb_tx *t, struct bytes members)
{
    struct mechanisms m = { 0 };
    struct der member, inner;

    while (bytes_left(&members) > 0 && der_take(&members, &member)) {
        struct bytes in = bytes_of_slice(member.content);

        if (!der_take(&in, &inner))
            continue;
        if (inner.tag == DER_SEQUENCE)
            read_mechanisms(bytes_of_slice(inner.content), &m);
        else if (inner.tag == DER_OCTET_STRING)
            read_inner_token(t, inner.content, &m);
    }
}

/* Reads the security blob of a logon: the GSS-API frame with SPNEGO's identifier (RFC 2743 section
 * 3.1). Anything else is searched for NTLMSSP. */
void smb_read_token(struct smb_tx *t, struct slice token)
{
    struct bytes in = bytes_of_slice(token), frame, choice;
    struct der outer, next;
    struct slice oid;

    if (!der_take(&in, &outer)) {
        read_ntlmssp(t, token);
        return;
    }
    frame = bytes_of_slice(outer.content);
    if (!der_take_tag(&frame, DER_OID, &oid) || !is_oid(oid, spnego_oid, sizeof(spnego_oid)) ||
        !der_take(&frame, &next)) {
        read_ntlmssp(t, token);
        return;
    }
    choice = bytes_of_slice(next.content);
    read_negotiation(t, der_enter(&choice, DER_SEQUENCE));
}
