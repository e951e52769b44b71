/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/keyword.h - what a rule keyword is: a struct of names and functions.
 *
 * Adding one: a file in detect/keywords/<family>/ that ends in a `const struct keyword_ops
 * keyword_<name>`, and a line in detect/keywords/list.h. Sticky buffers, integers and tests that
 * app protocols declare (app/rules.h) become keywords by themselves; they need no file here. */
#ifndef DETECT_KEYWORD_H
#define DETECT_KEYWORD_H

#include "app/rules.h"
#include "detect/rule/alert.h"
#include "detect/rule/rule.h"
#include "packet/inspection.h"

struct detect_thread;
struct byte_vars;
struct json;                    /* base/report/json.h */

/* When a keyword's match function is called. */
enum inspect_point {
    POINT_NONE,         /* parse only: it changes the rule */
    POINT_PACKET,       /* about the packet or its flow, before any buffer */
    POINT_TX,           /* about a transaction */
    POINT_BUFFER,       /* an operation on the current buffer: content, pcre, byte_test ... */
    POINT_POST,         /* once all else has matched: side effects; return value ignored, except
                         * that false takes the alert back (noalert-like) */
};

enum keyword_argument { ARGUMENT_REQUIRED, ARGUMENT_NONE, ARGUMENT_OPTIONAL };

/* Everything a match function may look at. One per rule evaluation, on the stack. */
struct match_input {
    struct packet *packet;
    struct flow *flow;                  /* NULL without one */
    enum direction direction;           /* of the data that are looked at */
    struct app_tx *tx;                  /* NULL on packet rules */
    const struct rule *rule;
    struct detect_thread *thread;       /* scratch, thresholds, per-thread regex data */
    uint64_t *byte_vars;                /* values of byte_extract, byte_math; rule->var_count */
    bool little;                        /* byte order of numbers in this buffer, for `dce` */
    bool stream_due;                    /* with this packet, data of its stream are inspected */
};

/* Of the inspection: as the packet goes, but for the last of a flow, which is inspected for both
 * sides. Few tests ask, and so it is not in the input of all. */
enum direction match_side(const struct match_input *in);

/* The state of parsing one rule. */
struct rule_parser {
    struct rule *rule;                  /* being built */
    struct rule_list *current;          /* where POINT_BUFFER keywords append; NULL: payload */
    uint8_t directions;                 /* "http.cookie: to_client": of the buffer being named; 0:
                                         * all that it has */
    bool current_is_sticky;             /* a sticky buffer was named (its list may be empty yet) */
    struct arena *arena;                /* the ruleset's */
    struct ruleset *ruleset;
    struct err *err;
    struct where at;                    /* of the keyword being parsed */
    bool negated;                       /* its argument began with '!' (only if .negatable) */
    bool quoted;                        /* its argument was in quotes */
    const struct keyword_ops *keyword;
    struct rule_op *last_content;       /* that modifiers refer to */
    const struct keyword_ops *last_test;    /* the last thing said, unless that is an operation
                                             * on a buffer: NULL */
    const struct ruleset_request *request;
    bool priority_given;                /* by the keyword, not by the class */
    bool strict;                        /* --strict-rule-keywords names this keyword */
    ARRAY_OF(struct text) metadata;     /* the arguments of these options, in the rule's text */
};

#define KEYWORD_IGNORE_RULE (-2)

struct keyword_ops {
    const char *name;                   /* as written in a rule */
    const char *alias;                  /* a second name; NULL */
    const char *doc;                    /* one line for --list-keywords */
    const char *features;               /* --list-keywords: "sticky buffer, ..." NULL: none */
    enum inspect_point point;
    enum keyword_argument argument;
    bool negatable;                     /* a leading '!' is for the parser, not for parse() */
    bool quotes;                        /* quotes around the argument are taken off, and allowed */
    bool quotes_required;
    bool firewall_only;
    bool needs_packet;                  /* the rule must look at single packets */
    const char *rule_flag;              /* --engine-analysis: a flag of rules with it; NULL: none */
    size_t arg_size;                    /* of the parsed argument, zeroed, in the arena; for
                                         * POINT_NONE may be 0 */
    /* 0, or -1 with p->err set through rule_error(), or KEYWORD_IGNORE_RULE after a warning:
     * the rule is left out, but is not wrong. */
    int (*parse)(struct rule_parser *p, struct text in, void *arg);
    bool (*match)(const struct match_input *in, const void *arg);
    /* The test holds for no packet with more payload; NULL: it may for any. */
    uint32_t (*payload_most)(const void *arg);
    void (*free_arg)(void *arg);        /* for what the arena does not hold (pcre code); or NULL */
    /* What a test asks, as members of the current object, for --engine-analysis; NULL: the name
     * says it all. */
    void (*describe)(const struct rule_test *test, struct json *j);
};

/* `return rule_error(p, "ttl: expected N, <N, >N or A-B, got \"%.*s\"", TEXT(in));` */
int rule_error(struct rule_parser *p, const char *fmt, ...) PRINTF(2, 3);
void rule_warning(struct rule_parser *p, const char *fmt, ...) PRINTF(2, 3);

/* Adds a test besides the one that the keyword's own match function makes: the parser takes what
 * it needs of `test`. point: POINT_PACKET, POINT_TX or POINT_POST. */
void rule_add_test(struct rule_parser *p, enum inspect_point point, const struct rule_test *test);
/* The test that stands last there, NULL without one: for a keyword that joins an earlier one. */
struct rule_test *rule_last_test(struct rule_parser *p, enum inspect_point point);

/* The rule is about this protocol; -1 when it is about another one already. The most general
 * protocol stays when the header named a narrower one. */
int rule_set_app_proto(struct rule_parser *p, enum app_proto_id proto);

/* Integer arguments of all keywords: N, <N, <=N, >N, >=N, !N, A-B, A<>B, &mask=v, &mask!=v, with
 * 0x hex or kb/mb/gb suffixes, or names of an enum. `bits` bounds the values. What no value could
 * meet or fail is an error. */
enum int_op { INT_EQ, INT_NE, INT_LT, INT_LE, INT_GT, INT_GE,
              INT_RANGE, INT_NOT_RANGE,     /* a < value < b */
              INT_MASK, INT_NOT_MASK };     /* (value & a) == b, != b */
struct int_match {
    uint8_t op;                 /* enum int_op */
    uint64_t a, b;
};
int int_match_parse(struct rule_parser *p, struct text in, unsigned bits,
                    const struct app_name *names, struct int_match *out);
/* ... with ranges that contain their ends. */
int int_match_parse_inclusive(struct rule_parser *p, struct text in, unsigned bits,
                              const struct app_name *names, struct int_match *out);
/* A comparison, without names, off *in; what stands behind it is left. */
bool int_match_take(struct text *in, unsigned bits, struct int_match *out);
/* "name,!name": all of these bits set, or not set. False: something else. */
bool int_match_bits(struct text in, const struct app_name *names, struct int_match *out);
bool int_match_has(const struct int_match *m, uint64_t value);
/* One object: {"equal":1}, {"range":{"min":1,"max":9}} ... */
void int_match_describe(const struct int_match *m, const char *key, struct json *j);
/* For keywords that took one number in Suricata 8.0: {"number":1}; other comparisons as above. */
void int_match_describe_number(const struct int_match *m, const char *key, struct json *j);
/* Whole parse functions of keywords whose argument is a struct int_match. */
int int_parse_u8(struct rule_parser *p, struct text in, void *arg);
int int_parse_u16(struct rule_parser *p, struct text in, void *arg);
int int_parse_u32(struct rule_parser *p, struct text in, void *arg);
int int_parse_u64(struct rule_parser *p, struct text in, void *arg);

/* The same for values that stand several times (vlan.id, dns.rrtype): "VALUE[,INDEX]", INDEX
 * any (the default), all (and there is one), nth from 0, -nth from the end. */
enum index_mode { INDEX_ANY, INDEX_ALL, INDEX_NTH };
struct index_match {
    uint8_t mode;               /* enum index_mode */
    int32_t nth;
};
/* Takes ",INDEX" off *in, so that the value is left. */
int index_match_parse(struct rule_parser *p, struct text *in, struct index_match *out);
/* get(): instance `index`, false past the end. */
bool index_match_has(const struct index_match *m, const struct int_match *value,
                     bool (*get)(void *arg, unsigned index, uint64_t *out), void *arg);

/* --list-keywords: `what` is "" for names alone, "all", "csv" or a name; lines to `write`. -1 when
 * there is no such keyword. */
int keyword_list_print(const char *what, void (*write)(const char *line, void *arg), void *arg);

/* detect/keywords/list.h through detect/keywords/registry.c: built-in ones and those that app
 * protocols declare. */
void keyword_registry_init(void);               /* once, before any rule */
const struct keyword_ops *keyword_find(struct text name);
/* Has this application protocol declared the keyword? */
bool keyword_declared_in(const struct keyword_ops *k, enum app_proto_id proto);
/* The event that it tests; PACKET_EVENT_NONE: it tests none. */
enum packet_event keyword_event(const struct keyword_ops *keyword, const void *arg);
void keyword_each(void (*visit)(const struct keyword_ops *k, void *arg), void *arg);

#endif
