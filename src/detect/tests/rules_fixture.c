/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An empty ruleset to parse single rules into. */
#include "detect/tests/rules_fixture.h"

#include "detect/compile/compile.h"
#include "detect/keywords/registry.h"
#include "detect/rule/classification.h"

#include <stdio.h>
#include <string.h>

static const char settings[] =
    "vars:\n"
    "  address-groups:\n"
    "    HOME_NET: \"[192.168.0.0/16,10.0.0.0/8]\"\n"
    "    EXTERNAL_NET: \"!$HOME_NET\"\n"
    "  port-groups:\n"
    "    HTTP_PORTS: \"[80,8080]\"\n"
    "app-layer: { protocols: { tls: { ja4-fingerprints: no } } }\n"
    "outputs:\n"
    "  - file-store: { enabled: yes }\n";

static void add_names(struct rule_names *names)
{
    rule_class_line(names, text_of("config classification: trojan-activity,A Trojan,1"));
    rule_class_line(names, text_of("config classification: misc-activity,Misc, more,3"));
    rule_reference_line(names, text_of("config reference: url http://"));
    rule_reference_line(names, text_of("config reference: cve http://cve.example/"));
}

/* Read once: nothing changes it, and a fuzzer opens fixtures by the million. */
static const struct conf_node *shared_settings(struct err *err)
{
    static struct conf *conf;

    if (conf == NULL) {
        conf = conf_new();
        conf_load_string(conf, settings, "test.yaml", err);
    }
    return conf_root(conf);
}

void rules_fixture_open(struct rules_fixture *f)
{
    struct ruleset_report report;

    memset(f, 0, sizeof(*f));
    f->request.conf = shared_settings(&f->err);
    f->request.disabled = true;
    app_protos_init();
    keyword_registry_init();
    f->set = ruleset_load(&f->request, &report, &f->err);
    f->set->names = rule_names_load(&f->set->arena, NULL);
    f->set->conf = f->request.conf;
    add_names(f->set->names);
    rule_builder_init(&f->builder, f->set, &f->request, rule_finish);
}

void rules_fixture_close(struct rules_fixture *f)
{
    rule_builder_fini(&f->builder);
    ruleset_unref(f->set);
}

static void take_rule(const struct rule_text *text, void *arg)
{
    struct rules_fixture *f = arg;
    struct rule *rule;

    f->outcome = rule_parse(&f->builder, text, false, &rule, &f->err);
    if (f->outcome == RULE_OK)
        ARRAY_PUSH(&f->set->rules, rule);
}

struct rule *rules_fixture_parse(struct rules_fixture *f, const char *text)
{
    struct rule_visitor visitor = { take_rule, f, &f->set->arena, &f->set->arena };
    size_t before = f->set->rules.count;

    rule_lines_read(text_of(text), "t.rules", &visitor);
    return f->set->rules.count > before ? f->set->rules.at[f->set->rules.count - 1] : NULL;
}

struct rule *rules_fixture_options(struct rules_fixture *f, const char *options)
{
    char text[1000];

    snprintf(text, sizeof(text), "alert ip any any -> any any (%s sid:1;)", options);
    return rules_fixture_parse(f, text);
}
