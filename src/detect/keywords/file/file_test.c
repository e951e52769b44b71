/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/file/file_test.c - tests about files: all tests of a rule must hold for
 * the same file. */
#include "detect/keywords/file/file_test.h"

#include "app/proto.h"
#include "detect/rule/ruleset_private.h"

/* One file keyword of a rule; in the ruleset's arena. `has` NULL: any file will do. */
struct file_test {
    struct file_test *next;
    file_test_fn has;
    const void *arg;
    bool negated;
};

/* The rule has one test of the transaction for all its file keywords. */
struct file_tests { struct file_test *first; };

/* -1 from `has` means unknown so far. Then the negated test fails as well. */
static bool test_holds(const struct file_test *test, struct app_file *file)
{
    int result = test->has != NULL ? test->has(file, test->arg) : 1;

    return result >= 0 && (result == 1) != test->negated;
}

/* Holds when one file of the direction passes all tests of the rule. */
static bool files_match(const struct match_input *in, const void *arg)
{
    const struct file_tests *tests = arg;

    for (struct app_file *file = in->tx->files[in->direction]; file != NULL; file = file->next) {
        const struct file_test *test = tests->first;

        while (test != NULL && test_holds(test, file))
            test = test->next;
        if (test == NULL)
            return true;
    }
    return false;
}

int file_test_add(struct rule_parser *p, file_test_fn has, const void *arg, uint32_t required)
{
    return file_test_add_in(p, APP_BOTH, has, arg, required);
}

/* Joins an earlier file test of the rule in the same direction, so that both hold for one file.
 * `required` makes parsers compute what the test needs, for example a hash. */
int file_test_add_in(struct rule_parser *p, uint8_t directions, file_test_fn has,
                      const void *arg, uint32_t required)
{
    struct rule_test *last = rule_last_test(p, POINT_TX);
    struct file_test *test = arena_zalloc(p->arena, sizeof(*test));
    struct file_tests *tests;
    enum app_proto_id proto = (enum app_proto_id)p->rule->app_proto;

    if (proto != APP_PROTO_UNKNOWN && !app_proto_has_files(proto))
        return rule_error(p, "%s: protocol %s has no files", p->keyword->name,
                          app_proto_name(proto));
    p->wants_files = p->keyword;
    p->wants_files_at = p->at;
    p->ruleset->required.files |= required | APP_FILE_TRACK;
    *test = (struct file_test){ .has = has, .arg = arg, .negated = p->negated };
    if (last != NULL && last->match == files_match && last->directions == directions) {
        tests = (struct file_tests *)last->arg;
        test->next = tests->first;
    } else {
        struct rule_test complete = { .keyword = p->keyword, .match = files_match,
                                   .any_time = true, .directions = directions };

        tests = arena_zalloc(p->arena, sizeof(*tests));
        complete.arg = tests;
        rule_add_test(p, POINT_TX, &complete);
    }
    tests->first = test;
    return 0;
}
