/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/tests/rules_helper.h - rules from text, compiled, with a thread to run them. */
#ifndef DETECT_TESTS_RULES_HELPER_H
#define DETECT_TESTS_RULES_HELPER_H

#include "base/report/counters.h"
#include "base/err.h"
#include "detect/detect.h"
#include "detect/rule/ruleset_private.h"

#include <stdlib.h>

struct test_rules {
    struct ruleset *set;
    struct detect_thread *thread;
    struct counters *counters;
    struct err err;             /* of the last rule that failed */
    unsigned failed;
    char *text;
    size_t len;
};

/* One rule and ready; "" begins with none. */
bool test_rules_load(struct test_rules *r, const char *fmt, ...) PRINTF(2, 3);
void test_rules_add(struct test_rules *r, const char *fmt, ...) PRINTF(2, 3);
bool test_rules_ready(struct test_rules *r);
/* The thread goes on with these rules. */
bool test_rules_reload(struct test_rules *r, const char *rules);
void test_rules_free(struct test_rules *r);

/* A packet as the rules see it when it comes, to the server. */
static inline void test_rules_inspect(struct detect_thread *dt, struct packet *p)
{
    detect_inspect(dt, &(struct inspection){ .packet = p, .flow = p->flow });
}

#endif
