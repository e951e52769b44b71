/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define INIT "\5\0\3\x20\x20\x18\0\1\0\xff\0\xff\0\xff\x10\x08\0\0\0\0\0\0\0\4desk"

TEST(rfb_handshake_in_any_segmentation)
{
    static const struct split_step steps[] = {
        SPLIT_TC("RFB 003.008\n"), SPLIT_TS("RFB 003.007\n"), SPLIT_TC("\1\2"), SPLIT_TS("\2"),
        SPLIT_TC("0123456789abcdef"), SPLIT_TS("ABCDEFGHIJKLMNOP"), SPLIT_TC("\0\0\0\0"),
        SPLIT_TS("\1"), SPLIT_TC(INIT), SPLIT_TS("whatever"),
    };
    const struct split_case c = { .port = 5900, .steps = steps,
                                  .count = sizeof(steps) / sizeof(steps[0]), .frames = true };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "\"authentication\":{\"security_type\":2,\"vnc\":{\"challenge\":"
                       "\"30313233343536373839616263646566\",\"response\":"
                       "\"4142434445464748494a4b4c4d4e4f50\"},\"security_result\":\"OK\"},"
                       "\"screen_shared\":true,\"framebuffer\":{\"width\":1280,\"height\":800,"
                       "\"name\":\"desk\"") != NULL);
    free(text);
    split_check(t, &c);
}

/* Since 3.8 the server says that it is content with no security, too. */
TEST(rfb_result_without_security)
{
    static const struct split_step steps[] = {
        SPLIT_TC("RFB 003.008\n"), SPLIT_TS("RFB 003.008\n"), SPLIT_TC("\1\1"), SPLIT_TS("\1"),
        SPLIT_TC("\0\0\0\0"), SPLIT_TS("\1"), SPLIT_TC(INIT),
    };
    static const struct split_step before[] = {
        SPLIT_TC("RFB 003.008\n"), SPLIT_TS("RFB 003.007\n"), SPLIT_TC("\1\1"), SPLIT_TS("\1"),
        SPLIT_TS("\1"), SPLIT_TC(INIT),
    };
    const struct split_case c[] = {
        { .port = 5900, .steps = steps, .count = sizeof(steps) / sizeof(steps[0]) },
        { .port = 5900, .steps = before, .count = sizeof(before) / sizeof(before[0]) },
    };

    for (unsigned i = 0; i < 2; i++) {
        char *text = split_replay(&c[i], SPLIT_NONE, 0);

        CHECK((strstr(text, "\"security_result\":\"OK\"") != NULL) == (i == 0));
        CHECK(strstr(text, "\"screen_shared\":true") != NULL);
        CHECK(strstr(text, "\"name\":\"desk\"") != NULL);
        CHECK(strstr(text, "event ") == NULL);
        free(text);
        split_check(t, &c[i]);
    }
}

static void check_event(struct test *t, const struct split_step *steps, unsigned count,
                        const char *event)
{
    const struct split_case c = { .port = 5900, .steps = steps, .count = count };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, event) != NULL);
    free(text);
    split_check(t, &c);
}

TEST(rfb_events)
{
    static const struct split_step strange[] = {
        SPLIT_TC("RFB 003.008\n"), SPLIT_TS("RFB 003.008\n"), SPLIT_TC("\1\7"), SPLIT_TS("\7") };
    static const struct split_step confused[] = {
        SPLIT_TC("RFB 003.008\n"), SPLIT_TS("RFB 003.008\n"), SPLIT_TS("\2") };
    static const struct split_step status[] = {
        SPLIT_TC("RFB 003.003\n"), SPLIT_TS("RFB 003.003\n"), SPLIT_TC("\0\0\0\2"),
        SPLIT_TC("0123456789abcdef"), SPLIT_TS("ABCDEFGHIJKLMNOP"), SPLIT_TC("\0\0\0\5") };

    check_event(t, strange, 4, "event unimplemented_security_type\n");
    check_event(t, confused, 3, "event confused_state\n");
    check_event(t, status, 6, "event unknown_security_result\n");
}
