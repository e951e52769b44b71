/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/threshold.h - limits how often a matching rule alerts.
 *
 * Limits come from the keywords threshold and detection_filter and from threshold.config. A rule
 * has a short list of specifications: suppressions first, then at most one threshold. Counts per
 * source, destination, pair or rule are in a table that threads share. Counts per flow are in the
 * flow, without a lock. */
#ifndef DETECT_THRESHOLD_H
#define DETECT_THRESHOLD_H

#include "detect/rule/ruleset_private.h"

enum threshold_type {
    THRESHOLD_LIMIT,            /* alerts until count, then silent, in each `seconds` */
    THRESHOLD_EVERY,            /* "threshold": an alert each `count` matches */
    THRESHOLD_BOTH,             /* one alert per `seconds`, at the count'th match */
    THRESHOLD_FILTER,           /* detection_filter: alerts after `count` matches */
    THRESHOLD_RATE,             /* rate_filter: another action once the rate is exceeded */
    THRESHOLD_BACKOFF,          /* alerts at count, count*multiplier, ... matches of a flow */
    THRESHOLD_SUPPRESS,         /* no alerts for some addresses */
};
enum threshold_track { TRACK_SRC, TRACK_DST, TRACK_BOTH, TRACK_RULE, TRACK_FLOW, TRACK_EITHER,
                       TRACK_PORT };    /* a port that `unique_on` has counted */
/* The word after `track`, such as by_src, of a rule or a threshold file. False: it is none. */
bool threshold_track_parse(struct text word, uint8_t *track);
enum threshold_unique { UNIQUE_NONE, UNIQUE_SRC_PORT, UNIQUE_DST_PORT };
enum threshold_action { RATE_ALERT, RATE_DROP, RATE_REJECT, RATE_PASS, RATE_KEEP };

struct threshold_spec {
    uint8_t type, track, new_action;
    uint8_t unique_on;          /* enum threshold_unique: count different ports, not matches */
    bool by_keyword;            /* from the rule's own keyword */
    uint32_t count, seconds, timeout, multiplier;
    const struct address_set *addresses;        /* suppress */
    const char *file;           /* with `line`: of threshold-file; NULL: the rule's own */
    unsigned line;
    struct threshold_spec *next;
};

struct threshold_table *threshold_table_new(const struct conf_node *root);
void threshold_table_free(struct threshold_table *table);
struct shard_table;
struct shard_table *threshold_table_shared(struct threshold_table *table);
/* Frees the counts of a flow, with the flow. */
void threshold_flow_free(struct flow *flow);

/* The result for a match that is about to become an alert. */
enum threshold_result {
    THRESHOLD_ALERT,        /* the alert continues */
    THRESHOLD_SILENT,       /* matched: actions apply, but no alert is logged */
    THRESHOLD_NO_MATCH,     /* detection_filter: treated as if the rule had not matched */
    THRESHOLD_DROP,         /* rate_filter: becomes a drop; packet_alert.action changes */
    THRESHOLD_REJECT,       /* the same, with reject and drop */
    THRESHOLD_PASS,         /* the same, with pass */
    THRESHOLD_TO_ALERT,     /* the same, with an alert that drops nothing */
};
/* Counts a match on what direction d sends. Takes the lock of one shard, unless the count is in the
 * flow. */
enum threshold_result threshold_apply(struct threshold_table *state, const struct rule *rule,
                                      const struct packet *p, enum direction d);

/* For explanations: the matches that the rule's threshold has counted so far for the addresses of
 * the packet. 0: none, or it counts no more. */
uint32_t threshold_counted(struct threshold_table *state, const struct rule *rule,
                           const struct packet *p, enum direction d);

/* Reads threshold-file and attaches its specifications to the rules; call it before compilation.
 * Logs errors and counts them. */
void threshold_config_load(struct ruleset *set, const struct conf_node *root);
/* Parses the lines of such a file, for tests. Returns the number of valid lines. */
unsigned threshold_config_lines(struct ruleset *set, struct text all, const char *name);

#endif
