/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/highlow/tests/highlow_test.c - guesses and answers in any cut; each event; recognition
 * by either side. */
#include "app/tests/split.h"

TEST(highlow_exchange)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GUESS 50\nGUESS 75\n"), SPLIT_TC("HIGHER\nRIGHT\nWELL DONE\n"),
        SPLIT_TS("GUESS ten\n"), SPLIT_TC("WHAT\n"),
    };
    struct split_case c = { .port = 4747, .steps = steps, .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 highlow {\"highlow\":{\"number\":50,\"answer\":\"HIGHER\"}}\n"
                 "tx 1 highlow {\"highlow\":{\"number\":75,\"answer\":\"RIGHT\"}}\n"
                 "tx 2 highlow {\"highlow\":{\"answer\":\"WELL DONE\"}}\n"
                 "tx 2 event unasked\n"
                 "tx 3 highlow {\"highlow\":{\"answer\":\"WHAT\"}}\n"
                 "tx 3 event no_number\n"
                 "flow highlow highlow highlow\n");
}

/* The server's answer tells, where the client's first line does not. */
TEST(highlow_server_side)
{
    static const struct split_step steps[] = {
        SPLIT_TS("HELLO, ARE YOU THERE?\n"), SPLIT_TC("LOWER\n"),
    };
    struct split_case c = { .port = 4747, .steps = steps, .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 highlow {\"highlow\":{\"answer\":\"LOWER\"}}\n"
                 "tx 0 event no_number\n"
                 "layer applayer_detect_protocol_only_one_direction\n"
                 "flow highlow failed highlow\n");
}
