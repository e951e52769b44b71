/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/ruleset.h - the interface of a ruleset: load, share, query its needs.
 *
 * ruleset_load() builds a set aside. All threads then share it read-only; each holds a reference. A
 * reload replaces the complete set: each thread changes between two vectors, and the last
 * ruleset_unref() frees the old one. */
#ifndef DETECT_RULE_RULESET_H
#define DETECT_RULE_RULESET_H

#include "app/rules.h"
#include "detect/rule/rule.h"

struct ruleset;

struct ruleset_request {
    const struct conf_node *conf;           /* root: rule-files, vars, classification-file ... */
    const struct app_conf *app;
    const char *const *extra_files;         /* -s; NULL-ended or NULL */
    const char *exclusive_file;             /* -S; NULL: none */
    const char *rules;                      /* in place of all files; NULL: none. Tests. */
    const char *firewall_file;              /* --firewall-rules-exclusive */
    bool is_inline;                         /* IPS mode */
    bool disabled;                          /* --disable-detection: an empty set */
    bool strict_all;                        /* --strict-rule-keywords */
    const char *strict_keywords;
    const char *config_dir;                 /* directory of the configuration file */
    bool drop_texts;                        /* frees the rules' texts after loading */
    bool all_or_none;                       /* one bad rule makes the load fail */
    struct ruleset *previous;               /* set whose thresholds, bits and datasets this one
                                             * continues; or NULL */
};

/* Counts of the load. Every failed or skipped rule has been logged with its location. */
struct ruleset_report {
    unsigned files, files_failed;
    unsigned loaded, failed, skipped;
    bool firewall_failed;       /* the firewall's rules are incomplete: the set must not be used */
};

/* Rules that could not be read; the set keeps the first ones for the unix socket. */
struct ruleset_failure {
    const char *rule, *file, *error;
    unsigned line;              /* on which the rule begins */
    struct where at;            /* what is wrong in it */
};

/* --- life ----------------------------------------------------------------------------------- */

/* Counts failed rules and leaves them out. NULL with *err: it could not even make an empty set. */
struct ruleset *ruleset_load(const struct ruleset_request *request, struct ruleset_report *report,
                             struct err *err);
struct ruleset *ruleset_ref(struct ruleset *set);
void ruleset_unref(struct ruleset *set);                /* NULL is allowed */
/* Tells the parsers which features the rules need; ruleset_load() does this for its request. */
void ruleset_require(const struct ruleset *set, const struct app_conf *app);
/* Clears thresholds, bits and tags of hosts, because another capture begins. */
void ruleset_clear_hosts(struct ruleset *set);

/* --- contents ------------------------------------------------------------------------------- */

unsigned ruleset_rule_count(const struct ruleset *set);
const struct rule *ruleset_rule(const struct ruleset *set, unsigned i);
const struct ruleset_failure *ruleset_failures(const struct ruleset *set, size_t *count);
/* State that unix socket commands change. NULL: the set has no datasets. */
struct dataset_table;
struct host_bits;
struct dataset_table *ruleset_datasets(const struct ruleset *set);
struct host_bits *ruleset_host_bits(const struct ruleset *set);

/* --- what the rules need of the modules ----------------------------------------------------- */

/* True if a rule inspects the raw data of streams. */
bool ruleset_looks_at_streams(const struct ruleset *set);
/* True if a rule inspects retransmitted data that differ from the first copy. */
bool ruleset_looks_at_overlap(const struct ruleset *set);
/* True if a rule changes how its flow is tracked from the next packet on: bypass, or its own depth
 * for stored files. */
bool ruleset_affects_stream(const struct ruleset *set);

/* Rules that run before the flow lookup, or before the stream (detect_early_hook()). */
enum detect_early_hook { EARLY_HOOK_PRE_FLOW, EARLY_HOOK_PRE_STREAM, EARLY_HOOK_COUNT };
bool ruleset_has_early_hook(const struct ruleset *set, enum detect_early_hook hook);
/* True if these rules read or write state that packets of other flows can change. They then need
 * all packets in capture order. */
bool ruleset_early_hooks_share_state(const struct ruleset *set);

#endif
