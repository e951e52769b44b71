/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/x509_name.h - distinguished and alternative names as text. */
#ifndef APP_TLS_X509_NAME_H
#define APP_TLS_X509_NAME_H

#include "app/lib/asn1/der.h"
#include "base/memory/arena.h"

/* Content of a Name's SEQUENCE as "C=US, O=Example, CN=example.org"; several attributes in one
 * relative name are joined by " + ". False: it is no name. */
bool x509_name_text(struct slice name, struct arena *arena, struct slice *out);

/* Writes one GeneralName: a host name or URI unchanged, an address as "[192, 0, 2, 1]", others with
 * their kind: "RFC822Name(who@example.org)". */
bool x509_general_name_text(const struct der *name, struct arena *arena, struct slice *out);

#endif
