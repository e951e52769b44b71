/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/tests/rules_fixture.h - an empty ruleset to parse single rules into. */
#ifndef DETECT_TESTS_RULES_FIXTURE_H
#define DETECT_TESTS_RULES_FIXTURE_H

#include "detect/rule/parser.h"

struct rules_fixture {
    struct ruleset_request request;
    struct ruleset *set;
    struct rule_builder builder;
    struct err err;
    enum rule_outcome outcome;
};

/* With $HOME_NET, $EXTERNAL_NET, $HTTP_PORTS, the class trojan-activity (priority 1) and
 * misc-activity (3), and the reference systems url and cve. */
void rules_fixture_open(struct rules_fixture *f);
void rules_fixture_close(struct rules_fixture *f);

/* NULL with f->err set and f->outcome telling which way it failed. */
struct rule *rules_fixture_parse(struct rules_fixture *f, const char *text);
/* "alert ip any any -> any any (OPTIONS sid:1;)" */
struct rule *rules_fixture_options(struct rules_fixture *f, const char *options);

#endif
