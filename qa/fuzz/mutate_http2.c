/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/mutate_http2.c - edits HTTP/2 frames (RFC 9113 section 4.1) and puts header fields into
 * their blocks as HPACK writes them (RFC 7541 section 6). */
#include "mutate.h"

#include <string.h>

#define FRAME_HEADER 9u
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define PREFACE_LEN (sizeof(PREFACE) - 1)

enum frame { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY,
             WINDOW_UPDATE, CONTINUATION, FRAME_TYPES };

static bool choose(struct edit *e, size_t *at, size_t *end)
{
    size_t next = *at, found = 0, found_end = 0;
    unsigned count = 0;

    if (*end - next >= PREFACE_LEN && memcmp(e->data + next, PREFACE, PREFACE_LEN) == 0)
        next += PREFACE_LEN;
    while (next + FRAME_HEADER <= *end) {
        size_t stop = MIN(next + FRAME_HEADER + (size_t)edit_number(e, next, 3), *end);

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

/* An integer of RFC 7541 section 5.1 behind the bits of `first`. Returns its bytes. */
static unsigned put_integer(uint8_t *out, uint8_t first, unsigned prefix, uint32_t value)
{
    uint32_t most = (1u << prefix) - 1;
    unsigned n = 1;

    if (value < most) {
        out[0] = (uint8_t)(first | value);
        return 1;
    }
    out[0] = (uint8_t)(first | most);
    for (value -= most; value >= 128; value >>= 7)
        out[n++] = (uint8_t)(value | 128);
    out[n++] = (uint8_t)value;
    return n;
}

static unsigned put_string(struct edit *e, uint8_t *out)
{
    static const char *const texts[] = {
        "", "gzip", "br", "deflate", "x", "content-encoding", "application/dns-message", "/",
        ":path", "cookie", "content-length", "13", "multipart/form-data; boundary=x" };
    const char *text = texts[edit_random(e, sizeof(texts) / sizeof(texts[0]))];
    unsigned len = (unsigned)strlen(text), n;

    /* With the Huffman bit the same bytes are other text. */
    n = put_integer(out, edit_chance(e, 8) ? 0x80 : 0, 7, len);
    memcpy(out + n, text, len);
    return n + len;
}

/* Fields from the static table, from the dynamic one, literals that enter it, and its size. */
static void add_field(struct edit *e, size_t at)
{
    uint8_t field[128];
    static const struct { uint8_t first, prefix; } literals[] = {
        { 0x40, 6 }, { 0, 4 }, { 0x10, 4 } };
    unsigned n = 0, index = edit_random(e, edit_chance(e, 3) ? 200 : 62), form = edit_random(e, 6);

    if (form == 0) {
        n = put_integer(field, 0x20, 5, edit_random(e, edit_chance(e, 4) ? 1u << 20 : 4097));
    } else if (form < 3) {
        n = put_integer(field, 0x80, 7, index);
    } else {
        n = put_integer(field, literals[form - 3].first, literals[form - 3].prefix, index);
        if (index == 0)
            n += put_string(e, field + n);
        n += put_string(e, field + n);
    }
    edit_replace(e, at, 0, field, n);
}

static void add_frame(struct edit *e, size_t at)
{
    uint8_t frame[FRAME_HEADER + 8] = { 0 };
    uint8_t len = (uint8_t)edit_random(e, 9);

    frame[2] = len;
    frame[3] = (uint8_t)edit_random(e, FRAME_TYPES + 2);
    frame[4] = (uint8_t)(edit_chance(e, 2) ? 5 : 1u << edit_random(e, 8));
    frame[8] = (uint8_t)edit_random(e, 8);
    for (unsigned i = 0; i < len; i++)
        frame[FRAME_HEADER + i] = (uint8_t)edit_random(e, 256);
    edit_replace(e, at, 0, frame, FRAME_HEADER + len);
}

/* A block continued in a frame of its own. */
static void split_block(struct edit *e, size_t at, size_t end)
{
    size_t len = end - at - FRAME_HEADER, first = edit_random(e, (uint32_t)len + 1);
    uint8_t header[FRAME_HEADER];

    memcpy(header, e->data + at, sizeof(header));
    header[0] = (uint8_t)((len - first) >> 16);
    header[1] = (uint8_t)((len - first) >> 8);
    header[2] = (uint8_t)(len - first);
    if (header[3] != DATA)
        header[3] = CONTINUATION;
    if (!edit_replace(e, at + FRAME_HEADER + first, 0, header, sizeof(header)))
        return;
    edit_set(e, at, 3, first);
    if (header[3] == CONTINUATION)
        e->data[at + 4] &= (uint8_t)~4u;        /* END_HEADERS is the last frame's */
}

static void mutate_header(struct edit *e, size_t at)
{
    switch (edit_random(e, 3)) {
    case 0: e->data[at + 3] = (uint8_t)edit_random(e, FRAME_TYPES + 2); break;
    case 1: e->data[at + 4] ^= (uint8_t)(1u << edit_random(e, 6)); break;
    default: edit_set(e, at + 5, 4, edit_random(e, 8)); break;
    }
}

void mutate_chunk(struct edit *e, size_t at, size_t len, uint8_t control)
{
    size_t end = at + len, start = at;

    (void)control;
    if (!choose(e, &at, &end)) {
        add_frame(e, start + len);
        return;
    }
    switch (edit_random(e, 10)) {
    case 0: edit_part(e, at, end - at); return;
    case 1: add_frame(e, end); return;
    case 2: split_block(e, at, end); return;
    case 3: mutate_header(e, at); return;
    }
    edit_within(e, at, 3);
    switch (e->data[at + 3]) {
    case HEADERS:
    case CONTINUATION:
    case PUSH_PROMISE:
        /* At the end no field is cut; elsewhere often one is. */
        if (!edit_chance(e, 4)) {
            add_field(e, edit_chance(e, 4) ? at + FRAME_HEADER : end);
            return;
        }
        break;
    }
    edit_part(e, at + FRAME_HEADER, end - at - FRAME_HEADER);
}
