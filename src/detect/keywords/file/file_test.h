/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/file/file_test.h - tests about files: all of a rule must hold for one file. */
#ifndef DETECT_KEYWORDS_FILE_TEST_H
#define DETECT_KEYWORDS_FILE_TEST_H

#include "app/core/file.h"
#include "detect/rule/keyword.h"

/* 1: holds, 0: does not, -1: cannot be said (yet), and then negation does not make it hold. */
typedef int (*file_test_fn)(struct app_file *file, const void *arg);

/* Adds a test of files to the rule; has NULL: any file will do. Uses p->negated. `wants`: enum
 * app_file_feature, what must be known of files for it. -1: the rule's protocol has none. */
int file_test_add(struct rule_parser *p, file_test_fn has, const void *arg, uint32_t required);
/* The same for files of some directions only. */
int file_test_add_in(struct rule_parser *p, uint8_t directions, file_test_fn has,
                     const void *arg, uint32_t required);

#endif
