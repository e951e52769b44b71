/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of output/text: dumps of each length look as people and scripts know them. */
#include "output/text.h"

#include "base/test.h"

static const char *dumped(struct buf *out, const char *data, size_t len)
{
    buf_clear(out);
    text_dump(out, (const uint8_t *)data, len);
    buf_add_u8(out, 0);
    return (const char *)out->data;
}

TEST(text_dump_lines)
{
    struct buf out = { 0 };

    CHECK_STRING(dumped(&out, "", 0), "\n");
    CHECK_STRING(dumped(&out, "A\n", 2),
                 " 0000  41 0A                                              A.\n");
    CHECK_STRING(dumped(&out, "ABCDEFGH", 8),
                 " 0000  41 42 43 44 45 46 47 48                            ABCDEFGH \n");
    CHECK_STRING(dumped(&out, "ABCDEFGHI", 9),
                 " 0000  41 42 43 44 45 46 47 48  49                        ABCDEFGH I\n");
    CHECK_STRING(dumped(&out, "0123456789abcdef\xff", 17),
                 " 0000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66   01234567 89abcdef\n"
                 " 0010  FF                                                 .\n");
    buf_fini(&out);
}
