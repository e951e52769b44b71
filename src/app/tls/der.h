/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tls/der.h - DER elements through the cursor: tag, length, content. */
#ifndef APP_TLS_DER_H
#define APP_TLS_DER_H

#include "base/bytes.h"

enum {
    DER_BOOLEAN = 0x01, DER_INTEGER = 0x02, DER_BIT_STRING = 0x03, DER_OCTET_STRING = 0x04,
    DER_OID = 0x06, DER_BMP_STRING = 0x1e, DER_UTC_TIME = 0x17, DER_GENERALIZED_TIME = 0x18,
    DER_SEQUENCE = 0x30, DER_SET = 0x31,
    DER_CONTEXT = 0x80, DER_CONTEXT_CONSTRUCTED = 0xa0,
};

struct der {
    uint8_t tag;                /* class and form included; tags above 30 are refused */
    struct slice content;
};

/* The next element. False, and the cursor failed, when there is none that is whole. */
static inline bool der_take(struct bytes *in, struct der *out)
{
    unsigned length;

    out->tag = take_u8(in);
    length = take_u8(in);
    if (length > 0x80) {
        unsigned octets = length & 0x7f;

        length = 0;
        if (octets > 4)
            in->failed = true;
        while (octets-- > 0 && !in->failed)
            length = length << 8 | take_u8(in);
    } else if (length == 0x80 || (out->tag & 0x1f) == 0x1f) {
        in->failed = true;          /* of indefinite length is BER */
    }
    out->content = take_slice(in, length);
    return !in->failed;
}

static inline bool der_take_tag(struct bytes *in, uint8_t tag, struct slice *content)
{
    struct der d;

    if (!der_take(in, &d) || d.tag != tag) {
        in->failed = true;
        return false;
    }
    *content = d.content;
    return true;
}

#endif
