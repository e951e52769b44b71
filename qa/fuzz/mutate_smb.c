/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/mutate_smb.c - edits SMB messages in their NetBIOS session frames (RFC 1002 section
 * 4.3.1; [MS-CIFS] 2.2.3 for SMB1, [MS-SMB2] 2.2.1 for SMB2 headers). */
#include "mutate.h"

#include <string.h>

#define NBSS_HEADER 4u
#define SMB1_HEADER 32u
#define SMB2_HEADER 64u

static bool choose(struct edit *e, size_t *at, size_t *end)
{
    size_t next = *at, found = 0, found_end = 0;
    unsigned count = 0;

    while (next + NBSS_HEADER <= *end) {
        size_t stop = MIN(next + NBSS_HEADER + (size_t)edit_number(e, next + 1, 3), *end);

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

static uint32_t le(const struct edit *e, size_t at, unsigned width)
{
    uint32_t value = 0;

    for (unsigned i = width; i-- > 0;)
        value = value << 8 | (at + i < e->len ? e->data[at + i] : 0u);
    return value;
}

static void set_le(struct edit *e, size_t at, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width && at + i < e->len; i++, value >>= 8)
        e->data[at + i] = (uint8_t)value;
}

/* --- SMB2 ------------------------------------------------------------------------------------- */

/* A second command behind the first: NextCommand is a multiple of 8. */
static void compound(struct edit *e, size_t at, size_t end)
{
    uint8_t next[7 + 2 * SMB2_HEADER] = { 0 };
    size_t len = end - at, padded = (len + 7) & ~(size_t)7;
    size_t copied = MIN(len, (size_t)2 * SMB2_HEADER);

    memcpy(next + (padded - len), e->data + at, copied);
    if (edit_replace(e, end, 0, next, padded - len + copied))
        set_le(e, at + 20, 4, padded);
}

static void mutate_smb2_header(struct edit *e, size_t at)
{
    switch (edit_random(e, 6)) {
    case 0: set_le(e, at + 12, 2, edit_random(e, 20)); break;           /* Command */
    case 1: e->data[at + 16] ^= 1; break;                               /* a response */
    case 2: set_le(e, at + 24, 8, edit_random(e, 4)); break;            /* MessageId */
    case 3: set_le(e, at + 20, 4, edit_random(e, 256)); break;          /* NextCommand */
    case 4: set_le(e, at + 36, 4, edit_random(e, 3)); break;            /* TreeId */
    default: set_le(e, at + 8, 4, edit_chance(e, 2) ? 0 : 0x103); break;/* Status: pending */
    }
}

/* A 16-bit or 32-bit field of the body: offsets and lengths stand there, on even places. */
static void mutate_smb2_field(struct edit *e, size_t at, size_t end)
{
    static const uint32_t values[] = { 0, 1, 64, 80, 120, 0xffff, 0x10000, 0x7fffffff, 0xffffffff };
    size_t place = at + 2 * (size_t)edit_random(e, 32);
    uint32_t value = values[edit_random(e, sizeof(values) / sizeof(values[0]))];
    unsigned width = edit_chance(e, 2) ? 2 : 4;

    if (place + width <= end)
        set_le(e, place, width, edit_chance(e, 3) ? le(e, place, width) + 1 : value);
}

static void mutate_smb2(struct edit *e, size_t at, size_t end)
{
    switch (edit_random(e, 6)) {
    case 0: compound(e, at, end); return;
    case 1: mutate_smb2_header(e, at); return;
    case 2:
    case 3: mutate_smb2_field(e, at + SMB2_HEADER, end); return;
    }
    edit_bytes(e, at + SMB2_HEADER, end - at - SMB2_HEADER);
}

/* --- SMB1 ------------------------------------------------------------------------------------- */

static void mutate_smb1_header(struct edit *e, size_t at)
{
    static const uint8_t commands[] = { 0x04, 0x08, 0x0b, 0x24, 0x25, 0x2b, 0x2d, 0x2e, 0x2f, 0x32,
                                        0x71, 0x72, 0x73, 0x74, 0x75, 0xa2 };

    switch (edit_random(e, 4)) {
    case 0: e->data[at + 4] = commands[edit_random(e, sizeof(commands))]; break;
    case 1: e->data[at + 9] ^= 0x80; break;                             /* a response */
    case 2: set_le(e, at + 30, 2, edit_random(e, 3)); break;            /* MID */
    default: e->data[at + 11] ^= 0x80; break;                           /* Unicode */
    }
}

/* The words are counted in one byte before them, the bytes behind in two. */
static void mutate_smb1(struct edit *e, size_t at, size_t end)
{
    size_t words = at + SMB1_HEADER + 1, before = e->len, bytes;
    uint8_t zero[2] = { 0, 0 };

    if (edit_chance(e, 4) || words + 2 > end) {
        mutate_smb1_header(e, at);
        return;
    }
    bytes = words + 2u * e->data[words - 1];
    if (edit_chance(e, 6)) {
        if (edit_replace(e, words, 0, zero, sizeof(zero)))
            e->data[words - 1]++;
    } else if (bytes + 2 > end || edit_chance(e, 2)) {
        mutate_smb2_field(e, words, MIN(bytes, end));
    } else {
        edit_bytes(e, bytes + 2, end - bytes - 2);
        if (!edit_chance(e, 16))
            set_le(e, bytes, 2, le(e, bytes, 2) + e->len - before);
    }
}

void mutate_chunk(struct edit *e, size_t at, size_t len, uint8_t control)
{
    static const uint8_t types[] = { 0, 0x81, 0x82, 0x83, 0x85 };
    size_t end = at + len, smb;

    (void)control;
    if (!choose(e, &at, &end))
        return;
    smb = at + NBSS_HEADER;
    switch (edit_random(e, 12)) {
    case 0: edit_part(e, at, end - at); return;
    case 1: e->data[at] = types[edit_random(e, sizeof(types))]; return;
    }
    edit_within(e, at + 1, 3);
    if (end >= smb + SMB2_HEADER && memcmp(e->data + smb, "\xfeSMB", 4) == 0)
        mutate_smb2(e, smb, end);
    else if (end >= smb + SMB1_HEADER && memcmp(e->data + smb, "\xffSMB", 4) == 0)
        mutate_smb1(e, smb, end);
    else
        edit_bytes(e, smb, end - smb);
}
