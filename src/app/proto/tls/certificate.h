/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/certificate.h - the data of an X.509 certificate (RFC 5280) for rules and logs.
 *
 * It is parsed but not verified: no signature, no key, no path. Names are text in Suricata's
 * form. */
#ifndef APP_TLS_CERTIFICATE_H
#define APP_TLS_CERTIFICATE_H

#include "app/lib/digest.h"
#include "base/memory/arena.h"

/* The part that is broken. */
enum tls_certificate_fault {
    CERT_SOUND,
    CERT_LENGTH,                /* it ends before it is over */
    CERT_DER,                   /* it is something else altogether */
    CERT_INVALID,               /* some part without a name here */
    CERT_VERSION,
    CERT_SERIAL,
    CERT_ALGORITHM,
    CERT_NAME,
    CERT_DATE,
    CERT_EXTENSIONS,
};

struct tls_certificate {
    struct slice subject, issuer;       /* "C=US, O=Example, CN=example.org"; may be empty */
    struct slice serial;                /* "0A:FF:..." */
    struct slice fingerprint;           /* SHA1, "0a:ff:..." */
    int64_t not_before, not_after;      /* seconds since 1970, negative before */
    struct slice *alt_names;
    unsigned alt_name_count;
    bool has_local_date;                /* one is not in UTC, which X.509 does not allow */
};

#define TLS_ALT_NAMES_MAX 1024

/* Texts are written to the arena; the size of the certificate limits them. */
enum tls_certificate_fault tls_certificate_parse(struct slice der, struct digests *digests,
                                                 struct arena *arena,
                                                 struct tls_certificate *out);

#endif
