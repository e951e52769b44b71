/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_lua.c - any bytes as the script of a rule: loaded, its init() run, and if the rule
 * is good, match() on a packet. Input that begins with a byte 0 is a subject, a pattern and a
 * replacement, divided by bytes 1: the counted functions of patterns have to give what Lua's own
 * give. */
#include "config.h"

#include "detect/compile/compile.h"
#include "detect/tests/lua_plain.h"
#include "detect/tests/rules_helper.h"
#include "memory_file.h"
#include "quiet.h"

#include <stdlib.h>

int fuzz_input(const uint8_t *data, size_t size);

static void run_script(const uint8_t *data, size_t size)
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
}

#ifdef HAVE_LUA
#define PATTERN_MOST 64         /* Lua's own matcher has no limit */

static void compare(const uint8_t *data, size_t size)
{
    struct text in = { (const char *)data, MIN(size, PATTERN_MOST) };
    struct text part[3] = { { 0 } };
    struct lua_plain *both = lua_plain_new();

    for (unsigned i = 0; i < 3; i++)
        if (!text_split(&in, 1, &part[i]))
            break;
    if (!lua_plain_same(both, part[0], part[1], part[2]))
        abort();
    lua_plain_free(both);
}
#endif

int fuzz_input(const uint8_t *data, size_t size)
{
#ifdef HAVE_LUA
    if (size > 0 && data[0] == 0) {
        compare(data + 1, size - 1);
        return 0;
    }
#endif
    run_script(data, size);
    return 0;
}
