/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/websocket/tests/websocket_test.c - after an upgrade: frames, messages, packed ones. */
#include "app/tests/split.h"
#include "app/proto/websocket/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UPGRADE                                                                                \
    SPLIT_TS("GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"                         \
             "Connection: Upgrade\r\n\r\n"),                                                   \
    SPLIT_TC("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"                      \
             "Connection: Upgrade\r\n\r\n")
#define CASE(list) { .port = 80, .steps = list, .count = sizeof(list) / sizeof(list[0]) }

static void check_has(struct test *t, const struct split_case *c, const char *const *expected)
{
    char *text = split_replay(c, SPLIT_NONE, 0);

    for (; *expected != NULL; expected++) {
        CHECK(strstr(text, *expected) != NULL);
        if (strstr(text, *expected) == NULL)
            printf("# no %s in\n%s", *expected, text);
    }
    free(text);
    split_check(t, c);
}

TEST(websocket_frames)
{
    static const struct split_step steps[] = {
        UPGRADE, SPLIT_TS("\x81\x85\x01\x02\x03\x04ighhn"), SPLIT_TC("\x89\x02ok\x8a\x00"),
        SPLIT_TS("\x88\x80\x00\x00\x00\x00\x83\x01x"),
    };
    static const char *const expected[] = {
        "websocket {\"websocket\":{\"fin\":true,\"mask\":16909060,\"opcode\":\"text\"}}",
        "\"fin\":true,\"opcode\":\"ping\"", "\"fin\":true,\"opcode\":\"pong\"",
        "\"fin\":true,\"mask\":0,\"opcode\":\"close\"", "\"opcode\":\"unknown-3\"",
        "flow websocket", "frame ts header 72 6\n", "frame ts data 78 5\n", NULL,
    };
    struct split_case c = CASE(steps);

    c.frames = true;
    check_has(t, &c, expected);
}

TEST(websocket_limits)
{
    static const struct split_step steps[] = {
        UPGRADE, SPLIT_TC("\x82\x7e\x00\x14" "12345678901234567890" "\x01\x05" "12345"
                          "\x80\x05" "67890" "\x89\x00"),
    };
    static const char *const expected[] = {
        "event skip_end_of_payload", "event reassembly_limit_reached", "\"opcode\":\"ping\"", NULL,
    };
    struct split_case c = CASE(steps);

    c.yaml = "app-layer: {protocols: {websocket: {max-payload-size: 8}}}";
    check_has(t, &c, expected);
}

/* There is no way back behind a gap. */
TEST(websocket_gap)
{
    static const struct split_step steps[] = {
        UPGRADE, SPLIT_TC("\x89\x02ok"), SPLIT_GAP(TO_CLIENT, 10), SPLIT_TC("\x8a\x02ok"),
    };
    struct split_case c = CASE(steps);
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "ping") != NULL);
    CHECK(strstr(text, "pong") == NULL);
    free(text);
    split_check(t, &c);
}

static bool is_text(struct slice s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}
#define SLICE(s) (struct slice){ (const uint8_t *)(s), sizeof(s) - 1 }

/* The examples of RFC 7692, 7.2.3: "Hello" twice, the second time out of the shared window. */
TEST(websocket_inflate)
{
    struct ws_message m = { .started = false };
    struct arena arena;

    arena_init(&arena, 1024, 0);
    CHECK(is_text(ws_inflate(&m, &arena, SLICE("\xf2\x48\xcd\xc9\xc9\x07\x00"), 100), "Hello"));
    CHECK(is_text(ws_inflate(&m, &arena, SLICE("\xf2\x00\x11\x00\x00"), 100), "Hello"));
    CHECK(is_text(ws_inflate(&m, &arena, SLICE("\xf2\x00\x11\x00\x00"), 3), "Hel"));
    CHECK(is_text(ws_inflate(&m, &arena, SLICE("\xff\xff\xff"), 100), "\xff\xff\xff"));
    ws_message_fini(&m);
    arena_fini(&arena);
}

TEST(websocket_message_in_parts)
{
    struct ws_message m = { .started = false };
    struct arena arena;
    bool compressed;

    arena_init(&arena, 1024, 0);
    CHECK(ws_message_add(&m, SLICE("one "), true, 8));
    CHECK(!ws_message_add(&m, SLICE("and two"), false, 8));
    CHECK(ws_message_add(&m, SLICE("more"), false, 8));
    CHECK(is_text(ws_message_take(&m, &arena, &compressed), "one and "));
    CHECK(compressed && !ws_message_is_started(&m));
    ws_message_fini(&m);
    arena_fini(&arena);
}
