/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/modbus/tests/modbus_test.c - requests and responses in every cut; errors; the keyword. */
#include "app/proto/modbus/modbus.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define ON "app-layer: {protocols: {modbus: {enabled: yes}}}"
#define CASE(list)                                                                             \
    { .yaml = ON, .port = 502, .steps = list, .count = sizeof(list) / sizeof(list[0]) }
#define READ_COILS "\0\1\0\0\0\6\x0a\1\0\0\0\x0a"
#define COILS      "\0\1\0\0\0\5\x0a\1\2\xff\3"
#define WRITE_REGS "\0\2\0\0\0\x0b\x0a\x10\0\x10\0\2\4\1\2\3\4"
#define REGS       "\0\2\0\0\0\6\x0a\x10\0\x10\0\2"

static void check_has(struct test *t, const struct split_case *c, const char *const *expected)
{
    char *text = split_replay(c, SPLIT_NONE, 0);

    for (; *expected != NULL; expected++)
        CHECK(strstr(text, *expected) != NULL);
    free(text);
    split_check(t, c);
}

TEST(modbus_reads_and_writes)
{
    static const struct split_step steps[] = {
        SPLIT_TS(READ_COILS WRITE_REGS), SPLIT_TC(REGS COILS),
        SPLIT_TS("\0\3\0\0\0\6\1\x08\0\x0a\0\0"), SPLIT_TC("\0\3\0\0\0\3\1\x88\x01"),
    };
    static const char *const expected[] = {
        "\"id\":1,\"request\":{\"transaction_id\":1,\"protocol_id\":0,\"unit_id\":10,"
        "\"function_raw\":1,\"function_code\":\"RdCoils\",\"access_type\":\"READ | COILS\","
        "\"category\":\"PUBLIC_ASSIGNED\",\"error_flags\":\"NONE\",\"read\":{\"address\":0,"
        "\"quantity\":10}}",
        "\"access_type\":\"WRITE | HOLDING | MULTIPLE | WRITE_MULTIPLE\"",
        "\"write\":{\"address\":16,\"quantity\":2,\"data\":\"\\u0001\\u0002\\u0003\\u0004\"}",
        "\"diagnostic\":{\"raw\":10,\"code\":\"ClearCtrDiagReg\"",
        "\"function_raw\":136,\"function_code\":\"Diagnostic\"",
        "\"exception\":{\"raw\":1,\"code\":\"IllegalFunction\"}", "flow modbus modbus modbus\n",
        NULL,
    };
    struct split_case c = CASE(steps);

    check_has(t, &c, expected);
}

static void check_event(struct test *t, const void *request, uint32_t n, const void *response,
                        uint32_t m, const char *event)
{
    const struct split_step steps[] = {
        SPLIT_TS(READ_COILS), SPLIT_TC(COILS), { TO_SERVER, request, n },
        { TO_CLIENT, response, m },
    };
    struct split_case c = CASE(steps);
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, event) != NULL);
    free(text);
    split_check(t, &c);
}
#define CHECK_EVENT(q, r, event)                                                               \
    check_event(t, (q), sizeof(q) - 1, (r), sizeof(r) - 1, "event " event "\n")

TEST(modbus_events)
{
    CHECK_EVENT("\0\2\0\1\0\6\x0a\1\0\0\0\x0a", "", "invalid_protocol_id");
    CHECK_EVENT("\0\2\0\0\0\1\x0a" READ_COILS, "", "invalid_length");
    CHECK_EVENT("\0\2\0\0\0\4\x0a\1\0\0", "", "invalid_length");
    CHECK_EVENT("\0\2\0\0\0\6\x0a\1\0\0\0\0", "", "invalid_value");
    CHECK_EVENT("\0\2\0\0\0\2\x0a\xe3", "", "invalid_function_code");
    CHECK_EVENT(READ_COILS, "\0\1\0\0\0\3\x0a\x81\x77", "invalid_exception_code");
    CHECK_EVENT(READ_COILS, "\0\1\0\0\0\4\x0a\1\1\0", "value_mismatch");
    CHECK_EVENT("", COILS, "unsolicited_response");
}

TEST(modbus_flood)
{
    static const char requests[] = READ_COILS READ_COILS READ_COILS READ_COILS;
    static const struct split_step steps[] = { SPLIT_TS(requests) };
    struct split_case c = CASE(steps);
    char *text;

    c.yaml = "app-layer: {protocols: {modbus: {enabled: yes, request-flood: 2}}}";
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "tx 2 event flooded") != NULL);
    CHECK(strstr(text, "tx 3") == NULL);
    free(text);
}

/* --- the keyword ---------------------------------------------------------------------------- */

static bool parses(const char *text)
{
    uint8_t arg[256] = { 0 };
    struct err err;

    return modbus_keyword.arg_size <= sizeof(arg) &&
           modbus_keyword.parse(text_of(text), arg, NULL, &err) == 0;
}

static bool matches(const char *text, const char *request, size_t n)
{
    struct modbus_message m = { .length = (uint16_t)n };
    struct modbus_tx t = { .message = { [TO_SERVER] = &m } };
    uint8_t arg[256] = { 0 };
    struct err err;

    modbus_parse_body(&m, bytes_of(request, n), MODBUS_CLIENT);
    return modbus_keyword.parse(text_of(text), arg, NULL, &err) == 0 &&
           modbus_keyword.match(&t.tx, TO_SERVER, arg);
}
#define MATCHES(text, request) matches((text), (request), sizeof(request) - 1)

TEST(modbus_keyword_text)
{
    CHECK(parses("function 1") && parses("function 8, subfunction 4") && parses("unit >9"));
    CHECK(parses("function !reserved") && parses("unit 1<>9, function 16"));
    CHECK(parses("access read discretes, address 1000"));
    CHECK(parses(" access write holding,address 100, value 500<>1000 "));
    CHECK(!parses("") && !parses("function 0") && !parses("function none"));
    CHECK(!parses("access write discretes") && !parses("access write input"));
    CHECK(!parses("access read, address 5, value 1"));
    CHECK(!parses("access write, address <5, value 1") && !parses("unit 70000"));
    CHECK(!parses("unit 5 function 1") && !parses("function 1 and more"));
}

TEST(modbus_keyword_match)
{
    const char regs[] = "\x0a\x10\0\x10\0\2\4\1\2\3\4", coil[] = "\x0a\5\0\x10\xff\0";

    CHECK(MATCHES("unit 10", regs) && MATCHES("unit 9<>11, function 16", regs));
    CHECK(!MATCHES("unit <10", regs) && !MATCHES("function 15", regs));
    CHECK(MATCHES("access write holding, address 17", regs));
    CHECK(MATCHES("access write, address 18, value 772", regs));
    CHECK(!MATCHES("access write, address 18, value 771", regs));
    CHECK(!MATCHES("access write, address 19", regs) && !MATCHES("access read", regs));
    CHECK(MATCHES("access write coils, address 17, value 1", coil));
    CHECK(MATCHES("function assigned", coil) && !MATCHES("function !assigned", coil));
    CHECK(MATCHES("function 8, subfunction 1", "\1\x08\0\1\0\0"));
    CHECK(!MATCHES("function 8, subfunction 2", "\1\x08\0\1\0\0"));
    CHECK(MATCHES("function user", "\1\x41") && MATCHES("function 99", "\1\x41"));
}
