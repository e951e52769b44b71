/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/websocket/tests/websocket_test.c - after an upgrade: frames, messages, packed ones. */
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/proto/websocket/message.h"
#include "app/tests/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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

/* A transaction whose flow has the memory of decompressors. */
struct flow_of_tx {
    struct app_conf conf;
    struct app_thread thread;
    struct app_flow flow;
    struct app_tx tx;
};

static void flow_of_tx_init(struct flow_of_tx *x)
{
    memset(x, 0, sizeof(*x));
    x->thread.conf = &x->conf;
    x->flow.thread = &x->thread;
    x->tx.flow = &x->flow;
    arena_init(&x->tx.arena, 1024, 0);
}

/* The examples of RFC 7692, 7.2.3: "Hello" twice, the second time out of the shared window. */
TEST(websocket_inflate)
{
    struct ws_message m = { .started = false };
    struct flow_of_tx x;
    bool too_much;

    flow_of_tx_init(&x);
    CHECK(is_text(ws_inflate(&m, &x.tx, SLICE("\xf2\x48\xcd\xc9\xc9\x07\x00"), 100, &too_much),
                  "Hello"));
    CHECK(is_text(ws_inflate(&m, &x.tx, SLICE("\xf2\x00\x11\x00\x00"), 100, &too_much), "Hello"));
    CHECK(is_text(ws_inflate(&m, &x.tx, SLICE("\xf2\x00\x11\x00\x00"), 3, &too_much), "Hel"));
    CHECK(!too_much);
    CHECK(is_text(ws_inflate(&m, &x.tx, SLICE("\xff\xff\xff"), 100, &too_much),
                  "\xff\xff\xff"));
    ws_message_fini(&m);
    CHECK_INT(x.conf.decoders.memory.used, 0);
    arena_fini(&x.tx.arena);
}

/* A bomb of two megabytes in two kilobytes: its text is there up to the limit, the next messages of
 * the direction stay packed. */
TEST(websocket_bomb_ends_inflating)
{
    struct ws_message m = { .started = false };
    struct flow_of_tx x;
    static uint8_t packed[4096], zeros[2 << 20];
    z_stream z = { .next_in = zeros, .avail_in = sizeof(zeros), .next_out = packed,
                   .avail_out = sizeof(packed) };
    struct slice bomb = { packed, 0 }, out;
    bool too_much = false;

    CHECK(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK);
    CHECK(deflate(&z, Z_SYNC_FLUSH) == Z_OK);
    bomb.len = (uint32_t)(sizeof(packed) - z.avail_out - 4);
    (void)deflateEnd(&z);
    flow_of_tx_init(&x);
    out = ws_inflate(&m, &x.tx, bomb, 65535, &too_much);
    CHECK_INT(out.len, 65535);
    CHECK(too_much);
    out = ws_inflate(&m, &x.tx, bomb, 65535, &too_much);
    CHECK(out.data == bomb.data && out.len == bomb.len && !too_much);
    CHECK_INT(x.conf.decoders.memory.used, 0);
    ws_message_fini(&m);
    arena_fini(&x.tx.arena);
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
