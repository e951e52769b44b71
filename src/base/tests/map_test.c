/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/map. */
#include "base/containers/map.h"
#include "base/test.h"

#include <stdio.h>

TEST(map_finds_what_was_put)
{
    struct map m = { 0 };
    static int value[1000];
    char key[16];
    size_t seen = 0;

    CHECK(map_get_string(&m, "nothing") == NULL);
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "key%d", i);
        map_put_string(&m, key, &value[i]);
    }
    CHECK_INT(m.count, 1000);
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "key%d", i);
        CHECK(map_get_string(&m, key) == &value[i]);
    }
    CHECK(map_get_string(&m, "key1000") == NULL);
    MAP_EACH(&m, e)
        seen += e->value != NULL;
    CHECK_INT(seen, 1000);
    map_fini(&m);
}

TEST(map_replaces_and_takes_any_bytes)
{
    struct map m = { 0 };
    int a, b;

    map_put(&m, "\0x", 2, &a);
    map_put(&m, "\0x", 2, &b);
    map_put(&m, "", 0, &a);
    CHECK_INT(m.count, 2);
    CHECK(map_get(&m, "\0x", 2) == &b);
    CHECK(map_get(&m, "", 0) == &a);
    CHECK(map_get(&m, "\0y", 2) == NULL);
    map_fini(&m);
}
