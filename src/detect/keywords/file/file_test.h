/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/file/file_test.h - tests on files: one file must pass all file tests of a
 * rule. */
#ifndef DETECT_KEYWORDS_FILE_TEST_H
#define DETECT_KEYWORDS_FILE_TEST_H

#include "app/core/file.h"
#include "detect/rule/keyword.h"

/* 1: true, 0: false, -1: unknown (so far); then negation does not make it true. */
typedef int (*file_test_fn)(struct app_file *file, const void *arg);

/* Adds a test on files to the rule; has NULL: any file passes. Uses p->negated. `required`: enum
 * app_file_feature that the test needs. -1: the rule's protocol has no files. */
int file_test_add(struct rule_parser *p, file_test_fn has, const void *arg, uint32_t required);
/* The same, for files of some directions only. */
int file_test_add_in(struct rule_parser *p, uint8_t directions, file_test_fn has,
                     const void *arg, uint32_t required);

#endif
