/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/bytes. */
#include "base/text/bytes.h"
#include "base/test.h"

static const uint8_t sample[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

TEST(bytes_reads_both_orders)
{
    struct bytes in = bytes_of(sample, sizeof(sample)), again = in;

    CHECK_INT(take_be16(&in), 0x0102);
    CHECK_INT(take_be24(&in), 0x030405);
    CHECK_INT(take_u8(&in), 6);
    CHECK_INT(take_le16(&in), 0x0807);
    CHECK_INT(bytes_left(&in), 0);
    CHECK(!in.failed);
    CHECK_INT(take_be64(&again), 0x0102030405060708);
    again = bytes_of(sample, 4);
    CHECK_INT(take_le32(&again), 0x04030201);
}

TEST(bytes_short_read_fails_and_sticks)
{
    struct bytes in = bytes_of(sample, 3);

    CHECK_INT(take_be32(&in), 0);
    CHECK(in.failed);
    CHECK_INT(take_u8(&in), 0);
    CHECK(!bytes_have(&in, 0));
    CHECK(take_bytes(&in, 0) == NULL);
    CHECK_INT(take_rest(&in).len, 0);
}

TEST(bytes_sub_is_bounded)
{
    struct bytes in = bytes_of(sample, 8), sub = take_sub(&in, 2), none;

    CHECK_INT(take_be16(&sub), 0x0102);
    CHECK_INT(take_u8(&sub), 0);
    CHECK(sub.failed && !in.failed);
    CHECK_INT(peek_u8(&in), 3);
    CHECK_INT(peek_be16(&in), 0x0304);
    none = take_sub(&in, 7);
    CHECK(none.failed && in.failed);
}

TEST(bytes_lines)
{
    struct bytes in = bytes_of("ab\r\n\nc", 6);
    struct slice line;

    CHECK(take_line(&in, &line));
    CHECK_BYTES(line.data, line.len, "ab", 2);
    CHECK(take_line(&in, &line));
    CHECK_INT(line.len, 0);
    CHECK(!take_line(&in, &line));
    CHECK_INT(bytes_left(&in), 1);
    CHECK(!in.failed);
}

TEST(bytes_empty_is_safe)
{
    struct bytes in = bytes_of(NULL, 0);
    struct slice s;

    CHECK_INT(bytes_left(&in), 0);
    CHECK(!take_until(&in, 'x', &s));
    CHECK_INT(take_u8(&in), 0);
    CHECK(in.failed);
}
