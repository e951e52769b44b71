/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/asn1/tests/der_test.c - elements, lengths, numbers and identifiers, good and bad. */
#include "app/lib/asn1/der.h"
#include "base/test.h"

#define BYTES(s) bytes_of((s), sizeof(s) - 1)
#define SLICE(s) ((struct slice){ (const uint8_t *)(s), sizeof(s) - 1 })

TEST(der_elements)
{
    struct bytes in = BYTES("\x30\x05\x02\x01\x07\x05\x00\x04\x81\x02hi");
    struct bytes sequence = der_enter(&in, DER_SEQUENCE);
    struct der d;

    CHECK(der_take_int(&sequence) == 7);
    CHECK(der_take(&sequence, &d) && d.tag == DER_NULL && d.content.len == 0);
    CHECK(bytes_left(&sequence) == 0);
    CHECK(der_peek(&in) == DER_OCTET_STRING);
    CHECK(der_take(&in, &d) && d.content.len == 2 && d.content.data[0] == 'h');
    CHECK(!der_take(&in, &d) && in.failed);
}

TEST(der_long_tag)
{
    struct bytes in = BYTES("\xbf\x04\x01y");
    struct der d;

    CHECK(der_take(&in, &d) && d.tag == DER_CONTEXT_CONSTRUCTED + 4 && d.content.len == 1);
}

TEST(der_refused)
{
    static const char *const bad[] = { "\x04\x80yy", "\x1f\x1fyy", "\x04\x85\x01yy", "\x04\x03yy" };

    for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
        struct bytes in = bytes_of(bad[i], 4);
        struct der d;

        CHECK(!der_take(&in, &d));
    }
}

TEST(der_frames)
{
    uint64_t size = 0;

    CHECK(der_frame(BYTES("\x6a\x82\x01\x00"), &size) == DER_FRAME_OK && size == 260);
    CHECK(der_frame(BYTES("\x6a\x05"), &size) == DER_FRAME_OK && size == 7);
    CHECK(der_frame(BYTES("\x6a\x82\x01"), &size) == DER_FRAME_MORE);
    CHECK(der_frame(BYTES("\x6a"), &size) == DER_FRAME_MORE);
    CHECK(der_frame(BYTES("\x6a\x80"), &size) == DER_FRAME_BAD);
    CHECK(der_frame(BYTES("\x6a\x84\xff\xff\xff\xff"), &size) == DER_FRAME_OK &&
          size == UINT64_C(0x100000005));
}

TEST(der_numbers)
{
    int64_t i = 0;
    uint64_t u = 0;

    CHECK(der_int(SLICE("\xff"), &i) && i == -1);
    CHECK(der_int(SLICE("\x00\xff"), &i) && i == 255);
    CHECK(der_int(SLICE("\x80\0\0\0\0\0\0\0"), &i) && i == INT64_MIN);
    CHECK(!der_int(SLICE(""), &i));
    CHECK(!der_int(SLICE("123456789"), &i));
    CHECK(der_uint(SLICE("\0\xff\xff\xff\xff\xff\xff\xff\xff"), &u) && u == UINT64_MAX);
    CHECK(!der_uint(SLICE("\xff"), &u));
}

TEST(der_oids)
{
    char text[64], small[6];

    CHECK(der_oid_text(SLICE("\x2b\x06\x01\x04\x01\x82\x37"), text, sizeof(text)) == 15);
    CHECK_STRING(text, "1.3.6.1.4.1.311");
    CHECK(der_oid_text(SLICE("\x88\x37"), text, sizeof(text)) > 0);
    CHECK_STRING(text, "2.999");
    CHECK(der_oid_text(SLICE("\x2b\x06\x01\x04\x01\x82\x37"), small, sizeof(small)) == 5);
    CHECK_STRING(small, "1.3.6");
    CHECK(der_oid_text(SLICE("\x82"), text, sizeof(text)) == 0);
    /* RFC 2578 section 3.5 has 32 bits: ten octets are none. */
    CHECK(der_oid_text(SLICE("\x2b\x80\x80\x80\x80\x80\x80\x80\x80\x01"), text,
                       sizeof(text)) == 5);
    CHECK_STRING(text, "1.3.1");
    CHECK(der_oid_text(SLICE("\x2b\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), text,
                       sizeof(text)) == 32);
    CHECK(der_oid_text(SLICE("\x2b\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), small,
                       sizeof(small)) == 5);
    CHECK_STRING(small, "2b 80");
}
