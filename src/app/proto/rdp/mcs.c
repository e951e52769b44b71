/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/rdp/mcs.c - the connect request of MCS: blocks of client data ([MS-RDPBCGR] 2.2.1.3)
 * behind the key "Duca" of a GCC conference. */
#include "app/proto/rdp/rdp.h"

enum { BLOCK_CORE = 0xc001, BLOCK_NET = 0xc003 };
#define BLOCK_HEADER 4
#define NAME_BYTES   32
#define LONG_BYTES   64                 /* input method, product */
#define CHANNEL_NAME 8

/* --- text ------------------------------------------------------------------------------------- */

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

/* UTF-16 up to its NUL, in `size` bytes. The cursor fails at surrogates that are not pairs. */
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

bool rdp_is_high_depth(uint32_t depth)
{
    return depth == 4 || depth == 8 || depth == 15 || depth == 16 || depth == 24;
}

static bool is_post_beta2_depth(uint32_t v)
{
    return v == 0 || (v >= 0xca00 && v <= 0xca04);
}

static bool is_high_depth(uint32_t v)
{
    return v == 0 || rdp_is_high_depth(v);
}

static bool is_depth_set(uint32_t v) { return v <= 0x0f; }
static bool is_capabilities(uint32_t v) { return v <= 0x7ff; }
static bool is_hint(uint32_t v) { return v <= 7; }
static bool is_protocol_set(uint32_t v) { return v <= 0x0f; }
static bool is_millimeters(uint32_t v) { return v >= 10 && v <= 10000; }
static bool is_orientation(uint32_t v) { return v == 0 || v == 90 || v == 180 || v == 270; }
static bool is_scale(uint32_t v) { return v >= 100 && v <= 500; }
static bool is_device_scale(uint32_t v) { return v == 100 || v == 140 || v == 180; }

/* One optional number. With one that is missing or not as it should be the optional ones end. */
static void take_optional(struct bytes *in, unsigned size, bool (*fits)(uint32_t),
                          struct rdp_optional *out)
{
    uint32_t value = size == 1 ? take_u8(in) : size == 2 ? take_le16(in) : take_le32(in);

    if (!in->failed && fits != NULL && !fits(value))
        in->failed = true;
    out->has = !in->failed;
    out->value = in->failed ? 0 : value;
}

static void take_optionals(struct bytes *in, struct rdp_client *c, struct arena *arena)
{
    struct rdp_optional unused;

    take_optional(in, 2, is_post_beta2_depth, &c->post_beta2_depth);
    take_optional(in, 2, NULL, &c->product_id);
    take_optional(in, 4, NULL, &c->serial);
    take_optional(in, 2, is_high_depth, &c->high_depth);
    take_optional(in, 2, is_depth_set, &unused);
    take_optional(in, 2, is_capabilities, &c->capabilities);
    if (!bytes_have(in, LONG_BYTES)) {
        in->failed = true;
        return;
    }
    c->product = take_text(in, LONG_BYTES, arena);
    if (in->failed)
        c->product.len = 0;
    take_optional(in, 1, is_hint, &c->hint);
    take_skip(in, 1);
    take_optional(in, 4, is_protocol_set, &unused);
    take_optional(in, 4, is_millimeters, &c->physical_width);
    take_optional(in, 4, is_millimeters, &c->physical_height);
    take_optional(in, 2, is_orientation, &c->orientation);
    take_optional(in, 4, is_scale, &c->scale);
    take_optional(in, 4, is_device_scale, &c->device_scale);
}

/* False: not as core data are. */
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
    take_skip(&in, 2);                  /* how to get attention: always the same */
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

/* X.691, section 10.9, up to 16 Ki. */
static uint32_t take_per_length(struct bytes *in)
{
    uint8_t first = take_u8(in);

    if (!(first & 0x80))
        return first;
    if (first & 0x40)
        in->failed = true;
    return (first & 0x3fu) << 8 | take_u8(in);
}

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
