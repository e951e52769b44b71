/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/log_text.c - makes text from the network fit for records: escapes, UTF-8, length. */
#include "app/lib/log_text.h"

#include "base/memory/buf.h"

#include <stdio.h>

struct slice app_text_copy(struct arena *arena, struct slice s)
{
    return s.len > 0 ? arena_slice(arena, s) : (struct slice){ 0 };
}

/* --- UTF-8 ------------------------------------------------------------------------------------ */

/* Length of the UTF-8 character that begins here (RFC 3629, 4: no overlong forms, no surrogates,
 * nothing above U+10FFFF). 0 when none does; then *bad has the length of the bytes that one U+FFFD
 * replaces (Unicode 15, 3.9, "maximal subpart"). */
static uint32_t character_length(const uint8_t *p, uint32_t left, uint32_t *bad)
{
    uint8_t low = 0x80, high = 0xbf;
    uint32_t len;

    *bad = 1;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    for (uint32_t i = 1; i < len; i++) {
        if (i >= left || p[i] < low || p[i] > high) {
            *bad = i;
            return 0;
        }
        low = 0x80;
        high = 0xbf;
    }
    return len;
}

/* Counts first, so that the copy is one allocation of the right size. */
static uint32_t invalid_sequences(struct slice s)
{
    uint32_t n = 0, bad;

    for (uint32_t i = 0; i < s.len;) {
        uint32_t len = character_length(s.data + i, s.len - i, &bad);

        n += len == 0;
        i += len > 0 ? len : bad;
    }
    return n;
}

/* An invalid sequence has at least one byte and becomes three, so each adds at most 2 bytes. */
struct slice app_text_utf8(struct arena *arena, struct slice s)
{
    uint32_t invalid = invalid_sequences(s), n = 0, bad;
    uint8_t *out;

    if (invalid == 0)
        return app_text_copy(arena, s);
    out = arena_alloc(arena, (size_t)s.len + invalid * 2u);
    if (out == NULL)
        return (struct slice){ 0 };
    for (uint32_t i = 0; i < s.len;) {
        uint32_t len = character_length(s.data + i, s.len - i, &bad);

        if (len > 0)
            memcpy(out + n, s.data + i, len);
        else
            memcpy(out + n, "\xef\xbf\xbd", 3);
        n += len > 0 ? len : 3;
        i += len > 0 ? len : bad;
    }
    return (struct slice){ out, n };
}

/* --- records ---------------------------------------------------------------------------------- */

/* Cuts before a character that the limit would split: continuation bytes are 10xxxxxx, and a
 * character has at most three of them. */
void app_json_limited(struct json *j, const char *key, struct slice s, size_t limit)
{
    struct buf text = { 0 };
    size_t cut = limit;

    if (s.len <= limit) {
        json_slice(j, key, s);
        return;
    }
    while (cut > 0 && limit - cut < 4 && (s.data[cut] & 0xc0) == 0x80)
        cut--;
    buf_add(&text, s.data, cut);
    buf_printf(&text, "[truncated %zu additional byte%s]", s.len - limit,
               s.len - limit != 1 ? "s" : "");
    json_slice(j, key, buf_slice(&text));
    buf_fini(&text);
}

/* Keys are written into records as they are, so they are escaped here. A byte takes six characters
 * at most (backslash, u and four digits). */
const char *app_json_key(struct arena *arena, struct slice s)
{
    char *out = arena_alloc(arena, (size_t)s.len * 6 + 1);
    size_t n = 0;

    if (out == NULL)
        return "";
    for (uint32_t i = 0; i < s.len; i++) {
        uint8_t c = s.data[i];

        if (c < 0x20) {
            n += (size_t)snprintf(out + n, 7, "\\u%04x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            out[n++] = '\\';
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return out;
}
