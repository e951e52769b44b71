/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/tests/rules_reload.h - rule files that change, and the rulesets that are loaded from them
 * one after the other. */
#ifndef DETECT_TESTS_RULES_RELOAD_H
#define DETECT_TESTS_RULES_RELOAD_H

#include "base/test.h"
#include "detect/rule/ruleset_private.h"

void rules_write_file(struct test *t, const char *path, const char *text);
/* request->previous becomes the new ruleset; the one before is freed. No rule may fail. */
void rules_reload(struct test *t, struct ruleset_request *request);

#endif
