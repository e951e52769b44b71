/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of clients, in any pieces. */
#include "control/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/test.h"

static const char messages[] =
    "{\"version\":\"0.2\"}\n{\"command\":\"iface-stat\",\"arguments\":{\"iface\":\"eth0\","
    "\"id\":-7,\"yes\":true}}{\"command\":\"uptime\"} \n";

static struct request *take(struct test *t, struct buf *in)
{
    struct request *r;

    CHECK_INT(request_take(in, &r), 0);
    return r;
}

static void check_second(struct test *t, const struct request *r)
{
    int64_t n = 0;

    CHECK_STRING(request_member(r, "command"), "iface-stat");
    CHECK(request_has_arguments(r));
    CHECK_STRING(request_string(r, "iface"), "eth0");
    CHECK(request_int(r, "id", &n) && n == -7);
    CHECK(request_string(r, "id") == NULL && !request_int(r, "iface", &n));
    CHECK(request_is_true(r, "yes") && !request_is_true(r, "iface") && !request_has(r, "none"));
}

/* The messages come out in order, wherever the stream was cut in two. */
TEST(control_requests_come_in_pieces)
{
    for (size_t cut = 0; cut <= sizeof(messages) - 1; cut++) {
        struct buf in = { 0 };
        unsigned count = 0;

        for (unsigned half = 0; half < 2; half++) {
            struct request *r;

            buf_add(&in, messages + (half ? cut : 0), half ? sizeof(messages) - 1 - cut : cut);
            while ((r = take(t, &in)) != NULL) {
                if (count == 0)
                    CHECK_STRING(request_member(r, "version"), "0.2");
                if (count == 1)
                    check_second(t, r);
                if (count == 2)
                    CHECK_STRING(request_member(r, "command"), "uptime");
                request_free(r);
                count++;
            }
        }
        CHECK_INT(count, 3);
        CHECK_INT(in.len, 0);
        buf_fini(&in);
    }
}

TEST(control_requests_that_are_none)
{
    static const char *const wrong[] = { "[]", "17", "{] ", "{\"a\":\"\\ud800\"} ", "hello",
                                         "{\"a\":\"\xff\"} ", "\x01" };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct buf in = { 0 };
        struct request *r;

        buf_add_string(&in, wrong[i]);
        CHECK_INT(request_take(&in, &r), -1);
        CHECK(r == NULL);
        buf_fini(&in);
    }
}

TEST(control_requests_are_bounded)
{
    struct buf in = { 0 };
    struct request *r;

    buf_add_string(&in, "{\"command\":\"");
    while (in.len < REQUEST_MAX - 1)
        buf_add_u8(&in, 'a');
    CHECK_INT(request_take(&in, &r), 0);
    buf_add_u8(&in, 'a');
    CHECK_INT(request_take(&in, &r), -1);
    buf_fini(&in);
}
