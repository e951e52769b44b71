/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/keyword.h - a rule keyword is a struct of names and functions.
 *
 * A new keyword is a file in detect/keywords/<family>/ that ends in a `const struct keyword_ops
 * keyword_<name>`, and a line in detect/keywords/list.h. Sticky buffers, integers and tests that
 * app protocols declare (app/rules.h) become keywords automatically. */
#ifndef DETECT_KEYWORD_H
#define DETECT_KEYWORD_H

#include "app/rules.h"
#include "detect/rule/alert.h"
#include "detect/rule/rule.h"
#include "packet/inspection.h"

struct detect_thread;
struct byte_vars;
struct flowbits_use;
struct json;                    /* base/report/json.h */

/* Decides when a keyword's match function is called. */
enum inspect_point {
    POINT_NONE,         /* never: parsing changes the rule */
    POINT_PACKET,       /* tests the packet or its flow, before any buffer */
    POINT_TX,           /* tests a transaction */
    POINT_BUFFER,       /* an operation on the current buffer: content, pcre, byte_test ... */
    POINT_POST,         /* after everything else matched: side effects. The return value is
                         * ignored, except that false cancels the alert (like noalert). */
};

enum keyword_argument { ARGUMENT_REQUIRED, ARGUMENT_NONE, ARGUMENT_OPTIONAL };

/* The input of match functions. One per rule evaluation, on the stack. */
struct match_input {
    struct packet *packet;
    struct flow *flow;                  /* NULL: none */
    enum direction direction;           /* of the inspected data */
    struct app_tx *tx;                  /* NULL for packet rules */
    const struct rule *rule;
    struct detect_thread *thread;       /* scratch, thresholds, per-thread regex data */
    uint64_t *byte_vars;                /* values of byte_extract, byte_math; rule->var_count */
    bool little;                        /* byte order of numbers in this buffer, for `dce` */
    bool stream_due;                    /* stream data are inspected with this packet */
    bool tx_done;                       /* nothing more comes in this direction of tx */
};

/* The direction of the packet, except for a flow's last packet, which is inspected for both sides.
 * Few tests need it, so it is not a member of the input. */
enum direction match_side(const struct match_input *in);

/* The state of parsing one rule. */
#define RULE_OPS_PLACED 64      /* errors about later operations of a rule have its own place */
#define RULE_LISTS_PLACED 16    /* and those about later buffers */
struct rule_parser {
    struct rule *rule;                  /* being built */
    struct rule_list *current;       /* list to which POINT_BUFFER keywords append; NULL: payload */
    uint8_t directions;                 /* directions of the buffer that is being named
                                         * ("http.cookie: to_client"); 0: all */
    bool current_is_sticky;           /* a sticky buffer is current (its list may still be empty) */
    struct arena *arena;                /* for what the rule points to */
    struct arena *scratch;              /* for what only parsing needs */
    struct rule_block *block;           /* whose arena that is; NULL: the ruleset's own */
    bool must_bind;                     /* rule_bind() was called for a rule of a block */
    struct ruleset *ruleset;
    struct err *err;
    struct where at;                    /* of the keyword being parsed */
    struct where op_at[RULE_OPS_PLACED];        /* of the options that made operations, by serial */
    struct where current_at;            /* of the option that named the buffer of `current` */
    struct { const struct rule_list *list; struct where at; } named[RULE_LISTS_PLACED];
    unsigned named_count;               /* the options that named buffers first */
    struct where protocol_at, arrow_at; /* of the header */
    struct where packet_at;             /* of what made the rule one about packets; line 0: none */
    bool negated;                       /* its argument began with '!' (only if .negatable) */
    bool quoted;                        /* its argument was in quotes */
    const struct keyword_ops *keyword;
    struct rule_op *last_content;       /* the content to which modifiers apply */
    const struct keyword_ops *last_test;    /* keyword of the last test; NULL after an operation
                                             * on a buffer */
    const struct keyword_ops *wants_files;  /* the last one that asks for files; NULL: none */
    struct where wants_files_at;
    const struct ruleset_request *request;
    bool priority_given;                /* set by the keyword, not by the class */
    bool strict;                        /* --strict-rule-keywords names this keyword */
    ARRAY_OF(struct text) metadata;     /* the arguments of these options, in the rule's text */
    /* The last limits of expressions, with and without PCRE_FEW_BACKTRACKS: the next expression of
     * the same memory shares them. */
    struct { const struct pcre_op *op; const struct arena *arena; } pcre[2];
};

#define KEYWORD_IGNORE_RULE (-2)

struct keyword_ops {
    const char *name;                   /* as written in a rule */
    const char *alias;                  /* a second name; NULL */
    const char *doc;                    /* one line for --list-keywords */
    /* The argument, as `<bytes>,[!]<op>[,relative]`: a line for each form. doc/keywords.md explains
     * the signs; qa/keywords has a rule for each keyword that has one. NULL: it takes none. */
    const char *syntax;
    const char *features;               /* --list-keywords: "sticky buffer, ..." NULL: none */
    enum inspect_point point;
    enum keyword_argument argument;
    bool negatable;                     /* a leading '!' is for the parser, not for parse() */
    bool quotes;                        /* quotes around the argument are allowed, and removed */
    bool quotes_required;
    bool firewall_only;
    bool needs_packet;                  /* the rule must inspect single packets */
    bool of_packet;                     /* packets differ in it, although needs_packet is not set */
    bool of_flow;                       /* the flow has it, although needs_packet is set */
    bool tests_event;                   /* its argument is the uint16_t of an enum packet_event */
    const bool *in_proto;               /* by enum app_proto_id: the protocols that declare it;
                                         * NULL: it is in a file of its own */
    const char *rule_flag;              /* --engine-analysis: a flag of rules with it; NULL: none */
    size_t arg_size;     /* of the parsed argument, zeroed, in the arena; may be 0 for POINT_NONE */
    /* Returns 0; -1 after rule_error(); or KEYWORD_IGNORE_RULE after a warning: the rule is left
     * out, but is not an error. */
    int (*parse)(struct rule_parser *p, struct text in, void *arg);
    bool (*match)(const struct match_input *in, const void *arg);
    /* Returns the largest payload length for which the test can be true; NULL: any length. */
    uint32_t (*payload_most)(const void *arg);
    void (*free_arg)(void *arg);        /* frees what is not in the arena (pcre code); or NULL */
    /* Writes the argument as members of the current object, for --engine-analysis. NULL: the name
     * is enough. */
    void (*describe)(const struct rule_test *test, struct json *j);
    /* For --explain: writes what the test looked at, as "the bit is not set for 10.0.0.1". False:
     * that is not known. NULL: it never is. */
    bool (*tell)(const struct rule_test *test, const struct match_input *in, struct buf *out);
    /* The same of an operation on the data of a buffer. */
    bool (*tell_data)(const void *arg, struct slice data, struct buf *out);
    /* The bits of the flow that a test or action uses (rule/flowbits.h). NULL: none. */
    void (*flowbits)(const struct rule_test *test, struct flowbits_use *out);
};

/* Sets the error with the location of the keyword: `return rule_error(p, "ttl: expected N, <N, >N
 * or A-B, got \"%.*s\"", TEXT(in));` */
int rule_error(struct rule_parser *p, const char *fmt, ...) PRINTF(2, 3);
void rule_warning(struct rule_parser *p, const char *fmt, ...) PRINTF(2, 3);

/* A reload does not parse a rule again whose text stays the same. A keyword whose argument depends
 * on more than its text and the configuration (on a file, or on what belongs to this ruleset alone)
 * calls this first. The first time it returns -1, and so does the keyword: the rule is then parsed
 * once more, for this ruleset only. Warnings do the same, because each load repeats them. */
int rule_bind(struct rule_parser *p);
/* Has free_arg called when the last ruleset that has the rule is freed. */
void rule_free_later(struct rule_parser *p, const struct keyword_ops *keyword, void *arg);

/* Adds a test in addition to the keyword's own; copies what it needs of `test`. point:
 * POINT_PACKET, POINT_TX or POINT_POST. */
void rule_add_test(struct rule_parser *p, enum inspect_point point, const struct rule_test *test);
/* Returns the last test at this point, or NULL: for a keyword that extends an earlier test. */
struct rule_test *rule_last_test(struct rule_parser *p, enum inspect_point point);
/* The tests at this point in the order of the rule; NULL behind the last. */
const struct rule_test *rule_test_at(struct rule_parser *p, enum inspect_point point, unsigned i);

/* Restricts the rule to this protocol; -1 when it already has another one. If the header named a
 * narrower protocol, that one remains. */
int rule_set_app_proto(struct rule_parser *p, enum app_proto_id proto);

/* Integer arguments of all keywords: N, <N, <=N, >N, >=N, !N, A-B, A<>B, &mask=v, &mask!=v, with 0x
 * hex or kb/mb/gb suffixes, or names of an enum. Values have `bits` bits. A condition that is true
 * or false for all values is an error. */
enum int_op { INT_EQ, INT_NE, INT_LT, INT_LE, INT_GT, INT_GE,
              INT_RANGE, INT_NOT_RANGE,     /* a < value < b */
              INT_MASK, INT_NOT_MASK };     /* (value & a) == b, != b */
struct int_match {
    uint8_t op;                 /* enum int_op */
    uint64_t a, b;
};
/* An operator by itself: "<", ">=", "=", "!=" ... "!" is not equal, as in Suricata. */
bool int_op_parse(struct text in, uint8_t *op);
int int_match_parse(struct rule_parser *p, struct text in, unsigned bits,
                    const struct app_name *names, struct int_match *out);
/* The same, with ranges that include their ends. */
int int_match_parse_inclusive(struct rule_parser *p, struct text in, unsigned bits,
                              const struct app_name *names, struct int_match *out);
/* Takes a comparison without names from *in and leaves what follows it. */
bool int_match_take(struct text *in, unsigned bits, struct int_match *out);
/* Parses "name,!name": all these bits are set, or not set. False: something else. */
bool int_match_bits(struct text in, const struct app_name *names, struct int_match *out);
bool int_match_has(const struct int_match *m, uint64_t value);
/* Writes one object: {"equal":1}, {"range":{"min":1,"max":9}} ... */
void int_match_describe(const struct int_match *m, const char *key, struct json *j);
/* For keywords that took one number in Suricata 8.0: {"number":1}; other comparisons as above. */
void int_match_describe_number(const struct int_match *m, const char *key, struct json *j);
/* Whole parse functions of keywords whose argument is a struct int_match. */
int int_parse_u8(struct rule_parser *p, struct text in, void *arg);
int int_parse_u16(struct rule_parser *p, struct text in, void *arg);
int int_parse_u32(struct rule_parser *p, struct text in, void *arg);
int int_parse_u64(struct rule_parser *p, struct text in, void *arg);

/* The same for a value with several instances (vlan.id, dns.rrtype): "VALUE[,INDEX[,FROM:TO]]", or
 * "count NUMBER", where no value is compared. INDEX is any (the default), all (at least one must
 * exist), nth from 0, or -nth from the end; as in Suricata 9 also all_or_absent, or_absent,
 * "oob_or NTH" (the instance, or there is none of that number) and "nb NUMBER" (so many match).
 * FROM:TO leaves the instances from FROM to before TO; negative ones count from the end. */
enum index_mode { INDEX_ANY, INDEX_ALL, INDEX_NTH, INDEX_NTH_OR_BEYOND, INDEX_ALL_OR_ABSENT,
                  INDEX_OR_ABSENT, INDEX_TIMES, INDEX_COUNT };
struct index_match {
    uint8_t mode;               /* enum index_mode */
    int32_t nth;
    int32_t from, to;           /* to 0: up to the last */
    struct int_match number;    /* INDEX_TIMES, INDEX_COUNT */
};
/* Takes the index off *in and leaves the value; nothing remains of INDEX_COUNT. */
int index_match_parse(struct rule_parser *p, struct text *in, struct index_match *out);
struct index_values {
    /* Instance `index`; false past the end. */
    bool (*get)(void *arg, unsigned index, uint64_t *out);
    /* For a list that only grows: what of it this rule has compared. The next evaluation compares
     * the new instances only. many: there are more than a few; else the function may return NULL.
     * NULL: each evaluation compares all. */
    struct app_seen *(*seen)(void *arg, bool many);
    void *arg;
};
/* complete: no instance will follow. Before that, nothing can be said to be absent. */
bool index_match_has(const struct index_match *m, const struct int_match *value, bool complete,
                     const struct index_values *values);
/* True if later instances can make a match of what is none now. */
bool index_match_waits(const struct index_match *m);

/* Writes the lines of --list-keywords. `what`: "" for names only, "all", "csv" or a keyword. -1:
 * unknown keyword. */
int keyword_list_print(const char *what, void (*write)(const char *line, void *arg), void *arg);

/* Looks in the registry, which keyword_registry_init() (detect/keywords/registry.h) fills. */
const struct keyword_ops *keyword_find(struct text name);
/* True if this application protocol declares the keyword. */
static inline bool keyword_declared_in(const struct keyword_ops *k, enum app_proto_id proto)
{
    return k->in_proto != NULL && k->in_proto[proto];
}
/* Returns the packet event that the keyword tests; PACKET_EVENT_NONE: none. Rules about events are
 * found by event, not by pattern. */
static inline enum packet_event keyword_event(const struct keyword_ops *k, const void *arg)
{
    return k->tests_event ? (enum packet_event)*(const uint16_t *)arg : PACKET_EVENT_NONE;
}
void keyword_each(void (*visit)(const struct keyword_ops *k, void *arg), void *arg);

#endif
