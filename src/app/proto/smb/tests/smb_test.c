/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/tests/smb_test.c - files, calls and logons in every cut; gaps; limits. */
#include "app/proto/smb/tests/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASE(list) { .port = 445, .steps = list, .count = ARRAY_LEN(list) }

static void check_has(struct test *t, const struct split_case *c, const char *const *expected)
{
    char *text = split_replay(c, SPLIT_NONE, 0);

    for (; *expected != NULL; expected++) {
        CHECK(strstr(text, *expected) != NULL);
        if (t->failures > 0) {
            printf("# no %s in\n%s", *expected, text);
            break;
        }
    }
    free(text);
}

TEST(smb2_file)
{
    static const char *const expected[] = {
        "\"client_dialects\":[\"2.02\",\"3.00\"]", "\"dialect\":\"3.00\"",
        "\"ntlmssp\":{\"domain\":\"DOM\",\"user\":\"ann\",\"host\":\"pc\","
        "\"version\":\"10.0 build 19041 rev 15\"}",
        "\"share\":\"\\\\\\\\srv\\\\docs\",\"share_type\":\"FILE\"",
        "\"filename\":\"a.txt\",\"disposition\":\"FILE_CREATE\"", "\"created\":1555526400",
        "file a.txt closed 700", NULL,
    };
    struct split_case c = CASE(smb2_write);

    check_has(t, &c, expected);
    split_check(t, &c);
}

TEST(smb1_file)
{
    static const char *const expected[] = {
        "\"client_dialects\":[\"NT LM 0.12\"]", "\"share\":\"\\\\srv\\\\docs\"",
        "\"service\":{\"request\":\"A:\",\"response\":\"A:\"}", "\"fuid\":\"4001\"",
        "file b.txt closed 8", NULL,
    };
    struct split_case c = CASE(smb1_write);

    check_has(t, &c, expected);
    split_check(t, &c);
}

TEST(smb2_pipe)
{
    static const char *const expected[] = {
        "\"named_pipe\":\"\\\\\\\\srv\\\\IPC$\"",
        "\"dcerpc\":{\"request\":\"BIND\",\"response\":\"BINDACK\",\"interfaces\":[{\"uuid\":"
        "\"01234567-89ab-cdef-0102-030405060708\",\"version\":\"3.1\",\"ack_result\":0,"
        "\"ack_reason\":0}],\"call_id\":1}",
        "\"request\":\"REQUEST\",\"response\":\"RESPONSE\",\"opnum\":5,\"req\":{\"frag_cnt\":1,"
        "\"stub_data_size\":4}", "\"res\":{\"frag_cnt\":1,\"stub_data_size\":2},\"call_id\":2",
        NULL,
    };
    struct split_case c = CASE(smb2_call);

    check_has(t, &c, expected);
    split_check(t, &c);
}

TEST(smb_frames)
{
    static const char *const expected[] = {
        "frame ts nbss.hdr 0 4\n", "frame ts smb2.hdr 4 64\n", "frame tc smb2.pdu 4", NULL,
    };
    struct split_case c = CASE(smb2_call);

    c.frames = true;
    check_has(t, &c, expected);
}

/* What is lost within a write is lost to the file alone. */
TEST(smb2_gap_in_file)
{
    static const char *const expected[] = { "file a.txt truncated 700", "SMB2_COMMAND_CLOSE", NULL };
    struct split_step steps[ARRAY_LEN(smb2_write) + 2];
    struct split_case c = CASE(steps);
    const unsigned at = 8;              /* the write */

    memcpy(steps, smb2_write, at * sizeof(steps[0]));
    memcpy(steps + at + 3, smb2_write + at + 1,
           (ARRAY_LEN(smb2_write) - at - 1) * sizeof(steps[0]));
    steps[at] = steps[at + 2] = smb2_write[at];
    steps[at].len = 600;
    steps[at + 1] = (struct split_step){ TO_SERVER, NULL, 50 };
    steps[at + 2].data = (const uint8_t *)smb2_write[at].data + 650;
    steps[at + 2].len -= 650;
    check_has(t, &c, expected);
}

TEST(smb_malformed)
{
    static const struct split_step steps[] = {
        SPLIT_TS("\x00\x00\x00\x24\xffSMB\x2b" "\0\0\0\0\0\0\x40\0\0" "\0\0\0\0\0\0\0\0" "\0\0"
                 "\0\0\0\0\0\0\1\0" "\0\0\0\0"),
        SPLIT_TS("\x00\x00\x00\x06\xffSMB\x2b\x00"),
    };
    struct split_case c = CASE(steps);
    static const char *const expected[] = { "SMB1_COMMAND_ECHO", "event malformed_data", NULL };

    check_has(t, &c, expected);
    split_check(t, &c);
}

#define ECHO "\x00\x00\x00\x24\xffSMB\x2b" "\0\0\0\0\0\0\x40\0\0" "\0\0\0\0\0\0\0\0" "\0\0" \
             "\0\0\0\0\0\0\1\0" "\0\0\0\0"

/* A server's request is an anomaly to who looks at frames. */
TEST(smb_request_from_server)
{
    static const struct split_step steps[] = { SPLIT_TS(ECHO), SPLIT_TC(ECHO) };
    static const char *const expected[] = { "event request_to_client", NULL };
    struct split_case c = CASE(steps);
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "SMB1_COMMAND_ECHO") != NULL);
    CHECK(strstr(text, "event") == NULL);
    free(text);
    c.frames = true;
    check_has(t, &c, expected);
}

#define OPEN 40                         /* requests: more than are found by a walk */
#define QUERY_DIRECTORY 14

/* A record of SMB2, with as much of a body as makes a transaction. Returns its length. */
static uint32_t put_record(char *to, bool response, unsigned message)
{
    char record[4 + 64 + 9] = "\0\0\0\0\xfeSMB\x40";

    record[3] = sizeof(record) - 4;
    record[4 + 8] = response ? (char)message : 0;       /* the status */
    record[4 + 12] = QUERY_DIRECTORY;
    record[4 + 16] = response;
    record[4 + 24] = (char)message;
    memcpy(to, record, sizeof(record));
    return sizeof(record);
}

/* The newest request gets its response first. Each record shows that of its own message, and a
 * response without a request changes nothing. */
TEST(smb2_responses_find_their_requests_in_any_order)
{
    static char requests[OPEN * 77], responses[(OPEN + 1) * 77];
    struct split_step steps[2] = { { TO_SERVER, requests, 0 },
                                   { TO_CLIENT, responses, 0 } };
    struct split_case c = CASE(steps);
    char *text, number[32], code[32];

    for (unsigned i = 1; i <= OPEN; i++)
        steps[0].len += put_record(requests + steps[0].len, false, i);
    for (unsigned i = OPEN + 1; i >= 1; i--)
        steps[1].len += put_record(responses + steps[1].len, true, i);
    text = split_replay(&c, SPLIT_NONE, 0);
    for (unsigned i = 1; i <= OPEN; i++) {
        char *record, *status;

        snprintf(number, sizeof(number), "{\"id\":%u,", i);
        snprintf(code, sizeof(code), "\"status_code\":\"0x%x\"", i);
        record = strstr(text, number);
        status = record != NULL ? strstr(record, code) : NULL;
        CHECK(status != NULL && memchr(record, '\n', (size_t)(status - record)) == NULL);
    }
    CHECK(strstr(text, "{\"id\":41,") == NULL);
    free(text);
}

TEST(smb_too_many)
{
    static const char *const expected[] = { "event too_many_transactions", NULL };
    struct split_case c = CASE(smb2_write);
    struct split_step steps[2] = { smb2_write[0], smb2_write[2] };

    c.yaml = "app-layer:\n  protocols:\n    smb:\n      max-tx: 1\n";
    c.steps = steps;
    c.count = 2;
    check_has(t, &c, expected);
}
