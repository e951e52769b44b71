/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/replay.h"
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

/* A name that says it is an OCTET STRING. */
TEST(snmp_name_of_other_tag)
{
    static const struct split_step steps[] = {
        SPLIT_TS("\x30\x24\2\1\1\4\6public\xa0\x17\2\1\1\2\1\0\2\1\0\x30\x0c\x30\x0a\4\6\x2b\6\1"
                 "\2\1\1\5\0") };
    const struct split_case c = { .udp = true, .port = 161, .steps = steps, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "\"vars\":[\"1.3.6.1.2.1.1\"]") != NULL);
    free(text);
}

TEST(snmp_version_mismatch)
{
    static const struct split_step steps[] = { SPLIT_TS(GET), SPLIT_TS(GET_V1) };
    const struct split_case c = { .udp = true, .port = 161, .steps = steps, .count = 2 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 1 event version_mismatch\n") != NULL);
    free(text);
}

#define TRAP "\x30\x26\2\1\0\4\6public\xa4\x19\6\6\x2b\6\1\4\1\5\x40\4\x0a\1\2\3" \
             "\2\1\1\2\1\0\x43\1\x10\x30\0"
#define TRAP_LINE                                                                               \
    "\"pdu_type\":\"trap_v1\",\"trap_type\":\"warmStart\",\"trap_oid\":\"1.3.6.1.4.1.5\"," \
    "\"trap_address\":\"10.1.2.3\""

TEST(snmp_trap_buffers)
{
    static const struct split_step steps[] = { SPLIT_TS(TRAP), SPLIT_TS(GET_V1) };
    const struct split_case c = { .udp = true, .port = 162, .steps = steps, .count = 2,
                                  .show = "snmp.trap_" };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "tx 0 buffer ts snmp.trap_oid 0 1.3.6.1.4.1.5\n") != NULL);
    CHECK(strstr(text, "tx 0 buffer ts snmp.trap_address 0 10.1.2.3\n") != NULL);
    CHECK(strstr(text, "tx 1 buffer") == NULL);
    free(text);
}

/* Every buffer is read as rules would read it. */
static char *inspected(struct app_fixture *fixture, const void *data, uint32_t len)
{
    struct replay replay;
    char *text;

    replay_begin(&replay, fixture, true, 162);
    replay.inspect = true;
    replay_data(&replay, TO_SERVER, data, len);
    replay_end(&replay);
    text = replay_text(&replay);
    replay_free(&replay);
    return text;
}

TEST(snmp_trap_cut_at_every_byte)
{
    struct app_fixture fixture;

    CHECK_INT(app_fixture_open(&fixture, NULL, NULL), 0);
    for (uint32_t len = 1; len < sizeof(TRAP); len++) {
        uint8_t *exact = malloc(len);
        char *text;

        memcpy(exact, TRAP, len);       /* so that a byte too far is seen */
        text = inspected(&fixture, exact, len);
        CHECK((strstr(text, TRAP_LINE) != NULL) == (len == sizeof(TRAP) - 1));
        free(text);
        free(exact);
    }
    app_fixture_close(&fixture);
}
