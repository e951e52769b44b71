/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define GREETING SPLIT_TC("+OK hello\r\n")
#define GREETING_RECORD "tx 0 pop3 {\"pop3\":{" RESPONSE("hello", "") "}}\n"
#define RESPONSE(header, lines)                                                                \
    "\"response\":{\"success\":true,\"status\":\"OK\",\"header\":\"" header "\",\"data\":["     \
    lines "]}"
#define REQUEST(command, arguments)                                                            \
    "\"request\":{\"command\":\"" command "\",\"args\":[" arguments "]}"
#define RECORD(id, members) "tx " id " pop3 {\"pop3\":{" members "}}\n"
#define FLOW "flow pop3 pop3 pop3\n"

static void check(struct test *t, const struct split_step *steps, unsigned count,
                  const char *expected)
{
    struct split_case c = { .port = 110, .steps = steps, .count = count };

    split_expect(t, &c, expected);
}
#define EXPECT(expected, ...)                                                                    \
    do {                                                                                       \
        static const struct split_step steps[] = { __VA_ARGS__ };                              \
        check(t, steps, ARRAY_LEN(steps), expected);                                             \
    } while (0)

TEST(pop3_session)
{
    EXPECT(GREETING_RECORD
           RECORD("1", REQUEST("USER", "\"me\"") "," RESPONSE("go on", ""))
           RECORD("2", REQUEST("LIST", "") "," RESPONSE("2", "\"1 120\",\"2 .30\",\".\""))
           RECORD("3", REQUEST("LIST", "\"1\"") "," RESPONSE("1 120", ""))
           RECORD("4", REQUEST("QUIT", "") ",\"response\":{\"success\":false,\"status\":"
                                           "\"ERR\",\"header\":\"\",\"data\":[]}") FLOW,
           GREETING, SPLIT_TS("USER me\r\n"), SPLIT_TC("+OK go on\r\n"), SPLIT_TS("LIST\r\n"),
           SPLIT_TC("+OK 2\r\n1 120\r\n2 .30\r\n..\r\n.\r\n"), SPLIT_TS("LIST 1\r\n"),
           SPLIT_TC("+OK 1 120\r\n"), SPLIT_TS("QUIT\r\n"), SPLIT_TC("-ERR\r\n"));
}

/* What a mail says is no reply. */
TEST(pop3_mail)
{
    EXPECT(GREETING_RECORD RECORD("1", REQUEST("RETR", "\"1\""))
           RECORD("2", REQUEST("NOOP", "") "," RESPONSE("", "")) FLOW,
           GREETING, SPLIT_TS("RETR 1\r\nNOOP\r\n"),
           SPLIT_TC("+OK 40 octets\r\nSubject: x\r\n\r\n-ERR no\r\n..\r\n.\r\n+OK\r\n"));
}

TEST(pop3_sasl)
{
    EXPECT(GREETING_RECORD
           RECORD("1", REQUEST("AUTH", "\"PLAIN\"") "," RESPONSE("", ""))
           RECORD("2", REQUEST("<SASL DATA>", "") "," RESPONSE("in", ""))
           RECORD("3", REQUEST("CAPA", "") "," RESPONSE("list", "\"TOP\"")) FLOW,
           GREETING, SPLIT_TS("AUTH PLAIN\r\n"), SPLIT_TC("+ \r\n"), SPLIT_TS("AGEAYg==\r\n"),
           SPLIT_TC("+OK in\r\n"), SPLIT_TS("CAPA\r\n"), SPLIT_TC("+OK list\r\nTOP\r\n.\r\n"));
}

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

TEST(pop3_events)
{
    EXPECT(GREETING_RECORD
           RECORD("1", REQUEST("FOO", ""))
           "tx 1 event unknown_command\n"
           RECORD("2", REQUEST("DELE", ""))
           "tx 2 event incorrect_argument_count\n"
           RECORD("3", REQUEST("USER", "\"" HUNDRED HUNDRED HUNDRED "\""))
           "tx 3 event request_too_long\n" FLOW,
           GREETING, SPLIT_TS("FOO\r\nDELE\r\nUSER " HUNDRED HUNDRED HUNDRED "\r\n"));
    EXPECT(GREETING_RECORD
           RECORD("1", REQUEST("list", "") "," RESPONSE("", "\"1 120\""))
           "tx 1 event unknown_command\n"
           RECORD("2", REQUEST("NOOP", "") "," RESPONSE("done", "")) FLOW,
           GREETING, SPLIT_TS("list\r\n"), SPLIT_TC("+OK\r\n1 120\r\n.\r\n"),
           SPLIT_TS("NOOP\r\n"), SPLIT_TC("+OK done\r\n"));
    EXPECT(RECORD("0", RESPONSE(HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED, ""))
           "tx 0 event response_too_long\n" RECORD("1", REQUEST("NOOP", "")) FLOW,
           SPLIT_TC("+OK " HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED "\r\n"),
           SPLIT_TS("NOOP\r\n"));
}

TEST(pop3_gap)
{
    EXPECT(GREETING_RECORD
           RECORD("1", REQUEST("UIDL", "") "," RESPONSE("", "\"1 a\""))
           RECORD("2", REQUEST("STAT", "") "," RESPONSE("2 150", "")) FLOW,
           GREETING, SPLIT_TS("UIDL\r\n"), SPLIT_TC("+OK\r\n1 a\r\n"), SPLIT_GAP(TO_CLIENT, 30),
           SPLIT_TC("9 i\r\n.\r\n"), SPLIT_TS("STAT\r\n"), SPLIT_TC("+OK 2 150\r\n"));
}
