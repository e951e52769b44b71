/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dcerpc/tests/dcerpc_test.c - binds and calls in every cut, fragments over UDP, keywords. */
#include "app/proto/dcerpc/pdu.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define CASE(list) { .port = 135, .steps = list, .count = ARRAY_LEN(list) }

#define LITTLE "\x10\x00\x00\x00"
#define UUID "\x67\x45\x23\x01\xab\x89\xef\xcd\x01\x02\x03\x04\x05\x06\x07\x08"
#define SYNTAX "0123456789abcdef" "\x02\x00\x00\x00"

#define BIND                                                                                   \
    "\x05\x00\x0b\x03" LITTLE "\x48\x00\x00\x00\x01\x00\x00\x00"                               \
    "\xd0\x16\xd0\x16\x00\x00\x00\x00\x01\x00\x00\x00"                                         \
    "\x07\x00\x01\x00" UUID "\x03\x00\x01\x00" SYNTAX
#define BIND_ACK                                                                               \
    "\x05\x00\x0c\x03" LITTLE "\x3c\x00\x00\x00\x01\x00\x00\x00"                               \
    "\xd0\x16\xd0\x16\x00\x00\x00\x00\x04\x00" "135\x00" "\x00\x00"                            \
    "\x01\x00\x00\x00" "\x00\x00\x00\x00" SYNTAX
#define REQUEST                                                                                \
    "\x05\x00\x00\x03" LITTLE "\x1c\x00\x00\x00\x02\x00\x00\x00"                               \
    "\x04\x00\x00\x00\x07\x00\x05\x00" "stub"
#define RESPONSE                                                                               \
    "\x05\x00\x02\x03" LITTLE "\x1a\x00\x00\x00\x02\x00\x00\x00"                               \
    "\x02\x00\x00\x00\x07\x00\x00\x00" "ok"

#define IFACE "\"interfaces\":[{\"uuid\":\"01234567-89ab-cdef-0102-030405060708\"," \
              "\"version\":\"3.1\",\"ack_result\":0}]"

static const struct split_step session[] = {
    SPLIT_TS(BIND), SPLIT_TC(BIND_ACK), SPLIT_TS(REQUEST), SPLIT_TC(RESPONSE),
};

TEST(dcerpc_tcp)
{
    struct split_case c = CASE(session);

    split_expect(t, &c,
                 "tx 0 dcerpc {\"dcerpc\":{\"request\":\"BIND\"," IFACE ",\"response\":\"BINDACK\","
                 "\"call_id\":1,\"rpc_version\":\"5.0\"}}\n"
                 "tx 1 dcerpc {\"dcerpc\":{\"request\":\"REQUEST\",\"req\":{\"opnum\":5,"
                 "\"frag_cnt\":1,\"stub_data_size\":4}," IFACE ",\"response\":\"RESPONSE\",\"res\":"
                 "{\"frag_cnt\":1,\"stub_data_size\":10},\"call_id\":2,\"rpc_version\":\"5.0\"}}\n"
                 "flow dcerpc dcerpc dcerpc\n");
}

TEST(dcerpc_frames)
{
    static const struct split_step steps[] = { SPLIT_TS(REQUEST) };
    struct split_case c = CASE(steps);

    c.frames = true;
    split_expect(t, &c,
                 "tx 0 dcerpc {\"dcerpc\":{\"request\":\"REQUEST\",\"req\":{\"opnum\":5,"
                 "\"frag_cnt\":1,\"stub_data_size\":4},\"response\":\"UNREPLIED\",\"call_id\":2,"
                 "\"rpc_version\":\"5.0\"}}\n"
                 "frame ts data 16 12\nframe ts hdr 0 16\nframe ts pdu 0 28\n"
                 "frame ts stream 0 28\nflow dcerpc dcerpc dcerpc\n");
}

TEST(dcerpc_bad_length)
{
    static const struct split_step steps[] = {
        SPLIT_TS("\x05\x00\x00\x03" LITTLE "\x0f\x00\x00\x00\x02\x00\x00\x00" "xxxx"),
        SPLIT_TS(REQUEST),
    };
    struct split_case c = CASE(steps);

    split_expect(t, &c, "flow dcerpc dcerpc unknown\n");
}

TEST(dcerpc_waits_with_the_other_side)
{
    static const struct split_step steps[] = {
        { TO_SERVER, REQUEST, 20 },
        SPLIT_TC("this is no answer of DCERPC"),
        { TO_SERVER, REQUEST + 20, sizeof(REQUEST) - 1 - 20 },
    };
    struct split_case c = CASE(steps);

    split_expect(t, &c,
                 "tx 0 dcerpc {\"dcerpc\":{\"request\":\"REQUEST\",\"req\":{\"opnum\":5,"
                 "\"frag_cnt\":1,\"stub_data_size\":4},\"response\":\"UNREPLIED\",\"call_id\":2,"
                 "\"rpc_version\":\"5.0\"}}\n"
                 "layer applayer_detect_protocol_only_one_direction\n"
                 "flow dcerpc dcerpc failed\n");
}

#define UDP(type, flags, activity, len) \
    "\x04" type flags "\x00" "\x10\x00\x00" "\x00" "objectobjectobje" UUID activity                 \
    "\x00\x00\x00\x00" "\x01\x00\x00\x00" "\x09\x00\x00\x00" "\x03\x00" "\xff\xff\xff\xff"        \
    len "\x00\x00" "\x00\x00" "\x00"

TEST(dcerpc_udp)
{
    static const struct split_step steps[] = {
        SPLIT_TS(UDP("\x00", "\x04", UUID, "\x03") "abc"),
        SPLIT_TS(UDP("\x00", "\x06", UUID, "\x02") "de"),
        SPLIT_TC(UDP("\x02", "\x00", UUID, "\x01") "x"),
    };
    struct split_case c = CASE(steps);

    c.udp = true;
    split_expect(t, &c,
                 "tx 0 dcerpc {\"dcerpc\":{\"request\":\"REQUEST\",\"req\":{\"opnum\":3,"
                 "\"frag_cnt\":2,\"stub_data_size\":5},\"response\":\"RESPONSE\",\"res\":"
                 "{\"frag_cnt\":1,\"stub_data_size\":1},\"activityuuid\":"
                 "\"01234567-89ab-cdef-0102-030405060708\",\"seqnum\":9,\"rpc_version\":\"4.0\"}}\n"
                 "flow dcerpc dcerpc dcerpc\n");
}

static bool iface_fits(const char *text, uint16_t version)
{
    struct dce_interface one = { .acknowledged = true, .version = version,
                                 .uuid = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                           1, 2, 3, 4, 5, 6, 7, 8 } };
    struct dce_iface_arg a = { .compare = DCE_ANY_VERSION };
    struct err err;

    return dce_iface_parse(text_of(text), &a, NULL, &err) == 0 && dce_iface_has(&a, &one);
}

#define TEXT_UUID "01234567-89AB-cdef-0102-030405060708"

TEST(dcerpc_iface_argument)
{
    CHECK(iface_fits(TEXT_UUID, 1));
    CHECK(iface_fits(TEXT_UUID ",>1", 2));
    CHECK(!iface_fits(TEXT_UUID ",>1", 1));
    CHECK(iface_fits(TEXT_UUID ",<2,any_frag", 1));
    CHECK(iface_fits(TEXT_UUID ",=3", 3));
    CHECK(!iface_fits(TEXT_UUID ",!3", 3));
    CHECK(iface_fits(TEXT_UUID ",1-4", 2));
    CHECK(!iface_fits(TEXT_UUID ",1-4", 4));
    CHECK(iface_fits(TEXT_UUID ",any_frag", 9));
    CHECK(!iface_fits("01234567", 9));
    CHECK(!iface_fits(TEXT_UUID ",first", 9));
    CHECK(!iface_fits(TEXT_UUID ",1,any_frag,more", 1));
}

TEST(dcerpc_opnum_argument)
{
    struct dce_opnum_arg a = { 0 };
    struct arena arena;
    struct err err;

    arena_init(&arena, 1024, 0);
    CHECK(dce_opnum_parse(text_of("12, 15-18"), &a, &arena, &err) == 0);
    CHECK(dce_opnum_has(&a, 12) && dce_opnum_has(&a, 18) && !dce_opnum_has(&a, 13));
    a.count = 0;
    CHECK(dce_opnum_parse(text_of("18-15"), &a, &arena, &err) < 0);
    a.count = 0;
    CHECK(dce_opnum_parse(text_of("12,x"), &a, &arena, &err) < 0);
    arena_fini(&arena);
}

/* A letter for each of the numbers 0, 4, 5, 6, 9 and 65535: does it fit? */
static void check_opnum(struct test *t, struct arena *arena, const char *in, const char *expected)
{
    static const uint16_t numbers[] = { 0, 4, 5, 6, 9, 65535 };
    struct dce_opnum_arg a = { 0 };
    struct err err = { 0 };
    char found[ARRAY_LEN(numbers) + 1] = "";

    if (dce_opnum_parse(text_of(in), &a, arena, &err) < 0) {
        if (expected[0] != '\0')
            test_fail(t, __FILE__, __LINE__, "%s: %s", in, err.text);
        CHECK(err.text[0] != '\0');
        return;
    }
    for (unsigned i = 0; i < ARRAY_LEN(numbers); i++)
        found[i] = dce_opnum_has(&a, numbers[i]) ? 'Y' : '.';
    CHECK_STRING(found, expected);
}

TEST(dcerpc_opnum_comparisons)
{
    static const struct { const char *in, *expected; } rows[] = {
        { "5", "..Y..." },     { "4-6,9", ".YYYY." },  { ">5", "...YYY" },   { ">=5", "..YYYY" },
        { "<5", "YY...." },    { "<=5", "YYY..." },    { "=5", "..Y..." },   { "!5", "YY.YYY" },
        { "!=5", "YY.YYY" },   { "4<>6", "..Y..." },   { "!4-6", "YY.YYY" }, { "> 5", "...YYY" },
        { "&0x4=4", ".YYY.Y" }, { "&4!=4", "Y...Y." },
        /* refused: all numbers or none fit, or there is no number */
        { ">=0", "" }, { "<0", "" }, { ">65535", "" }, { "<=65535", "" }, { "4<>5", "" },
        { "&4=1", "" }, { "&0=0", "" }, { ">", "" }, { ">5,9", "" }, { "!", "" }, { "6<>4", "" },
    };
    struct arena arena;

    arena_init(&arena, 1024, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_opnum(t, &arena, rows[i].in, rows[i].expected);
    arena_fini(&arena);
}
