/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_rule.c - rule files and threshold.config of any bytes.
 *
 * The input up to the first zero byte is a rule file, what follows it a threshold.config for the
 * rules that were good. */
#include "detect/tests/rules_fixture.h"
#include "detect/state/threshold.h"
#include "quiet.h"

#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);

static void take_rule(const struct rule_text *text, void *arg)
{
    struct rules_fixture *f = arg;
    struct rule *rule;

    for (int swapped = 0; swapped < 2; swapped++)
        if (rule_parse(&f->builder, text, swapped != 0, &rule, &f->err) == RULE_OK)
            ARRAY_PUSH(&f->set->rules, rule);
}

int fuzz_input(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    struct text all = { (const char *)data, size }, rules = all;
    struct rules_fixture f;

    quiet();
    if (zero != NULL)
        rules.n = (size_t)(zero - data);
    rules_fixture_open(&f);
    rule_lines_read(rules, "fuzz.rules", &(struct rule_visitor){
        .visit = take_rule, .arg = &f, .names = &f.set->arena, .texts = &f.set->arena });
    threshold_config_lines(f.set, text_from(all, rules.n + 1), "threshold.config");
    rules_fixture_close(&f);
    return 0;
}
