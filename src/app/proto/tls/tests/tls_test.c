/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/tests/tls_test.c - whole conversations, in every cut. */
#include "app/proto/tls/tests/samples.h"

#include <stdlib.h>
#include <string.h>

#define SERVER_RECORD                                                                          \
    "tx 0 tls {\"tls\":{\"subject\":\"C=DE, ST=Hessen, O=Example GmbH, OU=Web, Mail, "         \
    "CN=www.example.org, Email=who@example.org\",\"issuerdn\":\"C=US, O=Example Trust, "       \
    "CN=Example CA\",\"subjectaltname\":[\"www.example.org\",\"*.example.org\","               \
    "\"[192, 0, 2, 1]\",\"RFC822Name(who@example.org)\",\"https://example.org/\"]}}\n"

#define PARSED "flow tls tls tls\n"
#define STOPPED "flow tls tls unknown\n"      /* before the server was heard */

#define CASE(sample) { .port = 443, .steps = sample, .count = ARRAY_LEN(sample) }

TEST(tls_12)
{
    struct split_case c = CASE(sample_tls12);

    split_expect(t, &c, SERVER_RECORD PARSED);
}

TEST(tls_12_client_certificate)
{
    struct split_case c = CASE(sample_tls12_client);

    split_expect(t, &c, SERVER_RECORD PARSED);
}

TEST(tls_13)
{
    struct split_case c = CASE(sample_tls13);

    split_expect(t, &c, "tx 0 tls {\"tls\":{}}\nflow tls tls tls\n");
}

TEST(tls_frames)
{
    static const struct split_step steps[] = {
        SPLIT_TS("\x16\x03\x01\x00\x06\x0e\x00\x00\x02zz"),
        SPLIT_TC("\x15\x03\x01\x00\x02\x01\x00"),
    };
    struct split_case c = CASE(steps);

    c.frames = true;
    split_expect(t, &c,
                 "frame tc alert 5 2\nframe tc data 5 2\nframe tc hdr 0 5\nframe tc pdu 0 7\n"
                 "frame tc stream 0 7\n"
                 "frame ts data 5 6\nframe ts hdr 0 5\nframe ts pdu 0 11\nframe ts stream 0 11\n"
                 "flow tls tls tls\n");
}

/* --- records that are wrong ----------------------------------------------------------------- */

#define HELLO_REQUEST "\x16\x03\x03\x00\x04\x00\x00\x00\x00"

static void check_events(struct test *t, const struct split_step *steps, unsigned count,
                         const char *expected)
{
    struct split_case c = { .port = 443, .steps = steps, .count = count };

    split_expect(t, &c, expected);
}
#define CHECK_EVENTS(expected, ...)                                                              \
    do {                                                                                       \
        static const struct split_step steps[] = { __VA_ARGS__ };                              \
        check_events(t, steps, ARRAY_LEN(steps), expected);                                      \
    } while (0)


TEST(tls_record_events)
{
    CHECK_EVENTS("tx 0 event invalid_record_type\n" STOPPED,
                 SPLIT_TS(HELLO_REQUEST "\x19\x03\x03\x00\x04\x00\x00\x00\x00"));
    CHECK_EVENTS("tx 0 event invalid_record_length\n" STOPPED,
                 SPLIT_TS("\x16\x03\x03\x00\x00" "1234"));
    CHECK_EVENTS("tx 0 event invalid_record_length\n" STOPPED,
                 SPLIT_TS("\x16\x03\x03\x44\x01" "1234"));
    CHECK_EVENTS("tx 0 event invalid_record_version\n" STOPPED,
                 SPLIT_TS(HELLO_REQUEST "\x16\x03\x09\x00\x04\x00\x00\x00\x00"));
    CHECK_EVENTS("tx 0 event invalid_alert_message\n" STOPPED,
                 SPLIT_TS(HELLO_REQUEST "\x15\x03\x03\x00\x01\x02"));
    CHECK_EVENTS("tx 0 event invalid_handshake_message\n" PARSED,
                 SPLIT_TS("\x16\x03\x03\x00\x04\x63\x00\x00\x00"));
    CHECK_EVENTS("tx 0 event handshake_invalid_length\n" PARSED,
                 SPLIT_TS("\x16\x03\x03\x00\x06\x01\x00\x00\x02\x03\x03"));
}

#define NAMED_HELLO                                                                              \
    "\x16\x03\x01\x00\x3b\x01\x00\x00\x37\x03\x03" "0123456789abcdef0123456789abcdef"            \
    "\x00\x00\x02\xc0\x2f\x01\x00\x00\x0c\x00\x00\x00\x08\x00\x06\x00\x00\x03" "a.b"
#define SERVER_HELLO                                                                             \
    "\x16\x03\x03\x00\x2a\x02\x00\x00\x26\x03\x03" "0123456789abcdef0123456789abcdef"            \
    "\x00\xc0\x2f\x00"

/* A server may ask for a second hello, which a client must not send without that. */
TEST(tls_second_hello)
{
    CHECK_EVENTS("tx 0 event multiple_sni_extensions\n" PARSED,
                 SPLIT_TS(NAMED_HELLO NAMED_HELLO));
    CHECK_EVENTS(PARSED, SPLIT_TS(NAMED_HELLO), SPLIT_TC(SERVER_HELLO), SPLIT_TS(NAMED_HELLO));
}

TEST(tls_heartbeat_events)
{
    CHECK_EVENTS("tx 0 event overflow_heartbeat_message\n" STOPPED,
                 SPLIT_TS(HELLO_REQUEST "\x18\x03\x03\x00\x03\x01\x40\x00"));
    CHECK_EVENTS("tx 0 event invalid_heartbeat_message\n" STOPPED,
                 SPLIT_TS(HELLO_REQUEST "\x18\x03\x03\x00\x04\x01\x00\x01x"));
    CHECK_EVENTS("tx 0 event invalid_heartbeat_message\n" STOPPED,
                 SPLIT_TS(HELLO_REQUEST "\x18\x03\x03\x00\x04\x07\x00\x01x"));
    CHECK_EVENTS(PARSED, SPLIT_TS(HELLO_REQUEST "\x18\x03\x03\x00\x13\x01\x00\x00"
                                  "0123456789abcdef"));
}

TEST(tls_ssl2_hello)
{
    static const struct split_step steps[] = {
        SPLIT_TS("\x80\x1c\x01\x00\x02\x00\x03\x00\x00\x00\x10\x01\x00\x80" "0123456789abcdef"),
        SPLIT_TS("\x80\x03\x00\x00\x01"),
    };
    struct split_case c = CASE(steps);

    split_expect(t, &c, "tx 0 event error_message_encountered\n" PARSED);
}

/* --- messages over records ------------------------------------------------------------------ */

/* The hello of the sample, a record for each `step` bytes of it. */
static void check_fragmented(struct test *t, uint32_t step)
{
    const uint8_t *data = sample_tls12[0].data;
    uint32_t len = get_be16(data + 3), n = 0;
    uint8_t *out = malloc((len + 1) * 6);
    struct split_step steps[ARRAY_LEN(sample_tls12)];
    struct split_case c = CASE(steps);

    for (uint32_t at = 0; at < len; at += step) {
        uint32_t part = MIN(step, len - at);
        uint8_t header[5] = { 0x16, 3, 1, 0, (uint8_t)part };

        memcpy(out + n, header, sizeof(header));
        memcpy(out + n + 5, data + 5 + at, part);
        n += 5 + part;
    }
    memcpy(steps, sample_tls12, sizeof(steps));
    steps[0] = (struct split_step){ TO_SERVER, out, n };
    split_expect(t, &c, step >= 4 ? SERVER_RECORD PARSED
                                  : SERVER_RECORD "tx 0 event invalid_ssl_record\n"
                                    "flow tls tls tls\n");
    free(out);
}

TEST(tls_fragmented_hello)
{
    check_fragmented(t, 100);
    check_fragmented(t, 4);
    check_fragmented(t, 1);
}

/* A message that promises 16 MB costs nothing and hides nothing. */
TEST(tls_endless_message)
{
    static uint8_t record[5 + 16384];
    struct split_step steps[64];
    struct split_case c = CASE(steps);

    memcpy(record, "\x16\x03\x03\x40\x00\x0b\xff\xff\xff", 9);
    for (unsigned i = 0; i < ARRAY_LEN(steps); i++)
        steps[i] = (struct split_step){ TO_SERVER, record, sizeof(record) };
    split_expect(t, &c, "tx 0 event handshake_invalid_length\n" PARSED);
}
