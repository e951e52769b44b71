/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/mime/parameter.c - parameters of header fields as MIME has them: sections (name*0,
 * name*1; RFC 2231, 3) and backslash escapes. Charsets and percent codes (RFC 2231, 4) stay as they
 * are. */
#include "app/lib/mime/parameter.h"

#include <stdio.h>
#include <string.h>

static bool is_mime_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_mime_space(struct bytes *in)
{
    while (bytes_have(in, 1) && is_mime_space(peek_u8(in)))
        take_u8(in);
}

/* A quoted string, "..." with \" inside; false, and nothing taken, when it has no end. The
 * backslashes stay in the value. */
static bool take_quoted(struct bytes *in, struct slice *out)
{
    struct bytes look = *in;
    const uint8_t *start;
    bool escaped = false;

    if (take_u8(&look) != '"')
        return false;
    start = look.next;
    while (bytes_have(&look, 1)) {
        uint8_t c = take_u8(&look);

        if (c == '"' && !escaped) {
            *out = (struct slice){ .data = start, .len = (uint32_t)(look.next - 1 - start) };
            *in = look;
            return true;
        }
        escaped = c == '\\';
    }
    return false;
}

/* Up to the next semicolon, or to the end. */
static struct slice take_plain(struct bytes *in)
{
    struct slice value;

    if (!take_until(in, ';', &value))
        return take_rest(in);
    in->next--;                         /* the semicolon ends the parameter, quoted or not */
    return value;
}

/* One name=value; white space around both is not part of them. False when there is no "=". */
static bool take_parameter(struct bytes *in, struct slice *name, struct slice *value)
{
    skip_mime_space(in);
    if (!take_until(in, '=', name))
        return false;
    if (!take_quoted(in, value)) {
        *value = take_plain(in);
        while (value->len > 0 && is_mime_space(value->data[value->len - 1]))
            value->len--;
    }
    skip_mime_space(in);
    if (peek_u8(in) == ';')
        take_u8(in);
    return true;
}

/* The last of several parameters of the same name wins. */
static bool find(struct slice header, const char *parameter, struct slice *out)
{
    struct bytes in = bytes_of_slice(header);
    struct slice name, skipped;
    size_t n = strlen(parameter);
    bool found = false;

    if (!take_until(&in, ';', &skipped))
        return false;
    while (bytes_have(&in, 1)) {
        struct slice value;

        if (!take_parameter(&in, &name, &value))
            break;
        if (name.len == n && memcmp(name.data, parameter, n) == 0) {
            *out = value;
            found = true;
        }
    }
    return found;
}

/* 64 sections of one parameter: enough for any header within VALUE_MAX that is not an attack. */
#define SECTIONS_MAX 64

/* The complete parameter is preferred to its sections. The result points into the header, or into
 * the arena if it was joined. Quadratic in the number of sections, which SECTIONS_MAX bounds. */
bool mime_parameter(struct slice header, const char *parameter, struct arena *arena,
                    struct slice *out)
{
    struct slice section[SECTIONS_MAX];
    unsigned count = 0;
    size_t len = 0;
    char name[64];
    uint8_t *joined;

    if (find(header, parameter, out))
        return true;
    while (count < SECTIONS_MAX) {
        snprintf(name, sizeof(name), "%s*%u", parameter, count);
        if (!find(header, name, &section[count]))
            break;
        len += section[count++].len;
    }
    joined = len > 0 ? arena_alloc(arena, len) : NULL;
    if (joined == NULL)
        return false;
    *out = (struct slice){ .data = joined, .len = (uint32_t)len };
    for (unsigned i = 0; i < count; i++) {
        memcpy(joined, section[i].data, section[i].len);
        joined += section[i].len;
    }
    return true;
}
