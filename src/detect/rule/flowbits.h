/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/flowbits.h - the bit and command of a flowbits test or action. */
#ifndef DETECT_FLOWBITS_H
#define DETECT_FLOWBITS_H

#include "detect/rule/keyword.h"

struct flowbits_use {
    const char *command;        /* "isset" */
    const uint32_t *id;         /* VAR_FLOWBIT */
    unsigned count;
};

/* False: the test has another keyword. */
static inline bool flowbits_use_of(const struct rule_test *test, struct flowbits_use *out)
{
    if (test->keyword == NULL || test->keyword->flowbits == NULL)
        return false;
    test->keyword->flowbits(test, out);
    return true;
}

#endif
