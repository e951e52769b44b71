/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ntp/tests/ntp_test.c - a question and its answer; a datagram that is too short. */
#include "app/tests/split.h"

#define TIMES "12345678" "12345678" "12345678" "12345678"
#define REQUEST "\x23\x00\x06\xec" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0" TIMES
#define RESPONSE "\x24\x02\x06\xec" "\0\0\0\1" "\0\0\0\1" "\xc0\x00\x02\x01" TIMES

TEST(ntp_exchange)
{
    static const struct split_step steps[] = {
        SPLIT_TS(REQUEST), SPLIT_TC(RESPONSE), SPLIT_TS("\x23\x00\x06"),
    };
    struct split_case c = { .udp = true, .port = 123, .steps = steps,
                            .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 ntp {\"ntp\":{\"version\":4,\"mode\":3,\"stratum\":0,\"reference_id\":"
                 "\"00:00:00:00\"}}\n"
                 "tx 1 ntp {\"ntp\":{\"version\":4,\"mode\":4,\"stratum\":2,\"reference_id\":"
                 "\"c0:00:02:01\"}}\n"
                 "flow ntp ntp ntp\n");
}
