/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flows whose first part another process has parsed. */
#include "app/session.h"
#include "app/tests/replay.h"
#include "app/tests/toy.h"
#include "base/test.h"
#include "flow/flow_export.h"

#include <stdlib.h>
#include <string.h>

struct step { enum direction d; const char *data; };      /* NULL: a hole */

static char *continued(const struct step *steps, unsigned resume, const char *name)
{
    struct app_fixture fixture;
    struct replay r;
    char *text;

    if (app_fixture_open(&fixture, NULL, toy_protocols) < 0)
        return NULL;
    replay_begin(&r, &fixture, false, 80);
    r.flow->app_proto = r.flow->app_proto_dir[0] = r.flow->app_proto_dir[1] =
        app_exported_proto(name);
    r.flow->app_resume = resume & 3u;
    for (; steps->data != NULL || steps->d != TO_SERVER; steps++)
        replay_data(&r, steps->d, steps->data,
                    steps->data != NULL ? (uint32_t)strlen(steps->data) : 9);
    replay_end(&r);
    text = replay_text(&r);
    replay_free(&r);
    app_fixture_close(&fixture);
    return text;
}

static void expect(struct test *t, const struct step *steps, unsigned resume, const char *expected)
{
    char *text = continued(steps, resume, "http");

    CHECK_STRING(text, expected);
    free(text);
}

#define GET(uri) { TO_SERVER, "GET " uri " HTTP/1.1\r\nHost: a\r\n\r\n" }
#define OK { TO_CLIENT, "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nok" }
#define HOLE { TO_CLIENT, NULL }
#define END { TO_SERVER, NULL }
#define PAIR(n, uri)                                                                              \
    "tx " n " http {\"http\":{\"hostname\":\"a\",\"url\":\"" uri "\","                           \
    "\"http_content_type\":\"a/b\"}}\n"

/* The rest of a body is no message, also if it says so. */
TEST(app_resume_waits_for_the_next_message)
{
    static const struct step steps[] = {
        { TO_CLIENT, "rest of a body\r\nHTTP/1.1 404 no\r\n\r\n" }, { TO_CLIENT, "HT" },
        { TO_SERVER, "a=b\r\nGET /body HTTP/1.1\r\n\r\n" }, GET("/x"), OK, GET("/y"), OK, END };

    expect(t, steps, FLOW_APP_RESUMES, PAIR("0", "/x") PAIR("1", "/y") "flow http http http\n");
}

TEST(app_resume_joins_a_message_that_is_cut)
{
    static const struct step steps[] = {
        { TO_SERVER, "GE" }, { TO_SERVER, "T /x HTTP/1.1\r\nHost: a\r\n\r\n" }, HOLE,
        { TO_CLIENT, "HTT" },
        { TO_CLIENT, "P/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nok" }, END };

    expect(t, steps, FLOW_APP_RESUMES, PAIR("0", "/x") "flow http http http\n");
}

TEST(app_resume_leaves_what_is_over)
{
    static const struct step steps[] = { GET("/x"), OK, END };

    expect(t, steps, FLOW_APP_OVER, "flow http http http\n");
}

TEST(app_resume_knows_names)
{
    CHECK_INT(app_exported_proto("failed"), APP_PROTO_FAILED);
    CHECK_INT(app_exported_proto("of another version"), APP_PROTO_UNKNOWN);
    CHECK_INT(app_exported_proto("tls"), APP_PROTO_tls);
}
