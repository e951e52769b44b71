/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smtp/tests/smtp_test.c - conversations, in every cut. */
#include "app/tests/split.h"

#include "app/conf.h"

#include <stdlib.h>
#include <string.h>

#define HELLO                                                                                  \
    SPLIT_TC("220 mx.example.org ESMTP\r\n"), SPLIT_TS("EHLO me.example.org\r\n"),             \
    SPLIT_TC("250-mx.example.org\r\n250 HELP\r\n")
#define ENVELOPE                                                                               \
    SPLIT_TS("MAIL FROM:<a@example.org> SIZE=3\r\n"), SPLIT_TC("250 ok\r\n"),                  \
    SPLIT_TS("RCPT TO:<b@example.org>\r\n"), SPLIT_TC("250 ok\r\n")
#define MAIL(text)                                                                             \
    SPLIT_TS("DATA\r\n"), SPLIT_TC("354 go ahead\r\n"), SPLIT_TS(text ".\r\n"),                \
    SPLIT_TC("250 done\r\n")

#define ENVELOPE_RECORD                                                                        \
    "\"smtp\":{\"helo\":\"me.example.org\",\"mail_from\":\"<a@example.org>\","                 \
    "\"rcpt_to\":[\"<b@example.org>\"]}"
#define EMAIL_RECORD(members) "tx 0 smtp {" ENVELOPE_RECORD ",\"email\":{" members "}}\n"
#define FLOW "flow smtp smtp smtp\n"

static void check_yaml(struct test *t, const char *yaml, const struct split_step *steps,
                       unsigned count, const char *expected)
{
    struct split_case c = { .yaml = yaml, .port = 25, .steps = steps, .count = count,
                            .file_features = APP_FILE_SHA256 };

    split_expect(t, &c, expected);
}
#define EXPECT_YAML(yaml, expected, ...)                                                          \
    do {                                                                                       \
        static const struct split_step steps[] = { __VA_ARGS__ };                              \
        check_yaml(t, yaml, steps, ARRAY_LEN(steps), expected);                                  \
    } while (0)
#define EXPECT(expected, ...) EXPECT_YAML(NULL, expected, __VA_ARGS__)

/* --- the mail ------------------------------------------------------------------------------- */

TEST(smtp_mail)
{
    EXPECT(EMAIL_RECORD("\"from\":\"me\",\"to\":[\"you\",\"\\\"him, there\\\" <x@y>\"],"
                       "\"status\":\"PARSE_DONE\",\"url\":[\"y.org/\",\"x.org/a\"]")
          "tx 1 smtp {\"smtp\":{\"helo\":\"me.example.org\"}}\n" FLOW,
          HELLO, ENVELOPE,
          MAIL("From: me\r\nTo: you,\r\n \"him, there\" <x@y>\r\nSubject: s\r\n\r\n"
               "see http://x.org/a and\r\nHTTP://y.org/ too\r\n"),
          SPLIT_TS("QUIT\r\n"), SPLIT_TC("221 bye\r\n"));
}

#define BODY_MD5 "462281ccbcb43b1640e16ddb2efe82c6"

/* The sum is of the whole body, in any segmentation. Without the setting, and
 * without a rule that asks, there is none. */
TEST(smtp_body_md5)
{
    static const struct split_step steps[] = { HELLO, ENVELOPE,
                                               MAIL("Subject: s\r\n\r\nfirst\r\nsecond\r\n") };
    struct split_case c = { .port = 25, .steps = steps, .count = ARRAY_LEN(steps),
                            .show = "email.body_md5" };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "buffer") == NULL);
    free(text);
    c.yaml = "app-layer: { protocols: { smtp: { mime: { body-md5: yes } } } }\n";
    for (unsigned seed = 0; seed < 20; seed++) {
        text = split_replay(&c, seed == 0 ? SPLIT_NONE : seed == 1 ? SPLIT_BYTES : SPLIT_RANDOM,
                            seed);
        if (strstr(text, "tx 0 buffer ts email.body_md5 0 " BODY_MD5 "\n") == NULL)
            test_fail(t, __FILE__, __LINE__, "%s", text);
        free(text);
    }
}

#define MULTIPART                                                                              \
    "Content-Type: multipart/mixed; boundary=\"=b\"\r\n\r\n--=b\r\n"                           \
    "Content-Type: text/plain\r\n\r\nhttp://x.org/ is the place\r\n--=b\r\n"                   \
    "Content-Type: application/x; name=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n"     \
    "SGVs\r\nbG8sI Hdvcm\r\nxkIQ==\r\n--=b\r\n"                                                \
    "Content-Disposition: attachment; filename=\"q.txt\"\r\n"                                  \
    "Content-Transfer-Encoding: quoted-printable\r\n\r\n"                                      \
    "caf=C3=A9 goes=\r\n on\r\n\r\n--=b\r\n"                                                   \
    "Content-Disposition: attachment; filename*0=\"pla\"; filename*1=in\r\n\r\n"               \
    "one\r\ntwo\r\n--=b--\r\n"

TEST(smtp_attachments)
{
    EXPECT(EMAIL_RECORD("\"status\":\"PARSE_DONE\","
                       "\"attachment\":[\"a.bin\",\"q.txt\",\"plain\"],\"url\":[\"x.org/\"]")
          "tx 0 file a.bin closed 13 "
          "315f5bdb76d078c43b8ac0064e4a0164612b1fce77c869345bfc94c75894edd3\n"
          "tx 0 file plain closed 8 "
          "29a776bb35efe730dabb1b1d3ad74dbf80cc3e9009e168241798ea73adca3dcf\n"
          "tx 0 file q.txt closed 15 "
          "d6a775b044c2e26f59ffd034cea35f2d2a117c48526cb16a6666258fffe9e6a7\n" FLOW,
          HELLO, ENVELOPE, MAIL(MULTIPART));
}

TEST(smtp_undecoded_attachments)
{
    EXPECT_YAML("%YAML 1.1\n---\napp-layer:\n  protocols:\n    smtp:\n      mime:\n"
               "        decode-base64: no\n        decode-quoted-printable: no\n"
               "        extract-urls: no\n",
               EMAIL_RECORD("\"status\":\"PARSE_DONE\","
                            "\"attachment\":[\"a.bin\",\"q.txt\",\"plain\"]")
               "tx 0 file a.bin closed 0 "
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"
               "tx 0 file plain closed 8 "
               "29a776bb35efe730dabb1b1d3ad74dbf80cc3e9009e168241798ea73adca3dcf\n"
               "tx 0 file q.txt closed 0 "
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n" FLOW,
               HELLO, ENVELOPE, MAIL(MULTIPART));
}

TEST(smtp_raw_extraction)
{
    EXPECT_YAML("%YAML 1.1\n---\napp-layer:\n  protocols:\n    smtp:\n"
               "      raw-extraction: yes\n      mime:\n        decode-mime: no\n",
               "tx 0 smtp {" ENVELOPE_RECORD "}\n"
               "tx 0 file rawmsg closed 20 "
               "bd4d675c1f4d4faf016c4e72fe2e89bcfb87e8d331e20bca936f8545e2ba1488\n" FLOW,
               HELLO, ENVELOPE, MAIL("Subject: s\r\n\r\nbody\r\n"));
}

/* A message within the message: what it says of itself is not the mail's. */
TEST(smtp_nested_message)
{
    EXPECT(EMAIL_RECORD("\"from\":\"outer\",\"status\":\"PARSE_DONE\","
                       "\"attachment\":[\"in.txt\"]")
          "tx 0 file in.txt closed 4 "
          "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1\n" FLOW,
          HELLO, ENVELOPE,
          MAIL("From: outer\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
               "Content-Type: message/rfc822\r\n\r\nFrom: inner\r\n"
               "Content-Type: text/plain; name=in.txt\r\n\r\ntext\r\n--b--\r\n"));
}

TEST(smtp_mail_truncated)
{
    EXPECT(EMAIL_RECORD("\"status\":\"PARSE_DONE\",\"attachment\":[\"x\"]")
          "tx 0 file x truncated 3 -\n" FLOW,
          HELLO, ENVELOPE, SPLIT_TS("DATA\r\n"), SPLIT_TC("354 go ahead\r\n"),
          SPLIT_TS("Content-Type: a/b; name=x\r\n\r\nabc"));
}

/* --- anomalies ------------------------------------------------------------------------------ */

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

TEST(smtp_mime_events)
{
    EXPECT(EMAIL_RECORD("\"status\":\"PARSE_DONE\",\"attachment\":[\"x\"]")
          "tx 0 event MIME_INVALID_BASE64\ntx 0 event MIME_LONG_BOUNDARY\n"
          "tx 0 event MIME_LONG_ENC_LINE\ntx 0 event MIME_LONG_HEADER_NAME\n"
          "tx 0 event MIME_LONG_HEADER_VALUE\ntx 0 event MIME_LONG_LINE\n"
          "tx 0 file x closed 0 "
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n" FLOW,
          HELLO, ENVELOPE,
          MAIL(HUNDRED ": v\r\nLong: " THOUSAND THOUSAND TEN "\r\n"
               "Content-Type: a/b; name=x; boundary=" HUNDRED HUNDRED HUNDRED "\r\n"
               "Content-Transfer-Encoding: base64\r\n\r\n=" HUNDRED "===\r\n"));
    EXPECT(EMAIL_RECORD("\"status\":\"PARSE_DONE\",\"attachment\":[\"x\"]")
          "tx 0 event MIME_INVALID_QP\n"
          "tx 0 file x closed 7 "
          "f45a99eb79698536da9194b652d9d665539fe442bdd03895b083dfe11074e9ac\n" FLOW,
          HELLO, ENVELOPE,
          MAIL("Content-Type: a/b; name=x\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n\r\na=zzb=4\r\n=\r\n=20\r\n"));
}

/* A line in pieces: nothing of it is lost, however long. */
TEST(smtp_long_line_in_body)
{
    EXPECT(EMAIL_RECORD("\"status\":\"PARSE_DONE\",\"attachment\":[\"x\"]")
          "tx 0 event MIME_LONG_LINE\n"
          "tx 0 file x closed 9000 "
          "89e45f5c8d22718d06cf985f0fa7b3ba9d1b436e7eda89fde2d85951faa4b4e9\n" FLOW,
          HELLO, ENVELOPE,
          MAIL("Content-Type: a/b; name=x\r\n\r\n" THOUSAND THOUSAND THOUSAND THOUSAND THOUSAND
               THOUSAND THOUSAND THOUSAND THOUSAND "\r\n"));
}

/* --- commands and replies ------------------------------------------------------------------- */

TEST(smtp_pipelining)
{
    EXPECT(EMAIL_RECORD("\"status\":\"PARSE_DONE\"")
          "tx 0 event INVALID_PIPELINED_SEQUENCE\n"
          "tx 1 smtp {\"smtp\":{\"helo\":\"me.example.org\",\"mail_from\":\"<c@example.org>\"}}\n"
          FLOW,
          SPLIT_TC("220 mx.example.org ESMTP\r\n"), SPLIT_TS("EHLO me.example.org\r\n"),
          SPLIT_TC("250-mx.example.org\r\n250-PIPELINING\r\n250 HELP\r\n"),
          SPLIT_TS("MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.org>\r\nDATA\r\n"
                   "Subject: s\r\n\r\nbody\r\n.\r\nMAIL FROM:<c@example.org>\r\n"),
          SPLIT_TC("250 ok\r\n250 ok\r\n354 go ahead\r\n250 done\r\n250 ok\r\n"));
}

TEST(smtp_two_mails)
{
    EXPECT("tx 0 smtp {" ENVELOPE_RECORD ",\"email\":{\"status\":\"PARSE_DONE\"}}\n"
          "tx 1 smtp {" ENVELOPE_RECORD ",\"email\":{\"status\":\"PARSE_DONE\"}}\n"
          "tx 1 event DUPLICATE_FIELDS\n" FLOW,
          HELLO, ENVELOPE, MAIL("A: b\r\n\r\n"), ENVELOPE, SPLIT_TS("EHLO again\r\n"),
          SPLIT_TC("250 HELP\r\n"), MAIL("A: b\r\n\r\n"));
}

/* It counts as said, in this transaction and the next. */
TEST(smtp_helo_without_name)
{
    EXPECT("tx 0 smtp {\"smtp\":{\"helo\":\"\",\"mail_from\":\"<a@b>\"}}\n"
          "tx 1 smtp {\"smtp\":{\"helo\":\"\",\"mail_from\":\"<c@d>\"}}\n" FLOW,
          SPLIT_TC("220 mx.example.org ready\r\n"), SPLIT_TS("HELO\r\n"), SPLIT_TC("250 ok\r\n"),
          SPLIT_TS("MAIL FROM:<a@b>\r\n"), SPLIT_TC("250 ok\r\n"), SPLIT_TS("RSET\r\n"),
          SPLIT_TC("250 ok\r\n"), SPLIT_TS("MAIL FROM:<c@d>\r\n"), SPLIT_TC("250 ok\r\n"));
}

TEST(smtp_reset)
{
    EXPECT("tx 0 smtp {" ENVELOPE_RECORD "}\n"
          "tx 1 smtp {\"smtp\":{\"helo\":\"me.example.org\",\"mail_from\":\"<a@b>\"}}\n" FLOW,
          HELLO, ENVELOPE, SPLIT_TS("RSET\r\n"), SPLIT_TC("250 ok\r\n"),
          SPLIT_TS("MAIL FROM:<a@b>\r\n"), SPLIT_TC("250 ok\r\n"));
}

#define NO_LINES "app-layer: { protocols: { smtp: { bdat-lines: no } } }"
#define TOO_LONG "tx 0 event BDAT_CHUNK_LEN_EXCEEDED\n"

TEST(smtp_bdat)
{
    EXPECT_YAML(NO_LINES, "tx 0 smtp {" ENVELOPE_RECORD "}\n" FLOW,
          HELLO, ENVELOPE, SPLIT_TS("BDAT 9\r\nRSET\r\n.\r\nBDAT 3 LAST\r\na\r\nQUIT\r\n"),
          SPLIT_TC("250 ok\r\n250 ok\r\n221 bye\r\n"));
    EXPECT("tx 0 smtp {" ENVELOPE_RECORD "}\n" TOO_LONG FLOW,
          HELLO, ENVELOPE, SPLIT_TS("BDAT 3 LAST\r\nabcd\r\nQUIT\r\n"), SPLIT_TC("250 ok\r\n"));
    EXPECT_YAML(NO_LINES, "tx 0 smtp {" ENVELOPE_RECORD "}\n" FLOW,
          HELLO, ENVELOPE, SPLIT_TS("BDAT 3\r\nabcBDAT 3\r\ndefBDAT 0 LAST\r\nQUIT\r\n"),
          SPLIT_TC("250 ok\r\n250 ok\r\n250 ok\r\n221 bye\r\n"));
}

/* Suricata's event, once in a flow: of a second chunk, a command within a line, an empty chunk. */
TEST(smtp_bdat_lines)
{
    EXPECT("tx 0 smtp {" ENVELOPE_RECORD "}\n" FLOW,
          HELLO, ENVELOPE, SPLIT_TS("BDAT 3 LAST\r\na\r\nQUIT\r\n"),
          SPLIT_TC("250 ok\r\n221 bye\r\n"));
    EXPECT("tx 0 smtp {" ENVELOPE_RECORD "}\n" TOO_LONG FLOW,
          HELLO, ENVELOPE, SPLIT_TS("BDAT 3\r\na\r\nBDAT 3 LAST\r\na\r\nQUIT\r\n"),
          SPLIT_TC("250 ok\r\n250 ok\r\n221 bye\r\n"));
    EXPECT("tx 0 smtp {" ENVELOPE_RECORD "}\n" TOO_LONG FLOW,
          HELLO, ENVELOPE, SPLIT_TS("BDAT 3\r\nabcBDAT 3\r\ndefBDAT 0 LAST\r\nQUIT\r\n"),
          SPLIT_TC("250 ok\r\n250 ok\r\n250 ok\r\n221 bye\r\n"));
    EXPECT("tx 0 smtp {" ENVELOPE_RECORD "}\n" TOO_LONG FLOW,
          HELLO, ENVELOPE, SPLIT_TS("BDAT 0 LAST\r\nQUIT\r\n"),
          SPLIT_TC("250 ok\r\n221 bye\r\n"));
}

TEST(smtp_rejected)
{
    EXPECT("tx 0 smtp {" ENVELOPE_RECORD ",\"email\":{\"status\":\"PARSE_DONE\"}}\n"
          "tx 0 event DATA_COMMAND_REJECTED\ntx 0 event TLS_REJECTED\n" FLOW,
          HELLO, ENVELOPE, SPLIT_TS("STARTTLS\r\n"), SPLIT_TC("454 no\r\n"),
          SPLIT_TS("DATA\r\n"), SPLIT_TC("554 no\r\n"));
}

TEST(smtp_starttls)
{
    static const struct split_step steps[] = {
        HELLO, SPLIT_TS("STARTTLS\r\n"), SPLIT_TC("220 go\r\n"),
        SPLIT_TS("\x16\x03\x01\x00\x31\x01\x00\x00\x2d\x03\x03" HUNDRED "\x00\x00\x02\x00\x2f\x01\x00"),
    };
    struct split_case c = { .port = 25, .steps = steps, .count = ARRAY_LEN(steps) };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "smtp {\"smtp\":{\"helo\":\"me.example.org\"}}\n") != NULL);
    CHECK(strstr(text, "flow tls") != NULL);
    free(text);
}

/* Whole: what the server's side is called depends on whether its first bytes end the parser. */
TEST(smtp_replies)
{
    static const struct split_step steps[] = {
        SPLIT_TS("HELO x\r\n"), SPLIT_TC("999 what\r\n"),
    };
    const struct split_case c = { .port = 25, .steps = steps, .count = ARRAY_LEN(steps) };
    char *complete = split_replay(&c, SPLIT_NONE, 0);

    CHECK_STRING(complete,
                 "tx 0 smtp {\"smtp\":{\"helo\":\"x\"}}\ntx 0 event INVALID_REPLY\n"
                 "tx 0 event NO_SERVER_WELCOME_MESSAGE\n"
                 "layer applayer_detect_protocol_only_one_direction\nflow smtp smtp smtp\n");
    free(complete);
}

TEST(smtp_truncated_command)
{
    static const struct split_step steps[] = {
        SPLIT_TC("220 mx.example.org ESMTP\r\n"),
        SPLIT_TS("HELO " THOUSAND THOUSAND THOUSAND THOUSAND THOUSAND "\r\nQUIT\r\n"),
    };
    struct split_case c = { .port = 25, .steps = steps, .count = ARRAY_LEN(steps) };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "event TRUNCATED_LINE\n") != NULL);
    CHECK(strlen(text) < 4400);
    split_check(t, &c);
    free(text);
}

TEST(smtp_frames)
{
    static const struct split_step steps[] = {
        SPLIT_TC("220 mx.example.org\r\n"), SPLIT_TS("HELO x\r\nDATA\r\n"),
        SPLIT_TC("250 ok\r\n354 go\r\n"), SPLIT_TS("A: b\r\n\r\nc\r\n.\r\n"),
    };
    struct split_case c = { .port = 25, .steps = steps, .count = ARRAY_LEN(steps),
                            .frames = true };

    /* Each command line twice: with its end, and without it but with its transaction. */
    split_expect(t, &c,
                 "tx 0 smtp {\"smtp\":{\"helo\":\"x\"},\"email\":{\"status\":\"PARSE_DONE\"}}\n"
                 "frame tc response_line 0 20\nframe tc response_line 20 8\n"
                 "frame tc response_line 28 8\nframe tc stream 0 36\n"
                 "frame ts command_line 0 6\nframe ts command_line 0 8\n"
                 "frame ts command_line 8 4\nframe ts command_line 8 6\n"
                 "frame ts data 14 14\nframe ts stream 0 28\n" FLOW);
}
