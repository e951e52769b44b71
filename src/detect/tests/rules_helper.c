/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "detect/tests/rules_helper.h"
#include "base/array.h"
#include "base/base.h"
#include "conf/conf.h"
#include "detect/keywords/registry.h"
#include "detect/rule/rule_block.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void PRINTF(2, 0) append(struct test_rules *r, const char *fmt, va_list args)
{
    char line[2048];
    size_t n = (size_t)vsnprintf(line, sizeof(line), fmt, args);

    r->text = xrealloc(r->text, r->len + n + 2);
    memcpy(r->text + r->len, line, n);
    r->len += n;
    r->text[r->len++] = '\n';
    r->text[r->len] = '\0';
}

void test_rules_add(struct test_rules *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    append(r, fmt, args);
    va_end(args);
}

static struct conf *quiet_conf(void)
{
    static const char *const quiet[] = { "classification-file", "reference-config-file",
                                         "threshold-file" };
    struct conf *conf = conf_new();

    for (unsigned i = 0; i < ARRAY_LEN(quiet); i++)
        conf_set(conf, quiet[i], "/dev/null");
    conf_set(conf, "packet-alert-max", "255");
    return conf;
}

bool test_rules_ready(struct test_rules *r)
{
    struct conf *conf = quiet_conf();
    struct ruleset_request request = { .conf = conf_root(conf), .rules = r->text };
    struct ruleset_report report = { 0 };
    bool ok;

    app_protos_init();
    keyword_registry_init();
    r->set = ruleset_load(&request, &report, &r->err);
    r->failed = report.failed + report.skipped;
    ok = r->set != NULL && r->failed == 0;
    if (ok) {
        rule_blocks_read_operations(r->set);    /* tests look at them */
        r->counters = counters_new("test");
        r->thread = detect_thread_new(r->set, conf_root(conf), r->counters, false, &r->err);
    }
    conf_free(conf);
    return ok && r->thread != NULL;
}

bool test_rules_reload(struct test_rules *r, const char *rules)
{
    struct conf *conf = quiet_conf();
    struct ruleset_request request = { .conf = conf_root(conf), .rules = rules,
                                       .previous = r->set };
    struct ruleset_report report = { 0 };
    struct ruleset *set = ruleset_load(&request, &report, &r->err);

    conf_free(conf);
    if (set == NULL)
        return false;
    detect_thread_set_rules(r->thread, set);
    ruleset_unref(r->set);
    r->set = set;
    return report.failed + report.skipped == 0;
}

bool test_rules_load(struct test_rules *r, const char *fmt, ...)
{
    va_list args;

    *r = (struct test_rules){ 0 };
    va_start(args, fmt);
    append(r, fmt, args);
    va_end(args);
    return test_rules_ready(r);
}

void test_rules_free(struct test_rules *r)
{
    detect_thread_free(r->thread);
    ruleset_unref(r->set);
    if (r->counters != NULL)
        counters_free(r->counters);
    free(r->text);
    *r = (struct test_rules){ 0 };
}
