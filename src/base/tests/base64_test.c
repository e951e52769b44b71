/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/base64.h"
#include "base/test.h"

static bool gives(const char *text, unsigned flags, const char *want)
{
    uint8_t out[64];
    struct slice in = { (const uint8_t *)text, (uint32_t)strlen(text) };
    int64_t len = base64_decode(in, flags, out);

    if (want == NULL)
        return len == -1;
    return len == (int64_t)strlen(want) && memcmp(out, want, (size_t)len) == 0;
}

/* RFC 4648, 10. */
TEST(base64_decodes_complete_and_truncated_groups)
{
    CHECK(gives("", 0, ""));
    CHECK(gives("Zg", 0, "f"));
    CHECK(gives("Zm8", 0, "fo"));
    CHECK(gives("Zm9v", 0, "foo"));
    CHECK(gives("Zm9vYmFy", 0, "foobar"));
    CHECK(gives("Z", 0, NULL));
    CHECK(gives("Zm9vY", BASE64_TO_WRONG, "foo"));
}

TEST(base64_wrong_characters_end_skip_or_refuse)
{
    CHECK(gives("Zm9v!YmFy", 0, NULL));
    CHECK(gives("Zm9v!YmFy", BASE64_TO_WRONG, "foo"));
    CHECK(gives("Zm9v!Ym\r\nFy", BASE64_SKIP_WRONG, "foobar"));
    CHECK(gives("Zg==Zm9v", BASE64_SKIP_WRONG, "f"));
    CHECK(gives("_-__", 0, NULL));
    CHECK(gives("_-__", BASE64_BOTH, "\xff\xef\xff"));
    CHECK(gives("/+//", BASE64_BOTH, "\xff\xef\xff"));
}

/* A group, alone and before another one, with this byte in one place: as the digit says. */
static bool group_is_right(unsigned place, uint8_t byte)
{
    uint8_t text[8] = "AAAAzzzz", out[6];
    int digit = base64_digit(byte);
    uint32_t bits = (uint32_t)(digit < 0 ? 0 : digit) << (18 - 6 * place);
    const uint8_t want[6] = { (uint8_t)(bits >> 16), (uint8_t)(bits >> 8), (uint8_t)bits,
                              0xcf, 0x3c, 0xf3 };

    text[place] = byte;
    for (uint32_t len = 4; len <= 8; len += 4)
        if (base64_groups((struct slice){ text, len }, out) != (digit < 0 ? 0 : len) ||
            (digit >= 0 && memcmp(out, want, len / 4 * 3) != 0))
            return false;
    return true;
}

TEST(base64_groups_agree_with_digits)
{
    for (unsigned place = 0; place < 4; place++)
        for (unsigned byte = 0; byte < 256; byte++)
            CHECK(group_is_right(place, (uint8_t)byte));
}
