/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/host_bit_use.h - the bit and command of a test or action of xbits or hostbits. */
#ifndef DETECT_HOST_BIT_USE_H
#define DETECT_HOST_BIT_USE_H

#include "detect/rule/rule.h"

struct host_bit_use {
    const char *command;        /* "isset" */
    const char *track;          /* "ip_src" */
    uint32_t id;                /* VAR_HOSTBIT; of_tx: VAR_XBIT */
    bool of_tx;                 /* the bit is the transaction's */
};

/* False: the test has another keyword. */
bool host_bit_use_of(const struct rule_test *test, struct host_bit_use *out);

#endif
