/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/quic/packet.c - packet headers: long ones (RFC 9000 section 17.2) of all versions, and
 * Google's short ones with a version. */
#include "app/proto/quic/quic.h"

#define GOOGLE_DCID  0x08
#define GOOGLE_NONCE 0x04
#define GOOGLE_VERSION 0x01
#define GOOGLE_MULTIPATH 0x40

/* A variable-length integer, RFC 9000 section 16. */
uint64_t quic_take_number(struct bytes *in)
{
    uint8_t first = take_u8(in);
    uint64_t value = first & 0x3f;

    for (unsigned more = (1u << (first >> 6)) - 1; more > 0; more--)
        value = value << 8 | take_u8(in);
    return value;
}

static bool is_google(uint32_t version)
{
    return version >= QUIC_Q043 && version <= QUIC_Q046;
}

/* Version 2 has other codes (RFC 9369 section 3.2). False: no type of Google's versions. */
static bool type_of(uint8_t first, uint32_t version, uint8_t *out)
{
    static const uint8_t v1[4] = { QUIC_INITIAL, QUIC_0RTT, QUIC_HANDSHAKE, QUIC_RETRY };
    static const uint8_t v2[4] = { QUIC_RETRY, QUIC_INITIAL, QUIC_0RTT, QUIC_HANDSHAKE };
    static const uint8_t google[4] = { QUIC_0RTT, QUIC_HANDSHAKE, QUIC_RETRY, QUIC_INITIAL };

    if (version == 0)
        *out = QUIC_NEGOTIATION;
    else if (is_google(version) && version != QUIC_Q046 && (first & 0x7f) < 0x7c)
        return false;
    else if (is_google(version) && version != QUIC_Q046)
        *out = google[first & 3];
    else
        *out = (version == QUIC_V2 ? v2 : v1)[first >> 4 & 3];
    return true;
}

/* Google's versions store the length minus 3 in four bits. */
static unsigned google_id_length(unsigned nibble)
{
    return nibble > 0 ? nibble + 3 : 0;
}

/* Only the destination id is kept: the keys derive from it. */
static void take_ids(struct bytes *in, struct quic_header *h)
{
    if (is_google(h->version)) {
        uint8_t lengths = take_u8(in);

        h->dcid = take_slice(in, google_id_length(lengths >> 4));
        take_skip(in, google_id_length(lengths & 15));
    } else {
        h->dcid = take_slice(in, take_u8(in));
        take_skip(in, take_u8(in));
    }
}

/* The fields between ids and payload. *length: of the payload, if the header has it. */
static void take_rest_of_long(struct bytes *in, const struct quic_header *h, uint64_t *length)
{
    if (h->type == QUIC_RETRY) {
        take_rest(in);
    } else if (h->type == QUIC_INITIAL && is_google(h->version)) {
        take_skip(in, 4 + 12);          /* packet number, hash */
    } else if (h->type == QUIC_INITIAL) {
        uint64_t token = quic_take_number(in);

        take_skip(in, token <= bytes_left(in) ? (size_t)token : SIZE_MAX);
        *length = quic_take_number(in);
    }
}

/* Without a length the packet takes the rest of the datagram. */
static bool parse_long(struct bytes in, uint8_t first, const uint8_t *start,
                       struct quic_header *h)
{
    uint64_t length = UINT64_MAX;

    h->is_long = true;
    h->version = take_be32(&in);
    if (in.failed || !type_of(first, h->version, &h->type))
        return false;
    take_ids(&in, h);
    take_rest_of_long(&in, h, &length);
    if (in.failed || (length != UINT64_MAX && length > bytes_left(&in)))
        return false;
    h->size = (uint32_t)(in.next - start);
    h->payload = length != UINT64_MAX ? (uint32_t)length : (uint32_t)bytes_left(&in);
    return true;
}

/* Versions before Q046. The bits tell which fields are present. */
static bool parse_google(struct bytes in, uint8_t first, const uint8_t *start,
                         struct quic_header *h)
{
    if ((first & GOOGLE_DCID) != 0)
        h->dcid = take_slice(&in, 8);
    else if ((first & GOOGLE_NONCE) != 0)
        take_skip(&in, 32);
    if ((first & GOOGLE_VERSION) != 0)
        h->version = take_be32(&in);
    take_skip(&in, 1 + (first >> 4 & 3));               /* packet number */
    if ((first & GOOGLE_DCID) != 0)
        take_skip(&in, 12);                             /* hash */
    h->type = (first & GOOGLE_VERSION) != 0 ? QUIC_INITIAL : QUIC_SHORT;
    h->size = (uint32_t)(in.next - start);
    h->payload = (uint32_t)bytes_left(&in);
    return !in.failed;
}

/* A short header is accepted with nothing read: it carries no more than encrypted data. False: not
 * QUIC. */
bool quic_header_parse(struct bytes in, struct quic_header *h)
{
    const uint8_t *start = in.next;
    uint8_t first = take_u8(&in);

    *h = (struct quic_header){ .type = QUIC_SHORT };
    if (in.failed || bytes_left(&in) > UINT16_MAX)
        return false;
    if ((first & 0x80) != 0)
        return parse_long(in, first, start, h);
    if ((first & GOOGLE_MULTIPATH) == 0)
        return parse_google(in, first, start, h);
    h->size = 1;
    h->payload = (uint32_t)bytes_left(&in);
    return true;
}
