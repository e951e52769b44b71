/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Content codings: right, wrong, several, broken; chunk extensions; lines before a response. The
 * hash tells that exactly the body came out, however it was cut. */
#include "config.h"

#include "app/core/file.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/proto/http1/body.h"
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/settings.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"
#include "app/tests/replay.h"
#include "app/tests/split.h"
#include "base/test.h"
#include "base/tests/pressure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char settings[] = "app-layer: { protocols: { http: { enabled: yes, libhtp: { "
                               "default-config: { personality: IDS, request-body-limit: 100kb, "
                               "response-body-limit: 100kb } } } } }\n";

/* "hello hello hello", packed */
#define GZIP "\x1f\x8b\x08\x1e\x00\x00\x00\x00\x00\xff\x02\x00xxname\x00\x63omment\x00\x12\x34"   \
             "\xcbH\xcd\xc9\xc9W\xc8@\x90\x00\x00\x00\x00\x00\x00\x00\x00\x00"
#define ZLIB "x\xda\xcbH\xcd\xc9\xc9W\xc8@\x90\x00:.\x06}"
#define RAW "\xcbH\xcd\xc9\xc9W\xc8@\x90\x00"
#define LZMA "]\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x34\x19I\xee\x8d\xe9O\x7f\x35" \
             "\xc5\xa3\xff\xffx\xa4\x00\x00"
#define TWICE "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x98s\xda\xe3\xec\xc9\x93\xe1'\x1c&0X" \
              "\xe9\xb1\xd5\x02\x00\x64\xe4Q\xc6\x10\x00\x00\x00"
#define HELLO_SHA "d4e10166a657fc3f93818e86c62b43bf5e8919edd4130d219009a0108b130cd9"

/* As when thousands of connections wait within bodies: after each packet the parser goes, the
 * decoder is closed, and what it has decompressed is packed. */
static void wait_always(struct app_fixture *fixture)
{
    struct http_thread *ht = fixture->thread->proto[APP_PROTO_http1].data;
    struct app_conf *conf = (struct app_conf *)(uintptr_t)fixture->thread->conf;
    const uint64_t others = 10 << 20;

    ht->active_max = 0;
    conf->decoders.unpacked += others;
    conf->decoders.memory.used += 2 * others;
}

/* Once as it is, and once with much waiting. */
static void expect_both(struct test *t, struct split_case *c, const char *expected)
{
    split_expect(t, c, expected);
    c->prepare = wait_always;
    split_expect(t, c, expected);
}

static void expect(struct test *t, const char *coding, const void *body, size_t len,
                   const char *expected)
{
    static char response[2048], line[512];
    int n = snprintf(response, sizeof(response),
                     "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %zu\r\n\r\n",
                     coding, len);
    struct split_step steps[] = {
        SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
        { TO_CLIENT, response, (uint32_t)n + (uint32_t)len },
    };
    struct split_case c = { .yaml = settings, .port = 80, .file_features = APP_FILE_SHA256,
                                  .steps = steps, .count = ARRAY_LEN(steps) };

    memcpy(response + n, body, len);
    snprintf(line, sizeof(line), "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n%s\n"
             "flow http http http\n", expected);
    expect_both(t, &c, line);
}

#define EXPECT_HELLO(coding, body) \
    expect(t, coding, body, sizeof(body) - 1, "tx 0 file /f closed 17 " HELLO_SHA)

TEST(http1_codings)
{
    EXPECT_HELLO("gzip", GZIP);
    EXPECT_HELLO("X-GZip", GZIP "trailing");
    EXPECT_HELLO("deflate", RAW);
    EXPECT_HELLO("lzma", LZMA);
    EXPECT_HELLO("deflate, gzip", TWICE);
    EXPECT_HELLO("identity, gzip", GZIP);
}

/* Not what it says, but something else. */
TEST(http1_codings_wrong)
{
    EXPECT_HELLO("deflate", ZLIB);
    EXPECT_HELLO("gzip", ZLIB);
    EXPECT_HELLO("gzip", RAW);
    EXPECT_HELLO("deflate", GZIP);
    EXPECT_HELLO("lzma", GZIP);
    EXPECT_HELLO("gzip", "hello hello hello");
    EXPECT_HELLO("br", "hello hello hello");
    EXPECT_HELLO("none", "hello hello hello");
}

/* A brace is the beginning of a deflate block that goes wrong only after some output. */
TEST(http1_codings_plain_json)
{
    static const char json[] = "{\"sdk_version\":11026,\"app_package\":\"com.example\"}";

    expect(t, "gzip", json, sizeof(json) - 1, "tx 0 file /f closed 49 "
           "9977b31fe7f65c1ee13d5e1b2b54c81276873864a3713665642bf641e77bd34f");
}

/* Behind the point where there was no doubt an error ends the body. */
TEST(http1_codings_broken)
{
    expect(t, "deflate",
           "\xcaH\xcd\xc9\xc9W(\xc9H-J\x55\xa8\xcc/\x05\x00\x00\x00\xff\xff\xff\xff", 22,
           "tx 0 file /f closed 15 "
           "15451a9e6900be67af0d7aa7fa7174f76e3660e68279d6c15441875329b6ad9c");
}

TEST(http1_codings_events)
{
    expect(t, "gz, sdch", "abc", 3, "tx 0 event abnormal_ce_header\ntx 0 file /f closed 3 "
           "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(t, "none, identity, gzip", "abc", 3, "tx 0 event too_many_encoding_layers\n"
           "tx 0 file /f closed 3 "
           "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* A MiB of zeros, packed twice to a few bytes. */
TEST(http1_codings_bomb)
{
    static const uint8_t bomb[] = {
        0x7b, 0x7b, 0xd0, 0x90, 0x91, 0x81, 0x81, 0xe1, 0xd0, 0x82, 0xaf, 0xfe, 0xb9, 0x1c, 0xf1,
        0x0b, 0x18, 0x46, 0xc1, 0x28, 0x18, 0x05, 0x23, 0x0e, 0xd8, 0x31, 0x03, 0x00,
    };
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate, deflate\r\n"
                               "Content-Length: 28\r\n\r\n";
    static uint8_t response[sizeof(head) - 1 + sizeof(bomb)];
    const struct split_step steps[] = { SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
                                        { TO_CLIENT, response, sizeof(response) } };
    struct split_case c = {
        .yaml = "app-layer: { protocols: { http: { enabled: yes, libhtp: { default-config: { "
                "response-body-limit: 0, compression-bomb-limit: 300kb, max-body-expansion: 0 } "
                "} } } }\n",
        .port = 80, .steps = steps, .count = ARRAY_LEN(steps) };

    memcpy(response, head, sizeof(head) - 1);
    memcpy(response + sizeof(head) - 1, bomb, sizeof(bomb));
    expect_both(t, &c, "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
                "tx 0 event compression_bomb\ntx 0 file /f closed 307201 -\n"
                 "flow http http http\n");
}

static void expect_refused(struct test *t, const char *yaml, const char *coding,
                           struct slice body, const char *event)
{
    static char response[512], expected[256];
    int n = snprintf(response, sizeof(response),
                     "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %u\r\n\r\n",
                     coding, body.len);
    struct split_step steps[] = { SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
                                  { TO_CLIENT, response, (uint32_t)n + body.len } };
    const struct split_case c = { .yaml = yaml, .port = 80, .steps = steps,
                                  .count = ARRAY_LEN(steps) };

    memcpy(response + n, body.data, body.len);
    snprintf(expected, sizeof(expected), "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
             "tx 0 event %s\ntx 0 file /f closed %u -\nflow http http http\n", event, body.len);
    split_expect(t, &c, expected);
}
#define BODY(s) ((struct slice){ (const uint8_t *)(s), sizeof(s) - 1 })

/* What finds no room is passed on as it was sent. */
/* Deflate is unpacked up to the body's limit, else it would be too much for the first settings; and
 * never more than a hundred times. */
TEST(http1_codings_deflate_ends)
{
    static const char yaml[] = "app-layer: { protocols: { http: { enabled: yes, libhtp: { "
                               "default-config: { response-body-limit: %s } } } } }";
    static char response[256 + 4096], text[200];
    struct split_step steps[] = { SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
                                  { TO_CLIENT, response, 0 } };
    struct split_case c = { .yaml = text, .port = 80, .steps = steps, .count = 2 };
    static uint8_t zeros[1u << 20];
    z_stream z = { .next_in = zeros, .avail_in = sizeof(zeros), .avail_out = 4096 };
    int n;

    if (deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    z.next_out = (uint8_t *)response + 256;
    CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    n = snprintf(response, 256, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                 "Content-Length: %lu\r\n\r\n", z.total_out);
    memmove(response + n, response + 256, z.total_out);
    steps[1].len = (uint32_t)(n + (int)z.total_out);
    snprintf(text, sizeof(text), yaml, "100kb, max-body-expansion: 1");
    split_expect(t, &c, "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
                 "tx 0 file /f truncated 102400 -\nflow http http http\n");
    snprintf(text, sizeof(text), yaml, "0");
    split_expect(t, &c, "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
                 "tx 0 event compression_bomb\ntx 0 file /f closed 151072 -\n"
                 "flow http http http\n");
}

TEST(http1_codings_memcap)
{
    static const char yaml[] = "app-layer: { protocols: { http: { enabled: yes, memcap: 40kb } } }";

    expect_refused(t, yaml, "gzip", BODY(GZIP), "decompression_memcap_reached");
    expect_refused(t, yaml, "deflate", BODY(RAW), "decompression_memcap_reached");
}

#ifdef HAVE_BROTLI
/* One literal and 2^24 - 1 copies of it. */
#define BR_16_MIB "\xcf\xff\xff\x7f\x00 \xc2\xe2\xb1\x80r\xef\xff\x01"

TEST(http1_codings_window)
{
    static const char yaml[] = "app-layer: { protocols: { http: { enabled: yes } } }";
    static const char half[] = "app-layer: { protocols: { http: { enabled: yes, memcap: 24mb, "
                               "decompression-window-limit: 16mb, libhtp: { default-config: { "
                               "max-body-expansion: 0 } } } } }";

    expect_refused(t, yaml, "br", BODY(BR_16_MIB), "decompression_window_too_large");
    expect_refused(t, yaml, "br", BODY("\x11\x1e some window of a GiB"),
                   "decompression_window_too_large");
    expect_refused(t, half, "br", BODY(BR_16_MIB), "decompression_memcap_reached");
}

/* A MiB of zeros: what libbrotli would write before it gives anything has not been paid for. With
 * the second settings it has once the last bytes are there, and the stream begins again. */
TEST(http1_codings_brotli_waits)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 14\r\n\r\n";
    static const char bomb[] = "\x5b\xff\xff\x8f\x7f\x02\x20\x1e\x0b\x04\x72\xef\x1f";
    static char response[sizeof(head) - 1 + sizeof(bomb)];
    const struct split_step steps[] = { SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
                                        { TO_CLIENT, response, sizeof(response) } };
    struct split_case c = { .yaml = "app-layer: { protocols: { http: { enabled: yes } } }",
                            .port = 80, .steps = steps, .count = ARRAY_LEN(steps) };

    memcpy(response, head, sizeof(head) - 1);
    memcpy(response + sizeof(head) - 1, bomb, sizeof(bomb));
    split_expect(t, &c, "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
                 "tx 0 event compression_bomb\nflow http http http\n");
    c.yaml = "app-layer: { protocols: { http: { enabled: yes, libhtp: { default-config: { "
             "response-body-limit: 0, max-body-expansion: 70000 } } } } }";
    split_expect(t, &c, "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
                 "tx 0 file /f closed 1048576 -\nflow http http http\n");
}
#endif

/* Bodies of several kinds, in chunks, of unknown length and as uploads, come in pieces. */
TEST(http1_codings_in_pieces)
{
    static const struct split_step steps[] = {
        SPLIT_TS("POST /up HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 47"
                 "\r\n\r\n"), { TO_SERVER, GZIP, 20 },
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Encoding: deflate, gzip\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n5\r\n"), { TO_CLIENT, TWICE, 5 },
        { TO_SERVER, GZIP + 20, sizeof(GZIP) - 1 - 20 },
        SPLIT_TC("\r\n20\r\n"), { TO_CLIENT, TWICE + 5, 32 },
        SPLIT_TC("\r\n0\r\n\r\n"),
        SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"),
        { TO_CLIENT, RAW, sizeof(RAW) - 1 },
    };
    struct split_case c = { .yaml = settings, .port = 80, .file_features = APP_FILE_SHA256,
                            .steps = steps, .count = ARRAY_LEN(steps) };

    expect_both(t, &c,
                "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/up\"}}\n"
                "tx 0 file /up closed 17 " HELLO_SHA "\n"
                "tx 0 file /up closed 17 " HELLO_SHA "\n"
                "tx 1 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
                "tx 1 file /f closed 17 " HELLO_SHA "\n"
                "flow http http http\n");
}

TEST(http1_chunk_extension)
{
    static const struct split_step steps[] = {
        SPLIT_TS("POST /f HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "8 \r\ntoto;ata\r\n4\r\ntiti\r\n0 ; a=b; c=d\r\n\r\n"
                 "POST /g HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "2\r\n;;\r\n0\r\nA: b;c\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n0\r\n\r\n"),
    };
    struct split_case c = { .yaml = settings, .port = 80, .steps = steps,
                                  .count = ARRAY_LEN(steps) };

    expect_both(t, &c,
                 "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
                 "tx 0 event request_chunk_extension\n"
                 "tx 0 file /f closed 12 -\n"
                 "tx 1 http {\"http\":{\"hostname\":\"a\",\"url\":\"/g\"}}\n"
                 "tx 1 event response_chunk_extension\n"
                 "tx 1 file /g closed 1 -\n"
                 "tx 1 file /g closed 2 -\n"
                 "flow http http http\n");
}

TEST(http1_blank_lines_before_response)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC(" \r\n\t\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
                 "Content-Disposition: attachment; filename=x\r\n\r\na"),
    };
    const struct split_case c = { .yaml = settings, .port = 80, .steps = steps,
                                  .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\"}}\n"
                 "tx 0 file x closed 1 -\n"
                 "layer applayer_detect_protocol_only_one_direction\n"
                 "flow http http failed\n");
}

/* What rules see of a file; the settings' depths are in bytes packed and unpacked. */
static struct slice flash(const char *data, size_t len, uint32_t packed, uint32_t unpacked,
                          struct buf *out)
{
    struct http_config config = { .swf = true, .swf_deflate = true, .swf_lzma = true,
                                  .swf_compress_depth = packed, .swf_decompress_depth = unpacked,
                                  .lzma_memlimit = 1 << 20 };
    struct http_state state = { .config = &config };
    static struct app_conf conf = { .decoders = { .memory.limit = 64 << 20,
                                                  .window_limit = 16 << 20 } };
    static struct app_thread thread = { .conf = &conf };
    struct app_flow af = { .state = &state, .thread = &thread };
    struct http_tx htx = { .tx = { .flow = &af } };
    struct app_file file = { .id = 1 };
    struct slice derived = { .data = (const uint8_t *)data, .len = (uint32_t)len };

    http_swf_derive(&htx, &file, &derived);
    buf_clear(out);
    buf_add(out, derived.data, derived.len);
    http_derived_buffers_free(&htx, TO_CLIENT);
    return buf_slice(out);
}

#define FLASH(text, packed, unpacked) \
    (s = flash(text, sizeof(text) - 1, packed, unpacked, &out))

TEST(http1_flash)
{
    struct buf out = { 0 };
    struct slice s;

    FLASH("CWS\x0a\x11\x00\x00\x00" ZLIB, 0, 0);
    CHECK_BYTES(s.data, s.len, "FWS\x0a\x11\x00\x00\x00hello hello hello", 25);
    FLASH("ZWS\x0d\x11\x00\x00\x00\x10\x00\x00\x00]\x00\x00\x80\x00"
          "\x00\x34\x19I\xee\x8d\xe9O\x7f\x35\xc5\xa3\xff\xffx\xa4\x00\x00", 0, 0);
    CHECK_BYTES(s.data, s.len, "FWS\x0d\x11\x00\x00\x00hello hello hello", 25);
    FLASH("CWS\x0a\x11\x00\x00\x00" ZLIB, 0, 5);
    CHECK_BYTES(s.data, s.len, "FWS\x0a\x11\x00\x00\x00hello", 13);
    FLASH("CWS\x0a\x11\x00\x00\x00" ZLIB, 6, 0);
    CHECK_BYTES(s.data, s.len, "FWS\x0a\x11\x00\x00\x00hel", 11);
    FLASH("CWS\x05\x11\x00\x00\x00" ZLIB, 0, 0);           /* too old to be packed */
    CHECK_BYTES(s.data, s.len, "CWS\x05\x11\x00\x00\x00" ZLIB, 24);
    FLASH("CWS\x0a\x11\x00\x00\x00not packed", 0, 0);
    CHECK_BYTES(s.data, s.len, "CWS\x0a\x11\x00\x00\x00not packed", 18);
    FLASH("CWS\x0a", 0, 0);
    CHECK_BYTES(s.data, s.len, "CWS\x0a", 4);
    buf_fini(&out);
}

/* The second step of giving memory back: files and bodies are not kept. Hashes still cover them. */
TEST(http1_bodies_go_near_the_limit)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\nhello hello hello") };
    const struct split_case c = { .yaml = settings, .port = 80, .steps = steps, .count = 2,
                                  .file_features = APP_FILE_SHA256 | APP_FILE_CONTENT };
    static const char *const state[] = { "closed", "truncated" };
    char expected[512];

    for (unsigned i = 0; i < 2; i++) {
        void *block = pressure_begins(i == 0 ? 84 : 91);

        snprintf(expected, sizeof(expected), "tx 0 http {\"http\":{\"hostname\":\"a\","
                 "\"url\":\"/f\"}}\ntx 0 file /f %s 17 " HELLO_SHA "\nflow http http http\n",
                 state[i]);
        split_expect(t, &c, expected);
        pressure_ends(block);
    }
}
