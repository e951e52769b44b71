/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/candidates.h"
#include "app/tests/replay.h"
#include "base/test.h"

#include <stdio.h>
#include <string.h>

/* "http/pattern YES;dns/port NO;" */
struct answers {
    char text[2000];
    unsigned calls;
};

static void note(void *arg, const struct app_candidate *c)
{
    static const char *const names[] = { "NO", "YES", "MORE", "REVERSED" };
    struct answers *a = arg;
    size_t at = strlen(a->text);

    a->calls++;
    snprintf(a->text + at, sizeof(a->text) - at, "%s%s%s %s;", c->proto->name,
             c->pattern != NULL ? "/pattern" : c->by_name ? "/name" : "/port",
             c->by_source ? "/source" : "", names[c->answer]);
}

static unsigned ask(const struct app_conf *conf, struct app_candidates_input in, const char *data,
                    struct answers *out)
{
    struct flow flow = { .key = { .proto = 6 } };

    *out = (struct answers){ .calls = 0 };
    in.flow = &flow;
    in.data = (struct slice){ (const uint8_t *)data, (uint32_t)strlen(data) };
    return app_candidates(conf, &in, note, out);
}

TEST(candidates_patterns_and_probes)
{
    struct app_fixture fixture;
    struct app_candidates_input client = { .direction = TO_SERVER, .client_port = 40000,
                                           .server_port = 9999 };
    struct answers a;

    CHECK_INT(app_fixture_open(&fixture, NULL, NULL), 0);
    CHECK(ask(fixture.conf, client, "GET / HTTP/1.1\r\n", &a) > 50);
    CHECK(strstr(a.text, "http/pattern YES;") != NULL);
    CHECK(strstr(a.text, "http/pattern YES;") == strstr(a.text, "http/"));
    CHECK(strstr(strstr(a.text, "http/pattern") + 1, "http/pattern") == NULL);
    ask(fixture.conf, client, "nothing that has a name", &a);
    CHECK_STRING(a.text, "");
    client.server_port = 53;
    ask(fixture.conf, client, "GET / HTTP/1.1\r\n", &a);
    CHECK(strstr(a.text, "http/pattern YES;") != NULL);
    CHECK(strstr(a.text, "dns/port ") != NULL);
    app_fixture_close(&fixture);
}

/* The side of the other protocol is asked on any port. */
TEST(candidates_by_name)
{
    struct app_fixture fixture;
    struct app_candidates_input server = { .direction = TO_CLIENT, .client_port = 40000,
                                           .server_port = 9999, .other = APP_PROTO_dns };
    struct answers a;

    CHECK_INT(app_fixture_open(&fixture, NULL, NULL), 0);
    ask(fixture.conf, server, "nothing that has a name", &a);
    CHECK(strstr(a.text, "dns/name NO;") != NULL || strstr(a.text, "dns/name MORE;") != NULL);
    app_fixture_close(&fixture);
}
