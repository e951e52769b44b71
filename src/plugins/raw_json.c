/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/raw_json.c - JSON that a plugin's library has written, for a record. A library may put
 * bytes of the network into it, so it is checked before it is copied. */
#include "base/text/utf8.h"
#include "plugins/private.h"

static void skip_blanks(struct bytes *in)
{
    while (bytes_have(in, 1) && strchr(" \t\r\n", *in->next) != NULL && *in->next != '\0')
        in->next++;
}

static bool skip_byte(struct bytes *in, char c)
{
    skip_blanks(in);
    if (!bytes_have(in, 1) || *in->next != (uint8_t)c)
        return false;
    in->next++;
    return true;
}

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool skip_escape(struct bytes *in)
{
    uint8_t c = take_u8(in);

    if (c != 'u')
        return c != 0 && strchr("\"\\/bfnrt", c) != NULL;
    for (unsigned i = 0; i < 4; i++)
        if (!is_hex(take_u8(in)))
            return false;
    return true;
}

static bool skip_string(struct bytes *in)
{
    const uint8_t *start;

    if (!skip_byte(in, '"'))
        return false;
    start = in->next;
    for (;;) {
        uint8_t c = take_u8(in);

        if (in->failed || c < ' ')
            return false;
        if (c == '"')
            return utf8_is_valid((struct slice){ start, (uint32_t)(in->next - 1 - start) });
        if (c == '\\' && !skip_escape(in))
            return false;
    }
}

static unsigned skip_digits(struct bytes *in)
{
    unsigned n = 0;

    for (; bytes_have(in, 1) && *in->next >= '0' && *in->next <= '9'; n++)
        in->next++;
    return n;
}

static bool skip_either(struct bytes *in, const char *chars)
{
    if (!bytes_have(in, 1) || *in->next == '\0' || strchr(chars, *in->next) == NULL)
        return false;
    in->next++;
    return true;
}

static bool skip_number(struct bytes *in)
{
    const uint8_t *start;
    unsigned digits;

    (void)skip_either(in, "-");
    start = in->next;
    digits = skip_digits(in);
    if (digits == 0 || (digits > 1 && *start == '0'))
        return false;
    if (skip_either(in, ".") && skip_digits(in) == 0)
        return false;
    if (!skip_either(in, "eE"))
        return true;
    (void)skip_either(in, "+-");
    return skip_digits(in) > 0;
}

static bool skip_word(struct bytes *in)
{
    static const char *const words[] = { "true", "false", "null" };

    for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i]);

        if (!bytes_have(in, len) || memcmp(in->next, words[i], len) != 0)
            continue;
        in->next += len;
        return true;
    }
    return skip_number(in);
}

static bool skip_members(struct bytes *in, unsigned depth);

static bool skip_items(struct bytes *in, unsigned depth);

/* The depth bounds the recursion. */
static bool skip_value(struct bytes *in, unsigned depth)
{
    skip_blanks(in);
    if (depth == PLUGIN_JSON_DEPTH || !bytes_have(in, 1))
        return false;
    if (*in->next == '"')
        return skip_string(in);
    if (skip_byte(in, '{'))
        return skip_byte(in, '}') || (skip_members(in, depth + 1) && skip_byte(in, '}'));
    if (skip_byte(in, '['))
        return skip_byte(in, ']') || (skip_items(in, depth + 1) && skip_byte(in, ']'));
    return skip_word(in);
}

static bool skip_items(struct bytes *in, unsigned depth)
{
    do {
        if (!skip_value(in, depth))
            return false;
    } while (skip_byte(in, ','));
    return true;
}

static bool skip_members(struct bytes *in, unsigned depth)
{
    do {
        if (!skip_string(in) || !skip_byte(in, ':') || !skip_value(in, depth))
            return false;
    } while (skip_byte(in, ','));
    return true;
}

/* A line feed between values would end the record. */
static bool is_one_line(struct ids_slice text)
{
    return memchr(text.data, '\n', text.len) == NULL && memchr(text.data, '\r', text.len) == NULL;
}

bool plugin_json_members(struct ids_json *json, struct ids_slice text)
{
    struct bytes in = bytes_of(text.data, text.data != NULL ? text.len : 0);
    bool is_array = json->depth > 0 && json->is_array[json->depth - 1];

    if (is_array || json->too_deep > 0 || bytes_left(&in) == 0 || !is_one_line(text))
        return false;
    if (!skip_members(&in, json->depth))
        return false;
    skip_blanks(&in);
    if (bytes_left(&in) > 0)
        return false;
    json_raw(json->to, NULL, (const char *)text.data, text.len);
    return true;
}
