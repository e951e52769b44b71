/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/version.h - SSL and TLS versions: 16 bits, major and minor, as on the wire. */
#ifndef APP_TLS_VERSION_H
#define APP_TLS_VERSION_H

#include "base/base.h"

enum {
    TLS_UNDETERMINED = 0,
    SSL_2 = 0x0200,
    SSL_3 = 0x0300,
    TLS_1_0 = 0x0301,
    TLS_1_1 = 0x0302,
    TLS_1_2 = 0x0303,
    TLS_1_3 = 0x0304,
    TLS_1_3_EARLY_DRAFT = 0x7f01,       /* before draft 16: they did not number themselves */
};

/* "TLS 1.2", as in EVE; "UNDETERMINED" for 0; an unknown number is written to buf. */
#define TLS_VERSION_TEXT 32
const char *tls_version_name(uint16_t version, char buf[TLS_VERSION_TEXT]);
bool tls_version_known(uint16_t version);       /* has a name; 0 has one, too */
/* True if it may be in a record or in supported_versions. */
static inline bool tls_version_valid(uint16_t version)
{
    return version >= SSL_3 && tls_version_known(version);
}

static inline bool tls_version_is_draft(uint16_t version) { return version >> 8 == 0x7f; }

/* RFC 8701: values that clients throw in to keep servers tolerant. */
static inline bool tls_is_grease(uint16_t value)
{
    return (value & 0x0f0f) == 0x0a0a && value >> 8 == (value & 0xff);
}

/* The extension type as QUIC's records and JA3 show it: one value for all of GREASE. */
static inline uint16_t tls_extension_shown(uint16_t type)
{
    return (type & 0x0f0f) == 0x0a0a ? 0xfafa : type;
}

#endif
