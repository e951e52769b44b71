/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/late_library. */
#include "base/system/late_library.h"

#include "base/test.h"

#include <math.h>
#include <string.h>

struct functions {
    LATE_FUNCTION(floor, floor)
    LATE_FUNCTION(ceil, ceil)
};

static const struct late_function list[] = {
    { "floor", offsetof(struct functions, floor) },
    { "ceil", offsetof(struct functions, ceil) },
    { NULL, 0 },
};

TEST(late_library_has_functions)
{
    struct functions f = { 0 };
    struct err err = { 0 };

    CHECK_INT(late_library_load("libm.so.6", list, &f, &err), 0);
    CHECK(f.floor != NULL && f.floor(1.5) < 1.1);
    CHECK(f.ceil != NULL && f.ceil(1.5) > 1.9);
}

TEST(late_library_reports_what_is_missing)
{
    static const struct late_function other[] = { { "no_such_function", 0 }, { NULL, 0 } };
    struct functions f;
    struct err err = { 0 };

    CHECK_INT(late_library_load("libm.so.6", other, &f, &err), -1);
    CHECK_STRING(err.text, "libm.so.6 has no no_such_function()");
    CHECK_INT(late_library_load("lib-that-is-nowhere.so.9", list, &f, &err), -1);
    CHECK(strstr(err.text, "lib-that-is-nowhere.so.9") != NULL);
}
