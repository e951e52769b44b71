/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/rdp/mcs.c - the connect request of MCS: blocks of client data ([MS-RDPBCGR] section
 * 2.2.1.3) after the key "Duca" of a GCC conference.
 *
 * Numbers in blocks are little-endian. Limits are those of TS_UD_CS_CORE (section 2.2.1.3.2). */
#include "app/proto/rdp/rdp.h"

enum { BLOCK_CORE = 0xc001, BLOCK_NET = 0xc003 };   /* CS_CORE, CS_NET */
#define BLOCK_HEADER 4                  /* bytes: type and length, which counts the header */
#define NAME_BYTES   32                 /* clientName: 15 characters and a NUL */
#define LONG_BYTES   64                 /* bytes: imeFileName, clientDigProductId */
#define CHANNEL_NAME 8                  /* bytes: 7 characters and a NUL */

/* --- text ------------------------------------------------------------------------------------- */

/* Writes one code point, at most 4 bytes; returns how many. The caller has ruled out surrogates. */
static uint32_t put_utf8(uint8_t *out, uint32_t c)
{
    if (c < 0x80)
        return out[0] = (uint8_t)c, 1;
    if (c < 0x800) {
        out[0] = (uint8_t)(0xc0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xe0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (c & 0x3f));
    return 4;
}

/* UTF-16 up to its NUL, in `size` bytes. The cursor fails at surrogates that are not pairs. One
 * unit needs at most 3 bytes of UTF-8, and a pair needs 4 of its 6, so the allocation is enough. */
static struct slice take_text(struct bytes *in, uint32_t size, struct arena *arena)
{
    struct bytes units = take_sub(in, size);
    uint8_t *text = arena_alloc(arena, 3u * (size / 2) + 1);
    uint32_t n = 0, c;

    while (text != NULL && bytes_left(&units) > 1 && (c = take_le16(&units)) != 0) {
        if (c >= 0xd800 && c < 0xdc00) {
            uint32_t low = take_le16(&units);

            in->failed |= low < 0xdc00 || low > 0xdfff;
            c = 0x10000 + ((c - 0xd800) << 10) + (low & 0x3ff);
        } else if (c >= 0xdc00 && c < 0xe000) {
            in->failed = true;
        }
        if (in->failed)
            break;
        n += put_utf8(text + n, c);
    }
    return (struct slice){ text, n };
}

/* --- core data -------------------------------------------------------------------------------- */

/* highColorDepth: bits per pixel. */
bool rdp_is_high_depth(uint32_t depth)
{
    return depth == 4 || depth == 8 || depth == 15 || depth == 16 || depth == 24;
}

/* RNS_UD_COLOR_4BPP to RNS_UD_COLOR_24BPP; 0: not set. */
static bool is_post_beta2_depth(uint32_t v)
{
    return v == 0 || (v >= 0xca00 && v <= 0xca04);
}

/* 0 is valid on the wire, but is no depth. */
static bool is_high_depth(uint32_t v)
{
    return v == 0 || rdp_is_high_depth(v);
}

/* Bits that the specification does not have make a value invalid: a sign of a shifted or forged
 * block. */
static bool is_depth_set(uint32_t v) { return v <= 0x0f; }
static bool is_capabilities(uint32_t v) { return v <= 0x7ff; }
static bool is_hint(uint32_t v) { return v <= 7; }
static bool is_protocol_set(uint32_t v) { return v <= 0x0f; }
static bool is_millimeters(uint32_t v) { return v >= 10 && v <= 10000; }
static bool is_orientation(uint32_t v) { return v == 0 || v == 90 || v == 180 || v == 270; }
static bool is_scale(uint32_t v) { return v >= 100 && v <= 500; }
static bool is_device_scale(uint32_t v) { return v == 100 || v == 140 || v == 180; }

/* Takes one optional number. A number that is missing or out of range fails the cursor, and so ends
 * the optional fields: all later ones are absent, too. */
static void take_optional(struct bytes *in, unsigned size, bool (*fits)(uint32_t),
                          struct rdp_optional *out)
{
    uint32_t value = size == 1 ? take_u8(in) : size == 2 ? take_le16(in) : take_le32(in);

    if (!in->failed && fits != NULL && !fits(value))
        in->failed = true;
    out->has = !in->failed;
    out->value = in->failed ? 0 : value;
}

/* The optional fields in their order on the wire. There is no flag for them; the block just ends
 * before the first that is missing. */
static void take_optionals(struct bytes *in, struct rdp_client *c, struct arena *arena)
{
    struct rdp_optional unused;

    take_optional(in, 2, is_post_beta2_depth, &c->post_beta2_depth);
    take_optional(in, 2, NULL, &c->product_id);
    take_optional(in, 4, NULL, &c->serial);
    take_optional(in, 2, is_high_depth, &c->high_depth);
    take_optional(in, 2, is_depth_set, &unused);    /* supportedColorDepths */
    take_optional(in, 2, is_capabilities, &c->capabilities);
    if (!bytes_have(in, LONG_BYTES)) {
        in->failed = true;
        return;
    }
    c->product = take_text(in, LONG_BYTES, arena);
    if (in->failed)
        c->product.len = 0;     /* no half of a text */
    take_optional(in, 1, is_hint, &c->hint);
    take_skip(in, 1);                                   /* padding */
    take_optional(in, 4, is_protocol_set, &unused);     /* serverSelectedProtocol */
    take_optional(in, 4, is_millimeters, &c->physical_width);
    take_optional(in, 4, is_millimeters, &c->physical_height);
    take_optional(in, 2, is_orientation, &c->orientation);
    take_optional(in, 4, is_scale, &c->scale);
    take_optional(in, 4, is_device_scale, &c->device_scale);
}

/* Reads a CS_CORE block. False: a mandatory field is missing or malformed, and the blocks after it
 * are not trusted. The first block of this type wins. */
static bool read_core(struct slice block, struct rdp_tx *t)
{
    struct rdp_client *c = arena_zalloc(&t->tx.arena, sizeof(*c));
    struct bytes in = bytes_of_slice(block);

    if (c == NULL)
        return false;
    c->version = take_le32(&in);
    c->width = take_le16(&in);
    c->height = take_le16(&in);
    c->color_depth = take_le16(&in);
    take_skip(&in, 2);                  /* SASSequence: always 0xaa03 */
    c->keyboard_layout = take_le32(&in);
    c->build = take_le32(&in);
    if (bytes_have(&in, NAME_BYTES))
        c->name = take_text(&in, NAME_BYTES, &t->tx.arena);
    else
        in.failed = true;
    c->keyboard_type = take_le32(&in);
    c->keyboard_subtype = take_le32(&in);
    c->function_keys = take_le32(&in);
    if (bytes_have(&in, LONG_BYTES))
        c->ime = take_text(&in, LONG_BYTES, &t->tx.arena);
    else
        in.failed = true;
    if (in.failed)
        return false;
    take_optionals(&in, c, &t->tx.arena);
    if (t->client == NULL)
        t->client = c;
    return true;
}

/* --- channels --------------------------------------------------------------------------------- */

/* CS_NET (section 2.2.1.3.4): a count, then a name and options for each static channel. The count
 * is compared with the bytes that are there before it sizes an allocation. */
static bool read_channels(struct slice block, struct rdp_tx *t)
{
    struct bytes in = bytes_of_slice(block);
    uint32_t count = take_le32(&in);
    struct slice *names;

    if (in.failed || count > bytes_left(&in) / (CHANNEL_NAME + 4))
        return false;
    names = arena_alloc(&t->tx.arena, (count + 1) * sizeof(*names));
    if (names == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct slice name = take_slice(&in, CHANNEL_NAME);

        take_skip(&in, 4);              /* options */
        name.len = (uint32_t)strnlen((const char *)name.data, name.len);
        names[i] = arena_slice(&t->tx.arena, name);
    }
    if (t->channel_count == 0) {
        t->channels = names;
        t->channel_count = count;
    }
    return true;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* A length of PER (X.691 section 10.9): 7 bits, or 14 bits after a first bit of 1. Fragments, 64 Ki
 * and more, fail. */
static uint32_t take_per_length(struct bytes *in)
{
    uint8_t first = take_u8(in);

    if (!(first & 0x80))
        return first;
    if (first & 0x40)
        in->failed = true;
    return (first & 0x3fu) << 8 | take_u8(in);
}

/* Searches for the client's H.221 key instead of decoding the T.124 structure around it. Behind
 * the key are a length and the blocks. A malformed block ends the walk; what earlier blocks gave
 * stays. */
void rdp_read_connect(struct slice body, struct rdp_tx *t)
{
    const uint8_t *key = body.len > 0 ? memmem(body.data, body.len, "Duca", 4) : NULL;
    struct bytes in = bytes_of_slice(body), blocks;
    bool good = true;

    if (key == NULL)
        return;
    take_skip(&in, (size_t)(key - body.data) + 4);
    blocks = take_sub(&in, take_per_length(&in));
    while (good && !in.failed && bytes_left(&blocks) > 0) {
        uint16_t type = take_le16(&blocks), len = take_le16(&blocks);
        struct slice block = take_slice(&blocks, len >= BLOCK_HEADER ? len - BLOCK_HEADER : 0);

        if (blocks.failed || len < BLOCK_HEADER)
            return;
        if (type == BLOCK_CORE)
            good = read_core(block, t);
        else if (type == BLOCK_NET)
            good = read_channels(block, t);
    }
}
