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
    return s.len == strlen(text) && (s.len == 0 || memcmp(s.data, text, s.len) == 0);
}
#define SLICE(s) (struct slice){ (const uint8_t *)(s), sizeof(s) - 1 }

/* A flow that has the memory of decompressors. */
struct flow_of_test {
    struct app_conf conf;
    struct app_thread thread;
    struct app_flow flow;
};

static void flow_of_test_init(struct flow_of_test *x)
{
    memset(x, 0, sizeof(*x));
    x->thread.conf = &x->conf;
    x->flow.thread = &x->thread;
}

/* Inflates a message, and compares. What waits may be packed before. */
static bool inflates(struct flow_of_test *x, struct ws_message *m, struct slice packed,
                     uint32_t limit, const char *text)
{
    struct ws_text t = { .held = 0 };
    bool ok = ws_inflate(m, &x->flow, packed, limit, &t);

    ws_text_rest(&t, &x->flow);
    ws_message_rest(m);
    ok &= is_text(ws_text_get(&t, &x->flow), text);
    ws_text_fini(&t, &x->flow);
    return ok;
}

/* The examples of RFC 7692, 7.2.3: "Hello" twice, the second time out of the shared window. */
static void check_hello(struct test *t, struct flow_of_test *x)
{
    struct ws_message m = { .started = false };

    CHECK(inflates(x, &m, SLICE("\xf2\x48\xcd\xc9\xc9\x07\x00"), 100, "Hello"));
    CHECK(inflates(x, &m, SLICE("\xf2\x00\x11\x00\x00"), 100, "Hello"));
    CHECK(inflates(x, &m, SLICE("\xf2\x00\x11\x00\x00"), 3, "Hel"));
    CHECK(inflates(x, &m, SLICE("\xff\xff\xff"), 100, ""));
    ws_message_fini(&m);
}

TEST(websocket_inflate)
{
    struct flow_of_test x;

    flow_of_test_init(&x);
    check_hello(t, &x);
    CHECK_INT(x.conf.decoders.memory.used, 0);
}

/* The window is kept apart from its decompressor, and set again. */
TEST(websocket_inflate_with_others)
{
    const size_t others = 100 << 20;
    struct flow_of_test x;

    flow_of_test_init(&x);
    x.conf.decoders.memory.used = others;
    check_hello(t, &x);
    CHECK_INT(x.conf.decoders.memory.used, others);
}

/* Long texts that share words: as they come, and with each window packed in between. */
TEST(websocket_windows_wait)
{
    static uint8_t text[8][3000], packed[8][4096];
    const size_t others = 100 << 20;
    struct slice seen;
    uInt len[8];
    z_stream z = { .next_in = NULL };
    struct ws_message m = { .started = false };
    struct ws_text out = { .held = 0 };
    struct flow_of_test x;

    flow_of_test_init(&x);
    x.conf.decoders.memory.used = others;
    x.conf.decoders.unpacked = 50 << 20;
    CHECK(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK);
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned k = 0; k < sizeof(text[i]); k++)
            text[i][k] = (uint8_t)("words of "[k % 9] + (k / 700 * i) % 7);
        z.next_in = text[i];
        z.avail_in = sizeof(text[i]);
        z.next_out = packed[i];
        z.avail_out = sizeof(packed[i]);
        CHECK(deflate(&z, Z_SYNC_FLUSH) == Z_OK);
        len[i] = (uInt)sizeof(packed[i]) - z.avail_out - 4;
    }
    (void)deflateEnd(&z);
    for (unsigned i = 0; i < 8; i++) {
        CHECK(ws_inflate(&m, &x.flow, (struct slice){ packed[i], len[i] }, 65535, &out));
        ws_text_rest(&out, &x.flow);
        CHECK(out.data.data == NULL && out.packed.size < 500);
        ws_message_rest(&m);
        if (i < 4)
            CHECK_INT(x.conf.decoders.memory.used, others + out.held);
        seen = ws_text_get(&out, &x.flow);
        CHECK_BYTES(seen.data, seen.len, text[i], sizeof(text[i]));
        ws_text_fini(&out, &x.flow);
        out = (struct ws_text){ .held = 0 };
    }
    ws_message_fini(&m);
    CHECK_INT(x.conf.decoders.memory.used, others);
}

/* A bomb of two megabytes in two kilobytes: its text is there up to the limit, the next messages of
 * the direction stay packed. */
TEST(websocket_bomb_ends_inflating)
{
    struct ws_message m = { .started = false };
    struct ws_text text = { .held = 0 };
    struct flow_of_test x;
    static uint8_t packed[4096], zeros[2 << 20];
    z_stream z = { .next_in = zeros, .avail_in = sizeof(zeros), .next_out = packed,
                   .avail_out = sizeof(packed) };
    struct slice bomb = { packed, 0 };

    CHECK(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK);
    CHECK(deflate(&z, Z_SYNC_FLUSH) == Z_OK);
    bomb.len = (uint32_t)(sizeof(packed) - z.avail_out - 4);
    (void)deflateEnd(&z);
    flow_of_test_init(&x);
    CHECK(!ws_inflate(&m, &x.flow, bomb, 65535, &text));
    CHECK_INT(text.data.len, 65535);
    ws_text_fini(&text, &x.flow);
    CHECK(ws_inflate(&m, &x.flow, bomb, 65535, &text));
    CHECK_INT(text.data.len, 0);
    CHECK_INT(x.conf.decoders.memory.used, 0);
    ws_message_fini(&m);
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
