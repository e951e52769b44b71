/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

static char *replay(const char *options, uint32_t len, const char *yaml)
{
    uint8_t data[400] = { 2, 1, 6, 0, 0, 0, 1, 2, [16] = 10, 0, 0, 9, [28] = 0xaa, 1, 2, 3, 4, 5 };
    struct split_step step = { TO_SERVER, data, 240 + len };
    const struct split_case c = { .yaml = yaml, .udp = true, .port = 67, .steps = &step,
                                  .count = 1 };

    memcpy(data + 240, options, len);
    return split_replay(&c, SPLIT_NONE, 0);
}
#define REPLAY(options) replay((options), sizeof(options) - 1, NULL)

TEST(dhcp_acknowledgement)
{
    char *text = REPLAY("\x35\1\5\x0c\1h\x3d\3\1\xab\xcd\x3a\4\0\0\0\7\xff");

    CHECK(strstr(text, "tx 0 dhcp {\"dhcp\":{\"type\":\"reply\",\"id\":258,"
                       "\"client_mac\":\"aa:01:02:03:04:05\",\"assigned_ip\":\"10.0.0.9\","
                       "\"dhcp_type\":\"ack\",\"hostname\":\"h\",\"client_id\":\"ab:cd\","
                       "\"renewal_time\":7}}\n") != NULL);
    free(text);
}

TEST(dhcp_options_that_break_off)
{
    char *text = REPLAY("\x35\1");

    CHECK(strstr(text, "event truncated_options\n") != NULL);
    free(text);
}
