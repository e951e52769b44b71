/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/detect.h - rules at work, for the modules and control/.
 *
 * A ruleset is built aside, shared read-only by all threads and replaced whole: each thread
 * moves over between two vectors, the old one goes when the last has left. */
#ifndef DETECT_DETECT_H
#define DETECT_DETECT_H

#include "app/tx.h"
#include "base/report/counters.h"
#include "detect/rule/rule.h"

struct ruleset;
struct detect_thread;

struct ruleset_request {
    const struct conf_node *conf;           /* root: rule-files, vars, classification-file ... */
    const struct app_conf *app;
    const char *const *extra_files;         /* -s; NULL-ended or NULL */
    const char *exclusive_file;             /* -S; NULL: none */
    const char *firewall_file;              /* --firewall-rules-exclusive */
    bool is_inline;                         /* IPS */
    bool disabled;                          /* --disable-detection: an empty set */
    bool strict_all;                        /* --strict-rule-keywords */
    const char *strict_keywords;
    const char *config_dir;                 /* where the configuration file stands */
    bool drop_texts;                        /* nobody asks for rules as written */
    bool all_or_none;           /* one bad rule, and none is used */
    struct ruleset *previous;               /* the new set remembers what this one did; NULL */
};

/* What became of the rules; every failed or skipped one has been logged with its place. */
struct ruleset_report {
    unsigned files, files_failed;
    unsigned loaded, failed, skipped;
    bool firewall_failed;       /* what lets packets pass is not whole: not to be used */
};

/* NULL only when not even the frame could be built (err). Failed rules are counted. */
struct ruleset *ruleset_load(const struct ruleset_request *request, struct ruleset_report *report,
                             struct err *err);
/* What the set remembers, for commands; NULL: there are no datasets. */
struct dataset_table;
struct host_bits;
struct dataset_table *ruleset_datasets(const struct ruleset *set);
struct host_bits *ruleset_host_bits(const struct ruleset *set);
/* Tells it what the rules need of the protocols; ruleset_load() does so for its own. */
void ruleset_require(const struct ruleset *set, const struct app_conf *app);
/* Forgets what it knows of hosts: another capture begins. */
void ruleset_clear_hosts(struct ruleset *set);
struct ruleset *ruleset_ref(struct ruleset *set);
void ruleset_unref(struct ruleset *set);
/* Is there a rule on the raw data of streams? */
bool ruleset_looks_at_streams(const struct ruleset *set);
/* ... on data of a stream that came again and were others? */
bool ruleset_looks_at_overlap(const struct ruleset *set);
/* Of the rules that could not be read, the first ones. */
struct ruleset_failure {
    const char *rule, *file, *error;
    unsigned line;
};
const struct ruleset_failure *ruleset_failures(const struct ruleset *set, size_t *count);
unsigned ruleset_rule_count(const struct ruleset *set);
const struct rule *ruleset_rule(const struct ruleset *set, unsigned i);

struct detect_thread *detect_thread_new(struct ruleset *set, const struct conf_node *conf,
                                        struct counters *counters, bool is_inline,
                                        struct err *err);
/* Alerts about a stream carry its latest data, so many bytes at most; before the first packet. */
void detect_thread_keep_alert_payload(struct detect_thread *dt, uint32_t bytes);
void detect_thread_free(struct detect_thread *dt);
void detect_thread_set_rules(struct detect_thread *dt, struct ruleset *set);    /* on its thread */
/* Likewise, once counting what rules cost has started or stopped (detect/state/profile.h). */
void detect_thread_follow_profile(struct detect_thread *dt);
/* Of several that share flows, all are told when any of them gets other rules or other flows: what
 * a flow remembers of rules under another generation is let go. */
void detect_thread_set_generation(struct detect_thread *dt, uint8_t generation);

/* After app_packet(): runs the rules on packet, stream chunks and transactions; fills p->alert,
 * sets p->action, flow->action and post-match effects. Marks transactions as inspected. */
void detect_packet(struct detect_thread *dt, struct packet *p);

/* Rules that stand in front of the flow table, or of the stream: for the thread that looks up
 * flows, with a detect_thread of its own. False: dropped there. The alerts stand in p->alert. */
enum detect_early_hook { EARLY_HOOK_PRE_FLOW, EARLY_HOOK_PRE_STREAM, EARLY_HOOK_COUNT };
bool ruleset_has_early_hook(const struct ruleset *set, enum detect_early_hook hook);
/* Do these rules ask or change what packets of other flows can change? Then they take turns
 * (packet/turn.h): nothing may stand between the packet and those before it. */
bool ruleset_early_hooks_share_state(const struct ruleset *set);
/* Does a rule change how its flow is followed from the next packet on: bypass, or a depth of its
 * own for files that are stored? */
bool ruleset_affects_stream(const struct ruleset *set);
bool detect_early_hook(struct detect_thread *dt, struct packet *p, enum detect_early_hook hook);

/* Which directions of a flow that ends are inspected once more, in the packet's flags: where TCP
 * data, transactions or what was found in the stream have not been told yet. Call it before
 * app_packet(). */
void detect_flow_ends(struct packet *p);

/* What has come of the flow's stream so far is worth reporting, with the next packet of either
 * direction. */
/* After the outputs: what alerts need no longer show of the stream that this packet belongs to. */
bool detect_keeps_alert_payload(const struct detect_thread *dt);
void detect_clear_alert_payload(struct detect_thread *dt, struct packet *p);
void detect_flush_stream(struct flow *flow);

/* The tx's rule state and the flow's, when they die. */
void detect_tx_free(struct app_tx *tx);
void detect_flow_free(struct flow *flow);
/* A packet of this flow comes soon: the second once what the first called for has come; the third
 * once the state of its newest transaction has. */
void detect_prefetch_flow(const struct flow *flow);
void detect_prefetch_lists(const struct flow *flow);
void detect_prefetch_tx(const struct app_tx *tx);

/* The transaction has been inspected as far as its progress goes, in both directions. */
bool detect_tx_inspected(const struct app_tx *tx);

#endif
