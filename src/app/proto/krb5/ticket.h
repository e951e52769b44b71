/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/krb5/ticket.h - names and tickets of Kerberos 5 (RFC 4120 sections 5.2 and 5.3). Shared
 * by the protocol itself and by what carries its tickets (SPNEGO in SMB). Borrows the bytes. */
#ifndef APP_KRB5_TICKET_H
#define APP_KRB5_TICKET_H

#include "app/lib/asn1/der.h"

#define KRB5_NAME_PARTS 8           /* of a principal's name; more are left out */

struct krb5_name {
    struct slice part[KRB5_NAME_PARTS];
    unsigned count;
};

struct krb5_ticket {
    struct slice realm;
    struct krb5_name server;
    int32_t encryption;             /* of its sealed part */
};

/* Returns a cursor over the content of the next element if its tag is [n]. Failed, with *in
 * unchanged, if it has another tag. */
struct bytes krb5_enter(struct bytes *in, unsigned n);
/* PrincipalName, Realm, Ticket as the next element; false: malformed. */
bool krb5_take_name(struct bytes *in, struct krb5_name *out);
bool krb5_take_realm(struct bytes *in, struct slice *out);
bool krb5_take_ticket(struct bytes *in, struct krb5_ticket *out);
/* etype of the EncryptedData that is next. */
bool krb5_take_encryption(struct bytes *in, int32_t *out);
/* The ticket in the AP-REQ that is next. */
bool krb5_take_ap_req(struct bytes *in, struct krb5_ticket *out);
/* ... within a GSS-API token (RFC 4121 section 4.1). */
bool krb5_gss_ticket(struct slice token, struct krb5_ticket *out);

#endif
