/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of output/line_log: formats are read as far as they make sense, values are escaped. */
#include "output/lines/line_log.h"

#include "base/test.h"
#include "output/text.h"

/* "WHAT MOST TEXT|" for each item; "wrong" when it cannot be read. */
static const char *read_format(struct buf *out, const char *text)
{
    struct line_format format = { 0 };
    struct err err = { 0 };
    bool right = line_format_read(&format, text, &err) == 0;

    buf_clear(out);
    for (size_t i = 0; right && i < format.items.count; i++)
        buf_printf(out, "%c%u%s|", format.items.at[i].what, format.items.at[i].most,
                   format.items.at[i].text);
    if (!right)
        buf_add_string(out, err.text[0] != '\0' ? "wrong" : "wrong without a word");
    buf_add_u8(out, 0);
    line_format_free(&format);
    return (const char *)out->data;
}

TEST(line_format_items)
{
    struct buf out = { 0 };

    CHECK_STRING(read_format(&out, ""), "");
    CHECK_STRING(read_format(&out, "just text"), "%0just text|");
    CHECK_STRING(read_format(&out, "%h %u"), "h0|%0 |u0|");
    CHECK_STRING(read_format(&out, "%{Some-Header}i%%"), "i0Some-Header|%0%|");
    CHECK_STRING(read_format(&out, "%[12]u%[8192]u%[0]u%[x]u"), "u12|u0|u0|u0|");
    CHECK_STRING(read_format(&out, "%[12]{name}C."), "C12name|%0.|");
    buf_fini(&out);
}

TEST(line_format_mistakes)
{
    static const char *const wrong[] = {
        "%", "a %", "%[12", "%[]u", "%[1234567890]u", "%[12]", "%{}i", "%{name", "%{name}",
    };
    struct buf out = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        CHECK_STRING(read_format(&out, wrong[i]), "wrong");
    buf_fini(&out);
}

static const char *value_of(struct buf *out, const char *data, uint32_t len, uint32_t most)
{
    buf_clear(out);
    line_add_value(out, (struct slice){ .data = (const uint8_t *)data, .len = len }, most);
    buf_add_u8(out, 0);
    return (const char *)out->data;
}

TEST(line_values)
{
    struct buf out = { 0 };

    CHECK_STRING(value_of(&out, NULL, 0, 0), "-");
    CHECK_STRING(value_of(&out, "", 0, 0), "");
    CHECK_STRING(value_of(&out, "ab ~", 4, 0), "ab ~");
    CHECK_STRING(value_of(&out, "a\n\"\\\x7f\xe9\0", 7, 0), "a\\x0A\\x22\\\\\\x7F\\xE9\\x00");
    CHECK_STRING(value_of(&out, "\n234", 4, 2), "\\x0A2");
    CHECK_STRING(value_of(&out, "abc", 3, 3), "abc");
    buf_fini(&out);
}
