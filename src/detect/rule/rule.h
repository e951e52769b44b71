/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/rule.h - a parsed rule; read-only after compilation.
 *
 * The parser (detect/rule/) fills it, the compiler (detect/compile/compile.c) orders, classifies
 * and flattens it, the inspection (detect/inspect/) only reads. Each ruleset has its own struct
 * rule; rulesets may share what it points to (detect/rule/rule_block.h). */
#ifndef DETECT_RULE_H
#define DETECT_RULE_H

#include "app/list.h"
#include "base/memory/arena.h"
#include "base/memory/packed_arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/text/text.h"
#include "packet/packet.h"

struct address_set;             /* match/address.h */
struct port_set;                /* match/port.h */
struct keyword_ops;
struct ruleset;
struct buffer;                  /* detect/rule/buffer.h */
struct transform_use;
struct rule_op;                 /* one operation on a buffer; see detect/rule/program.h */
struct tag_spec;
struct threshold_spec;
struct rule_program;
struct rule_block;              /* detect/rule/rule_block.h */
struct app_required_features;
struct match_input;

enum rule_action { RULE_ALERT, RULE_DROP, RULE_REJECT_SRC, RULE_REJECT_DST, RULE_REJECT_BOTH,
                   RULE_PASS, RULE_CONFIG, RULE_ACCEPT };

/* How much drop and pass affect; SCOPE_DEFAULT is the action's usual scope. */
enum rule_scope { SCOPE_DEFAULT, SCOPE_PACKET, SCOPE_FLOW,
                  SCOPE_HOOK, SCOPE_TX };       /* firewall only */

/* rule->hook unless hook_in_app: which packets the rule inspects. */
enum packet_hook { HOOK_NONE, HOOK_FLOW_START, HOOK_PRE_FLOW, HOOK_PRE_STREAM, HOOK_ALL };

/* Kinds of variables. A rule that sets one is evaluated before rules that read it; flowbits rank
 * above these. */
enum rule_var { RULE_VAR_INT = 1u << 0, RULE_VAR_FLOW = 1u << 1, RULE_VAR_PACKET = 1u << 2,
                RULE_VAR_HOST = 1u << 3, RULE_VAR_PAIR = 1u << 4 };
#define RULE_VARS 5

/* Decides on what the rule is evaluated; the compiler derives it. Names as in --engine-analysis. */
enum rule_type {
    RULE_IP_ONLY,               /* addresses only: once per flow and direction */
    RULE_LIKE_IP_ONLY,          /* the same, but with negated addresses or state */
    RULE_PROTO_ONLY,            /* "pd_only": fires when the app protocol is detected */
    RULE_DECODER_EVENT,         /* "de_only": packets with decoder events */
    RULE_PACKET,
    RULE_PACKET_STREAM,         /* payload of the packet and the stream */
    RULE_STREAM,
    RULE_APP_LAYER,             /* names an app protocol, needs no transaction */
    RULE_APP_TX,                /* inspects transactions */
};

/* The number of rules' headers that have an id, from 0; two more are of compile/address_cases.h. A
 * flow has a bit for each of the 64. */
#define HEADER_IDS_MAX 62
#define HEADER_ID_SENDER 62
#define HEADER_ID_RECEIVER 63
#define HEADER_ID_NONE 255

enum rule_flag {
    RULE_NOALERT            = 1u << 0,
    RULE_SRC_ANY            = 1u << 1,
    RULE_DST_ANY            = 1u << 2,
    RULE_SPORT_ANY          = 1u << 3,
    RULE_DPORT_ANY          = 1u << 4,
    RULE_BIDIRECTIONAL      = 1u << 5,  /* "<>": the builder makes two rules of one sid */
    RULE_TO_SERVER          = 1u << 6,  /* runs on packets to the server */
    RULE_TO_CLIENT          = 1u << 7,  /* a rule that sets neither gets both */
    RULE_NEEDS_FLOW         = 1u << 8,
    RULE_NEEDS_PACKET       = 1u << 9,  /* must inspect single packets */
    RULE_NEEDS_STREAM       = 1u << 10, /* may inspect stream data */
    RULE_NEEDS_PAYLOAD      = 1u << 11,
    RULE_FLOW_ESTABLISHED   = 1u << 12,
    RULE_FLOW_NOT_ESTABLISHED = 1u << 13,
    RULE_FLOW_STATELESS     = 1u << 14,
    RULE_ONLY_STREAM        = 1u << 15,
    RULE_NO_STREAM          = 1u << 16,
    RULE_ONLY_FRAG          = 1u << 17,
    RULE_NO_FRAG            = 1u << 18,
    RULE_PROTO_TCP_PKT      = 1u << 19, /* the header has tcp-pkt */
    RULE_PROTO_TCP_STREAM   = 1u << 20,
    RULE_PROTO_PKTHDR       = 1u << 21,
    RULE_PREFILTER          = 1u << 22, /* `prefilter` keyword */
    RULE_FILESTORE          = 1u << 23,
    RULE_BYPASS             = 1u << 24,
    RULE_TARGET_SRC         = 1u << 25,
    RULE_TARGET_DST         = 1u << 26,
    RULE_HAS_POST           = 1u << 27,
    RULE_TX_BOTH            = 1u << 28, /* "=>": one match over both directions of a tx */
    RULE_FIREWALL           = 1u << 29,
    RULE_ALERT_KEYWORD      = 1u << 30,
    RULE_PAYLOAD_PATTERN    = 1u << 31, /* a pattern set finds its payload part */
};

/* What a rule wants of the link layer. Only these rules are inspected on frames without IP. */
enum rule_link { RULE_LINK_ANY, RULE_LINK_ETHER, RULE_LINK_ARP };

/* One test or post-match action: a keyword with its argument. */
struct rule_test {
    const struct keyword_ops *keyword;
    bool (*match)(const struct match_input *in, const void *arg);
    const void *arg;
    bool negated;
    bool late;                          /* POINT_PACKET: evaluated after all buffers matched */
    bool any_time;                      /* POINT_TX: can become true until the transaction ends */
    uint8_t directions;                 /* POINT_TX: APP_TS, APP_TC */
    uint8_t progress[2];
};
struct match_input;

/* All operations of a rule on one buffer with one chain of transforms, as written between two
 * sticky buffers. The payload's list has buffer == NULL. */
struct rule_list {
    const struct buffer *buffer;        /* includes its transforms; NULL: payload */
    struct rule_op *first, *last;       /* as parsed, linked; see rule_blocks_read_operations() */
    unsigned op_count;
    uint8_t directions;                 /* directions in which the rule inspects the buffer */
    const struct rule_program *program; /* compiled */
    const struct rule_list *decoded;    /* list on the output of its base64_decode; or NULL */
    struct rule_list *next;
};

struct rule_reference { const char *prefix, *id; };     /* "https://", "example.org/x" */

/* What matches show of a rule. Keywords write it, then rulesets that have the rule share it. It is
 * read by rule_info(). */
struct rule_info {
    const char *msg;
    const char *class_name, *class_text;        /* "trojan-activity", its description */
    struct rule_reference *reference;
    unsigned reference_count;
    uint32_t class_id;                  /* 0: none */
    const char *metadata_json;          /* rendered once: {"created_at":["2024"]...}; or NULL */
    const char *const *var_names;       /* of byte_extract/byte_math, var_count of them */
};

/* What a reload needs to use a parsed rule again. The memory that the rule points to belongs to the
 * block, and so does this. Rulesets share it, each with a struct rule of its own. */
struct rule_source {
    uint64_t hash[2];                   /* of the text and how it was read; keyed */
    struct rule_block *block;
    const struct app_required_features *required;       /* NULL: nothing */
    struct threshold_spec *threshold;   /* of the rule itself, without threshold.config */
    uint32_t flags;                     /* before compilation */
};

struct rule_upstream;

struct rule {
    /* read first by inspection */
    uint32_t index;                     /* index in evaluation order */
    uint32_t flags;                     /* enum rule_flag */
    uint32_t shared_payload_match;  /* index of the rule that searches its payload part */
    unsigned var_count;                 /* byte_extract and byte_math results */
    const struct rule_program *payload; /* the payload part; NULL: none */
    uint8_t action;                     /* enum rule_action */
    uint8_t type;                       /* enum rule_type */
    uint8_t app_proto;                  /* enum app_proto_id; UNKNOWN: any */
    uint8_t ip_proto[32];               /* bit set of protocols; all ones: ip */
    uint8_t ip_version;                 /* 4, 6, or 0: both */
    uint8_t hook;                       /* 0: none; else 1 + progress state, or packet_hook */
    bool hook_in_app;                   /* the hook belongs to a protocol's transactions */
    uint8_t hook_kind;                  /* of these only: 1 + index in app_proto.tx_kinds; 0: all */
    uint8_t link;                       /* enum rule_link */
    uint8_t scope;                      /* enum rule_scope */
    uint8_t header_id;         /* shared by rules with equal, frequent headers; or HEADER_ID_NONE */
    bool also_pass;                     /* firewall: packets that it accepts skip other rules */
    bool hook_up_to;                    /* "<hook": accepts all earlier hooks as well */
    bool uses_shared_state;  /* reads or changes state that other flows can change: bits and tags
                              * of hosts, datasets; not thresholds */
    bool looks_back;                    /* its payload part does, see inspect/look_back.h */
    bool info_is_packed;
    bool is_facts;                      /* the half on packets of another rule: `facts` there */
    uint8_t vars_set, vars_read;        /* RULE_VAR_*: kinds of variables; for ordering */
    const struct address_set *src, *dst;
    const struct port_set *src_port, *dst_port;
    struct rule_test *test;             /* POINT_PACKET, late ones last */
    unsigned test_count;
    unsigned late_count;                /* number of late ones */
    struct rule_list *list;             /* buffers, the payload included */
    struct rule_test *tx_test;          /* POINT_TX */
    struct rule_test *post;             /* POINT_POST */
    unsigned tx_test_count, post_count;
    struct tag_spec *tags;              /* tag; NULL: none */
    struct threshold_spec *threshold;   /* threshold, detection_filter; NULL: none */
    struct rule_list *fast_list;        /* list of the fast pattern; NULL: none */
    struct rule_op *fast_op;
    const struct keyword_ops *prefilter;    /* keyword before `prefilter`; NULL: a content */

    /* shown in alerts */
    uint32_t sid, gid, rev;
    int32_t priority;                   /* from 0; -1: not set yet, while parsing */
    struct rule_info *stored_info;      /* rule_info() */
    const char *text;                   /* the rule as written; NULL when it was not kept */
    struct where at;

    const struct rule_upstream *upstream;   /* flowbits for which this rule on payload waits, so
                                             * that it is inspected with transactions; or NULL */
    struct rule *facts;                 /* its half on packets (detect.packet-facts); NULL: none */
    uint32_t flowbits_set, flowbits_read;       /* number of flowbits; for ordering */
    struct rule_source *source;         /* NULL: a reload has to parse the rule; see
                                         * rule_blocks_read_operations() */
};

static inline const struct rule_info *rule_info(const struct rule *r)
{
    if (r->info_is_packed)
        packed_read(r->stored_info);
    return r->stored_info;
}

/* The protocols that a header may name besides those of applications; NULL past the last. */
const char *rule_header_proto(unsigned index);

static inline bool rule_has_ip_proto(const struct rule *r, uint8_t proto)
{
    return r->ip_proto[proto >> 3] >> (proto & 7) & 1;
}

#endif
