/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_lua.c - any bytes as the script of a rule: loaded, its init() run, and if the rule
 * is good, match() on a packet. */
#include "detect/compile/compile.h"
#include "detect/tests/rules_helper.h"
#include "memory_file.h"
#include "quiet.h"

#include <stdlib.h>

int fuzz_input(const uint8_t *data, size_t size);

int fuzz_input(const uint8_t *data, size_t size)
{
    static uint8_t payload[] = "a payload";
    struct packet p = { .payload = payload, .payload_len = sizeof(payload), .ip_proto = 17,
                        .src.version = 4, .dst.version = 4 };
    struct test_rules rules;

    quiet();
    if (test_rules_load(&rules, "alert udp any any -> any any (lua:%s; sid:1;)",
                        memory_file(0, data, size)))
        test_rules_inspect(rules.thread, &p);
    packet_fini(&p);
    test_rules_free(&rules);
    return 0;
}
