/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define REQUEST "\3\0\0\x2d" "\x28\xe0\0\0\0\0\0" "Cookie: mstshash=user123\r\n" "\1\1\x08\0\3\0\0\0"
#define CONFIRM "\3\0\0\x13" "\x0e\xd0\0\0\x12\x34\0" "\2\x03\x08\0\1\0\0\0"
#define REFUSAL "\3\0\0\x13" "\x0e\xd0\0\0\x12\x34\0" "\3\0\x08\0\2\0\0\0"
#define CONNECTED "\3\0\0\x09" "\2\xf0\x80" "\x7f\x66"

/* A connect request: core data up to the input method, two channels. */
#define Z8 "\0\0\0\0\0\0\0\0"
#define Z32 Z8 Z8 Z8 Z8
#define CORE "\1\xc0\x8c\0" "\4\0\x08\0" "\0\5\0\4" "\1\xca\3\xaa" "\x09\4\0\0" "\x28\x0a\0\0" \
             "P\0C\0" Z8 Z8 Z8 "\0\0\0\0" "\4\0\0\0" "\0\0\0\0" "\x0c\0\0\0" Z32 Z32 \
             "\1\xca\1\0\0\0\0\0"
#define NET "\3\xc0\x20\0" "\2\0\0\0" "rdpdr\0\0\0" "\0\0\0\0" "cliprdr\0" "\0\0\0\0"
#define CONNECT "\3\0\0\xbd" "\2\xf0\x80" "\x7f\x65" "xx" "Duca" "\x80\xac" CORE NET

TEST(rdp_session_in_any_segmentation)
{
    static const struct split_step steps[] = {
        SPLIT_TS(REQUEST), SPLIT_TC(CONFIRM), SPLIT_TS(CONNECT), SPLIT_TC(CONNECTED "anything"),
    };
    const struct split_case c = { .port = 3389, .steps = steps, .count = 4 };

    split_expect(t, &c,
        "tx 0 rdp {\"rdp\":{\"tx_id\":1,\"event_type\":\"initial_request\",\"cookie\":\"user123\","
        "\"flags\":[\"restricted_admin_mode_required\"]}}\n"
        "tx 1 rdp {\"rdp\":{\"tx_id\":2,\"event_type\":\"initial_response\",\"server_supports\":["
        "\"extended_client_data\",\"dynvc_gfx\"],\"protocol\":\"ssl\"}}\n"
        "tx 2 rdp {\"rdp\":{\"tx_id\":3,\"event_type\":\"connect_request\",\"client\":{"
        "\"version\":\"v5\",\"desktop_width\":1280,\"desktop_height\":1024,\"color_depth\":8,"
        "\"keyboard_layout\":\"en-US\",\"build\":\"Windows XP\",\"client_name\":\"PC\","
        "\"keyboard_type\":\"enhanced\",\"function_keys\":12,\"product_id\":1},\"channels\":["
        "\"rdpdr\",\"cliprdr\"]}}\n"
        "tx 3 rdp {\"rdp\":{\"tx_id\":4,\"event_type\":\"connect_response\"}}\n"
        "flow rdp rdp rdp\n");
}

/* The start of a certificate with the serial number 0x0123, in a list of one. */
#define CERTIFICATE "\x30\x0b\x30\x09\xa0\3\2\1\2\2\2\1\x23"
#define TLS_CERTIFICATE "\x16\3\3\0\x17" "\x0b\0\0\x13" "\0\0\x10" "\0\0\x0d" CERTIFICATE

TEST(rdp_certificates_of_tls)
{
    static const struct split_step steps[] = {
        SPLIT_TS(REQUEST), SPLIT_TC(CONFIRM), SPLIT_TS("\x16\3\1\0\2\1\2"),
        SPLIT_TC(TLS_CERTIFICATE "\x17\3\3"),
    };
    const struct split_case c = { .port = 3389, .steps = steps, .count = 4 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 2 rdp {\"rdp\":{\"tx_id\":3,\"event_type\":\"tls_handshake\","
                       "\"x509_serials\":[\"123\"]}}\n") != NULL);
    free(text);
    split_check(t, &c);
}

TEST(rdp_refusal)
{
    static const struct split_step steps[] = { SPLIT_TS(REQUEST), SPLIT_TC(REFUSAL) };
    const struct split_case c = { .port = 3389, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "\"error_code\":2,\"reason\":\"ssl not allowed by server\"") != NULL);
    free(text);
    split_check(t, &c);
}

TEST(rdp_stops_at_a_gap)
{
    static const struct split_step steps[] = {
        SPLIT_TS(REQUEST), SPLIT_GAP(TO_SERVER, 20), SPLIT_TS(REQUEST) };
    const struct split_case c = { .port = 3389, .steps = steps, .count = 3 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 0 rdp") != NULL && strstr(text, "tx 1 ") == NULL);
    free(text);
    split_check(t, &c);
}
