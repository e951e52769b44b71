/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/tests/ftp_test.c - control connections in every cut, and the data that follow them. */
#include "app/proto/ftp/ftp.h"
#include "app/tests/replay.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define GREETING SPLIT_TC("220 ready\r\n")
#define GREETING_RECORD                                                                        \
    "tx 0 ftp {\"ftp\":{\"completion_code\":[\"220\"],\"reply\":[\"ready\"],"                  \
    "\"reply_received\":\"yes\",\"reply_truncated\":false}}\n"
#define USER SPLIT_TS("USER a\r\n"), SPLIT_TC("331 pw\r\n")
#define USER_RECORD                                                                            \
    "tx 1 ftp {\"ftp\":{\"command\":\"USER\",\"command_data\":\"a\","                              \
    "\"command_truncated\":false,\"completion_code\":[\"331\"],\"reply\":[\"pw\"],"              \
    "\"reply_received\":\"yes\",\"reply_truncated\":false}}\n"
#define FLOW "flow ftp ftp ftp\n"

static void check(struct test *t, const char *yaml, const struct split_step *steps,
                  unsigned count, const char *expected)
{
    struct split_case c = { .yaml = yaml, .port = 21, .steps = steps, .count = count };

    split_expect(t, &c, expected);
}
#define EXPECT_YAML(yaml, expected, ...)                                                         \
    do {                                                                                       \
        static const struct split_step steps[] = { __VA_ARGS__ };                              \
        check(t, yaml, steps, ARRAY_LEN(steps), expected);                                       \
    } while (0)
#define EXPECT(expected, ...) EXPECT_YAML(NULL, expected, __VA_ARGS__)

TEST(ftp_login)
{
    EXPECT(GREETING_RECORD
           "tx 1 ftp {\"ftp\":{\"command\":\"USER\",\"command_data\":\"a b\","
           "\"command_truncated\":false,\"completion_code\":[\"331\"],\"reply\":[\"pw\"],"
           "\"reply_received\":\"yes\",\"reply_truncated\":false}}\n"
           "tx 2 ftp {\"ftp\":{\"command\":\"PASS\",\"command_data\":\"c\","
           "\"command_truncated\":false,\"completion_code\":[\"230\"],\"reply\":[\"in\"],"
           "\"reply_received\":\"yes\",\"reply_truncated\":false}}\n"
           "tx 3 ftp {\"ftp\":{\"completion_code\":[\"211\"],\"reply\":[\"what\"],"
           "\"reply_received\":\"yes\",\"reply_truncated\":false}}\n"
           "tx 4 ftp {\"ftp\":{\"command\":\"QUIT\",\"reply_received\":\"no\","
           "\"reply_truncated\":false}}\n" FLOW,
           GREETING, SPLIT_TS("USER a b \r\n"), SPLIT_TC("331 pw\r\n"),
           SPLIT_TS("PASS c\r\n"), SPLIT_TC("230 in\r\n"), SPLIT_TS("FEAT\r\n"),
           SPLIT_TC("211 what\r\n"), SPLIT_TS("quit\r\n"));
}

/* Replies go with the commands in their order; a preliminary one is not the end. */
TEST(ftp_pipelined)
{
    EXPECT(GREETING_RECORD
           USER_RECORD
           "tx 2 ftp {\"ftp\":{\"command\":\"NOOP\",\"completion_code\":[\"120\",\"200\"],"
           "\"reply\":[\"wait\",\"one\"],\"reply_received\":\"yes\",\"reply_truncated\":false}}\n"
           "tx 3 ftp {\"ftp\":{\"command\":\"SYST\",\"completion_code\":[\"215\"],"
           "\"reply\":[\"two\"],\"reply_received\":\"yes\",\"reply_truncated\":false}}\n" FLOW,
           GREETING, USER, SPLIT_TS("NOOP\r\nSYST\r\n"),
           SPLIT_TC("120 wait\r\n200 one\r\n215 two\r\n"));
}

TEST(ftp_modes)
{
    EXPECT(GREETING_RECORD
           "tx 1 ftp {\"ftp\":{\"command\":\"PORT\",\"command_data\":\"10,0,0,1,4,5\","
           "\"command_truncated\":false,\"completion_code\":[\"200\"],\"reply\":[\"ok\"],"
           "\"dynamic_port\":1029,\"mode\":\"active\",\"reply_received\":\"yes\","
           "\"reply_truncated\":false}}\n"
           "tx 2 ftp {\"ftp\":{\"command\":\"EPRT\",\"command_data\":\"|2|::1|1030|\","
           "\"command_truncated\":false,\"completion_code\":[\"200\"],\"reply\":[\"ok\"],"
           "\"dynamic_port\":1030,\"mode\":\"active\",\"reply_received\":\"yes\","
           "\"reply_truncated\":false}}\n"
           "tx 3 ftp {\"ftp\":{\"command\":\"PASV\",\"completion_code\":[\"227\"],"
           "\"reply\":[\"Go (10,0,0,2,4,7).\"],\"dynamic_port\":1031,\"mode\":\"passive\","
           "\"reply_received\":\"yes\",\"reply_truncated\":false}}\n"
           "tx 4 ftp {\"ftp\":{\"command\":\"EPSV\",\"completion_code\":[\"229\"],"
           "\"reply\":[\"Go (|||1032|)\"],\"dynamic_port\":1032,\"mode\":\"passive\","
           "\"reply_received\":\"yes\",\"reply_truncated\":false}}\n" FLOW,
           GREETING, SPLIT_TS("PORT 10,0,0,1,4,5\r\n"), SPLIT_TC("200 ok\r\n"),
           SPLIT_TS("EPRT |2|::1|1030|\r\n"), SPLIT_TC("200 ok\r\n"),
           SPLIT_TS("PASV\r\n"), SPLIT_TC("227 Go (10,0,0,2,4,7).\r\n"),
           SPLIT_TS("EPSV\r\n"), SPLIT_TC("229 Go (|||1032|)\r\n"));
}

TEST(ftp_transfer_events)
{
    EXPECT(GREETING_RECORD
           USER_RECORD
           "tx 2 ftp {\"ftp\":{\"command\":\"RETR\",\"reply_received\":\"no\","
           "\"reply_truncated\":false}}\ntx 2 event file_without_name\n"
           "tx 3 ftp {\"ftp\":{\"command\":\"STOR\",\"command_data\":\"x\","
           "\"command_truncated\":false,\"reply_received\":\"no\",\"reply_truncated\":false}}\n"
           "tx 3 event file_before_port\n" FLOW,
           GREETING, USER, SPLIT_TS("RETR\r\nSTOR x\r\n"));
}

TEST(ftp_long_lines)
{
    EXPECT_YAML("%YAML 1.1\n---\napp-layer:\n  protocols:\n    ftp:\n"
                "      max-line-length: 12\n",
                GREETING_RECORD
                "tx 1 ftp {\"ftp\":{\"command\":\"USER\",\"command_data\":\"1234567\","
                "\"command_truncated\":true,\"completion_code\":[\"331\"],"
                "\"reply\":[\"12345678\"],\"reply_received\":\"yes\",\"reply_truncated\":true}}\n"
                "tx 1 event request_command_too_long\ntx 1 event response_command_too_long\n"
                "tx 2 ftp {\"ftp\":{\"command\":\"PASS\",\"command_data\":\"p\","
                "\"command_truncated\":false,\"reply_received\":\"no\","
                "\"reply_truncated\":false}}\n" FLOW,
                GREETING, SPLIT_TS("USER 1234567890\r\nPASS p\r\n"),
                SPLIT_TC("331 1234567890\r\n"));
}

TEST(ftp_too_many_transactions)
{
    static const struct split_step steps[] = {
        GREETING, SPLIT_TS("USER a\r\n"), SPLIT_TS("NOOP\r\n"), SPLIT_TS("NOOP\r\n"),
    };
    struct split_case c = { .port = 21, .steps = steps, .count = ARRAY_LEN(steps),
                            .yaml = "%YAML 1.1\n---\napp-layer:\n  protocols:\n    ftp:\n"
                                    "      max-tx: 2\n" };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 1 event too_many_transactions\n") != NULL);
    CHECK(strstr(text, "tx 3 ") == NULL);
    free(text);
}

TEST(ftp_ports)
{
    static const struct { uint16_t (*port)(struct slice); const char *line; uint16_t expected; }
    cases[] = {
        { ftp_port_of_port, "PORT 192,168,0,13,234,10", 59914 },
        { ftp_port_of_port, "port 1,2,3,4,0,80", 80 },
        { ftp_port_of_port, "PORT 212,27,32,66,257,243", 0 },
        { ftp_port_of_port, "PORT 212,27,32,66,255,65535", 0 },
        { ftp_port_of_port, "PORT 1,2,3", 0 },
        { ftp_port_of_port, "PORT", 0 },
        { ftp_port_of_pasv, "227 Entering Passive Mode (212,27,32,66,221,243).", 56819 },
        { ftp_port_of_pasv, "227 Entering (212,27,32,66,257,243)", 0 },
        { ftp_port_of_pasv, "227 Entering (212,27,32,66,2,243", 0 },
        { ftp_port_of_eprt, "EPRT |2|2001:db8::1|41813|", 41813 },
        { ftp_port_of_eprt, "EPRT |2|2001:db8::1|81813|", 0 },
        { ftp_port_of_eprt, "EPRT |2|2001:db8::1", 0 },
        { ftp_port_of_epsv, "229 Extended Passive (|||48758|).", 48758 },
        { ftp_port_of_epsv, "229 Extended Passive (|||99999|)", 0 },
        { ftp_port_of_epsv, "229 Extended Passive", 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice line = { (const uint8_t *)cases[i].line, (uint32_t)strlen(cases[i].line) };

        CHECK_INT(cases[i].port(line), cases[i].expected);
    }
}

TEST(ftp_bounce_address)
{
    static const char other[] = "PORT 192,168,0,13,234,10", broken[] = "PORT 1,2,x";
    uint32_t address;

    CHECK(ftp_address_of_port((struct slice){ (const uint8_t *)other, sizeof(other) - 1 },
                              &address));
    CHECK_INT(address, 0xc0a8000d);
    CHECK(!ftp_address_of_port((struct slice){ (const uint8_t *)broken, sizeof(broken) - 1 },
                               &address));
}

TEST(ftp_command_names)
{
    static const struct { const char *line, *command; uint32_t end; } cases[] = {
        { "RETR x", "RETR", 4 }, { "retr x", "RETR", 4 }, { "XCWD /", "CWD", 4 },
        { "STAT USER", "STAT", 4 }, { "OPTS UTF8", NULL, 0 }, { "", NULL, 0 }, { "PW", NULL, 0 },
        { "\xff\xf4" "ABOR", "ABOR", 6 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice line = { (const uint8_t *)cases[i].line, (uint32_t)strlen(cases[i].line) };
        uint32_t end = 0;
        const char *name = ftp_command_name(ftp_command_find(line, &end));

        CHECK_STRING(name != NULL ? name : "", cases[i].command != NULL ? cases[i].command : "");
        CHECK_INT(end, cases[i].end);
    }
}

/* Each is looked for among those with its letter. */
TEST(ftp_finds_all_commands)
{
    for (unsigned c = FTP_UNKNOWN + 1; c < FTP_COMMAND_COUNT; c++) {
        const char *name = ftp_command_name((enum ftp_command)c);
        uint32_t end = 0;

        CHECK_INT(ftp_command_find((struct slice){ (const uint8_t *)name, (uint32_t)strlen(name) },
                                   &end), c);
        CHECK_INT(end, strlen(name));
    }
}

/* --- data connections ----------------------------------------------------------------------- */

#define SEND(replay, d, text) replay_data(replay, d, text, sizeof(text) - 1)

static char *replay_transfer(struct app_fixture *fixture, const char *command, const char *content,
                           bool by_server)
{
    struct replay control, data;
    enum direction d = by_server ? TO_CLIENT : TO_SERVER;
    char *text;

    replay_begin(&control, fixture, false, 21);
    SEND(&control, TO_CLIENT, "220 ready\r\n");
    SEND(&control, TO_SERVER, "USER a\r\n");
    SEND(&control, TO_CLIENT, "230 in\r\n");
    SEND(&control, TO_SERVER, "PASV\r\n");
    SEND(&control, TO_CLIENT, "227 Go (10,0,0,2,4,7)\r\n");
    replay_data(&control, TO_SERVER, command, (uint32_t)strlen(command));
    replay_begin(&data, fixture, false, 1031);
    replay_data(&data, d, content, 3);
    replay_data(&data, d, content + 3, (uint32_t)strlen(content) - 3);
    replay_end(&data);
    text = replay_text(&data);
    replay_free(&data);
    replay_end(&control);
    replay_free(&control);
    return text;
}

static void check_transfer(struct test *t, const char *command, bool by_server,
                           const char *expected)
{
    struct app_fixture fixture;
    char *text;

    if (app_fixture_open(&fixture, NULL, NULL) < 0) {
        CHECK(false);
        return;
    }
    app_require_files(fixture.conf, APP_FILE_TRACK);
    text = replay_transfer(&fixture, command, "some content", by_server);
    CHECK_STRING(text, expected);
    free(text);
    app_fixture_close(&fixture);
}

TEST(ftp_data_files)
{
    check_transfer(t, "RETR dir/a.txt\r\n", true,
                   "tx 0 ftp_data {\"ftp_data\":{\"filename\":\"dir/a.txt\","
                   "\"command\":\"RETR\"}}\ntx 0 file dir/a.txt closed 12 -\n"
                   "flow ftp-data ftp-data ftp-data\n");
    check_transfer(t, "STOR b\r\n", false,
                   "tx 0 ftp_data {\"ftp_data\":{\"filename\":\"b\",\"command\":\"STOR\"}}\n"
                   "tx 0 file b closed 12 -\nflow ftp-data ftp-data ftp-data\n");
    check_transfer(t, "STOU\r\n", false,
                   "tx 0 ftp_data {\"ftp_data\":{\"filename\":\"<stou>\","
                   "\"command\":\"STOU\"}}\ntx 0 file <stou> closed 12 -\n"
                   "flow ftp-data ftp-data ftp-data\n");
    check_transfer(t, "LIST\r\n", true,
                   "tx 0 ftp_data {\"ftp_data\":{\"command\":\"LIST\"}}\n"
                   "flow ftp-data ftp-data ftp-data\n");
}

/* --- replies over several lines ------------------------------------------------------------- */

static void check_replies(struct test *t, const char *const *parts, const char *expected)
{
    struct app_fixture fixture;
    struct replay control;
    char *text;

    if (app_fixture_open(&fixture, NULL, NULL) < 0) {
        CHECK(false);
        return;
    }
    replay_begin(&control, &fixture, false, 21);
    SEND(&control, TO_CLIENT, "220 ready\r\n");
    SEND(&control, TO_SERVER, "USER a\r\n");
    for (; *parts != NULL; parts++)
        replay_data(&control, TO_CLIENT, *parts, (uint32_t)strlen(*parts));
    replay_end(&control);
    text = replay_text(&control);
    CHECK_STRING(text, expected);
    free(text);
    replay_free(&control);
    app_fixture_close(&fixture);
}

/* Any line but a preliminary reply ends the command. What comes with it in a segment is still its
 * reply, what comes later is one without a command. */
TEST(ftp_reply_of_segments)
{
#define COMMAND "tx 1 ftp {\"ftp\":{\"command\":\"USER\",\"command_data\":\"a\","                       \
    "\"command_truncated\":false,"
#define END "\"reply_received\":\"yes\",\"reply_truncated\":false}}\n"
    check_replies(t, (const char *const[]){ "215-one\r\n two\r\n215 end\r\n", NULL },
                  GREETING_RECORD COMMAND "\"completion_code\":[\"215\"],"
                  "\"reply\":[\"215-one\",\" two\",\"end\"]," END FLOW);
    check_replies(t, (const char *const[]){ "215-one\r\n two\r\n", " three\r\n215 end\r\n", NULL },
                  GREETING_RECORD COMMAND "\"reply\":[\"215-one\",\" two\"]," END
                  "tx 2 ftp {\"ftp\":{\"completion_code\":[\"215\"],"
                  "\"reply\":[\" three\",\"end\"]," END FLOW);
    check_replies(t, (const char *const[]){ "no code\r\n", NULL },
                  GREETING_RECORD COMMAND "\"reply\":[\"no code\"]," END FLOW);
}

/* The reply to a PORT that names no port is not kept. */
TEST(ftp_reply_to_wrong_port)
{
    EXPECT(GREETING_RECORD
           "tx 1 ftp {\"ftp\":{\"command\":\"PORT\",\"command_data\":\"none\","
           "\"command_truncated\":false,\"mode\":\"passive\"," END FLOW,
           GREETING, SPLIT_TS("PORT none\r\n"), SPLIT_TC("200 ok\r\n"));
}

/* Memory that transactions may have is bounded, and given back. */
TEST(ftp_memcap)
{
    static const char yaml[] = "%YAML 1.1\n---\napp-layer:\n  protocols:\n    ftp:\n"
                               "      memcap: 1 KiB\n";
    struct app_fixture fixture;
    struct replay replay;
    const struct ftp_settings *settings;

    if (app_fixture_open(&fixture, yaml, NULL) < 0) {
        CHECK(false);
        return;
    }
    settings = app_proto_settings(fixture.conf, APP_PROTO_ftp);
    replay_begin(&replay, &fixture, false, 21);
    SEND(&replay, TO_CLIENT, "220 ready\r\n");
    for (unsigned i = 0; i < 20; i++) {
        SEND(&replay, TO_SERVER, "USER somebody with a long name indeed\r\n");
        CHECK(settings->memory->used <= 1024);
    }
    replay_end(&replay);
    CHECK(fixture.counters->value[counter_register("ftp.memcap", COUNTER_SUM)] > 0);
    CHECK_INT(settings->memory->used, 0);
    replay_free(&replay);
    app_fixture_close(&fixture);
}
