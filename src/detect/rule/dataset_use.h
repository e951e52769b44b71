/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/dataset_use.h - the set and command of an operation of dataset. */
#ifndef DETECT_DATASET_USE_H
#define DETECT_DATASET_USE_H

#include "detect/rule/rule.h"

struct dataset;

struct dataset_use {
    const struct dataset *set;
    const char *command;        /* "isset" */
};

/* False: the operation has another keyword. */
bool dataset_use_of(const struct rule_op *op, struct dataset_use *out);

#endif
