/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/version.c - names of versions, including the drafts of TLS 1.3. */
#include "app/proto/tls/version.h"

#include <stdio.h>

static const struct { uint16_t version; const char *name; } names[] = {
    { TLS_UNDETERMINED, "UNDETERMINED" },
    { SSL_2, "SSLv2" },
    { SSL_3, "SSLv3" },
    { TLS_1_0, "TLSv1" },
    { TLS_1_1, "TLS 1.1" },
    { TLS_1_2, "TLS 1.2" },
    { TLS_1_3, "TLS 1.3" },
    { TLS_1_3_EARLY_DRAFT, "TLS 1.3 draft-<16" },
};

/* 0x7f10 to 0x7f1c are drafts 16 to 28; 0xfb.. are variants that Facebook used before the RFC. */
static unsigned draft_of(uint16_t version)
{
    unsigned minor = version & 0xff;

    if (version >> 8 == 0x7f && minor >= 16 && minor <= 28)
        return minor;
    if (version >> 8 == 0xfb && ((minor >= 20 && minor <= 23) || minor == 26))
        return minor;
    return 0;
}

static const char *plain_name(uint16_t version)
{
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].version == version)
            return names[i].name;
    return NULL;
}

bool tls_version_known(uint16_t version)
{
    return plain_name(version) != NULL || draft_of(version) != 0;
}

/* `buf` has the text of a version without a fixed name. */
const char *tls_version_name(uint16_t version, char buf[TLS_VERSION_TEXT])
{
    const char *name = plain_name(version);
    unsigned draft = draft_of(version);

    if (name != NULL)
        return name;
    if (draft == 0)
        snprintf(buf, TLS_VERSION_TEXT, "%u", version);
    else
        snprintf(buf, TLS_VERSION_TEXT, "TLS 1.3 draft-%u%s", draft & 31,
                 version >> 8 == 0xfb ? "-fb" : "");
    return buf;
}
