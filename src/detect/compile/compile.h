/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/compile.h - the inspection plan: which rules can match a packet, a stream or a
 * transaction, and which patterns are searched first. ruleset_compile() builds it; then it is
 * read-only. */
#ifndef DETECT_COMPILE_H
#define DETECT_COMPILE_H

#include "app/rules.h"
#include "detect/compile/address_cases.h"
#include "detect/compile/buffer_checks.h"
#include "detect/prefilter/address_lists.h"
#include "detect/prefilter/anchored_lists.h"
#include "detect/prefilter/pattern_set.h"
#include "detect/prefilter/payload_sets.h"
#include "detect/prefilter/port_lists.h"
#include "detect/rule/ruleset_private.h"

/* Rules are grouped by transport ... */
enum transport { TRANSPORT_TCP, TRANSPORT_UDP, TRANSPORT_ICMP, TRANSPORT_ICMPV6, TRANSPORT_SCTP,
                 TRANSPORT_OTHER,
                 TRANSPORT_NONE,        /* frames without IP: rules about the link layer */
                 TRANSPORT_COUNT };
enum transport transport_of(uint8_t ip_proto);

/* ... and by direction, those with patterns also by address case. */
struct transport_group {
    const struct payload_sets *payload[ADDRESS_CASES];  /* rules on single packets, by fast
                                                         * pattern */
    struct payload_sets payload_sets[ADDRESS_CASES];    /* owns them */
    /* Rules on the stream, by the flow's protocol; also for packets whose data are not in the
     * stream. Protocols with the same rules share one. NULL: there are none. */
    const struct payload_sets *stream[ADDRESS_CASES][APP_PROTO_COUNT];
    struct payload_sets *stream_sets;       /* owns all of them */
    unsigned stream_set_count;
    struct port_lists non_prefilter;        /* rules on packets without a payload condition */
    struct port_lists payload_non_prefilter;    /* by port: rules without a pattern that fits
                                                 * into a set */
    struct port_lists stream_non_prefilter;
    struct anchored_lists payload_anchored; /* the same, on any port */
    struct anchored_lists stream_anchored;
    struct packet_scan *packet_scan;        /* rules with a fast pattern in a header buffer */
    unsigned packet_scan_count;
    const uint32_t *event_rule;             /* rules with decoder events only */
    unsigned event_rule_count;
    const struct address_lists *addresses;  /* rules with addresses only: evaluated once per flow */
    bool has_stream;
    const char *name;                       /* "tcp to_server" */
};

struct packet_scan {
    const struct buffer *buffer;
    struct pattern_set *set;
};

/* What a packet is compared with for all rules that have a header, in one cache line: the rules
 * themselves are seldom in the caches. */
struct plan_header {
    uint64_t ip_protos;                     /* a bit for each protocol below 64 */
    const struct port_set *src_port, *dst_port;         /* NULL: any */
    const struct address_set *src, *dst;                /* NULL: any */
    const struct rule *rule;                /* some rule with that header */
    uint8_t ip_version;                     /* as in the rule */
};

/* The conditions that reject most candidates, in one array for all rules. */
struct rule_mask {
    uint16_t flowbit;       /* a bit that the flow must have; 0: none, or a number of more bits */
    uint16_t payload_part;  /* number of the payload part of a rule on transactions; 0: no number */
    uint16_t buffer_check;  /* number of what it asks of its pattern's buffer; 0: nothing */
    uint8_t header_id, app_proto;
    uint8_t conditions;     /* rule_conditions() */
    bool is_tx : 1;
    bool is_both : 1;       /* one match covers both directions of a transaction */
    bool is_pattern : 1;    /* the payload part is the pattern alone */
    bool needs_payload_hit : 1;     /* rule on transactions whose only pattern is in the payload */
    bool needs_payload : 1;
    bool is_proto : 1;      /* rule on a protocol alone: evaluated when the protocol has just
                             * been detected */
    bool is_found_once : 1; /* each part of a stream is searched once for what leads to the rule,
                             * so it waits in the stream while it may still match */
    bool needs_tx_pattern : 1;  /* its part of the payload only counts for transactions in which one
                                 * of the part's patterns is, see detect_plan.part_patterns */
};

/* A rule on transactions, and bytes that a buffer of them must have: its pattern's first ones. */
#define TX_PATTERN_MAX 18
struct tx_pattern {
    const struct buffer *buffer;
    uint32_t rule;
    uint8_t len;
    bool nocase;                            /* then they are lower case */
    uint8_t bytes[TX_PATTERN_MAX];
};
struct part_patterns { const struct tx_pattern *at; unsigned count; };

/* What a rule asks of the packet's flow and fragments, in one byte. */
static inline uint8_t rule_conditions(uint32_t flags)
{
    return (uint8_t)((flags & RULE_NEEDS_FLOW ? 1 : 0) |
                     (flags & RULE_FLOW_ESTABLISHED ? 2 : 0) |
                     (flags & RULE_FLOW_NOT_ESTABLISHED ? 4 : 0) |
                     (flags & RULE_ONLY_FRAG ? 8 : 0) | (flags & RULE_NO_FRAG ? 16 : 0));
}

/* One buffer of transactions (or frames) of a protocol that is searched for fast patterns. */
struct tx_scan {
    const struct buffer *buffer;
    const struct app_buffer *app;           /* NULL for frames */
    uint8_t progress;                       /* lowest progress at which the buffer can exist */
    bool is_plain;                          /* one instance, as the parser has it, that comes at
                                             * once */
    struct pattern_set *set;
};

struct tx_lists {
    struct tx_scan *scan;
    unsigned scan_count;
    unsigned always_count;
    const uint32_t *always;                 /* transaction rules without a fast pattern */
};

struct app_group {                          /* by protocol and direction */
    struct tx_lists of[ADDRESS_CASES];
    struct tx_scan *frame_scan;
    unsigned frame_scan_count;
    const uint32_t *frame_always;
    unsigned frame_always_count;
    const char *name;                       /* "http to_client" */
};

struct detect_plan {
    unsigned rule_count;
    struct rule *const *rule;               /* in evaluation order: ruleset->rules */
    struct rule_mask *mask;               /* one for each entry of `rule` */
    const struct buffer_check *buffer_check;    /* by number; from 1 */
    unsigned payload_part_count;            /* rules with equal parts share a number; from 1 */
    struct part_patterns *part_patterns;    /* by number, of parts with needs_tx_pattern */
    struct address_cases cases;
    struct plan_header header[HEADER_ID_RECEIVER + 1];  /* by id */
    struct transport_group group[TRANSPORT_COUNT][2];
    /* Most rules with addresses only are about all of IP, so groups with the same ones share a
     * list. 14 lists took 3.5 MB for 25,185 rules. */
    struct address_lists address_lists[TRANSPORT_COUNT * 2];
    unsigned address_list_count;
    struct app_group app[APP_PROTO_COUNT][2];
    struct pattern_pool *patterns;
    uint32_t step_limit;                    /* detect.inspection-recursion-limit */
    uint32_t work_by_byte;                  /* detect.work-by-byte; 0: no limit */
    bool guess_tx;                          /* detect.guess-applayer-tx */
    bool alert_once;                        /* detect.alert-once */
    uint8_t guess_limit;                    /* detect.stream-tx-log-limit, per transaction */
    unsigned stream_before;                 /* bytes of overlap that the longest pattern needs */
    unsigned chunk_size[2];                 /* bytes per step of stream inspection */
    unsigned buffer_count;
    bool any_rules, any_stream;
    bool any_link;                          /* a rule about frames without IP */
    bool looks_back;                        /* a rule does, see inspect/look_back.h */
    bool any_overlap;                       /* a rule inspects retransmitted data that differ */
};

/* Whether an alert's action applies to the packet alone or to its flow as well. */
enum action_reach { REACH_PACKET, REACH_FLOW, REACH_FLOW_IF_STATEFUL };
enum action_reach rule_reach(const struct rule *rule);

/* classify.c: sets the type and derived flags. */
void rule_classify(struct rule *rule);
/* The type without regard to what other rules do (rule.upstream). */
enum rule_type rule_written_type(const struct rule *rule);
bool rule_is_event_only(const struct rule *rule);
/* order.c: action, flow variables, priority; then as written. Numbers the rules. */
void rules_order(struct ruleset *set);
/* fast_pattern.c: sets rule->fast_list and fast_op if some content can be the fast pattern. */
void rule_select_fast_pattern(struct rule *rule);
/* How much an operation would exclude as fast pattern, whether or not the rule names one; 0: it
 * cannot be one. */
unsigned rule_fast_pattern_worth(const struct rule *rule, const struct rule_op *op);
/* Returns the bytes that the prefilter searches for. */
struct literal_pattern rule_fast_literal(const struct rule *rule);
/* Returns a literal of the payload that is long enough for a pattern set; len 0: none. */
struct literal_pattern rule_payload_literal(const struct rule *rule);
/* The same for single packets: near the front of the payload if the rule can only match there. */
struct payload_pattern rule_packet_pattern(const struct rule *rule);
/* True when finding rule_payload_literal() decides the payload part. */
bool rule_payload_is_literal(const struct rule *rule);
/* Returns a literal of the payload for the anchored lists; len 0: none. */
struct anchored_literal rule_anchored_literal(const struct rule *rule);
/* Returns the list of operations on the payload; NULL: none. */
const struct rule_list *rule_payload(const struct rule *rule);
/* True when the payload list has a content that is not negated. */
bool rule_payload_has_pattern(const struct rule *rule);
/* Whether it has a buffer that is inspected in larger parts, as bodies are. */
bool rule_looks_at_body(const struct rule *rule);
/* follow_tx.c: rules on payload that wait for flowbits of transactions. */
struct bit_setters {
    uint32_t id;                        /* VAR_FLOWBIT */
    unsigned count;
    const uint32_t *sid;
};
struct rule_upstream {
    unsigned count;
    const struct bit_setters *bit[];
};
void rules_follow_tx(struct ruleset *set);
/* shared_payload.c: sets rule->shared_payload_match. */
void rules_share_payload_matches(struct ruleset *set);
/* How much the literal of the payload that a pattern set searches for excludes; 0: none. */
unsigned rule_payload_worth(const struct rule *rule);
/* rule_masks.c: plan->mask, for all rules of the plan; all else of them must be compiled. */
void rule_masks_build(struct detect_plan *plan, struct arena *arena);
bool rule_is_on_any_port(const struct rule *rule);
/* header_id.c: sets rule->header_id. Fast patterns must have been selected. */
void rules_number_headers(struct ruleset *set);

/* finish_rule.c: the rule_finish_fn of each rule: whether keywords fit each other; resolves
 * variables. The argument of `dsize` is a struct int_match. */
int rule_finish(struct rule_parser *p);

#endif
