/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may be used of the CPU. */
#include "base/system/cpu.h"
#include "base/test.h"

#include <string.h>

TEST(cpu_count_is_positive)
{
    CHECK(cpu_count() >= 1);
}

/* Each level takes away what is above it; what the CPU lacks is an error and changes nothing. */
TEST(cpu_levels_limit_what_is_used)
{
    static const char *const names[] = { "avx512", "avx2", "sse4", "neon", "scalar" };
    const char *before = cpu_level();
    struct err err = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (cpu_choose(names[i], &err) < 0) {
            CHECK(err.text[0] != '\0');
            continue;
        }
        CHECK_STRING(cpu_level(), names[i]);
        CHECK(strcmp(names[i], "avx2") != 0 || (cpu_features()->avx2 && !cpu_features()->gfni &&
                                                !cpu_features()->avx512f));
        CHECK(strcmp(names[i], "scalar") != 0 || !cpu_features()->sse2);
    }
    CHECK_INT(cpu_choose("scalar", &err), 0);
    CHECK_INT(cpu_choose("mmx", &err), -1);
    CHECK_STRING(cpu_level(), "scalar");
    CHECK_INT(cpu_choose(NULL, &err), 0);
    CHECK_STRING(cpu_level(), before);
}
