/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/firewall_policies.c - what the firewall does where no rule decides. Suricata 8
 * names the hooks "packet-filter" and "dns.request-started", Suricata 9 "packet.filter" and
 * "app.dns.request-started". Both are read. */
#include "detect/compile/firewall.h"

#include "base/array.h"
#include "conf/conf.h"
#include "detect/rule/firewall_action.h"
#include "detect/rule/ruleset_private.h"

#include <stdio.h>
#include <string.h>

/* The defaults are those of Suricata's firewall mode: what no rule accepts is dropped. */
static const struct firewall_policy drop_packet = { RULE_DROP, SCOPE_PACKET, NULL };
static const struct firewall_policy drop_flow = { RULE_DROP, SCOPE_FLOW, NULL };
static const struct firewall_policy accept_hook = { RULE_ACCEPT, SCOPE_HOOK, NULL };

/* The hook of a policy: of packets, or of one direction of a protocol. */
struct policy_hook {
    struct ruleset *set;
    struct firewall_policy *policy;
    const char *const *paths;           /* the later one wins; ended by NULL */
    const struct app_proto *proto;      /* NULL: of packets */
    enum direction direction;
    uint8_t hook, kind;                 /* as rule.hook, rule.hook_kind */
};

/* --- alerts ------------------------------------------------------------------------------- */

/* The rule that stands for a policy with `alert` in records. Number and text are Suricata's. */
static const struct rule *policy_rule(const struct policy_hook *h, const struct firewall_action *a)
{
    struct rule *rule = arena_zalloc(&h->set->arena, sizeof(*rule));
    struct rule_info *info = arena_zalloc(&h->set->arena, sizeof(*info));

    info->msg = h->proto != NULL ? "SURICATA FW default app policy"
                                 : "SURICATA FW default packet policy";
    *rule = (struct rule){
        .index = FIREWALL_POLICY_INDEX, .flags = RULE_FIREWALL | RULE_ALERT_KEYWORD,
        .sid = h->proto != NULL ? 2201001 : 2201000, .gid = 1, .rev = 1, .priority = 3,
        .type = h->proto != NULL ? RULE_APP_TX : RULE_PACKET,
        .action = a->action, .scope = a->scope, .also_pass = a->also_pass, .hook = h->hook,
        .hook_kind = h->kind,
        .stored_info = info };
    if (h->proto != NULL) {
        rule->app_proto = (uint8_t)h->proto->id;
        rule->hook_in_app = true;
        rule->flags |= h->direction == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT;
    }
    return rule;
}

/* --- values ------------------------------------------------------------------------------- */

/* Takes a list of words, or one word. */
static int policy_read(const struct conf_node *node, const struct policy_hook *h, struct err *err)
{
    const struct conf_node *word = node->child != NULL ? node->child : node;
    struct firewall_action a = { 0 };
    struct text wrong;
    bool first = true;

    for (; word != NULL; word = word == node ? NULL : word->next, first = false) {
        struct text text = text_of(word->value != NULL ? word->value : "");
        const char *expected = firewall_action_add(&a, first, text, &wrong);

        if (expected == NULL && a.action == RULE_CONFIG)
            expected = "accept, drop or reject first";
        if (expected != NULL)
            return err_at(err, word->at, "firewall policy: expected %s, found \"%.*s\"", expected,
                          TEXT(wrong));
    }
    *h->policy = (struct firewall_policy){ .action = a.action, .scope = a.scope };
    if (a.alert)
        h->policy->rule = policy_rule(h, &a);
    return 0;
}

/* Without any of the keys the policy keeps its default. */
static int hook_read(const struct conf_node *policies, const struct policy_hook *h,
                     struct err *err)
{
    for (unsigned i = 0; h->paths[i] != NULL; i++) {
        const struct conf_node *node = conf_find(policies, h->paths[i]);

        if (node != NULL && policy_read(node, h, err) < 0)
            return -1;
    }
    return 0;
}

/* --- hooks -------------------------------------------------------------------------------- */

/* Early hooks accept by default, or no packet would reach the filter table. */
static int packet_policies(struct ruleset *set, const struct conf_node *policies, struct err *err)
{
    static const struct { const char *paths[3]; uint8_t hook; } tables[FIREWALL_TABLES] = {
        [FIREWALL_PRE_FLOW] = { { "packet-pre-flow", "packet.pre-flow" }, HOOK_PRE_FLOW },
        [FIREWALL_PRE_STREAM] = { { "packet-pre-stream", "packet.pre-stream" }, HOOK_PRE_STREAM },
        [FIREWALL_FILTER] = { { "packet-filter", "packet.filter" }, HOOK_ALL },
    };

    for (unsigned t = 0; t < FIREWALL_TABLES; t++) {
        struct firewall_policy *policy = &set->firewall->packet_policy[t];
        struct policy_hook h = { .set = set, .policy = policy, .paths = tables[t].paths,
                                 .hook = tables[t].hook };

        *policy = t == FIREWALL_FILTER ? drop_packet : accept_hook;
        if (hook_read(policies, &h, err) < 0)
            return -1;
    }
    return 0;
}

/* The hook "request_line" is the key "request-line". */
static void key_add(char *key, size_t size, const char *name)
{
    size_t start = strlen(key);

    snprintf(key + start, size - start, "%s", name);
    for (char *p = key + start; *p != '\0'; p++)
        *p = *p == '_' ? '-' : *p;
}

/* Every protocol has the hooks "started" and "complete"; the others are its named states of
 * progress. FIREWALL_HOOKS_MAX bounds the table. */
static int app_policy(struct policy_hook *h, const struct conf_node *policies, const char *name,
                      int64_t state, struct err *err)
{
    char at[4][160];
    const char *paths[5] = { at[0], at[1], at[2], at[3], NULL };
    const char *protos[2] = { h->proto->name, app_proto_rule_name(h->proto) };

    if (state < 0 || state >= FIREWALL_HOOKS_MAX)
        return 0;
    for (unsigned i = 0; i < ARRAY_LEN(at); i++) {
        snprintf(at[i], sizeof(at[i]), "%s%s.", i < 2 ? "" : "app.", protos[i & 1]);
        key_add(at[i], sizeof(at[i]), name);
    }
    h->paths = paths;
    h->policy = &h->set->firewall->app_policy[h->proto->id][h->direction][state];
    h->hook = (uint8_t)(state + 1);
    return hook_read(policies, h, err);
}

static int app_policies(struct ruleset *set, const struct conf_node *policies,
                        const struct app_proto *proto, enum direction d, struct err *err)
{
    struct policy_hook h = { .set = set, .proto = proto, .direction = d };
    const char *started = d == TO_SERVER ? "request_started" : "response_started";
    const char *complete = d == TO_SERVER ? "request_complete" : "response_complete";

    for (unsigned hook = 0; hook < FIREWALL_HOOKS_MAX; hook++)
        set->firewall->app_policy[proto->id][d][hook] = drop_flow;
    if (app_policy(&h, policies, started, 0, err) < 0 ||
        app_policy(&h, policies, complete, proto->progress_done[d], err) < 0)
        return -1;
    for (const struct app_name *n = proto->progress_names[d]; n != NULL && n->name != NULL; n++)
        if (app_policy(&h, policies, n->name, n->value, err) < 0)
            return -1;
    return 0;
}

/* Suricata 9's "app.http2.stream.request-headers". What has no such key takes the policy of the
 * hook without a kind. */
static int kind_policies(struct policy_hook *h, const struct conf_node *policies, unsigned kind,
                         struct err *err)
{
    firewall_policies *of = &h->set->firewall->kind_policy[h->proto->id][kind];
    const struct app_tx_kind *k = &h->proto->tx_kinds[kind];
    char key[160];
    const char *paths[] = { key, NULL };

    h->paths = paths;
    h->kind = (uint8_t)(kind + 1);
    for (const struct app_name *n = k->progress_names[h->direction]; n->name != NULL; n++) {
        snprintf(key, sizeof(key), "app.%s.%s.", h->proto->name, k->name);
        key_add(key, sizeof(key), n->name);
        h->policy = &(*of)[h->direction][n->value];
        h->hook = (uint8_t)(n->value + 1);
        if (hook_read(policies, h, err) < 0)
            return -1;
    }
    return 0;
}

static int all_kinds_policies(struct ruleset *set, const struct conf_node *policies,
                              const struct app_proto *proto, struct err *err)
{
    struct firewall *fw = set->firewall;
    unsigned count = 0;

    if (proto->tx_kinds == NULL || !set->suricata_9)
        return 0;
    while (proto->tx_kinds[count].name != NULL)
        count++;
    fw->kind_policy[proto->id] = arena_zalloc(&set->arena, count * sizeof(firewall_policies));
    for (unsigned i = 0; i < count; i++) {
        memcpy(&fw->kind_policy[proto->id][i], &fw->app_policy[proto->id],
               sizeof(firewall_policies));
        for (unsigned d = 0; d < 2; d++) {
            struct policy_hook h = { .set = set, .proto = proto, .direction = (enum direction)d };

            if (kind_policies(&h, policies, i, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* --- keys that nothing reads -------------------------------------------------------------- */

/* Keys have "-" where hooks have "_". */
static bool is_hook(const char *key, const char *hook)
{
    size_t i = 0;

    for (; key[i] != '\0' && key[i] == (hook[i] == '_' ? '-' : hook[i]); i++)
        continue;
    return key[i] == '\0' && hook[i] == '\0';
}

static bool is_named(const struct app_name *const names[2], const char *key)
{
    for (unsigned d = 0; d < 2; d++)
        for (const struct app_name *n = names[d]; n != NULL && n->name != NULL; n++)
            if (is_hook(key, n->name))
                return true;
    return false;
}

static bool has_hook(const struct app_proto *proto, const char *key)
{
    static const char *const ends[] = { "request_started", "request_complete", "response_started",
                                        "response_complete" };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (is_hook(key, ends[i]))
            return true;
    return is_named(proto->progress_names, key);
}

/* False: the key names no kind of transactions. */
static bool check_kind(const struct app_proto *proto, const struct conf_node *node)
{
    for (const struct app_tx_kind *k = proto->tx_kinds; k != NULL && k->name != NULL; k++) {
        if (strcmp(node->name, k->name) != 0)
            continue;
        CONF_EACH(hook, node)
            if (!is_named(k->progress_names, hook->name))
                conf_warning(hook, "firewall policy: protocol %s has no hook \"%s\" of the kind "
                             "%s", proto->name, hook->name, k->name);
        return true;
    }
    return false;
}

static const struct app_proto *proto_of(const char *key)
{
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        if (proto != NULL && (strcmp(key, proto->name) == 0 ||
                              strcmp(key, app_proto_rule_name(proto)) == 0))
            return proto;
    }
    return NULL;
}

static void check_app(const struct conf_node *node, bool kinds)
{
    const struct app_proto *proto = proto_of(node->name);

    if (proto == NULL)
        conf_warning(node, "firewall policy: there is no protocol or hook \"%s\"", node->name);
    CONF_EACH(hook, node)
        if (proto != NULL && !has_hook(proto, hook->name) && !(kinds && check_kind(proto, hook)))
            conf_warning(hook, "firewall policy: protocol %s has no hook \"%s\"", proto->name,
                         hook->name);
}

/* A policy that is ignored would leave the user with another firewall than he wrote. */
static void check_keys(const struct conf_node *policies, bool kinds)
{
    CONF_EACH(node, policies) {
        if (strcmp(node->name, "app") == 0)
            CONF_EACH(proto, node)
                check_app(proto, kinds);
        else if (strcmp(node->name, "packet") == 0)
            CONF_EACH(hook, node) {
                if (strcmp(hook->name, "filter") != 0 && strcmp(hook->name, "pre-flow") != 0 &&
                    strcmp(hook->name, "pre-stream") != 0)
                    conf_warning(hook, "firewall policy: packets have no hook \"%s\"",
                                 hook->name);
            }
        else if (strcmp(node->name, "packet-filter") != 0 &&
                 strcmp(node->name, "packet-pre-flow") != 0 &&
                 strcmp(node->name, "packet-pre-stream") != 0)
            check_app(node, false);
    }
}

int firewall_policies_read(struct ruleset *set, const struct conf_node *root, struct err *err)
{
    const struct conf_node *policies = conf_find(root, "firewall.policies");

    check_keys(policies, set->suricata_9);
    if (packet_policies(set, policies, err) < 0)
        return -1;
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        for (unsigned d = 0; proto != NULL && d < 2; d++)
            if (app_policies(set, policies, proto, (enum direction)d, err) < 0)
                return -1;
        if (proto != NULL && all_kinds_policies(set, policies, proto, err) < 0)
            return -1;
    }
    return 0;
}
