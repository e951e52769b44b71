/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files put together from ranges: order, overlap, doubles, what is missing, memory. */
#include "app/core/ranges.h"

#include "app/conf.h"
#include "app/core/file.h"
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/tests/split.h"
#include "base/test.h"

#include <string.h>

struct fixture {
    struct packet packet;
    struct app_conf conf;
    struct app_thread thread;
    struct app_session session;
};

static void set_up(struct fixture *x)
{
    memset(x, 0, sizeof(*x));
    x->conf.ranges = app_ranges_new(NULL);
    x->thread.conf = &x->conf;
    x->session.flow.thread = &x->thread;
    x->thread.packet = &x->packet;
}

static void tear_down(struct fixture *x)
{
    app_ranges_free(x->conf.ranges);
}

/* Part of "0123456789" of the file `key`; the whole of it, or "". */
static const char *part(struct fixture *x, const char *key, unsigned start, unsigned len,
                        char out[11])
{
    static const char digits[] = "0123456789";
    struct slice k = { .data = (const uint8_t *)key, .len = (uint32_t)strlen(key) };
    struct app_range *r = app_range_open(&x->session.flow, k, start, start + len - 1, 10);
    struct buf complete = { 0 };

    for (unsigned i = 0; i < len; i++)
        app_range_add(r, digits + start + i, 1);
    out[0] = 0;
    if (app_range_close(r, &complete)) {
        memcpy(out, complete.data, MIN(complete.len, 10));
        out[MIN(complete.len, 10)] = 0;
    }
    buf_fini(&complete);
    return out;
}

TEST(ranges_any_order)
{
    struct fixture x;
    char out[11];

    set_up(&x);
    CHECK_STRING(part(&x, "a", 6, 2, out), "");
    CHECK_STRING(part(&x, "a", 3, 3, out), "");
    CHECK_STRING(part(&x, "b", 0, 3, out), "");            /* another file */
    CHECK_STRING(part(&x, "a", 3, 3, out), "");            /* once more */
    CHECK_STRING(part(&x, "a", 2, 5, out), "");            /* covers one */
    CHECK_STRING(part(&x, "a", 8, 2, out), "");
    CHECK_STRING(part(&x, "a", 0, 4, out), "0123456789");
    CHECK_STRING(part(&x, "a", 0, 4, out), "");            /* whole files are not made twice */
    CHECK_STRING(part(&x, "a", 4, 6, out), "");
    CHECK_STRING(part(&x, "b", 2, 8, out), "0123456789");
    tear_down(&x);
}

TEST(ranges_time)
{
    struct fixture x;
    char out[11];

    set_up(&x);
    CHECK_STRING(part(&x, "a", 0, 5, out), "");
    x.packet.time_us = 61000000;
    CHECK_STRING(part(&x, "a", 5, 5, out), "");            /* the first half is gone */
    CHECK_STRING(part(&x, "a", 0, 5, out), "0123456789");
    x.packet.time_us = 200000000;
    CHECK_STRING(part(&x, "b", 0, 5, out), "");
    CHECK(app_ranges_memory(x.conf.ranges)->used < 1024);     /* of "a" nothing is left */
    tear_down(&x);
}

TEST(ranges_refused)
{
    struct fixture x;
    struct slice k = { .data = (const uint8_t *)"a", .len = 1 };
    struct buf complete = { 0 };
    struct app_range *r;

    set_up(&x);
    CHECK(app_range_open(&x.session.flow, k, 5, 4, 10) == NULL);
    CHECK(app_range_open(&x.session.flow, k, 0, 10, 10) == NULL);
    CHECK(app_range_open(&x.session.flow, k, 0, 10, UINT64_MAX) == NULL);     /* never fits */
    r = app_range_open(&x.session.flow, k, 0, 4, 10);
    app_range_add(r, "01234 and more than it said", 27);
    CHECK(!app_range_close(r, &complete));
    r = app_range_open(&x.session.flow, k, 5, 9, 10);
    app_range_add(r, "56789", 5);
    CHECK(app_range_close(r, &complete));
    CHECK_BYTES(complete.data, complete.len, "0123456789", 10);
    buf_fini(&complete);
    tear_down(&x);
}

/* Whatever comes, what is counted stays within the memcap and goes back to nothing. */
TEST(ranges_memory)
{
    static uint8_t data[65536];
    struct fixture x;
    char out[11];

    set_up(&x);
    for (unsigned i = 0; i < 4000; i++) {
        struct slice k = { .data = (const uint8_t *)&i, .len = sizeof(i) };
        struct app_range *r = app_range_open(&x.session.flow, k, 1, sizeof(data), 90u << 20);
        struct buf complete;

        app_range_add(r, data, sizeof(data));
        CHECK(!app_range_close(r, &complete));
        if (app_ranges_memory(x.conf.ranges)->used > 100u << 20)
            CHECK_INT(app_ranges_memory(x.conf.ranges)->used, 100u << 20);
    }
    CHECK(app_ranges_memory(x.conf.ranges)->used > 9u << 20);
    x.packet.time_us = 61000000;
    CHECK_STRING(part(&x, "a", 0, 5, out), "");
    CHECK(app_ranges_memory(x.conf.ranges)->used < 1024);
    tear_down(&x);
}

static const char settings[] = "app-layer: { protocols: { http: { enabled: yes, libhtp: { "
                               "default-config: { personality: IDS } } } } }\n";

TEST(ranges_http)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GET /f HTTP/1.1\r\nHost: a\r\n\r\nGET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 206 OK\r\nContent-Length: 3\r\nContent-Range: bytes 2-4/5\r\n\r\nllo"
                 "HTTP/1.1 206 OK\r\nContent-Length: 2\r\nContent-Range: bytes 0-1/5\r\n\r\nhe"),
    };
    const struct split_case c = { .yaml = settings, .port = 80, .file_features = APP_FILE_SHA256,
                                  .steps = steps, .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\",\"content_range\":{"
                 "\"raw\":\"bytes 2-4/5\",\"start\":2,\"end\":4,\"size\":5}}}\n"
                 "tx 0 file /f closed 3 "
                 "13d896353557f29e6c8aac4bde65c743f4206df820ff8328ae567f924189d339\n"
                 "tx 1 http {\"http\":{\"hostname\":\"a\",\"url\":\"/f\",\"content_range\":{"
                 "\"raw\":\"bytes 0-1/5\",\"start\":0,\"end\":1,\"size\":5}}}\n"
                 "tx 1 file /f closed 2 "
                 "372f7e2fd2d01ce2a1d71dc072acbba4c6fd25a1087cd7f153f4ec0ce37e1ede\n"
                 "tx 1 file /f closed 5 "
                 "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n"
                 "flow http http http\n");
}
