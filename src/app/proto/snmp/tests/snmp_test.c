/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define GET "\x30\x24\2\1\1\4\6public\xa0\x17\2\1\1\2\1\0\2\1\0\x30\x0c\x30\x0a\6\6\x2b\6\1\2\1\1\5\0"
#define GET_V1 "\x30\x18\2\1\0\4\6public\xa0\x0b\2\1\1\2\1\2\2\1\0\x30\0"

TEST(snmp_get)
{
    static const struct split_step steps[] = { SPLIT_TS(GET) };
    const struct split_case c = { .udp = true, .port = 161, .steps = steps, .count = 1 };

    split_expect(t, &c, "tx 0 snmp {\"snmp\":{\"version\":2,\"pdu_type\":\"get_request\","
                        "\"vars\":[\"1.3.6.1.2.1.1\"],\"community\":\"public\"}}\n"
                        "flow snmp snmp unknown\n");
}

TEST(snmp_version_mismatch)
{
    static const struct split_step steps[] = { SPLIT_TS(GET), SPLIT_TS(GET_V1) };
    const struct split_case c = { .udp = true, .port = 161, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 1 event version_mismatch\n") != NULL);
    free(text);
}
