/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/buf. */
#include "base/memory/buf.h"
#include "base/test.h"

TEST(buf_adds_and_drops)
{
    struct buf b = { 0 };

    BUF_LITERAL(&b, "abc");
    buf_add_u8(&b, 'd');
    buf_add_string(&b, "ef");
    buf_printf(&b, "-%d", 12);
    CHECK_BYTES(b.data, b.len, "abcdef-12", 9);
    buf_drop_front(&b, 7);
    CHECK_BYTES(b.data, b.len, "12", 2);
    buf_drop_front(&b, 99);
    CHECK_INT(b.len, 0);
    buf_fini(&b);
    CHECK(b.data == NULL);
}

TEST(buf_printf_grows)
{
    struct buf b = { 0 };

    buf_printf(&b, "%0200d", 7);
    CHECK_INT(b.len, 200);
    CHECK_INT(b.data[199], '7');
    CHECK_INT(buf_slice(&b).len, 200);
    buf_fini(&b);
}
