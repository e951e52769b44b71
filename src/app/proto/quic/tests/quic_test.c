/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/proto/quic/quic.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define PAYLOAD_64 "01234567890123456789012345678901" "01234567890123456789012345678901"

/* RFC 9001, appendix A.1. */
TEST(quic_keys_of_the_standard)
{
    static const uint8_t dcid[] = { 0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08 };
    static const uint8_t key[] = { 0x1f, 0x36, 0x96, 0x13, 0xdd, 0x76, 0xd5, 0x46, 0x77, 0x30,
                                   0xef, 0xcb, 0xe3, 0xb1, 0xa2, 0x2d };
    static const uint8_t protect[] = { 0x9f, 0x50, 0x44, 0x9e, 0x04, 0xa0, 0xe8, 0x10, 0x28,
                                       0x3a, 0x1e, 0x99, 0x33, 0xad, 0xed, 0xd2 };
    static const uint8_t server_iv[] = { 0x0a, 0xc1, 0x49, 0x3c, 0xa1, 0x90, 0x58, 0x53, 0xb0,
                                         0xbb, 0xa0, 0x3e };
    struct quic_crypto *c = quic_crypto_new();
    struct quic_keys keys = { 0 };

    quic_keys_make(c, &keys, 1, (struct slice){ dcid, sizeof(dcid) });
    CHECK(keys.known);
    CHECK(memcmp(keys.ds[TO_SERVER].key, key, sizeof(key)) == 0);
    CHECK(memcmp(keys.ds[TO_SERVER].protect, protect, sizeof(protect)) == 0);
    CHECK(memcmp(keys.ds[TO_CLIENT].iv, server_iv, sizeof(server_iv)) == 0);
    quic_crypto_free(c);
}

static struct slice text(const char *s)
{
    return (struct slice){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

TEST(quic_crypto_frames_in_any_order)
{
    struct quic_assembly a = { 0 };
    struct slice front;

    CHECK(quic_assembly_add(&a, 6, text("ghi")));
    CHECK(quic_assembly_front(&a).len == 0);
    CHECK(quic_assembly_add(&a, 0, text("abc")));
    CHECK(quic_assembly_front(&a).len == 3);
    CHECK(quic_assembly_add(&a, 2, text("cdefg")));
    front = quic_assembly_front(&a);
    CHECK(front.len == 9 && memcmp(front.data, "abcdefghi", 9) == 0);
    CHECK(a.count == 1);
    CHECK(!quic_assembly_add(&a, QUIC_HANDSHAKE_MAX - 2, text("xyz")));
    CHECK(!quic_assembly_add(&a, UINT64_MAX - 1, text("xyz")));
    CHECK(!quic_assembly_add(&a, 9 + 8193, text("far ahead")));
    CHECK(quic_assembly_add(&a, 9 + 8192, text("z")));
    a.count--;
    for (unsigned i = 1; i < QUIC_RANGES_MAX; i++)
        CHECK(quic_assembly_add(&a, 20 * i, text("z")));
    CHECK(!quic_assembly_add(&a, 20 * QUIC_RANGES_MAX, text("z")));
    quic_assembly_fini(&a);
    CHECK(quic_assembly_front(&a).len == 0);
    CHECK(quic_assembly_add(&a, 0, text("abc")));
    CHECK(quic_assembly_front(&a).len == 3);
    quic_assembly_fini(&a);
}

static void check_replay(struct test *t, const void *data, uint32_t len, const char *expected)
{
    const struct split_step step = { TO_SERVER, data, len };
    const struct split_case c = { .port = 443, .udp = true, .steps = &step, .count = 1 };
    char *replayed = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(replayed, expected) != NULL);
    free(replayed);
}
#define CHECK_REPLAY(s, expected) check_replay(t, (s), sizeof(s) - 1, (expected))

TEST(quic_tags_of_google)
{
    CHECK_REPLAY("\x09" "12345678" "Q043" "\1" "abcdefghijkl" "\xa0\1\0\x1a"
               "CHLO\2\0\0\0" "SNI\0\1\0\0\0" "UAID\2\0\0\0" "hu",
               "\"version\":\"Q043\",\"sni\":\"h\",\"ua\":\"u\",\"cyu\":[{\"hash\":");
    CHECK_REPLAY("\x09" "12345678" "Q043" "\1" "abcdefghijkl" "\xa0\1\0\x1a"
               "CHLO\2\0\0\0" "SNI\0\1\0\0\0" "UAID\2\0\0\0" "hu", "\"string\":\"43,SNI-UAID\"");
}

TEST(quic_events)
{
    CHECK_REPLAY("\xc0\0\0\0\1\x8" "12345678" "\0\0\x40\x40" PAYLOAD_64, "event failed_decrypt\n");
    CHECK_REPLAY("\xc0\0\0\0\7\x8" "12345678" "\0\0\x5" "\6\0\x50xx", "event error_on_data\n");
}
