/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/asn1/der.h - reads DER elements (X.690) with the cursor: tag, length, content. For the
 * protocols that are specified in ASN.1. Borrows the bytes, allocates nothing. */
#ifndef APP_ASN1_DER_H
#define APP_ASN1_DER_H

#include "base/text/bytes.h"

enum {
    DER_BOOLEAN = 0x01, DER_INTEGER = 0x02, DER_BIT_STRING = 0x03, DER_OCTET_STRING = 0x04,
    DER_NULL = 0x05, DER_OID = 0x06, DER_ENUMERATED = 0x0a, DER_UTF8_STRING = 0x0c,
    DER_PRINTABLE_STRING = 0x13, DER_IA5_STRING = 0x16, DER_UTC_TIME = 0x17,
    DER_GENERALIZED_TIME = 0x18, DER_GENERAL_STRING = 0x1b, DER_BMP_STRING = 0x1e,
    DER_SEQUENCE = 0x30, DER_SET = 0x31,
    DER_APPLICATION = 0x40, DER_APPLICATION_CONSTRUCTED = 0x60,
    DER_CONTEXT = 0x80, DER_CONTEXT_CONSTRUCTED = 0xa0,
};

struct der {
    uint8_t tag;                /* class and form included; numbers above 30 are refused */
    struct slice content;
};

/* Takes the next element. False, and the cursor failed, when no complete element follows. */
static inline bool der_take(struct bytes *in, struct der *out)
{
    unsigned length;

    out->tag = take_u8(in);
    if ((out->tag & 0x1f) == 0x1f) {    /* more octets than needed, which some devices send */
        uint8_t number = take_u8(in);

        if (number > 30)
            in->failed = true;
        out->tag = (uint8_t)((out->tag & 0xe0) | (number & 0x1f));
    }
    length = take_u8(in);
    if (length > 0x80) {
        unsigned octets = length & 0x7f;

        length = 0;
        if (octets > 4)
            in->failed = true;
        while (octets-- > 0 && !in->failed)
            length = length << 8 | take_u8(in);
    } else if (length == 0x80) {
        in->failed = true;          /* indefinite length is BER */
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

/* Takes the next element and returns a cursor over its content; failed when it has another tag. */
static inline struct bytes der_enter(struct bytes *in, uint8_t tag)
{
    struct slice content;

    if (!der_take_tag(in, tag, &content))
        return (struct bytes){ .next = NULL, .end = NULL, .failed = true };
    return bytes_of_slice(content);
}

/* Returns the tag of the next element without taking it; 0 at the end. */
static inline uint8_t der_peek(const struct bytes *in)
{
    return peek_u8(in);
}

enum der_framing { DER_FRAME_OK, DER_FRAME_MORE, DER_FRAME_BAD };
/* Sets *size to the size of the element that begins here, its header included, even if not all of
 * it is there. MORE: its header is incomplete. */
enum der_framing der_frame(struct bytes in, uint64_t *size);

/* Reads INTEGER or ENUMERATED content. False when empty or wider than 64 bits. */
bool der_int(struct slice content, int64_t *out);
/* The same for numbers without sign; ignores leading zeros. False when empty, negative or too
 * wide. */
bool der_uint(struct slice content, uint64_t *out);
/* Takes the next element as an integer; the cursor fails if its tag is not INTEGER. */
int64_t der_take_int(struct bytes *in);

/* Writes "1.3.6.1", truncated to the size of `out`. Returns the length without the NUL; 0: not an
 * OID. */
size_t der_oid_text(struct slice content, char *out, size_t size);

#endif
