/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/proto/enip/enip.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define YAML "app-layer: {protocols: {enip: {enabled: yes}}}"

/* command, length, session, status, context, options */
#define HEAD(command, len) command len "\7\0\0\0" "\0\0\0\0" "12345678" "\0\0\0\0"
#define LIST HEAD("\x63\0", "\0\0")
#define IDENTITY "\1\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x0c\0\x3a\0\4\3\x30\0\x8e\x4d\x52\0" \
                 "\3PLC\3"
#define LISTED HEAD("\x63\0", "\x2b\0") "\1\0" "\x0c\0\x25\0" IDENTITY
#define CPF "\0\0\0\0\1\0\2\0" "\0\0\0\0"

TEST(enip_lists_and_cip_in_any_segmentation)
{
    static const struct split_step steps[] = {
        SPLIT_TS(LIST), SPLIT_TC(LISTED),
        SPLIT_TS(HEAD("\x6f\0", "\x30\0") CPF "\xb2\0\x20\0"
                 "\x0a\2\x20\2\x24\1" "\2\0\6\0\x10\0" "\3\2\x20\1\x24\1\1\0\5\0"
                 "\x0e\4\x20\6\x25\0\x2c\1\x30\7"),
        SPLIT_TC(HEAD("\x6f\0", "\x24\0") CPF "\xb2\0\x14\0"
                 "\x8a\0\x1e\0" "\2\0\6\0\x0a\0" "\x83\0\0\0" "\x8e\0\1\2\0\1"),
    };
    const struct split_case c = { .yaml = YAML, .port = 44818, .steps = steps, .count = 4 };

    split_expect(t, &c,
        "tx 0 enip {\"enip\":{\"request\":{\"command\":\"list_identity\",\"status\":\"success\"},"
        "\"response\":{\"command\":\"list_identity\",\"status\":\"success\",\"identity\":{"
        "\"protocol_version\":1,\"revision\":\"4.3\",\"vendor_id\":"
        "\"Rockwell Automation/Allen-Bradley\",\"device_type\":\"Communications Adapter\","
        "\"product_code\":58,\"status\":48,\"serial\":5393806,\"product_name\":\"PLC\","
        "\"state\":3}}}}\n"
        "tx 1 enip {\"enip\":{\"request\":{\"command\":\"send_r_r_data\",\"status\":\"success\","
        "\"cip\":{\"service\":\"Multiple Service Packet\",\"path\":[{\"segment_type\":\"class\","
        "\"value\":2},{\"segment_type\":\"instance\",\"value\":1}],\"class_name\":"
        "\"Message Router\",\"multiple\":[{\"service\":\"Get Attribute List\",\"path\":[{"
        "\"segment_type\":\"class\",\"value\":1},{\"segment_type\":\"instance\",\"value\":1}],"
        "\"class_name\":\"Identity\"},{\"service\":\"Get Attributes Single\",\"path\":[{"
        "\"segment_type\":\"class\",\"value\":6},{\"segment_type\":\"instance\",\"value\":300},"
        "{\"segment_type\":\"attribute\",\"value\":7}],\"class_name\":\"Connection Manager\"}]}},"
        "\"response\":{\"command\":\"send_r_r_data\",\"status\":\"success\",\"cip\":{\"service\":"
        "\"Multiple Service Packet\",\"status\":\"Embedded Service Error\",\"multiple\":[{"
        "\"service\":\"Get Attribute List\",\"status\":\"Success\"},{\"service\":"
        "\"Get Attributes Single\",\"status\":\"Connection Failure\",\"status_extended\":"
        "\"0001\",\"status_extended_meaning\":"
        "\"Connection in use or duplicate Forward Open\"}]}}}}\n"
        "flow enip enip enip\n");
}

TEST(enip_datagrams)
{
    static const struct split_step steps[] = { SPLIT_TS(LIST), SPLIT_TC(LISTED) };
    const struct split_case c = {
        .yaml = YAML, .udp = true, .port = 44818, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "\"product_name\":\"PLC\"") != NULL);
    free(text);
}

/* An item that is longer than its message. */
TEST(enip_invalid_pdu)
{
    static const struct split_step steps[] = {
        SPLIT_TS(LIST), SPLIT_TC(HEAD("\x63\0", "\7\0") "\1\0\x0c\0\x25\0\1") };
    const struct split_case c = { .yaml = YAML, .port = 44818, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 0 event invalid_pdu\n") != NULL);
    free(text);
    split_check(t, &c);
}

TEST(enip_finds_the_next_message_behind_a_gap)
{
    static const struct split_step steps[] = {
        SPLIT_TS(LIST), SPLIT_GAP(TO_SERVER, 100), SPLIT_TS("xx\0\0\0\0\0" LIST), SPLIT_TC(LISTED),
    };
    const struct split_case c = { .yaml = YAML, .port = 44818, .steps = steps, .count = 4 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 1 enip {\"enip\":{\"request\":{\"command\":\"list_identity\"") != NULL);
    free(text);
    split_check(t, &c);
}

TEST(enip_too_many_transactions)
{
    enum { REQUESTS = 100 };
    char *data = malloc(REQUESTS * (sizeof(LIST) - 1));

    for (unsigned i = 0; i < REQUESTS; i++)
        memcpy(data + i * (sizeof(LIST) - 1), LIST, sizeof(LIST) - 1);
    const struct split_step step = { TO_SERVER, data, REQUESTS * (sizeof(LIST) - 1) };
    const struct split_case c = {
        .yaml = "app-layer: {protocols: {enip: {enabled: yes, max-tx: 20}}}",
        .port = 44818, .steps = &step, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "event too_many_transactions\n") != NULL);
    free(text);
    free(data);
}

/* Nested messages that overlap would be work without end. */
TEST(enip_nested_messages_do_not_overlap)
{
    static const uint8_t once[] = "\x0a\0" "\1\0\4\0" "\1\1\x20\1";
    static const uint8_t thrice[] = "\x0a\0" "\3\0\x08\0\x08\0\x08\0" "\1\4\x20\1\x20\1\x20\1\x20\1";
    struct cip m;

    CHECK(cip_read((struct slice){ once, sizeof(once) - 1 }, &m));
    CHECK_INT(m.multiple_count, 1);
    CHECK(!cip_read((struct slice){ thrice, sizeof(thrice) - 1 }, &m));
}
