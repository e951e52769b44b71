/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/mutate_tls.c - edits TLS records, handshake messages, and the fields and extensions of
 * hellos and certificates (RFC 8446 sections 4 and 5.1, RFC 5246 section 7.4). */
#include "mutate.h"

#define RECORD_HEADER 5u
#define MESSAGE_HEADER 4u
#define HANDSHAKE 22

enum message { CLIENT_HELLO = 1, SERVER_HELLO = 2, CERTIFICATE = 11 };

struct der { size_t length, body, end; unsigned width; };

/* One of the parts from `at` to `end`, each with a header of `header` bytes whose last `width` are
 * the length of what follows. False: there is none. */
static bool choose(struct edit *e, size_t *at, size_t *end, unsigned header, unsigned width)
{
    size_t next = *at, found = 0, found_end = 0;
    unsigned count = 0;

    while (next + header <= *end) {
        size_t len = (size_t)edit_number(e, next + header - width, width);
        size_t stop = MIN(next + header + len, *end);

        if (edit_chance(e, ++count)) {
            found = next;
            found_end = stop;
        }
        next = stop;
    }
    *at = found;
    *end = found_end;
    return count > 0;
}

/* Extensions of types that parsers read: server_name, groups, points, signatures, ALPN, versions,
 * key_share, and one that nobody knows. */
static void add_extension(struct edit *e, size_t at)
{
    static const uint8_t types[] = { 0, 10, 11, 13, 16, 43, 51, 250 };
    uint8_t extension[4 + 32] = { 0, types[edit_random(e, sizeof(types))] };
    uint8_t len = (uint8_t)edit_random(e, 33);

    extension[3] = len;
    for (unsigned i = 0; i < len; i++)
        extension[4 + i] = (uint8_t)edit_random(e, 256);
    if (len > 5) {      /* a list of one */
        extension[4] = 0;
        extension[5] = (uint8_t)(len - 2);
    }
    edit_replace(e, at, 0, extension, 4u + len);
}

static void mutate_extensions(struct edit *e, size_t at, size_t end)
{
    size_t first = at;

    if (end < at + 2)
        return;
    edit_within(e, at, 2);
    at = first += 2;
    if (!choose(e, &at, &end, 4, 2) || edit_chance(e, 4)) {
        add_extension(e, first);
        return;
    }
    if (edit_chance(e, 3)) {
        edit_part(e, at, end - at);
        return;
    }
    edit_within(e, at + 2, 2);
    edit_part(e, at + 4, end - at - 4);
}

/* Version and random, then session id, ciphers, compression, extensions. A server hello has one
 * cipher and one compression, without lengths. */
static void mutate_hello(struct edit *e, size_t at, size_t end, bool is_client)
{
    static const uint8_t widths[] = { 1, 2, 1 };
    unsigned lists = is_client ? 3 : 1, chosen = edit_random(e, lists + 3);

    if (end < at + 35 || edit_chance(e, 8)) {
        edit_bytes(e, at, MIN(end - at, (size_t)34));
        return;
    }
    at += 34;
    for (unsigned i = 0; i < lists; i++) {
        size_t len = (size_t)edit_number(e, at, widths[i]);
        size_t body = at + widths[i];

        if (body > end || len > end - body)
            return;
        if (i == chosen) {
            edit_within(e, at, widths[i]);
            edit_part(e, body, len);
            return;
        }
        at = body + len;
    }
    mutate_extensions(e, is_client ? at : at + 3, end);
}

/* --- certificates ----------------------------------------------------------------------------- */

/* The header of a DER value (X.690 section 8.1): where its length stands, in how many bytes, and
 * where it ends. False: none. */
static bool der_header(const struct edit *e, size_t at, size_t end, struct der *out)
{
    if (end < at + 2)
        return false;
    out->length = at + 1;
    out->width = 1;
    if ((e->data[at + 1] & 0x80) != 0) {
        out->length = at + 2;
        out->width = e->data[at + 1] & 0x7f;
    }
    out->body = out->length + out->width;
    if (out->width == 0 || out->width > 3 || out->body > end)
        return false;
    out->end = out->body + (size_t)edit_number(e, out->length, out->width);
    return out->end <= end;
}

/* One value of those side by side. */
static bool choose_der(struct edit *e, size_t at, size_t end, size_t *found, struct der *out)
{
    struct der next;
    unsigned count = 0;

    for (; der_header(e, at, end, &next); at = next.end) {
        if (edit_chance(e, ++count)) {
            *found = at;
            *out = next;
        }
    }
    return count > 0;
}

static void mutate_der(struct edit *e, size_t at, size_t end)
{
    struct der value;
    size_t found;

    while (choose_der(e, at, end, &found, &value)) {
        if (edit_chance(e, 8)) {
            edit_part(e, found, value.end - found);
            return;
        }
        if (edit_chance(e, 8)) {
            e->data[found] = (uint8_t)edit_random(e, 0x32);
            return;
        }
        edit_within(e, value.length, value.width);
        at = value.body;
        end = value.end;
        if ((e->data[found] & 0x20) == 0)
            break;
    }
    edit_bytes(e, at, end - at);
}

static void mutate_certificates(struct edit *e, size_t at, size_t end)
{
    if (end < at + 3)
        return;
    edit_within(e, at, 3);
    at += 3;
    if (!choose(e, &at, &end, 3, 3))
        return;
    if (edit_chance(e, 6)) {
        edit_part(e, at, end - at);
        return;
    }
    edit_within(e, at, 3);
    mutate_der(e, at + 3, end);
}

/* --- messages and records --------------------------------------------------------------------- */

static void mutate_message(struct edit *e, size_t at, size_t end)
{
    static const uint8_t types[] = { 0, 1, 2, 4, 8, 11, 12, 13, 14, 15, 16, 20 };

    if (!choose(e, &at, &end, MESSAGE_HEADER, 3))
        return;
    if (edit_chance(e, 8)) {
        e->data[at] = types[edit_random(e, sizeof(types))];
        return;
    }
    if (edit_chance(e, 6)) {
        edit_part(e, at, end - at);
        return;
    }
    edit_within(e, at + 1, 3);
    switch (e->data[at]) {
    case CLIENT_HELLO: mutate_hello(e, at + MESSAGE_HEADER, end, true); break;
    case SERVER_HELLO: mutate_hello(e, at + MESSAGE_HEADER, end, false); break;
    case CERTIFICATE: mutate_certificates(e, at + MESSAGE_HEADER, end); break;
    default: edit_part(e, at + MESSAGE_HEADER, end - at - MESSAGE_HEADER);
    }
}

/* One record in two: messages in pieces. */
static void split_record(struct edit *e, size_t at, size_t end)
{
    size_t len = end - at - RECORD_HEADER, first = edit_random(e, (uint32_t)len + 1);
    uint8_t header[RECORD_HEADER] = { e->data[at], e->data[at + 1], e->data[at + 2],
                                      (uint8_t)((len - first) >> 8), (uint8_t)(len - first) };

    if (edit_replace(e, at + RECORD_HEADER + first, 0, header, sizeof(header)))
        edit_set(e, at + 3, 2, first);
}

void mutate_chunk(struct edit *e, size_t at, size_t len, uint8_t control)
{
    static const uint8_t types[] = { 20, 21, 22, 23, 24 };
    size_t end = at + len;

    (void)control;
    if (!choose(e, &at, &end, RECORD_HEADER, 2))
        return;
    switch (edit_random(e, 10)) {
    case 0: edit_part(e, at, end - at); return;
    case 1: split_record(e, at, end); return;
    case 2: e->data[at] = types[edit_random(e, sizeof(types))]; return;
    case 3: e->data[at + 2] = (uint8_t)edit_random(e, 5); return;
    }
    edit_within(e, at + 3, 2);
    if (e->data[at] == HANDSHAKE)
        mutate_message(e, at + RECORD_HEADER, end);
    else
        edit_part(e, at + RECORD_HEADER, end - at - RECORD_HEADER);
}
