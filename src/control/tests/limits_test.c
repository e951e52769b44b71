/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/tests/limits_test.c - the engine's limits on memory and those of protocols are one list. */
#include "base/test.h"
#include "control/limits.h"

#include <string.h>

TEST(memory_limits_are_found_by_their_names)
{
    static const char *const names[] = { "stream", "host", "applayer-proto-http",
                                         "applayer-proto-http-byterange", "ftp" };
    struct memory_limit a, b;
    unsigned count = 0;

    for (; memory_limit_at(count, &a); count++)
        for (unsigned k = 0; k < count; k++)
            CHECK(memory_limit_at(k, &b) && strcmp(a.name, b.name) != 0);
    CHECK(count > ARRAY_LEN(names));
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        CHECK(memory_limit_find(names[i], &a) && strcmp(a.name, names[i]) == 0);
    CHECK(!memory_limit_find("nothing", &a));
}
