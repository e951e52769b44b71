/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/log_limit.h - a bound on what traffic may write to logs (`log-limit`).
 *
 * A flow pays for records with its bytes, a packet without a flow with its own. What is beyond that
 * comes from a burst that all flows share; each minute of packet time has its own. Records beyond
 * both are left out and counted, alerts by their rule, and the counts are written when the minute
 * is over. The burst is used in the order of the capture, so the same records are left out with any
 * number of threads. */
#ifndef OUTPUT_LOG_LIMIT_H
#define OUTPUT_LOG_LIMIT_H

#include <pthread.h>

#include "base/containers/map.h"
#include "base/report/counters.h"

struct conf_node;
struct packet;
struct render;
struct rule;

enum left_out_kind { LEFT_OUT_ALERT, LEFT_OUT_FLOW, LEFT_OUT_LINE, LEFT_OUT_OTHER,
                     LEFT_OUT_KINDS };

/* What has been left out in a minute. */
struct left_out {
    uint64_t count[LEFT_OUT_KINDS];
    uint64_t time_us;                   /* of the latest packet */
    struct map rules;                   /* from struct left_out_rule to a count, as a pointer */
};
struct left_out_rule {
    uint32_t gid, sid;
};

/* All threads share it. */
struct log_limit {
    uint32_t by_byte;                   /* 0: no limit */
    uint64_t burst;
    counter_id left_out_id;
    uint64_t closed;                    /* minutes before it have no burst left; atomic */
    pthread_mutex_t lock;               /* for the rest */
    uint64_t minute, used;              /* the minute of the burst, and bytes used of it */
    uint64_t total;                     /* records left out since the start */
    struct left_out *now;               /* NULL: none in this minute */
};

void log_limit_init(struct log_limit *limit, const struct conf_node *root);
void log_limit_fini(struct log_limit *limit);

/* Whether the packet's records may have `len` bytes more. The caller charges the flow. */
bool log_limit_allows(struct render *r, const struct packet *p, size_t len);
/* The same, and charges the flow, or the packet if it has none. */
bool log_limit_take(struct render *r, const struct packet *p, size_t len);
/* The same for the last records of a flow. */
bool log_limit_take_last(struct render *r, const struct packet *p, size_t len);
/* Pays for a file that a packet causes: its bytes, and LOG_LIMIT_FILE for its entry in a directory.
 * False: the file is not to be written; it has been counted. */
#define LOG_LIMIT_FILE 4096u    /* the block that file systems give it; opening takes 10 us */
bool log_limit_take_file(struct render *r, const struct packet *p, size_t len);
/* Charges the flow for what is written already, also beyond what it has paid for. */
void log_limit_charge(const struct packet *p, size_t len);
/* Takes it of the burst, whatever the flow has paid for, also when there is no limit by byte. */
bool log_limit_take_of_burst(struct render *r, const struct packet *p, size_t len);
/* Whether nothing is left for a record of at least `least` bytes, so that rendering it would be in
 * vain. No record may be shorter than that: else the result would depend on other threads. */
bool log_limit_is_used(const struct render *r, const struct packet *p, size_t least);
#define LOG_LIMIT_LEAST 64u     /* of a line of `fast` */
#define LOG_LIMIT_EVE_LEAST 96u /* of a record of EVE: time and type */
#define LOG_LIMIT_ALERT_LEAST 160u      /* of an alert in EVE: the rule, too */
/* Counts a record that was left out. rule: of an alert; else NULL. */
void log_limit_count(struct render *r, const struct packet *p, enum left_out_kind kind,
                     const struct rule *rule);
/* Returns what has been left out and not been written; the caller frees it. NULL: nothing.
 * now_us: only if that minute is over; UINT64_MAX: in any case. */
struct left_out *log_limit_collect(struct log_limit *limit, uint64_t now_us);
void left_out_free(struct left_out *left);

#endif
