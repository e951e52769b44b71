/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/asn1/der.c - lengths, integers and object identifiers (X.690). */
#include "app/lib/asn1/der.h"

#include <stdio.h>

/* Size of the value that begins here, from its tag and length only. BAD: tags of more than one
 * octet (8.1.2.4), the indefinite form (8.1.3.6), and lengths of more than four octets; no protocol
 * here needs them, and the caller would have to buffer such a length. */
enum der_framing der_frame(struct bytes in, uint64_t *size)
{
    const uint8_t *start = in.next;
    uint8_t tag = take_u8(&in);
    uint64_t length = take_u8(&in);

    if (in.failed)
        return DER_FRAME_MORE;
    if ((tag & 0x1f) == 0x1f || length == 0x80 || length > 0x84)
        return DER_FRAME_BAD;
    if (length > 0x80) {
        unsigned octets = length & 0x7f;

        length = 0;
        while (octets-- > 0)
            length = length << 8 | take_u8(&in);
    }
    if (in.failed)
        return DER_FRAME_MORE;
    *size = (uint64_t)(in.next - start) + length;
    return DER_FRAME_OK;
}

/* Two's complement, 8.3. False: empty, or more than 64 bits. */
bool der_int(struct slice content, int64_t *out)
{
    uint64_t value;

    if (content.len == 0 || content.len > 8)
        return false;
    value = content.data[0] & 0x80 ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < content.len; i++)
        value = value << 8 | content.data[i];
    *out = (int64_t)value;
    return true;
}

/* Not negative. Leading zero octets do not count towards the 64 bits. */
bool der_uint(struct slice content, uint64_t *out)
{
    if (content.len == 0 || content.data[0] & 0x80)
        return false;
    while (content.len > 1 && content.data[0] == 0) {
        content.data++;
        content.len--;
    }
    if (content.len > 8)
        return false;
    *out = 0;
    for (uint32_t i = 0; i < content.len; i++)
        *out = *out << 8 | content.data[i];
    return true;
}

/* A failure shows in in->failed, so several takes need one check. */
int64_t der_take_int(struct bytes *in)
{
    struct slice content;
    int64_t value;

    if (der_take_tag(in, DER_INTEGER, &content) && der_int(content, &value))
        return value;
    in->failed = true;
    return 0;
}

/* One subidentifier: base 128, the high bit says that more follows (X.690, 8.19.2). False when it
 * ends early or would not fit 64 bits. */
static bool take_arc(struct bytes *in, uint64_t *out)
{
    uint8_t octet;

    *out = 0;
    do {
        octet = take_u8(in);
        if (in->failed || *out >> 57 != 0)
            return false;
        *out = *out << 7 | (octet & 0x7f);
    } while (octet & 0x80);
    return true;
}

/* Returns n unchanged if there is no space, so the text ends before this arc, not inside it. */
static size_t add_arc(char *out, size_t size, size_t n, uint64_t arc)
{
    int more = snprintf(out + n, size - n, n == 0 ? "%llu" : ".%llu", (unsigned long long)arc);

    return more > 0 && (size_t)more < size - n ? n + (size_t)more : n;
}

/* Does a subidentifier behind the first octet have ten octets or more? The value would need more
 * than 64 bits, if only by leading zeros. */
static bool has_long_arc(struct slice content)
{
    unsigned octets = 0, most = 0;

    for (uint32_t i = 1; i < content.len; i++) {
        octets++;
        most = MAX(most, octets);
        if (!(content.data[i] & 0x80))
            octets = 0;
    }
    return most > 9;
}

/* "2b 80 01" */
static size_t hex_text(struct slice content, char *out, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;

    for (uint32_t i = 0; i < content.len && n + 3 < size; i++) {
        if (i > 0)
            out[n++] = ' ';
        out[n++] = digits[content.data[i] >> 4];
        out[n++] = digits[content.data[i] & 15];
    }
    out[n] = '\0';
    return n;
}

static size_t dotted_text(struct slice content, char *out, size_t size)
{
    struct bytes in = bytes_of_slice(content);
    uint64_t arc;
    size_t n = 0;

    out[0] = '\0';
    if (!take_arc(&in, &arc))
        return 0;
    n = add_arc(out, size, n, MIN(arc / 40, 2));
    n = add_arc(out, size, n, arc - 40 * MIN(arc / 40, 2));
    while (bytes_left(&in) > 0) {
        size_t before = n;

        if (!take_arc(&in, &arc))
            break;
        n = add_arc(out, size, n, arc);
        if (n == before)
            break;
    }
    out[n] = '\0';
    return n;
}

/* The first subidentifier holds two arcs, 40 * X + Y with X at most 2 (X.690, 8.19.4). Text that
 * does not fit, or an arc that is cut, ends the result early. One that is too long makes all of it
 * hexadecimal, as in Suricata. */
size_t der_oid_text(struct slice content, char *out, size_t size)
{
    if (has_long_arc(content))
        return hex_text(content, out, size);
    return dotted_text(content, out, size);
}
