/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit.h - the table that scripts/test-list makes from all TEST()s, for unit_main.c. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include "base/test.h"

struct unit_test {
    const char *name;
    void (*run)(struct test *t);
};

extern const struct unit_test unit_tests[];     /* ends with name NULL */

#endif
