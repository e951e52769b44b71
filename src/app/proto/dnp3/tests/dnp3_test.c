/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define YAML "app-layer: {protocols: {dnp3: {enabled: yes}}}"

/* SELECT of a relay, unconfirmed user data from 3 to 2. */
#define SELECT_APP "\xc0\xc7\x03\x0c\x01\x28\x01\x00\x01\x00\x03\x01\x64\x00\x00\x00" \
                   "\x64\x00\x00\x00\x00"

/* Builds a link frame with its CRCs. */
static uint16_t crc_of(const uint8_t *data, uint32_t len)
{
    uint16_t crc = 0;

    for (uint32_t i = 0; i < len; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 1 ? crc >> 1 ^ 0xa6bc : crc >> 1);
    }
    return (uint16_t)~crc;
}

static uint32_t put_block(uint8_t *out, const void *data, uint32_t len)
{
    uint16_t crc = crc_of(data, len);

    memcpy(out, data, len);
    out[len] = (uint8_t)crc;
    out[len + 1] = (uint8_t)(crc >> 8);
    return len + 2;
}

static uint32_t put_frame(uint8_t *out, bool from_master, const char *user, uint32_t len)
{
    uint8_t head[8] = { 5, 0x64, (uint8_t)(len + 5), from_master ? 0xc4 : 0x44, 2, 0, 3, 0 };
    uint32_t n = put_block(out, head, sizeof(head));

    for (uint32_t i = 0; i < len; i += 16)
        n += put_block(out + n, user + i, MIN(len - i, 16u));
    return n;
}
#define FRAME(out, from_master, user) put_frame(out, from_master, user, sizeof(user) - 1)

#define RELAY "{\"prefix\":1,\"index\":1,\"op_type\":3,\"qu\":0,\"cr\":0,\"tcc\":0,\"count\":1," \
              "\"ontime\":100,\"offtime\":100,\"status_code\":0,\"reserved\":0}"
#define CONTROL(dir) "\"control\":{\"dir\":" dir ",\"pri\":true,\"fcb\":false,\"fcv\":false," \
                     "\"function_code\":4},\"src\":3,\"dst\":2,"

TEST(dnp3_messages_in_any_segmentation)
{
    uint8_t request[128], response[128];
    uint32_t n = FRAME(request, true, SELECT_APP);
    uint32_t m = FRAME(response, false, "\xc0\xc7\x82\x80\x01\x01\x01\x00\x03\x06\x05");
    const struct split_step steps[] = { { TO_SERVER, request, n }, { TO_CLIENT, response, m } };
    const struct split_case c = { .yaml = YAML, .port = 20000, .steps = steps, .count = 2 };

    split_expect(t, &c,
        "tx 0 dnp3 {\"dnp3\":{\"type\":\"request\"," CONTROL("true")
        "\"application\":{\"control\":{\"fir\":true,\"fin\":true,\"con\":false,\"uns\":false,"
        "\"sequence\":7},\"function_code\":3,\"objects\":[{\"group\":12,\"variation\":1,"
        "\"qualifier\":40,\"prefix_code\":2,\"range_code\":8,\"start\":0,\"stop\":0,\"count\":1,"
        "\"points\":[" RELAY "]}],\"complete\":true}}}\n"
        "tx 1 dnp3 {\"dnp3\":{\"type\":\"unsolicited_response\"," CONTROL("false")
        "\"application\":{\"control\":{\"fir\":true,\"fin\":true,\"con\":false,\"uns\":false,"
        "\"sequence\":7},\"function_code\":130,\"objects\":[{\"group\":1,\"variation\":1,"
        "\"qualifier\":0,\"prefix_code\":0,\"range_code\":0,\"start\":3,\"stop\":6,\"count\":4,"
        "\"points\":[{\"prefix\":0,\"index\":3,\"state\":1},{\"prefix\":0,\"index\":4,"
        "\"state\":0},{\"prefix\":0,\"index\":5,\"state\":1},{\"prefix\":0,\"index\":6,"
        "\"state\":0}]}],\"complete\":true},\"iin\":{\"indicators\":[\"device_restart\","
        "\"no_func_code_support\"]}}}\n"
        "flow dnp3 dnp3 dnp3\n");
}

TEST(dnp3_message_of_two_segments)
{
    uint8_t data[160];
    uint32_t n = FRAME(data, true, "\x45\xc1\x02\x34\x01\x07\x01\x10");

    n += put_frame(data + n, true, "\x86\x27", 2);
    n += FRAME(data + n, true, "\x86\x27\x32\x01\x07\x01\1\2\3\4\5\6");
    const struct split_step steps[] = { { TO_SERVER, data, n } };
    const struct split_case c = { .yaml = YAML, .port = 20000, .steps = steps, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "\"group\":52,\"variation\":1") != NULL);
    CHECK(strstr(text, "\"timestamp\":6618611909121") != NULL);
    CHECK(strstr(text, "\"complete\":true") != NULL);
    CHECK(strstr(text, "event len_too_small") != NULL);     /* the frame of two bytes */
    free(text);
    split_check(t, &c);
}

TEST(dnp3_banner_of_the_outstation)
{
    uint8_t data[128] = "RTU DNP3 ready ";
    uint32_t n = 15 + FRAME(data + 15, false, "\xc0\xc7\x81\0\0");
    const struct split_step steps[] = { { TO_CLIENT, data, n } };
    const struct split_case c = {
        .yaml = YAML, .port = 20000, .midstream = true, .steps = steps, .count = 1 };
    char *text = split_replay(&c, SPLIT_BYTES, 0);

    CHECK(strstr(text, "\"type\":\"response\"") != NULL);
    free(text);
}

static void check_replay(struct test *t, const struct split_case *c, enum split_segmentation how,
                         const char *event)
{
    char *text = split_replay(c, how, 0);

    if (strstr(text, event) == NULL)
        test_fail(t, __FILE__, __LINE__, "no %s in %s", event, text);
    free(text);
}

static void check_event(struct test *t, const char *yaml, const uint8_t *data, uint32_t n,
                        const char *event)
{
    const struct split_step step = { TO_SERVER, data, n };
    const struct split_case c = { .yaml = yaml, .port = 20000, .steps = &step, .count = 1 };

    check_replay(t, &c, SPLIT_NONE, event);
    split_check(t, &c);
}

/* Byte by byte the message before is done when the event comes, which then has a transaction of its
 * own. */
static void check_link_event(struct test *t, const uint8_t *data, uint32_t n, const char *event)
{
    const struct split_step step = { TO_SERVER, data, n };
    const struct split_case c = { .yaml = YAML, .port = 20000, .steps = &step, .count = 1 };

    check_replay(t, &c, SPLIT_NONE, event);
    check_replay(t, &c, SPLIT_BYTES, event);
}

TEST(dnp3_events)
{
    uint8_t data[2048];
    uint32_t n = FRAME(data, true, SELECT_APP);

    uint32_t second = n, end = n + FRAME(data + n, true, SELECT_APP);

    data[second + 8] ^= 1;
    check_link_event(t, data, end, "event bad_link_crc\n");
    data[second + 8] ^= 1;
    data[second + 26] ^= 1;
    check_link_event(t, data, end, "event bad_transport_crc\n");
    end = second + FRAME(data + second, true, "\xc0\xc7");
    check_link_event(t, data, end, "event len_too_small\n");
    n = FRAME(data, true, "\xc0\xc7\x03\xee\x01\x07\x01");
    check_event(t, YAML, data, n, "event unknown_object\n");
    n = FRAME(data, true, "\xc0\xc7\x03\x3c\x01\x06\x3c\x02\x06");
    check_event(t, "app-layer: {protocols: {dnp3: {enabled: yes, max-objects: 1}}}", data, n,
                "event too_many_objects\n");
    n = FRAME(data, true, "\xc0\xc7\x03\x3c\x01\x07\x09");
    check_event(t, "app-layer: {protocols: {dnp3: {enabled: yes, max-points: 8}}}", data, n,
                "event too_many_points\n");
}

/* No message can have the event, and none is made for it. */
TEST(dnp3_bad_link_before_the_first_message)
{
    uint8_t data[256];
    const struct split_step step = { TO_SERVER, data, FRAME(data, true, SELECT_APP) };
    const struct split_case c = { .yaml = YAML, .port = 20000, .steps = &step, .count = 1 };
    char *text;

    data[8] ^= 1;
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "event") == NULL && strstr(text, "tx 0") == NULL);
    free(text);
    split_check(t, &c);
}

TEST(dnp3_flood)
{
    uint8_t data[2048];
    uint32_t n = 0;

    for (int i = 0; i < 4; i++)
        n += FRAME(data + n, true, SELECT_APP);
    const struct split_step step = { TO_SERVER, data, n };
    const struct split_case c = {
        .yaml = "app-layer: {protocols: {dnp3: {enabled: yes, max-tx: 3}}}",
        .port = 20000, .steps = &step, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 3 event flooded\n") != NULL);
    free(text);
}

/* Segments that never end: the message is given up, nothing grows without end. */
TEST(dnp3_too_long_reassembly)
{
    enum { SEGMENTS = 70, SIZE = 300 };
    uint8_t *data = malloc(SEGMENTS * SIZE);
    char user[250] = { 0 };
    uint32_t n = 0;

    for (unsigned i = 0; i < SEGMENTS; i++) {
        user[0] = (char)((i == 0 ? 0x40 : 0) | (i & 0x3f));
        user[2] = 2;
        n += put_frame(data + n, true, user, sizeof(user));
    }
    const struct split_step step = { TO_SERVER, data, n };
    const struct split_case c = { .yaml = YAML, .port = 20000, .steps = &step, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "event too_long_reassembly\n") != NULL);
    free(text);
    free(data);
}

TEST(dnp3_stops_at_a_gap)
{
    uint8_t data[128];
    uint32_t n = FRAME(data, true, SELECT_APP);
    const struct split_step steps[] = {
        { TO_SERVER, data, n }, SPLIT_GAP(TO_SERVER, 20), { TO_SERVER, data, n } };
    const struct split_case c = { .yaml = YAML, .port = 20000, .steps = steps, .count = 3 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 0 dnp3") != NULL);
    CHECK(strstr(text, "tx 1 ") == NULL);
    free(text);
    split_check(t, &c);
}
