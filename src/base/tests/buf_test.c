/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/buf. */
#include "base/memory/buf.h"
#include "base/memory/traffic_memory.h"
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

/* The sum is exact up to what the thread has reserved. */
static bool is_near(uint64_t a, uint64_t b)
{
    return a - b + (1u << 20) < 2u << 20;
}

/* Gives back what it took, and nothing if there is none. */
TEST(buf_shrinks)
{
    const uint64_t used = traffic_memory_used();
    struct buf b = { 0 };

    buf_shrink(&b);
    CHECK_INT(b.cap, 0);
    CHECK(is_near(traffic_memory_used(), used));
    for (unsigned i = 0; i < 1000; i++)
        buf_add_u8(&b, 'a');
    CHECK_INT(b.cap, 1024);
    buf_shrink(&b);
    CHECK_INT(b.cap, 1024);
    b.len = 10;
    buf_shrink(&b);
    CHECK_INT(b.cap, 64);
    CHECK_BYTES(b.data, b.len, "aaaaaaaaaa", 10);
    buf_fini(&b);
    CHECK(is_near(traffic_memory_used(), used));
}
