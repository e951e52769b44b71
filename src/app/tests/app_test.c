/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/conf.h"
#include "app/core/expectations.h"
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/tests/replay.h"
#include "app/tests/split.h"
#include "app/tests/toy.h"
#include "base/report/counters.h"

#include <stdlib.h>
#include <string.h>

#define CASE(name, ...)                                                            \
    static const struct split_step name##_steps[] = { __VA_ARGS__ };               \
    static const struct split_case name = {                                        \
        .extra = toy_protocols, .port = 7777, .steps = name##_steps,               \
        .count = ARRAY_LEN(name##_steps),                                          \
    }

TEST(app_requests_and_replies)
{
    CASE(c, SPLIT_TS("hello me\r\nASK one\nASK two\n"), SPLIT_TC("WELCOME you\nSAY 1\n"),
         SPLIT_TC("SAY 2\nSAY 3\n"), SPLIT_TS("WHAT\n"));

    split_expect(t, &c,
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\",\"reply\":\"SAY 1\"}}\n"
                 "tx 1 toy {\"toy\":{\"request\":\"ASK two\",\"reply\":\"SAY 2\"}}\n"
                 "tx 2 toy {\"toy\":{\"reply\":\"SAY 3\"}}\n"
                 "tx 2 event unasked\n"
                 "tx 3 toy {\"toy\":{}}\n"
                 "tx 3 event unknown_command\n"
                 "flow toy toy toy\n");
}

TEST(app_file_through_the_window)
{
    CASE(c, SPLIT_TS("HELLO me\nPUT a.txt\n3:abc5:defgh0:ASK x\n"), SPLIT_TC("WELCOME x\nSAY y\n"));
    struct split_case hashed = c;

    hashed.file_features = APP_FILE_SHA256 | APP_FILE_MD5;
    split_expect(t, &hashed,
                 "tx 0 toy {\"toy\":{\"request\":\"PUT a.txt\"}}\n"
                 "tx 0 file a.txt closed 8 "
                 "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab\n"
                 "tx 1 toy {\"toy\":{\"request\":\"ASK x\",\"reply\":\"SAY y\"}}\n"
                 "flow toy toy toy\n");
}

TEST(app_file_truncated)
{
    CASE(c, SPLIT_TS("HELLO me\nPUT a.txt\n3:abc5:de"));

    split_expect(t, &c,
                 "tx 0 toy {\"toy\":{\"request\":\"PUT a.txt\"}}\n"
                 "tx 0 file a.txt truncated 3 -\n"
                 "flow toy toy toy\n");
}

TEST(app_gap_is_signalled)
{
    CASE(c, SPLIT_TS("HELLO me\nASK one\nASK tw"), SPLIT_GAP(TO_SERVER, 100),
         SPLIT_TS("o\nASK three\n"), SPLIT_TC("WELCOME x\nSAY 1\nSAY 2\n"));
    char *unsplit = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(unsplit, "event gap") != NULL);
    CHECK(strstr(unsplit, "ASK tw") == NULL);
    CHECK(strstr(unsplit, "ASK three") != NULL);
    split_check(t, &c);
    free(unsplit);
}

TEST(app_gap_stops_a_parser_that_cannot)
{
    static const struct split_step steps[] = { SPLIT_TS("\xb0\0\1a\xb0\0\1b"),
                                               SPLIT_GAP(TO_SERVER, 7), SPLIT_TS("\xb0\0\1c") };
    const struct split_case c = { .extra = toy_protocols, .port = 9000, .steps = steps,
                                  .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 box {\"direction\":\"ts\",\"content\":\"a\"}\n"
                 "tx 1 box {\"direction\":\"ts\",\"content\":\"b\"}\n"
                 "flow box box unknown\n");
}

TEST(app_gap_before_proto_detection)
{
    CASE(c, SPLIT_TS("HEL"), SPLIT_GAP(TO_SERVER, 4), SPLIT_TS("x\nASK one\n"),
         SPLIT_TC("WELCOME you\nSAY 1\n"));
    char *unsplit = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(unsplit, "SAY 1") != NULL);
    split_check(t, &c);
    free(unsplit);
}

TEST(app_stop_is_counted)
{
    CASE(c, SPLIT_TS("HELLO me\nASK one\nSTOP\nASK two\n"), SPLIT_TC("WELCOME x\nSAY 1\n"));
    counter_id id;
    uint64_t before;

    split_expect(t, &c,
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\"}}\n"
                 "flow toy toy unknown\n");
    id = counter_register("app_layer.error.toy_tcp.parser", COUNTER_SUM);
    before = counter_total(id);
    free(split_replay(&c, SPLIT_NONE, 0));
    CHECK_INT(counter_total(id), before + 1);
}

TEST(app_protocol_change)
{
    CASE(c, SPLIT_TS("HELLO me\nASK one\n"), SPLIT_TC("WELCOME x\nSAY 1\n"),
         SPLIT_TS("ASK two\nSWITCH\n\xb0\0\2ab"), SPLIT_TC("\xb0\0\3xyz"),
         SPLIT_TS("\xb0\0\2cd"));

    split_expect(t, &c,
                 "tx 0 box {\"direction\":\"ts\",\"content\":\"ab\",\"after_toy\":true}\n"
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\",\"reply\":\"SAY 1\"}}\n"
                 "tx 1 box {\"direction\":\"tc\",\"content\":\"xyz\",\"after_toy\":true}\n"
                 "tx 1 toy {\"toy\":{\"request\":\"ASK two\"}}\n"
                 "tx 2 box {\"direction\":\"ts\",\"content\":\"cd\",\"after_toy\":true}\n"
                 "tx 2 toy {\"toy\":{\"request\":\"SWITCH\"}}\n"
                 "flow box box box\n");
}

TEST(app_protocol_change_to_something_else)
{
    CASE(c, SPLIT_TS("HELLO me\n"), SPLIT_TC("WELCOME x\n"), SPLIT_TS("SWITCH\n"),
         SPLIT_TS("HELLO again\nASK one\n"), SPLIT_TC("WELCOME x\nSAY 1\n"));

    split_expect(t, &c,
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\",\"reply\":\"SAY 1\"}}\n"
                 "tx 0 toy {\"toy\":{\"request\":\"SWITCH\"}}\n"
                 "layer applayer_unexpected_protocol\n"
                 "flow toy toy toy\n");
}

TEST(app_stop_when_encrypted)
{
    CASE(c, SPLIT_TS("HELLO me\nASK one\nENCRYPT\n\1\2\3\4\5"), SPLIT_TC("\7\7\7\7\7\7\7\7\7"));

    split_expect(t, &c,
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\"}}\n"
                 "flow toy toy unknown\n");
}

TEST(app_open_transactions_are_bounded)
{
    struct split_step steps[400];
    struct split_case c = { .extra = toy_protocols, .port = 7777, .steps = steps, .count = 400 };
    char *unsplit;

    for (unsigned i = 0; i < 400; i++)
        steps[i] = (struct split_step)SPLIT_TS("ASK\x20more\n");
    steps[0] = (struct split_step)SPLIT_TS("HELLO me\n");
    unsplit = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(unsplit, "tx 0 event too_many_transactions") != NULL);
    CHECK(strstr(unsplit, "tx 398 event too_many_transactions") == NULL);
    free(unsplit);
}

TEST(app_retained_bytes_are_bounded)
{
    static char line[20000];
    struct split_step steps[] = { SPLIT_TS("HELLO me\n"), { TO_SERVER, line, sizeof(line) } };
    struct split_case c = { .extra = toy_protocols, .port = 7777, .steps = steps, .count = 2 };
    counter_id id = counter_register("app_layer.error.toy_tcp.parser", COUNTER_SUM);
    uint64_t before = counter_total(id);

    memset(line, 'x', sizeof(line));
    free(split_replay(&c, SPLIT_NONE, 0));
    CHECK_INT(counter_total(id), before + 1);
}

TEST(app_unknown_is_abandoned)
{
    static char junk[60000];
    struct split_step steps[] = {
        { TO_SERVER, junk, sizeof(junk) }, { TO_SERVER, junk, sizeof(junk) },
        { TO_SERVER, junk, sizeof(junk) } };
    struct split_case c = { .extra = toy_protocols, .port = 7777, .steps = steps, .count = 3 };
    char *text;

    memset(junk, 'j', sizeof(junk));
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK_STRING(text, "layer applayer_proto_detection_skipped\nflow failed failed failed\n");
    free(text);
}

TEST(app_unknown_both_ways)
{
    CASE(c, SPLIT_TS("junk junk junk junk"), SPLIT_TC("junk junk junk junk"));

    split_expect(t, &c, "flow failed failed failed\n");
}

TEST(app_wrong_direction_first)
{
    CASE(c, SPLIT_TC("WELCOME x\nSAY 1\n"), SPLIT_TS("HELLO me\nASK one\n"));

    split_expect(t, &c,
                 "layer applayer_wrong_direction_first_data\nflow failed failed toy\n");
}

TEST(app_one_direction_only)
{
    CASE(c, SPLIT_TS("HELLO me\nASK one\n"), SPLIT_TC("-- another banner\nSAY 1\n"));

    split_expect(t, &c,
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\",\"reply\":\"-- another banner\"}}\n"
                 "tx 1 toy {\"toy\":{\"reply\":\"SAY 1\"}}\n"
                 "tx 1 event unasked\n"
                 "layer applayer_detect_protocol_only_one_direction\n"
                 "flow toy toy failed\n");
}

/* What the parser gives up at once is not said to have failed recognition. */
TEST(app_one_direction_given_up)
{
    CASE(c, SPLIT_TS("HELLO me\n"), SPLIT_TC("STOP it, this is no banner\n"));
    char *complete = split_replay(&c, SPLIT_NONE, 0);

    CHECK_STRING(complete,
                 "layer applayer_detect_protocol_only_one_direction\nflow toy toy toy\n");
    free(complete);
}

/* The parser gives up at the side that came first; the answer that had it recognised is parsed. */
TEST(app_answer_to_failure)
{
    CASE(c, SPLIT_TS("STOP it, this is no request of anything\n"), SPLIT_TC("WELCOME x\nSAY 1\n"));
    char *complete = split_replay(&c, SPLIT_NONE, 0);

    CHECK_STRING(complete, "tx 0 toy {\"toy\":{\"reply\":\"SAY 1\"}}\n"
                           "tx 0 event unasked\n"
                           "layer applayer_detect_protocol_only_one_direction\n"
                           "flow toy toy toy\n");
    free(complete);
}

/* What a parser ended by its own will stays ended. */
TEST(app_no_answer_to_encrypted)
{
    CASE(c, SPLIT_TS("ENCRYPT all of it, please, and at once\n"), SPLIT_TC("WELCOME x\nSAY 1\n"));
    char *complete = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(complete, "tx 0") == NULL);
    free(complete);
}

TEST(app_detection_only)
{
    CASE(c, SPLIT_TS("HELLO me\nASK one\n"), SPLIT_TC("WELCOME x\n"));
    struct split_case only = c;

    only.yaml = "%YAML 1.1\n---\napp-layer:\n  protocols:\n    toy:\n      enabled: detection-only\n";
    split_expect(t, &only, "flow toy toy unknown\n");
    only.yaml = "%YAML 1.1\n---\napp-layer:\n  protocols:\n    toy:\n      tcp:\n"
                "        enabled: no\n";
    split_expect(t, &only, "flow failed failed failed\n");
}

TEST(app_detection_ports)
{
    static const struct split_step steps[] = { SPLIT_TS("\xb0\0\1a"), SPLIT_TC("\xb0\0\1b") };
    struct split_case c = { .extra = toy_protocols, .port = 9150, .steps = steps, .count = 2 };

    split_expect(t, &c,
                 "tx 0 box {\"direction\":\"ts\",\"content\":\"a\"}\n"
                 "tx 1 box {\"direction\":\"tc\",\"content\":\"b\"}\n"
                 "flow box box box\n");
    c.yaml = "%YAML 1.1\n---\napp-layer:\n  protocols:\n    box:\n      detection-ports:\n"
             "        dp: 77\n";
    c.port = 77;
    split_expect(t, &c,
                 "tx 0 box {\"direction\":\"ts\",\"content\":\"a\"}\n"
                 "tx 1 box {\"direction\":\"tc\",\"content\":\"b\"}\n"
                 "flow box box box\n");
    c.port = 9150;
    split_check(t, &c);
}

TEST(app_frames_are_kept_apart)
{
    CASE(c, SPLIT_TS("HELLO me\nASK one\n"), SPLIT_TC("WELCOME x\nSAY 1\n"));
    struct split_case framed = c;

    framed.frames = true;
    split_expect(t, &framed,
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\",\"reply\":\"SAY 1\"}}\n"
                 "frame tc line 0 10\nframe tc line 10 6\nframe tc stream 0 16\n"
                 "frame ts line 0 9\nframe ts line 9 8\nframe ts stream 0 17\n"
                 "flow toy toy toy\n");
}

TEST(app_udp_datagrams)
{
    static const struct split_step steps[] = { SPLIT_TS("HELLO me\n"), SPLIT_TS("ASK one\n"),
                                               SPLIT_TC("SAY 1\n"), SPLIT_TS("STOP\n"),
                                               SPLIT_TS("ASK two\n") };
    const struct split_case c = { .extra = toy_protocols, .udp = true, .port = 5, .steps = steps,
                                  .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\",\"reply\":\"SAY 1\"}}\n"
                 "tx 1 toy {\"toy\":{\"request\":\"ASK two\"}}\n"
                 "flow toy toy toy\n");
}

TEST(app_udp_wrong_way_round)
{
    static const struct split_step steps[] = { SPLIT_TS("WELCOME x\n"), SPLIT_TC("ASK one\n"),
                                               SPLIT_TS("SAY 1\n") };
    struct split_case c = { .extra = toy_protocols, .udp = true, .port = 5, .steps = steps,
                            .yaml = "%YAML 1.1\n---\nstream:\n  midstream: true\n",
                            .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\",\"reply\":\"SAY 1\"}}\n"
                 "flow toy toy toy\n");
}

/* Datagrams of several flows in turn share the thread's directions. */
TEST(app_udp_sessions_are_small)
{
    struct app_fixture fixture;
    struct replay replay[3];

    CHECK_INT(app_fixture_open(&fixture, NULL, toy_protocols), 0);
    for (unsigned i = 0; i < ARRAY_LEN(replay); i++)
        replay_begin(&replay[i], &fixture, true, 5);
    for (unsigned i = 0; i < ARRAY_LEN(replay); i++)
        replay_data(&replay[i], TO_SERVER, "HELLO me\n", 9);
    for (unsigned i = 0; i < ARRAY_LEN(replay); i++)
        replay_data(&replay[i], TO_SERVER, "ASK one\n", 8);
    for (unsigned i = 0; i < ARRAY_LEN(replay); i++)
        replay_data(&replay[i], TO_CLIENT, "SAY 1\n", 6);
    CHECK_INT(fixture.thread->sessions[TRANSPORT_UDP].in_use, ARRAY_LEN(replay));
    CHECK_INT(fixture.thread->sessions[TRANSPORT_UDP].size, 2 * CACHE_LINE);
    CHECK_INT(fixture.thread->sessions[TRANSPORT_TCP].in_use, 0);
    for (unsigned i = 0; i < ARRAY_LEN(replay); i++) {
        char *text;

        CHECK(!app_data_waits(replay[i].flow->app, TO_SERVER));
        replay_end(&replay[i]);
        text = replay_text(&replay[i]);
        CHECK_STRING(text, "tx 0 toy {\"toy\":{\"request\":\"ASK one\",\"reply\":\"SAY 1\"}}\n"
                           "flow toy toy toy\n");
        free(text);
        replay_free(&replay[i]);
    }
    CHECK_INT(fixture.thread->sessions[TRANSPORT_UDP].in_use, 0);
    app_fixture_close(&fixture);
}

TEST(app_midstream_swaps_the_flow)
{
    static const struct split_step steps[] = { SPLIT_TC("HELLO me\nASK one\n"),
                                               SPLIT_TS("WELCOME x\nSAY 1\n") };
    struct split_case c = { .extra = toy_protocols, .midstream = true, .port = 5, .steps = steps,
                            .yaml = "%YAML 1.1\n---\nstream:\n  midstream: true\n",
                            .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 toy {\"toy\":{\"request\":\"ASK one\",\"reply\":\"SAY 1\"}}\n"
                 "flow toy toy toy\n");
}

TEST(app_expected_flow)
{
    struct app_fixture fixture;
    struct replay first, second;
    char *text;

    CHECK_INT(app_fixture_open(&fixture, NULL, toy_protocols), 0);
    replay_begin(&first, &fixture, false, 7777);
    replay_data(&first, TO_SERVER, "HELLO me\nEXPECT 1234\n", 21);
    CHECK_INT(app_expectations_count(fixture.conf->expectations), 1);
    replay_begin(&second, &fixture, false, 1234);
    second.flow->id = 2;
    replay_data(&second, TO_SERVER, "\xb0\0\1a", 4);
    CHECK_INT(app_expectations_count(fixture.conf->expectations), 0);
    CHECK_INT(second.flow->parent_id, 1);
    replay_end(&first);
    replay_end(&second);
    text = replay_text(&second);
    CHECK_STRING(text, "tx 0 box {\"direction\":\"ts\",\"content\":\"a\"}\nflow box box box\n");
    free(text);
    replay_free(&first);
    replay_free(&second);
    app_fixture_close(&fixture);
}

static size_t objects_of(const struct app_fixture *fixture)
{
    return fixture->thread->sessions[TRANSPORT_TCP].created +
           fixture->thread->proto[APP_PROTO_toy].tx.created;
}

/* After a round, the same again asks the pools for nothing new. */
TEST(app_steady_state_reuses_memory)
{
    struct app_fixture fixture;
    size_t created = 0;

    CHECK_INT(app_fixture_open(&fixture, NULL, toy_protocols), 0);
    for (unsigned i = 0; i < 500; i++) {
        struct replay replay;

        replay_begin(&replay, &fixture, false, 7777);
        replay.quiet = true;
        replay_data(&replay, TO_SERVER, "HELLO me\nASK one\nAS", 19);
        replay_data(&replay, TO_CLIENT, "WELCOME x\nSAY", 13);
        replay_data(&replay, TO_SERVER, "K two\n", 6);
        replay_end(&replay);
        replay_free(&replay);
        if (i == 10)
            created = objects_of(&fixture);
    }
    CHECK_INT(objects_of(&fixture), created);
    CHECK_INT(fixture.thread->sessions[TRANSPORT_TCP].in_use, 0);
    CHECK_INT(fixture.thread->proto[APP_PROTO_toy].tx.in_use, 0);
    CHECK(fixture.thread->spare_count <= 4);
    app_fixture_close(&fixture);
}

/* Those of the framework and those that protocols add have a name each, and no two the same. */
TEST(app_layer_events_have_names)
{
    unsigned own = 0;

    for (unsigned a = 1; a <= APP_LAYER_EVENT_MAX; a++)
        for (unsigned b = 1; b < a; b++)
            if (app_layer_event_name(a) != NULL && app_layer_event_name(b) != NULL)
                CHECK(strcmp(app_layer_event_name(a), app_layer_event_name(b)) != 0);
    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const struct app_proto *proto = app_proto_by_id(id);

        if (proto->absent_event == NULL)
            continue;
        CHECK(strcmp(app_layer_event_name(app_absent_event(proto)), proto->absent_event) == 0);
        own++;
    }
    CHECK(own > 0);
    CHECK(app_layer_event_name(0) == NULL);
    CHECK(strcmp(app_layer_event_name(APPLAYER_UNEXPECTED), "applayer_unexpected_protocol") == 0);
    CHECK(app_layer_event_name(APP_LAYER_EVENT_MAX + 1) == NULL);
}
