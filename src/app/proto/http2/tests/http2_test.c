/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/tests/replay.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define ACK "\0\0\0\4\1\0\0\0\0"
#define SETTINGS "\0\0\6\4\0\0\0\0\0\0\3\0\0\0\x64"
/* GET / of h, END_STREAM: indexed :method, :path, literal :authority. */
#define GET_H "\0\0\5\1\5\0\0\0\1\x82\x84\x41\1h"
#define OK_HEADERS "\0\0\1\1\4\0\0\0\1\x88"

TEST(http2_exchange_in_any_segmentation)
{
    static const struct split_step steps[] = {
        SPLIT_TS(MAGIC SETTINGS), SPLIT_TC(SETTINGS ACK), SPLIT_TS(GET_H),
        SPLIT_TC(OK_HEADERS "\0\0\4\0\0\0\0\0\1page"),
        SPLIT_TC("\0\0\6\0\x9\0\0\0\1\2er\0\0\0"),
    };
    const struct split_case c = { .port = 80, .steps = steps, .count = 5 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 2 http {\"http\":{\"version\":\"2\",\"request_headers\":["
                       "{\"name\":\":method\",\"value\":\"GET\"},{\"name\":\":path\",\"value\":"
                       "\"/\"},{\"name\":\":authority\",\"value\":\"h\"}],") != NULL);
    CHECK(strstr(text, "\"http_method\":\"GET\",\"url\":\"/\",\"status\":200,"
                       "\"http2\":{\"stream_id\":1}}}") != NULL);
    CHECK(strstr(text, "SETTINGSMAXCONCURRENTSTREAMS\",\"settings_value\":100") != NULL);
    CHECK(strstr(text, "event") == NULL);
    CHECK(strstr(text, "flow http2 http2 http2\n") != NULL);
    free(text);
    split_check(t, &c);
}

TEST(http2_headers_over_several_frames)
{
    static const struct split_step steps[] = {
        SPLIT_TS(MAGIC "\0\0\2\1\1\0\0\0\1\x82\x84" "\0\0\1\x9\0\0\0\0\1\x41"
                 "\0\0\2\x9\4\0\0\0\1\1h"),
        SPLIT_TC(SETTINGS "\0\0\1\1\5\0\0\0\1\x88"),
    };
    const struct split_case c = { .port = 80, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "{\"name\":\":authority\",\"value\":\"h\"}],\"response_headers\"") != NULL);
    CHECK(strstr(text, "event") == NULL);
    free(text);
    split_check(t, &c);
}

static void check_events(struct test *t, const void *data, uint32_t len, const char *event)
{
    const struct split_step steps[] = { { TO_SERVER, data, len } };
    const struct split_case c = { .port = 80, .steps = steps, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, event) != NULL);
    free(text);
    split_check(t, &c);
}
#define CHECK_EVENT(s, event) check_events(t, (s), sizeof(s) - 1, "event " event "\n")

TEST(http2_events)
{
    CHECK_EVENT(MAGIC "\0\0\1\1\5\0\0\0\1\xff", "invalid_header");
    CHECK_EVENT(MAGIC "\0\0\3\3\0\0\0\0\1xxx", "invalid_frame_length");
    CHECK_EVENT(MAGIC "\0\0\1\1\x0d\0\0\0\1\7", "invalid_frame_data");
    CHECK_EVENT(MAGIC "\0\0\1\0\0\0\0\0\0x", "data_stream_zero");
    CHECK_EVENT(MAGIC SETTINGS "\1\0\0\1\0\0\0\0\1", "long_frame_data");
    CHECK_EVENT(MAGIC "\0\0\7\1\5\0\0\0\1\x82\x84\x41\3u@h", "userinfo_in_uri");
    CHECK_EVENT(MAGIC "\0\0\x0c\1\5\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                "header_integer_overflow");
    CHECK_EVENT(MAGIC "\0\0\x0c\1\5\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                "extra_header_data");
}

TEST(http2_too_many_streams_and_frames)
{
    static const struct split_step streams[] = {
        SPLIT_TS(MAGIC "\0\0\1\1\4\0\0\0\1\x82" "\0\0\1\1\4\0\0\0\3\x82"),
    };
    const struct split_case c = {
        .port = 80, .steps = streams, .count = 1,
        .yaml = "app-layer: {protocols: {http2: {max-streams: 1, max-frames: 1}}}",
    };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "event too_many_streams") != NULL);
    free(text);
    split_check(t, &c);
}

/* A header of 4,000 bytes, then a hundred streams that name it with one byte each. */
TEST(http2_headers_named_again)
{
    static const char yaml[] = "app-layer: {protocols: {http2: {max-header-expansion: 1, "
                               "max-header-log: 100}}}";
    static uint8_t data[6000];
    struct split_step step = { TO_SERVER, data, 0 };
    struct split_case c = { .yaml = yaml, .port = 80, .steps = &step, .count = 1 };
    uint8_t *p = data;
    char *text;

    memcpy(p, MAGIC "\0\x0f\xa6\1\5\0\0\0\1\x40\1x\x7f\xa1\x1e", 39);
    p += 39;
    memset(p, 'v', 4000);
    p += 4000;
    for (unsigned i = 0; i < 100; i++, p += 10) {
        memcpy(p, "\0\0\1\1\5\0\0\0\0\xbe", 10);
        p[8] = (uint8_t)(2 * i + 3);
    }
    step.len = (uint32_t)(p - data);
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "event headers_cut\n") != NULL);
    CHECK(strstr(text, "\"cut\":true") != NULL);
    CHECK(strstr(text, "invalid") == NULL);
    CHECK(strlen(text) < 400000);
    free(text);
    c.yaml = NULL;                      /* records by the default are shorter */
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "\"headers_cut\":true") != NULL);
    CHECK(strlen(text) < 150000);
    free(text);
}

TEST(http2_header_list_too_large)
{
    static const struct split_step steps[] = { SPLIT_TS(MAGIC GET_H) };
    const struct split_case c = {
        .port = 80, .steps = steps, .count = 1,
        .yaml = "app-layer: {protocols: {http2: {max-header-list-size: 15}}}",
    };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "event header_list_too_large\n") != NULL);
    CHECK(strstr(text, ":authority") == NULL);
    free(text);
    split_check(t, &c);
}

/* Blocks with one header each: 0x0f 0x04, a name from the static table and an empty value. */
TEST(http2_header_blocks)
{
    static uint8_t data[24 + 100 * 12];
    struct split_step step = { TO_SERVER, data, 0 };
    struct split_case c = { .port = 80, .steps = &step, .count = 1 };

    memcpy(data, MAGIC, sizeof(MAGIC) - 1);
    for (unsigned blocks = 63; blocks < 67; blocks++) {
        uint8_t *p = data + sizeof(MAGIC) - 1;
        char *text;

        for (unsigned i = 0; i < blocks; i++, p += 12)
            memcpy(p, "\0\0\3\1\4\0\0\0\1\x0f\x04", 12);
        step.len = (uint32_t)(p - data);
        text = split_replay(&c, SPLIT_NONE, 0);
        CHECK_INT(strstr(text, "event header_list_too_large\n") != NULL, blocks > 64);
        free(text);
    }
}

#ifdef HAVE_BROTLI
/* What needs a wider window than it may have goes on as it was sent. */
TEST(http2_decompression_window)
{
    static const struct split_step steps[] = {
        SPLIT_TS(MAGIC GET_H),
        SPLIT_TC("\0\0\6\1\4\0\0\0\1\x88\x0f\x0b\2br" "\0\0\x0e\0\1\0\0\0\1"
                 "\xcf\xff\xff\x7f\x00 \xc2\xe2\xb1\x80r\xef\xff\x01"),
    };
    const struct split_case c = { .port = 80, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "event decompression_window_too_large\n") != NULL);
    CHECK(strstr(text, "closed 14 ") != NULL);
    free(text);
    split_check(t, &c);
}
#endif

/* As when thousands of streams wait within bodies: after each frame the decoder is closed. */
static void wait_always(struct app_fixture *fixture)
{
    struct app_conf *conf = (struct app_conf *)(uintptr_t)fixture->thread->conf;

    conf->decoders.memory.used += 20 << 20;
}

/* A frame for each byte of the body. Returns the size of all. */
static uint32_t body_frames(uint8_t *out, const char *body, uint32_t len)
{
    uint8_t *p = out;

    for (uint32_t i = 0; i < len; i++, p += 10) {
        memcpy(p, "\0\0\1\0\0\0\0\0\1", 9);
        p[4] = i + 1 == len;
        p[9] = (uint8_t)body[i];
    }
    return (uint32_t)(p - out);
}

static void expect_file(struct test *t, struct slice headers, struct slice body, const char *file)
{
    uint8_t data[1024];
    struct split_step steps[] = {
        SPLIT_TS(MAGIC GET_H), { TO_CLIENT, headers.data, headers.len }, { TO_CLIENT, data, 0 },
    };
    struct split_case c = { .port = 80, .steps = steps, .count = 3,
                            .file_features = APP_FILE_SHA256 };
    char *awake, *asleep;

    steps[2].len = body_frames(data, (const char *)body.data, body.len);
    awake = split_replay(&c, SPLIT_NONE, 0);
    c.prepare = wait_always;
    asleep = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(awake, file) != NULL);
    CHECK_STRING(asleep, awake);
    free(awake);
    free(asleep);
}

/* HEADERS with :status 200 and content-encoding. */
#define CODED(len, coding) "\0\0" len "\1\4\0\0\0\1\x88\x0f\x0b" coding
#define BYTES(text) ((struct slice){ (const uint8_t *)(text), sizeof(text) - 1 })
#define GZIP \
               "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xd7\x51\xc8\x40\xa1" \
               "\x12\xf3\x52\x20\x4c\x85\xc4\xf4\xc4\xcc\x3c\x00\xe7\x7a\x58\x03\x24\x00\x00\x00"

TEST(http2_decoders_that_wait)
{
    expect_file(t, BYTES(CODED("\x08", "\4gzip")), BYTES(GZIP),
                "closed 36 d57a76e9f1e522abf467b709cfeefc2bd05ddce151f60d1d10b9cb7fa210da6a");
#ifdef HAVE_BROTLI
    expect_file(t, BYTES(CODED("\6", "\2br")), BYTES("\x0b\2\x80hello\3"),
                "closed 5 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
#endif
}

TEST(http2_after_an_upgrade)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GET /up HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\nConnection: Upgrade, "
                 "HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n"
                 "Connection: Upgrade\r\n\r\n"),
        SPLIT_TC(SETTINGS), SPLIT_TC("\0\0\1\1\5\0\0\0\1\x88"),
        SPLIT_TS(MAGIC SETTINGS),
    };
    const struct split_case c = { .port = 80, .steps = steps, .count = 5 };
    char *text = split_replay(&c, SPLIT_NONE, 0);


    CHECK(strstr(text, "\"name\":\":path\",\"value\":\"/up\"") != NULL);
    CHECK(strstr(text, "\"name\":\":authority\",\"value\":\"h\"") != NULL);
    CHECK(strstr(text, "\"status\":200,\"http2\":{\"stream_id\":1}") != NULL);
    free(text);
}
