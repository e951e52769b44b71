/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/tests/hello_test.c - hellos and the fingerprints made of them. */
#include "app/proto/tls/fingerprint.h"
#include "app/proto/tls/tests/samples.h"
#include "app/proto/tls/version.h"

#include <string.h>

/* The hello that a step begins with, behind the headers of record and message. */
static struct slice hello_of(const struct split_step *step)
{
    const uint8_t *data = step->data;

    return (struct slice){ data + 9, get_be24(data + 6) };
}

static void check_slice(struct test *t, struct slice found, const char *expected)
{
    CHECK_BYTES(found.data, found.len, expected, strlen(expected));
}

TEST(tls_hello_client)
{
    struct tls_hello h;
    struct slice name;

    CHECK(tls_hello_parse(bytes_of_slice(hello_of(&sample_tls13[0])), false, &h));
    CHECK_INT(h.problems, 0);
    CHECK_INT(h.legacy_version, TLS_1_2);
    CHECK_INT(h.version, TLS_1_3);
    CHECK_INT(h.session_id.len, 32);
    check_slice(t, h.sni, "www.example.org");
    CHECK(tls_hello_alpn(&h, 1, &name));
    check_slice(t, name, "http/1.1");
    CHECK(!tls_hello_alpn(&h, 2, &name));
}

TEST(tls_hello_server)
{
    struct tls_hello h;

    CHECK(tls_hello_parse(bytes_of_slice(hello_of(&sample_tls13[1])), true, &h));
    CHECK_INT(h.version, TLS_1_3);
    CHECK_INT(h.highest, TLS_1_2);
    CHECK(h.has_supported_versions);
}

/* However it is cut, nothing is read beyond the end. */
TEST(tls_hello_truncated)
{
    struct slice complete = hello_of(&sample_tls12[0]);
    struct tls_hello h;

    for (uint32_t len = 0; len < complete.len; len++) {
        bool without_extensions = len >= 35 + 2 + 30 + 2 && len < 35 + 2 + 30 + 2 + 2;

        CHECK_INT(tls_hello_parse(bytes_of(complete.data, len), false, &h), without_extensions);
    }
}

/* The session id alone is that of the whole hello, however that is cut. */
TEST(tls_hello_sessions)
{
    const struct { const struct split_step *step; bool is_server; } hellos[] = {
        { &sample_tls13[0], false }, { &sample_tls13[1], true },
        { &sample_tls12[0], false }, { &sample_tls12[1], true },
    };
    unsigned found = 0;

    for (unsigned i = 0; i < ARRAY_LEN(hellos); i++) {
        struct slice complete = hello_of(hellos[i].step);

        for (uint32_t len = 0; len <= complete.len; len++) {
            struct bytes in = bytes_of(complete.data, len);
            struct slice session = tls_hello_session(in, hellos[i].is_server);
            struct tls_hello h;

            (void)tls_hello_parse(in, hellos[i].is_server, &h);
            CHECK(session.data == h.session_id.data);
            CHECK_INT(session.len, h.session_id.len);
            found += session.len > 0;
        }
    }
    CHECK(found > 0);
}

#define HELLO_START \
    "\x03\x03" "0123456789abcdef0123456789abcdef" "\x00" "\x00\x02\x13\x01" "\x01\x00"

TEST(tls_hello_bad_names)
{
    static const struct { const char *extension; uint32_t len; unsigned problem; } cases[] = {
        { "\x00\x09\x00\x00\x00\x05\x00\x03\x01\x00\x00", 11, TLS_HELLO_SNI_TYPE },
        { "\x00\x09\x00\x00\x00\x05\x00\x03\x00\x00\x00", 11, TLS_HELLO_SNI_LENGTH },
        { "\x00\x09\x00\x00\x00\x05\x00\x03\x00\x00\x09", 11, TLS_HELLO_SNI_LENGTH },
        { "\x00\x14\x00\x00\x00\x06\x00\x03\x00\x00\x01x" "\x00\x00\x00\x06\x00\x03\x00\x00\x01y",
          22, TLS_HELLO_SNI_TWICE },
        { "\x00\x06\x00\x0d\x00\x05\x00\x03", 8, TLS_HELLO_LENGTH },
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t message[100];
        size_t start = sizeof(HELLO_START) - 1;
        struct tls_hello h;

        memcpy(message, HELLO_START, start);
        memcpy(message + start, cases[i].extension, cases[i].len);
        tls_hello_parse(bytes_of(message, start + cases[i].len), false, &h);
        CHECK_INT(h.problems, cases[i].problem);
    }
}

static void check_fingerprints(struct test *t, const struct split_step *step, bool is_server,
                               const char *ja3, const char *hash, const char *ja4)
{
    struct digests *d = digests_new();
    struct arena arena;
    struct tls_hello h;
    struct slice string;

    arena_init(&arena, 1024, 0);
    CHECK(tls_hello_parse(bytes_of_slice(hello_of(step)), is_server, &h));
    string = tls_ja3_string(&h, &arena);
    check_slice(t, string, ja3);
    check_slice(t, tls_ja3_hash(string, d, &arena), hash);
    if (ja4 != NULL)
        check_slice(t, tls_ja4(&h, false, d, &arena), ja4);
    arena_fini(&arena);
    digests_free(d);
}

TEST(tls_fingerprints)
{
    check_fingerprints(t, &sample_tls12[0], false,
                       "771,49196-49200-49195-49199-52393-52392-49188-49192-49187-49191-159-158-"
                       "107-103-255,0-11-10-35-16-22-23-13,29-23-30-25-24,0-1-2",
                       "104774240db569f8f87b1a28206b25e5", "t12d1508h2_d68b136fe8d9_e7e480e5a997");
    check_fingerprints(t, &sample_tls12[1], true, "771,49196,65281-11-35-16-23",
                       "e195432758194ce2d482396b82e0d48e", NULL);
    check_fingerprints(t, &sample_tls13[0], false,
                       "771,4866-4867-4865-255,0-11-10-35-16-22-23-13-43-45-51-21,"
                       "29-23-30-25-24-256-257-258-259-260,0-1-2",
                       "a4e852ed87d60903caddb37da85ae9a9", "t13d0412h2_16476d049b0b_7f28efdaea70");
    check_fingerprints(t, &sample_tls13[1], true, "771,4866,43-51",
                       "15af977ce25de452b96affa2addb1036", NULL);
}

TEST(tls_ja4_grease_and_empty)
{
    static const uint8_t message[] =
        "\x03\x01" "0123456789abcdef0123456789abcdef" "\x00" "\x00\x06\x0a\x0a\x00\x2f\xfa\xfa"
        "\x01\x00" "\x00\x0e" "\x1a\x1a\x00\x00" "\x00\x10\x00\x06\x00\x04\x03\x00h2";
    struct digests *d = digests_new();
    struct arena arena;
    struct tls_hello h;

    arena_init(&arena, 1024, 0);
    CHECK(tls_hello_parse(bytes_of(message, sizeof(message) - 1), false, &h));
    check_slice(t, tls_ja3_string(&h, &arena), "769,47,16,,");
    check_slice(t, tls_ja3_string_with_grease(&h, &arena), "769,2570-47-64250,64250-16,,");
    check_slice(t, (struct slice){ tls_ja4(&h, true, d, &arena).data, 10 }, "q10i010102");
    arena_fini(&arena);
    digests_free(d);
}

TEST(tls_version_names)
{
    char buf[TLS_VERSION_TEXT];

    CHECK_STRING(tls_version_name(0x0301, buf), "TLSv1");
    CHECK_STRING(tls_version_name(0x7f1c, buf), "TLS 1.3 draft-28");
    CHECK_STRING(tls_version_name(0xfb17, buf), "TLS 1.3 draft-23-fb");
    CHECK_STRING(tls_version_name(0x7f1d, buf), "32541");
    CHECK(!tls_version_valid(0x7f1d) && !tls_version_valid(SSL_2) && tls_version_valid(SSL_3));
    CHECK(tls_is_grease(0x4a4a) && !tls_is_grease(0x4a5a));
}
