/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/proto/mqtt/mqtt.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define CONNECT "\x10\x16\0\4MQTT\4\xc2\0\x3c\0\2me\0\1u\0\3pw\xff"
#define CONNACK "\x20\2\0\0"
#define PUBLISH "\x32\x0b\0\3a/b\0\7data"
#define PUBACK  "\x40\2\0\7"
#define HEAD(q) "\"qos\":" q ",\"retain\":false,\"dup\":false"

TEST(mqtt_exchange_in_any_segmentation)
{
    static const struct split_step steps[] = {
        SPLIT_TS(CONNECT), SPLIT_TC(CONNACK), SPLIT_TS(PUBLISH "\xc0\0"), SPLIT_TC(PUBACK),
    };
    const struct split_case c = { .port = 1883, .steps = steps, .count = 4 };

    split_expect(t, &c,
        "tx 0 mqtt {\"mqtt\":{\"connect\":{" HEAD("0") ",\"protocol_string\":\"MQTT\","
        "\"protocol_version\":4,\"client_id\":\"me\",\"flags\":{\"username\":true,"
        "\"password\":true,\"will_retain\":false,\"will\":false,\"clean_session\":true},"
        "\"username\":\"u\",\"password\":\"pw\\\\xff\"},\"connack\":{" HEAD("0")
        ",\"session_present\":false,\"return_code\":0}}}\n"
        "tx 1 mqtt {\"mqtt\":{\"publish\":{" HEAD("1") ",\"topic\":\"a/b\",\"message_id\":7,"
        "\"message\":\"data\"},\"puback\":{" HEAD("0") ",\"message_id\":7}}}\n"
        "tx 2 mqtt {\"mqtt\":{\"pingreq\":{" HEAD("0") "}}}\n"
        "flow mqtt mqtt mqtt\n");
}

TEST(mqtt_too_long_messages_are_skipped)
{
    static const struct split_step steps[] = {
        SPLIT_TS("\x30\x14\0\3a/b234567890123456\xc0\0"),
    };
    const struct split_case c = {
        .port = 1883, .steps = steps, .count = 1,
        .yaml = "app-layer: {protocols: {mqtt: {max-msg-length: 8}}}",
    };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "\"truncated\":true,\"skipped_length\":22") != NULL);
    CHECK(strstr(text, "pingreq") != NULL);
    free(text);
    split_check(t, &c);
}

static void check_event(struct test *t, const void *data, uint32_t len, enum direction d,
                        const char *event)
{
    struct split_step step = { d, data, len };
    const struct split_case c = { .port = 1883, .steps = &step, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, event) != NULL);
    free(text);
    split_check(t, &c);
}
#define CHECK_EVENT(s, d, event) check_event(t, (s), sizeof(s) - 1, (d), "event " event "\n")

TEST(mqtt_events)
{
    CHECK_EVENT(PUBLISH, TO_SERVER, "unintroduced_message");
    CHECK_EVENT(CONNACK, TO_CLIENT, "missing_connect");
    CHECK_EVENT(PUBACK, TO_CLIENT, "missing_publish");
    CHECK_EVENT("\x90\3\0\1\0", TO_CLIENT, "missing_subscribe");
    CHECK_EVENT("\xb0\2\0\1", TO_CLIENT, "missing_unsubscribe");
    CHECK_EVENT(CONNECT "\0\0", TO_SERVER, "unassigned_msg_type");
    CHECK_EVENT(CONNECT "\x36\x0b\0\3a/b\0\7data", TO_SERVER, "invalid_qos_level");
    CHECK_EVENT("\x10\4\0\4MQ", TO_SERVER, "malformed_traffic");
}
