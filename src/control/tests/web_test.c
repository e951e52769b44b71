/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of control/web: what may be listened on, which names a browser may use, who may ask, which
 * settings are not shown, which alerts a reader gets. */
#include "control/web/address.h"
#include "control/web/web_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"

static bool reads(const char *text, bool *is_loopback)
{
    struct web_address a;
    struct err err = { 0 };
    bool good = web_address_read(text, &a, &err) == 0;

    *is_loopback = good && a.is_loopback;
    return good;
}

TEST(web_address_read)
{
    static const struct { const char *text; bool good, loopback; } cases[] = {
        { "127.0.0.1:9917", true, true },
        { "127.8.8.8:1", true, true },
        { "[::1]:9917", true, true },
        { "[::ffff:127.0.0.1]:9917", true, true },
        { "0.0.0.0:9917", true, false },
        { "[::]:9917", true, false },
        { "192.0.2.1:9917", true, false },
        { "unix:/run/ids/metrics.socket", true, true },
        { "unix:relative", false, false },
        { "localhost:9917", false, false },
        { "127.0.0.1", false, false },
        { "127.0.0.1:", false, false },
        { "127.0.0.1:65536", false, false },
        { "127.0.0.1:-1", false, false },
        { "", false, false },
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        bool loopback;

        CHECK(reads(cases[i].text, &loopback) == cases[i].good);
        CHECK(loopback == cases[i].loopback);
    }
}

TEST(web_host_is_local)
{
    CHECK(web_host_is_local(NULL));
    CHECK(web_host_is_local("localhost"));
    CHECK(web_host_is_local("LOCALHOST:9917"));
    CHECK(web_host_is_local("127.0.0.1:9917"));
    CHECK(web_host_is_local("[::1]:9917"));
    CHECK(!web_host_is_local("localhost.evil.example"));
    CHECK(!web_host_is_local("127.0.0.1.evil.example:9917"));
    CHECK(!web_host_is_local("evil.example"));
    CHECK(!web_host_is_local(""));
}

TEST(web_is_secret)
{
    static const char *const hidden[] = {
        "outputs.1.eve-log.kafka.options.sasl.password", "outputs.1.eve-log.redis.password",
        "kafka.options.ssl.key.pem", "kafka.options.ssl_key_pem", "options.ssl.key.password",
        "options.ssl.keystore.password", "options.sasl.jaas.config", "options.SASL.JAAS.CONFIG",
        "options.sasl.oauthbearer.config", "options.sasl.oauthbearer.client.secret",
        "options.sasl.oauthbearer.assertion.private.key.pem", "metrics.token-file", "tls.passwd",
        "tls.passphrase", "tls.psk", "redis.passwords.0", "http.api-key", "aws.access_key_id",
    };
    static const char *const shown[] = {
        "outputs.1.eve-log.kafka.options.security.protocol", "options.ssl.ca.location",
        "kafka.key", "redis.key", "metrics.tls.key", "metrics.listen", "host-mode",
        "threading.cpu-affinity.worker-cpu-set.mode", "stream.memcap", "tempempty", "spinning",
        "app-layer.protocols.tls.ja3-fingerprints",
    };

    for (unsigned i = 0; i < ARRAY_LEN(hidden); i++)
        CHECK(web_is_secret(hidden[i], "x"));
    for (unsigned i = 0; i < ARRAY_LEN(shown); i++)
        CHECK(!web_is_secret(shown[i], "x"));
    CHECK(!web_is_secret("key", NULL));
    CHECK(web_is_secret("key", "-----BEGIN PRIVATE KEY-----"));
    CHECK(web_is_secret("address", "redis://ids:hunter2@example.org:6379/0"));
    CHECK(!web_is_secret("address", "http://example.org:6379/a@b"));
    CHECK(!web_is_secret("address", "http://ids@example.org"));
    CHECK(web_is_secret("config", "org.apache PlainLoginModule required password=\"x\";"));
}

/* A browser that says where its page is from is believed; one that does not must bear the header,
 * which no other origin can send, and an origin that is the host. */
TEST(web_post_forbidden)
{
    static const struct { bool may; struct web_sender from; } cases[] = {
        { true, { .marker = "1" } },
        { true, { .marker = "", .host = "127.0.0.1:9917" } },
        { true, { .marker = "1", .site = "same-origin" } },
        { true, { .marker = "1", .origin = "http://[::1]:9917", .host = "[::1]:9917" } },
        { true, { .marker = "1", .origin = "https://Sensor:1", .host = "sensor:1" } },
        { false, { .site = "same-origin", .origin = "http://a", .host = "a" } },
        { false, { .host = "127.0.0.1:9917" } },
        { false, { .marker = "1", .site = "same-site" } },
        { false, { .marker = "1", .site = "cross-site", .origin = "http://a", .host = "a" } },
        { false, { .marker = "1", .site = "none" } },
        { false, { .marker = "1", .site = "" } },
        { false, { .marker = "1", .origin = "http://a:2", .host = "a:1" } },
        { false, { .marker = "1", .origin = "http://a.evil.example", .host = "a" } },
        { false, { .marker = "1", .origin = "http://a" } },
        { false, { .marker = "1", .origin = "null", .host = "a" } },
        { false, { .marker = "1", .origin = "", .host = "" } },
        { false, { .marker = "1", .origin = "a", .host = "a" } },
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++)
        CHECK((web_post_forbidden(&cases[i].from) == NULL) == cases[i].may);
}

static void put(struct feed *f, unsigned sink, unsigned number)
{
    struct output_tap *tap = feed_tap(f);
    char text[32];

    snprintf(text, sizeof(text), "{\"n\":%u}\n", number);
    if (tap->is_on)
        tap->put(tap->arg, sink, (const uint8_t *)text, strlen(text));
}

/* Returns how many events there are, and the number of the first record. */
static unsigned take_all(struct feed_reader *reader, int *first, char *last, size_t size)
{
    struct buf out = { 0 };
    unsigned count = 0;

    *first = -1;
    for (; feed_take(reader, &out); count++) {
        const char *record;

        buf_add_u8(&out, '\0');
        record = strstr((const char *)out.data, "\ndata: {\"n\":");
        if (count == 0 && record != NULL)
            *first = (int)strtol(record + 12, NULL, 10);
        snprintf(last, size, "%.*s", (int)strcspn((const char *)out.data + 4, "\n"),
                 (const char *)out.data + 4);
        buf_clear(&out);
    }
    buf_fini(&out);
    return count;
}

/* A reader that comes late gets the newest; one that comes again gets none twice. */
TEST(feed_keeps_alerts_without_readers)
{
    struct feed *f = feed_new();
    struct feed_reader reader;
    char last[64] = "";
    int first;

    for (unsigned i = 0; i < 130; i++)
        put(f, 3, i);
    put(f, 4, 1000);                    /* another eve-log repeats the alerts */
    CHECK(feed_join(f, NULL, &reader));
    CHECK_INT(take_all(&reader, &first, last, sizeof(last)), 100);
    CHECK_INT(first, 30);
    CHECK(!feed_has_more(&reader));
    feed_leave(&reader);
    put(f, 3, 130);
    put(f, 3, 131);
    CHECK(feed_join(f, last, &reader));
    CHECK_INT(take_all(&reader, &first, last, sizeof(last)), 2);
    CHECK_INT(first, 130);
    feed_leave(&reader);
    CHECK(feed_join(f, last, &reader));
    CHECK_INT(take_all(&reader, &first, last, sizeof(last)), 0);
    feed_leave(&reader);
    CHECK(feed_join(f, "1-5", &reader));                /* of another process */
    CHECK_INT(take_all(&reader, &first, last, sizeof(last)), 100);
    feed_leave(&reader);
    feed_free(f);
}

/* What alerts cost has a limit: the tap is off until it is refilled. */
TEST(feed_keeps_so_many_at_a_time)
{
    struct feed *f = feed_new();
    struct feed_reader reader;
    char last[64];
    int first;

    for (unsigned i = 0; i < 1000; i++)
        put(f, 0, i);
    CHECK(!feed_tap(f)->is_on);
    CHECK(feed_join(f, NULL, &reader));
    CHECK_INT(take_all(&reader, &first, last, sizeof(last)), 100);
    CHECK_INT(first, 156);
    feed_refill(f);
    CHECK(feed_tap(f)->is_on);
    put(f, 0, 1000);
    CHECK_INT(take_all(&reader, &first, last, sizeof(last)), 1);
    CHECK_INT(first, 1000);
    feed_leave(&reader);
    feed_free(f);
}
