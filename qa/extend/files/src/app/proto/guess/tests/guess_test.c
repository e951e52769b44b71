/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/guess/tests/guess_test.c - guesses and answers; what is no guess. No
 * probe knows the answers, so the client's side alone is detected. */
#include "app/tests/split.h"

#include <stdlib.h>

TEST(guess_exchange)
{
    static const struct split_step steps[] = {
        SPLIT_TS("GUESS 50\nGUESS 75\n"), SPLIT_TC("HIGHER\nRIGHT\nWELL DONE\n"),
        SPLIT_TS("GUESS ten\n"),
    };
    struct split_case c = { .port = 4747, .steps = steps, .count = ARRAY_LEN(steps) };

    char *found = split_replay(&c, SPLIT_NONE, 0);

    CHECK_STRING(found,
                 "tx 0 guess {\"guess\":{\"number\":50,\"answer\":\"HIGHER\"}}\n"
                 "tx 1 guess {\"guess\":{\"number\":75,\"answer\":\"RIGHT\"}}\n"
                 "tx 1 event unasked\n"
                 "tx 2 guess {\"guess\":{\"answer\":\"\"}}\n"
                 "tx 2 event no_number\n"
                 "layer applayer_detect_protocol_only_one_direction\n"
                 "flow guess guess failed\n");
    free(found);
}
