/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ceiling on memory, as written and as the machine says. */
#include "main/global_memcap.h"

#include "base/test.h"

#define GB ((uint64_t)1 << 30)

static uint64_t ceiling(const char *yaml)
{
    struct conf *conf = conf_new();
    struct err err = { 0 };
    uint64_t bytes = 0;

    if (conf_load_string(conf, yaml, "test", &err) == 0)
        bytes = global_memcap_read(conf_root(conf), 8 * GB);
    conf_free(conf);
    return bytes;
}

TEST(global_memcap_sizes)
{
    CHECK_INT(ceiling("global-memcap: 3gb"), 3 * GB);
    CHECK_INT(ceiling("global-memcap: 25%"), 8 * GB / 100 * 25);
    CHECK_INT(ceiling("global-memcap: auto"), 8 * GB / 100 * 50);
    CHECK_INT(ceiling("vars: {}"), 8 * GB / 100 * 50);
    CHECK_INT(ceiling("global-memcap: 0"), 0);
    CHECK_INT(ceiling("global-memcap: 1kb"), 16u << 20);
}
