/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/counters.c - the names of the application layer's counters. A protocol over both
 * transports has each name twice, with _tcp and _udp. */
#include "app/core/detect_proto.h"
#include "app/core/settings.h"

#include <stdio.h>

/* The parts of names that the counters of one protocol over one transport share. */
struct counter_names {
    const char *proto, *suffix;
    bool own;                   /* Suricata 8 does not have the protocol */
};

static struct app_counter name_counter(const char *fmt, const struct counter_names *names,
                                       const char *last)
{
    char name[128];

    snprintf(name, sizeof(name), fmt, names->proto, names->suffix, last);
    return (struct app_counter){ .has = true,
                                 .id = names->own ? counter_register_own(name, COUNTER_SUM)
                                                  : counter_register(name, COUNTER_SUM) };
}

/* The counters of a policy exist only when it can act. "ignore" changes no packet. */
static bool policy_counts(unsigned policy)
{
    return policy != EXCEPTION_IGNORE && policy != EXCEPTION_AUTO;
}

/* One counter for each action, with the names that Suricata gives them: "drop_flow", not
 * "drop-flow" as in the configuration. */
static void policy_counters(struct app_counter *counter, const char *fmt,
                            const struct counter_names *names)
{
    for (unsigned i = 0; i < EXCEPTION_COUNT; i++) {
        char key[32];

        if (!policy_counts(i))
            continue;
        snprintf(key, sizeof(key), "%s", exception_policy_name((enum exception_policy)i));
        for (char *c = key; *c != '\0'; c++)
            if (*c == '-')
                *c = '_';
        counter[i] = name_counter(fmt, names, key);
    }
}

/* Counters of a protocol that parses. UDP has no gap counter: a lost datagram cannot be seen. */
static void error_counters(struct app_conf *conf, struct app_proto_counters *pc,
                           const struct counter_names *names, unsigned transport)
{
    pc->tx = name_counter("app_layer.tx.%s%s%s", names, "");
    if (transport == TRANSPORT_TCP)
        pc->gap = name_counter("app_layer.error.%s%s.%s", names, "gap");
    pc->alloc = name_counter("app_layer.error.%s%s.%s", names, "alloc");
    pc->parser = name_counter("app_layer.error.%s%s.%s", names, "parser");
    pc->internal = name_counter("app_layer.error.%s%s.%s", names, "internal");
    if (conf->error_policy != EXCEPTION_IGNORE && conf->errors_by_proto)
        policy_counters(pc->policy, "app_layer.error.%s%s.exception_policy.%s", names);
}

/* app_layer.flow.* counts recognised flows, so it is there without a parser too. */
static void proto_counters(struct app_conf *conf, const struct app_proto_conf *pc)
{
    bool both = pc->enabled[TRANSPORT_TCP] && pc->enabled[TRANSPORT_UDP];

    for (unsigned t = 0; t < TRANSPORT_COUNT; t++) {
        struct app_proto_counters *c = &conf->counter[t][pc->proto->id];
        struct counter_names names = {
            .proto = pc->proto->name,
            .suffix = !both ? "" : t == TRANSPORT_TCP ? "_tcp" : "_udp",
            .own = pc->proto->since_suricata_9 && !conf->suricata_9,
        };

        if (!pc->enabled[t])
            continue;
        c->flow = name_counter("app_layer.flow.%s%s%s", &names, "");
        if (pc->parses[t])
            error_counters(conf, c, &names, t);
    }
    if (pc->proto->register_counters != NULL)
        pc->proto->register_counters();
}

/* "failed" counts the flows in which recognition gave up; it is the counter row of
 * APP_PROTO_FAILED, so that app_count_flow() needs no special case. */
void app_counters_register(struct app_conf *conf)
{
    for (unsigned i = 0; i < APP_PROTO_MAX; i++)
        if (conf->proto[i].proto != NULL)
            proto_counters(conf, &conf->proto[i]);
    for (unsigned t = 0; t < TRANSPORT_COUNT; t++) {
        struct counter_names names = { .proto = "failed",
                                       .suffix = t == TRANSPORT_TCP ? "_tcp" : "_udp" };
        struct app_proto_counters *c = &conf->counter[t][APP_PROTO_FAILED];

        c->flow = name_counter("app_layer.flow.%s%s%s", &names, "");
        if (t == TRANSPORT_TCP)
            c->gap = name_counter("app_layer.error.%s%s.%s", &names, "gap");
    }
    conf->magic_counter[MAGIC_SHORTENED] =
        counter_register_own("file_magic.shortened", COUNTER_SUM);
    conf->magic_counter[MAGIC_KNOWN] = counter_register_own("file_magic.known", COUNTER_SUM);
    conf->magic_counter[MAGIC_SKIPPED] = counter_register_own("file_magic.skipped", COUNTER_SUM);
    conf->expectation_counter = counter_register("app_layer.expectations", COUNTER_MAX);
    if (conf->error_policy != EXCEPTION_IGNORE)
        policy_counters(conf->policy_total, "exception_policy.app_layer.error%s%s.%s",
                        &(struct counter_names){ .proto = "", .suffix = "" });
}
