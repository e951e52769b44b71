/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test.h"
#include "base/text/utf8.h"

TEST(utf8_lossy)
{
    static const struct { const char *in, *out; } cases[] = {
        { "", "" },
        { "plain", "plain" },
        { "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8d", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8d" },
        { "a\xff" "b", "a\xef\xbf\xbd" "b" },
        { "\xe2\x82", "\xef\xbf\xbd" },                         /* cut short: one */
        { "\xe2\x28\xa1", "\xef\xbf\xbd(\xef\xbf\xbd" },
        { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },             /* overlong: one each */
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf0\x9f\x8c!", "\xef\xbf\xbd!" },
    };
    uint8_t out[64];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice in = { (const uint8_t *)cases[i].in, (uint32_t)strlen(cases[i].in) };
        size_t n = utf8_lossy(in, out);

        CHECK_BYTES(out, n, cases[i].out, strlen(cases[i].out));
        CHECK(utf8_is_valid(in) == (strcmp(cases[i].in, cases[i].out) == 0));
    }
}
