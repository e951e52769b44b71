/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/tests/rules_reload.c - rule files that change, and rulesets that are loaded from them. */
#include "detect/tests/rules_reload.h"

#include "detect/keywords/registry.h"

#include <stdio.h>

void rules_write_file(struct test *t, const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

void rules_reload(struct test *t, struct ruleset_request *request)
{
    struct ruleset_report report;
    struct err err = { 0 };
    struct ruleset *set;

    app_protos_init();
    keyword_registry_init();
    set = ruleset_load(request, &report, &err);

    CHECK(set != NULL);
    CHECK_INT(report.failed, 0);
    ruleset_unref(request->previous);
    request->previous = set;
}
