/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A conversation that is cut at each byte between two processes: together they see what one would
 * have seen, each transaction once. */
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/session.h"
#include "app/tests/replay.h"
#include "app/tests/split.h"
#include "base/test.h"
#include "flow/flow_export.h"

#include <stdlib.h>
#include <string.h>

struct dialogue {
    const struct split_step *steps;
    unsigned count;
    uint16_t port;
};

static size_t dialogue_size(const struct dialogue *k)
{
    size_t n = 0;

    for (unsigned i = 0; i < k->count; i++)
        n += k->steps[i].len;
    return n;
}

/* Bytes from..to of the conversation, in its order. */
static void play(struct replay *r, const struct dialogue *k, size_t from, size_t to)
{
    size_t at = 0;

    for (unsigned i = 0; i < k->count; at += k->steps[i++].len) {
        size_t a = MAX(from, at), b = MIN(to, at + k->steps[i].len);

        if (a < b)
            replay_data(r, k->steps[i].direction, (const char *)k->steps[i].data + (a - at),
                        (uint32_t)(b - a));
    }
}

/* Numbers of transactions begin again. */
static char *without_numbers(char *text)
{
    char *to = text;

    for (char *line = text; *line != '\0';) {
        char *end = strchr(line, '\n'), *from = line;
        size_t len = (size_t)(end - line) + 1;

        if (strncmp(line, "tx ", 3) == 0)
            from = strchr(line + 3, ' ') + 1;
        if (strncmp(line, "flow ", 5) != 0) {
            memmove(to, from, len - (size_t)(from - line));
            to += len - (size_t)(from - line);
        }
        line += len;
    }
    *to = '\0';
    return text;
}

static char *text_of_both(struct replay *a, struct replay *b)
{
    char *first = without_numbers(replay_text(a)), *second = without_numbers(replay_text(b));
    struct buf both = { 0 };

    buf_add_string(&both, first);
    buf_add_string(&both, second);
    buf_add_u8(&both, '\0');
    free(first);
    free(second);
    return (char *)both.data;
}

static char *cut_at(struct app_fixture *fixture, const struct dialogue *k, size_t cut)
{
    struct replay a, b;
    char *text;

    replay_begin(&a, fixture, false, k->port);
    replay_begin(&b, fixture, false, k->port);
    play(&a, k, 0, cut);
    replay_hand_over(&a, &b);
    play(&b, k, cut, SIZE_MAX);
    replay_end(&b);
    text = text_of_both(&a, &b);
    replay_free(&a);
    replay_free(&b);
    return text;
}

static char *in_one(struct app_fixture *fixture, const struct dialogue *k)
{
    struct replay r;
    char *text;

    replay_begin(&r, fixture, false, k->port);
    play(&r, k, 0, SIZE_MAX);
    replay_end(&r);
    text = without_numbers(replay_text(&r));
    replay_free(&r);
    return text;
}

static void check_all_cuts(struct test *t, const struct dialogue *k)
{
    size_t size = dialogue_size(k);
    struct app_fixture fixture;
    char *expected;

    if (app_fixture_open(&fixture, NULL, NULL) < 0) {
        CHECK(false);
        return;
    }
    app_conf_hand_over(fixture.conf);
    expected = in_one(&fixture, k);
    CHECK(strlen(expected) > 0);
    for (size_t cut = 1; cut <= size; cut++) {
        char *text = cut_at(&fixture, k, cut);

        if (strcmp(text, expected) != 0)
            test_fail(t, __FILE__, __LINE__, "cut at %zu:\n%s\nnot:\n%s", cut, text, expected);
        free(text);
    }
    free(expected);
    app_fixture_close(&fixture);
}

#define CUT(at_port, ...)                                                                         \
    do {                                                                                       \
        static const struct split_step steps[] = { __VA_ARGS__ };                              \
        check_all_cuts(t, &(struct dialogue){ steps, ARRAY_LEN(steps), (at_port) });           \
    } while (0)

TEST(handover_of_http)
{
    CUT(80, SPLIT_TS("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\nhello"),
        SPLIT_TS("POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "3\r\nx=y\r\n0\r\n\r\nGET /c HTTP/1.1\r\nHost: b\r\n\r\n"),
        SPLIT_TC("HTTP/1.1 404 no\r\nContent-Length: 0\r\n\r\n"
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"));
}

TEST(handover_of_smtp)
{
    CUT(25, SPLIT_TC("220 mx.example.com\r\n"), SPLIT_TS("EHLO me\r\n"),
        SPLIT_TC("250-mx\r\n250-PIPELINING\r\n250 SIZE 9\r\n"),
        SPLIT_TS("MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n"),
        SPLIT_TC("250 ok\r\n250 ok\r\n354 go\r\n"),
        SPLIT_TS("Subject: one\r\nFrom: <a@b>\r\n\r\nhello\r\n.\r\n"), SPLIT_TC("250 ok\r\n"),
        SPLIT_TS("MAIL FROM:<e@f>\r\n"), SPLIT_TC("250 ok\r\n"),
        SPLIT_TS("RCPT TO:<g@h>\r\n"), SPLIT_TC("250 ok\r\n"), SPLIT_TS("DATA\r\n"),
        SPLIT_TC("354 go\r\n"), SPLIT_TS("Subject: two\r\n\r\nMAIL\r\n.\r\n"),
        SPLIT_TC("250 ok\r\n"), SPLIT_TS("QUIT\r\n"), SPLIT_TC("221 bye\r\n"));
}

TEST(handover_of_pop3)
{
    CUT(110, SPLIT_TC("+OK hello\r\n"), SPLIT_TS("USER me\r\n"), SPLIT_TC("+OK go on\r\n"),
        SPLIT_TS("LIST\r\n"), SPLIT_TC("+OK 2\r\n1 120\r\n2 .30\r\n.\r\n"),
        SPLIT_TS("AUTH PLAIN\r\n"), SPLIT_TC("+ \r\n"), SPLIT_TS("AGEAYg==\r\n"),
        SPLIT_TC("+OK in\r\n"), SPLIT_TS("QUIT\r\n"), SPLIT_TC("-ERR\r\n"));
}

TEST(handover_of_ftp)
{
    CUT(21, SPLIT_TC("220 hello\r\n"), SPLIT_TS("USER me\r\n"), SPLIT_TC("331 go on\r\n"),
        SPLIT_TS("PASS x\r\n"), SPLIT_TC("230 in\r\n"), SPLIT_TS("EPSV\r\n"),
        SPLIT_TC("229 here (|||4000|)\r\n"), SPLIT_TS("RETR name\r\n"),
        SPLIT_TC("150 soon\r\n226 done\r\n"), SPLIT_TS("QUIT\r\n"), SPLIT_TC("221 bye\r\n"));
}

TEST(handover_of_ssh)
{
    CUT(22, SPLIT_TS("SSH-2.0-a b\r\n"), SPLIT_TC("SSH-2.0-c\r\n"),
        SPLIT_TC("\0\0\0\x0c\x04\x15" "0123456789"), SPLIT_TS("\0\0\0\x0c\x04\x15" "0123456789"));
}

/* --- HTTP/2 after more bytes than are kept ---------------------------------------------------- */

#define H2_FRAME(len, type, flags, stream) "\0" len type flags "\0\0\0" stream
#define BODY 40000                      /* more than the limit of the protocol */

static const char h2_start[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" H2_FRAME("\0\0", "\4", "\0", "\0")
    /* GET /first http a: path and authority become entries */
    H2_FRAME("\0\x0d", "\1", "\5", "\1") "\x82\x86\x44\x06/first\x41\x01" "a";
/* The name of the second header of the response is in the table, too. */
static const char h2_answer[] = H2_FRAME("\0\x0c", "\1", "\4", "\1") "\x88\x40\x03" "x-y\x05" "hello";
/* By number: what has made them entries is long over. */
static const char h2_again[] = H2_FRAME("\0\x04", "\1", "\5", "\3") "\x82\x86\xbf\xbe";
static const char h2_answer_again[] = H2_FRAME("\0\x02", "\1", "\5", "\3") "\x88\xbe";

static size_t h2_dialogue(uint8_t *body, struct split_step *steps)
{
    const size_t chunk = 10000;
    unsigned n = 0;

    steps[n++] = (struct split_step){ TO_SERVER, (const uint8_t *)h2_start, sizeof(h2_start) - 1 };
    steps[n++] = (struct split_step){ TO_CLIENT, (const uint8_t *)h2_answer,
                                      sizeof(h2_answer) - 1 };
    for (size_t i = 0; i < BODY / chunk; i++) {
        uint8_t *frame = body + i * (chunk + 9);

        memset(frame, 'b', chunk + 9);
        memcpy(frame, "\0\x27\x10\0\0\0\0\0\1", 9);
        frame[4] = i + 1 == BODY / chunk;
        steps[n++] = (struct split_step){ TO_CLIENT, frame, (uint32_t)(chunk + 9) };
    }
    steps[n++] = (struct split_step){ TO_SERVER, (const uint8_t *)h2_again, sizeof(h2_again) - 1 };
    steps[n++] = (struct split_step){ TO_CLIENT, (const uint8_t *)h2_answer_again,
                                      sizeof(h2_answer_again) - 1 };
    return n;
}

static unsigned count_of(const char *text, const char *word)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        n++;
    return n;
}

/* The second exchange means nothing without the tables. It comes whole, by one process, wherever
 * the cut is before it; each stream has one record. */
TEST(handover_of_long_http2)
{
    static uint8_t body[BODY + 9 * 4];
    struct split_step steps[8];
    struct dialogue k = { .steps = steps, .port = 80 };
    struct app_fixture fixture;
    size_t size, last;

    k.count = (unsigned)h2_dialogue(body, steps);
    size = dialogue_size(&k);
    last = size - steps[k.count - 1].len - steps[k.count - 2].len;
    if (app_fixture_open(&fixture, NULL, NULL) < 0) {
        CHECK(false);
        return;
    }
    app_conf_hand_over(fixture.conf);
    for (size_t cut = 1; cut <= last; cut += cut > 100 && cut + 1200 < last ? 997 : 1) {
        char *text = cut_at(&fixture, &k, cut);

        if (count_of(text, "\"url\":\"/first\"") != 2 || count_of(text, "\"stream_id\":3") != 1 ||
            count_of(text, "\"stream_id\":1") != 1)
            test_fail(t, __FILE__, __LINE__, "cut at %zu:\n%s", cut, text);
        free(text);
    }
    app_fixture_close(&fixture);
}

/* The second process has got state and has heard the second exchange to its end; the third one hears
 * it again. Each stream has one record. */
TEST(handover_of_long_http2_twice)
{
    static uint8_t body[BODY + 9 * 4];
    struct split_step steps[8];
    struct dialogue k = { .steps = steps, .port = 80 };
    struct app_fixture fixture;
    struct replay r[3];
    size_t size, last;
    char *text, *third;

    k.count = (unsigned)h2_dialogue(body, steps);
    size = dialogue_size(&k);
    last = size - steps[k.count - 1].len - steps[k.count - 2].len;
    if (app_fixture_open(&fixture, NULL, NULL) < 0) {
        CHECK(false);
        return;
    }
    app_conf_hand_over(fixture.conf);
    for (unsigned i = 0; i < 3; i++)
        replay_begin(&r[i], &fixture, false, k.port);
    play(&r[0], &k, 0, last);
    replay_hand_over(&r[0], &r[1]);
    play(&r[1], &k, last, size);
    replay_hand_over(&r[1], &r[2]);
    replay_end(&r[2]);
    text = text_of_both(&r[0], &r[1]);
    third = without_numbers(replay_text(&r[2]));
    CHECK_INT(count_of(text, "\"stream_id\":1"), 1);
    CHECK_INT(count_of(text, "\"stream_id\":3"), 1);
    CHECK_INT(count_of(third, "\"stream_id\""), 0);
    free(text);
    free(third);
    for (unsigned i = 0; i < 3; i++)
        replay_free(&r[i]);
    app_fixture_close(&fixture);
}

/* Tables and positions that were changed on the way. */
TEST(handover_reads_any_state)
{
    static const uint8_t states[] = {
        STEP_STATE, 0, 0, 0, 0x3b, 1, 0, 0, 0, 99, 0, 0, 0, 3,
        1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0x3f, 0xe1, 0x1f,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 'a', 1, 'b',
        STEP_TO_SERVER, 0, 0, 0, 4, 'b', 'o', 'd', 'y',
    };
    struct app_fixture fixture;

    if (app_fixture_open(&fixture, NULL, NULL) < 0) {
        CHECK(false);
        return;
    }
    app_conf_hand_over(fixture.conf);
    for (uint32_t at = 0; at < 8 * sizeof(states); at++) {
        uint8_t changed[sizeof(states)];
        struct replay r;

        memcpy(changed, states, sizeof(states));
        changed[at / 8] ^= (uint8_t)(1u << at % 8);
        replay_begin(&r, &fixture, false, 80);
        replay_imported(&r, "http2", (struct slice){ changed, 1 + at % sizeof(states) });
        replay_data(&r, TO_SERVER, h2_again, sizeof(h2_again) - 1);
        replay_end(&r);
        replay_free(&r);
        replay_begin(&r, &fixture, false, 80);
        replay_imported(&r, "http2", (struct slice){ changed, sizeof(changed) });
        replay_data(&r, TO_SERVER, h2_again, sizeof(h2_again) - 1);
        replay_end(&r);
        replay_free(&r);
    }
    app_fixture_close(&fixture);
}

/* What comes from another process may be anything. */
TEST(handover_reads_any_steps)
{
    static const uint8_t steps[] = { STEP_TXS, 0, 0, 0, 4, 0, 0, 0, 1, STEP_OPEN, 0, 0, 0, 2, 0, 0,
                                     STEP_ALERT, 0, 0, 0, 0, 9, 0, 0, 0, 1, 7, STEP_TO_SERVER, 0, 0,
                                     0, 5, 'G', 'E', 'T', ' ', '/', STEP_TO_CLIENT, 0, 0, 0, 9, 'x' };
    struct app_fixture fixture;

    if (app_fixture_open(&fixture, NULL, NULL) < 0) {
        CHECK(false);
        return;
    }
    app_conf_hand_over(fixture.conf);
    for (uint32_t len = 1; len <= sizeof(steps); len++)
        for (uint32_t at = 0; at < len; at++) {
            uint8_t changed[sizeof(steps)];
            struct replay r;

            memcpy(changed, steps, len);
            changed[at] ^= 0xff;
            replay_begin(&r, &fixture, false, 80);
            replay_imported(&r, "http", (struct slice){ at + 1 == len ? steps : changed, len });
            replay_data(&r, TO_SERVER, " HTTP/1.1\r\n\r\n", 13);
            replay_end(&r);
            replay_free(&r);
        }
    app_fixture_close(&fixture);
}
