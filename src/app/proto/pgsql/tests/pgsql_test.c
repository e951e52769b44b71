/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/proto/pgsql/pgsql.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define YAML "app-layer: {protocols: {pgsql: {enabled: yes}}}"
#define STARTUP "\0\0\0\x1b\0\3\0\0user\0u\0database\0d\0\0"
#define READY "Z\0\0\0\5I"

TEST(pgsql_session_in_any_segmentation)
{
    static const struct split_step steps[] = {
        SPLIT_TS(STARTUP), SPLIT_TC("R\0\0\0\x0c\0\0\0\5salt"), SPLIT_TS("p\0\0\0\x07pw\0"),
        SPLIT_TC("R\0\0\0\x08\0\0\0\0S\0\0\0\x11TimeZone\0UTC\0" READY),
        SPLIT_TS("Q\0\0\0\x0dselect 1\0"),
        SPLIT_TC("T\0\0\0\x07\0\1x" "D\0\0\0\x0b\0\1\0\0\0\1" "1" "C\0\0\0\x0dSELECT 1\0" READY),
        SPLIT_TS("X\0\0\0\4"),
    };
    const struct split_case c = { .yaml = YAML, .port = 5432, .steps = steps,
                                  .count = sizeof(steps) / sizeof(steps[0]) };

    split_expect(t, &c,
        "tx 0 pgsql {\"pgsql\":{\"tx_id\":1,\"request\":{\"protocol_version\":\"3.0\","
        "\"startup_parameters\":{\"user\":\"u\",\"optional_parameters\":[{\"database\":\"d\"}]}},"
        "\"response\":{\"authentication_md5_password\":\"salt\"}}}\n"
        "tx 1 pgsql {\"pgsql\":{\"tx_id\":2,\"request\":{\"password_redacted\":true},"
        "\"response\":{\"message\":\"authentication_ok\",\"parameter_status\":"
        "[{\"time_zone\":\"UTC\"}]}}}\n"
        "tx 2 pgsql {\"pgsql\":{\"tx_id\":3,\"request\":{\"simple_query\":\"select 1\"},"
        "\"response\":{\"field_count\":1,\"data_rows\":1,\"data_size\":1,"
        "\"command_completed\":\"SELECT 1\"}}}\n"
        "tx 3 pgsql {\"pgsql\":{\"tx_id\":4,\"request\":{\"message\":\"termination_message\"}}}\n"
        "flow pgsql pgsql pgsql\n");
}

TEST(pgsql_invalid_length)
{
    static const struct split_step steps[] = { SPLIT_TS(STARTUP "Q\0\0\0\2xx") };
    const struct split_case c = { .yaml = YAML, .port = 5432, .steps = steps, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "event invalid_length\n") != NULL);
    free(text);
    split_check(t, &c);
}

/* A startup message ends with a zero byte, the fields of an error with one, too. */
TEST(pgsql_lists_have_an_end)
{
    static const char startup[] = "\0\0\0\x10\0\3\0\0user\0u\0", error[] = "E\0\0\0\x08SX\0";
    struct pgsql_message m;
    uint32_t size;

    for (uint8_t more = 0; more < 2; more++) {      /* the byte behind is part of it or not */
        uint8_t a[sizeof(startup)], b[sizeof(error)];
        enum pgsql_result expected = more ? PGSQL_OK : PGSQL_BAD;

        memcpy(a, startup, sizeof(a));
        memcpy(b, error, sizeof(b));
        a[3] = (uint8_t)(sizeof(startup) - 2 + more);
        b[4] = (uint8_t)(sizeof(error) - 3 + more);
        a[3]++;
        b[4]++;
        CHECK_INT(pgsql_request(bytes_of(a, sizeof(a)), PGSQL_NOTHING, &m, &size), expected);
        CHECK_INT(pgsql_response(bytes_of(b, sizeof(b)), &m, &size), expected);
    }
}

/* A zero is no status, though strchr() finds one in any string. */
TEST(pgsql_ready_with_a_status_that_is_none)
{
    static const char status[] = { 'I', 'T', 'E', '\0', 'x' };

    for (unsigned i = 0; i < sizeof(status); i++) {
        const uint8_t message[] = { 'Z', 0, 0, 0, 5, (uint8_t)status[i] };
        struct pgsql_message m;
        uint32_t size;

        CHECK_INT(pgsql_response(bytes_of(message, sizeof(message)), &m, &size),
                  i < 3 ? PGSQL_OK : PGSQL_BAD);
    }
}
