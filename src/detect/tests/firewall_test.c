/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of the firewall: what their headers may say, and where they are put. */
#include "base/test.h"
#include "conf/conf.h"
#include "detect/keywords/registry.h"
#include "detect/rule/ruleset_private.h"
#include "detect/compile/firewall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct loaded {
    struct conf *conf;
    struct ruleset *set;
    struct ruleset_report report;
};

static bool load(struct loaded *l, const char *policies, const char *rules)
{
    char path[] = "/tmp/firewall-test-XXXXXX", yaml[600];
    struct ruleset_request request = { .firewall_file = path };
    struct err err = { 0 };
    int fd = mkstemp(path);

    *l = (struct loaded){ 0 };
    if (fd < 0 || write(fd, rules, strlen(rules)) != (ssize_t)strlen(rules))
        return false;
    close(fd);
    snprintf(yaml, sizeof(yaml), "firewall:\n  enabled: yes\n%s", policies);
    l->conf = conf_new();
    if (conf_load_string(l->conf, yaml, "test.yaml", &err) < 0)
        return false;
    request.conf = conf_root(l->conf);
    keyword_registry_init();
    l->set = ruleset_load(&request, &l->report, &err);
    unlink(path);
    return l->set != NULL;
}

static void unload(struct loaded *l)
{
    if (l->set != NULL)
        ruleset_unref(l->set);
    conf_free(l->conf);
}

TEST(firewall_rules_stand_by_hook)
{
    struct loaded l;

    CHECK(load(&l, "",
               "accept:hook tcp:all any any -> any any (sid:1;)\n"
               "drop:packet ip:pre_flow any any -> any any (sid:2;)\n"
               "accept:hook http1:request_line any any -> any any (sid:3;)\n"
               "accept:flow,pass:flow,alert http1:request_started any any -> any any (sid:4;)\n"));
    CHECK_INT(l.report.loaded, 4u);
    CHECK_INT(l.set->firewall->packet[FIREWALL_FILTER].count, 2u);     /* asked again there */
    CHECK_INT(l.set->firewall->packet[FIREWALL_PRE_FLOW].count, 1u);
    CHECK_INT(l.set->firewall->app[APP_PROTO_http1][TO_SERVER].count, 2u);
    CHECK_INT(l.set->rules.at[l.set->firewall->app[APP_PROTO_http1][TO_SERVER].at[0]]->sid, 4u);
    CHECK(l.set->rules.at[3]->also_pass);
    CHECK(l.set->rules.at[3]->flags & RULE_ALERT_KEYWORD);
    unload(&l);
}

TEST(firewall_rules_need_hook_and_scope)
{
    static const char *const wrong[] = {
        "accept tcp:all any any -> any any (sid:1;)\n",
        "accept:hook tcp any any -> any any (sid:1;)\n",
        "alert:packet tcp:all any any -> any any (sid:1;)\n",
        "drop:hook tcp:all any any -> any any (sid:1;)\n",
        "accept:flow,drop:flow tcp:all any any -> any any (sid:1;)\n",
        "accept:flow,pass:packet tcp:all any any -> any any (sid:1;)\n",
        "accept:packet http1:request_line any any -> any any (sid:1;)\n",
        "drop:flow http1:<request_line any any -> any any (sid:1;)\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct loaded l;

        CHECK(load(&l, "", wrong[i]));
        CHECK_INT(l.report.failed, 1u);
        unload(&l);
    }
}

TEST(firewall_policies_are_read)
{
    struct loaded l;

    CHECK(load(&l, "  policies:\n    packet-filter: [ \"accept:hook\" ]\n    http:\n"
                   "      request-started: [ \"accept:tx\" ]\n", ""));
    CHECK_INT(l.set->firewall->packet_policy[FIREWALL_FILTER].action, RULE_ACCEPT);
    CHECK_INT(l.set->firewall->app_policy[APP_PROTO_http1][TO_SERVER][0].scope, SCOPE_TX);
    CHECK_INT(l.set->firewall->app_policy[APP_PROTO_http1][TO_SERVER][1].action, RULE_DROP);
    unload(&l);
    CHECK(!load(&l, "  policies:\n    packet-filter: [ \"accept:hok\" ]\n", ""));
    unload(&l);
}

/* Suricata 9's names of the same hooks. */
TEST(firewall_policies_of_9_are_read)
{
    struct loaded l;

    CHECK(load(&l, "  policies:\n    packet:\n      filter: [ \"accept:hook\" ]\n      pre-flow: "
                   "\"drop:packet\"\n    app:\n      http1:\n        request-line: "
                   "[ \"accept:tx\" ]\n", ""));
    CHECK_INT(l.set->firewall->packet_policy[FIREWALL_FILTER].action, RULE_ACCEPT);
    CHECK_INT(l.set->firewall->packet_policy[FIREWALL_PRE_FLOW].action, RULE_DROP);
    CHECK_INT(l.set->firewall->packet_policy[FIREWALL_PRE_STREAM].action, RULE_ACCEPT);
    CHECK_INT(l.set->firewall->app_policy[APP_PROTO_http1][TO_SERVER][1].scope, SCOPE_TX);
    unload(&l);
}

#define BY_KIND                                                                                  \
    "  policies:\n    app:\n      http2:\n        request-complete: [ \"accept:tx\" ]\n"           \
    "        stream:\n          request-headers: [ \"accept:hook\" ]\n"                           \
    "          request-closed: [ \"drop:flow\", alert ]\n"                                        \
    "        global: { response-complete: \"accept:hook\" }\n"

/* A kind without a policy of its own takes that of the hook. Suricata 8 has no kinds. */
TEST(firewall_policies_by_kind_are_read)
{
    const firewall_policies *of;
    struct loaded l;
    char text[96];

    CHECK(load(&l, BY_KIND "compatibility: suricata-9\n", ""));
    of = l.set->firewall->kind_policy[APP_PROTO_http2];
    CHECK_INT(of[0][TO_SERVER][1].action, RULE_ACCEPT);
    CHECK_INT(of[0][TO_SERVER][2].action, RULE_DROP);
    CHECK_INT(of[0][TO_SERVER][4].scope, SCOPE_TX);
    CHECK_INT(of[0][TO_CLIENT][4].action, RULE_DROP);
    CHECK_INT(of[1][TO_SERVER][1].action, RULE_DROP);
    CHECK_INT(of[1][TO_CLIENT][4].action, RULE_ACCEPT);
    CHECK(firewall_hook_text(of[0][TO_SERVER][3].rule, text, sizeof(text)));
    CHECK_STRING(text, "http2:stream:request_closed");
    CHECK_INT(l.set->firewall->kind_policy[APP_PROTO_doh2][0][TO_SERVER][1].action, RULE_DROP);
    CHECK(l.set->firewall->kind_policy[APP_PROTO_smtp] == NULL);
    unload(&l);
    CHECK(load(&l, BY_KIND, ""));
    CHECK(l.set->firewall->kind_policy[APP_PROTO_http2] == NULL);
    unload(&l);
}

/* Without the setting, no transaction would ever be at such a hook. */
TEST(firewall_hooks_of_9_need_the_setting)
{
    static const char *const rules[] = {
        "accept:hook smtp:request_data any any -> any any (sid:1;)\n",
        "accept:hook http2:stream:request_headers any any -> any any (sid:1;)\n",
        "accept:hook http2:global:request_complete any any -> any any (sid:1;)\n",
    };
    struct loaded l;

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        CHECK(load(&l, "", rules[i]));
        CHECK_INT(l.report.failed, 1u);
        unload(&l);
        CHECK(load(&l, "compatibility: suricata-9\n", rules[i]));
        CHECK_INT(l.report.failed, 0u);
        unload(&l);
    }
}

TEST(firewall_policies_may_alert)
{
    const struct firewall_policy *policy;
    char text[96];
    struct loaded l;

    CHECK(load(&l, "  policies:\n    packet-filter: [ \"rejectboth:flow\", alert ]\n    dns:\n"
                   "      request-complete: [ \"accept:flow\", \"pass:flow\", \"alert\" ]\n", ""));
    policy = &l.set->firewall->packet_policy[FIREWALL_FILTER];
    CHECK_INT(policy->action, RULE_REJECT_BOTH);
    CHECK_INT(policy->rule->sid, 2201000u);
    firewall_action_text(policy->rule, text, sizeof(text));
    CHECK_STRING(text, "rejectboth:flow,alert");
    CHECK(firewall_hook_text(policy->rule, text, sizeof(text)));
    CHECK_STRING(text, "packet:filter");
    policy = &l.set->firewall->app_policy[APP_PROTO_dns][TO_SERVER][1];
    CHECK_INT(policy->rule->sid, 2201001u);
    firewall_action_text(policy->rule, text, sizeof(text));
    CHECK_STRING(text, "accept:flow,pass:flow,alert");
    CHECK(l.set->firewall->app_policy[APP_PROTO_dns][TO_SERVER][0].rule == NULL);
    unload(&l);
}

TEST(firewall_refuses_policies)
{
    static const char *const lists[] = {
        "[ \"alert\" ]", "[ \"drop:flow\", \"drop:flow\" ]", "[ \"drop\" ]", "[ \"drop:hook\" ]",
        "[ \"accept:hook\", \"pass:flow\" ]", "[ \"drop:flow\", \"alert:flow\" ]", "config:packet",
        "[ \"pass:flow\" ]", "[ \"accept:hook\", \"pass:hook\" ]",
    };

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        char policies[100];
        struct loaded l;

        snprintf(policies, sizeof(policies), "  policies:\n    packet-filter: %s\n", lists[i]);
        if (load(&l, policies, ""))
            test_fail(t, __FILE__, __LINE__, "%s is taken", lists[i]);
        unload(&l);
    }
}
