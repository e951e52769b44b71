/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/parser.h - parses the text of one rule into a struct rule.
 *
 * It parses the header, then each option through the keyword registry, then calls the builder's
 * finish().
 * The first error ends the rule; its location is that of the option or header field. */
#ifndef DETECT_RULE_PARSER_H
#define DETECT_RULE_PARSER_H

#include "base/memory/buf.h"
#include "base/containers/map.h"
#include "detect/rule/keyword.h"
#include "detect/rule/text.h"
#include "detect/rule/ruleset_private.h"

/* The header fields and options, as written. */
struct rule_parts {
    struct text action, protocol, src, src_port, arrow, dst, dst_port;
    struct text options;        /* between the parentheses */
};

enum rule_outcome {
    RULE_OK,
    RULE_FAILED,                /* err has the reason */
    RULE_IGNORED,            /* left out after a warning: it uses something that no longer exists */
    RULE_SKIPPED,               /* `requires` is not met; err names what is missing */
};

/* Checks a rule after its last keyword, and completes it: rule_finish() of detect/compile. -1 with
 * p->err set. */
typedef int rule_finish_fn(struct rule_parser *p);

/* State that is reused from rule to rule: lists being filled, settings of the load. */
struct rule_builder {
    struct rule_parser parser;
    struct arena scratch;       /* reset with each rule */
    const struct rule_text *text;
    rule_finish_fn *finish;
    ARRAY_OF(struct rule_test) tests[3];    /* packet, transaction, post */
    struct set_vars address_vars, port_vars;
    bool firewall;              /* the rules belong to the firewall */
    bool shares;                /* rules go to blocks, for following rulesets */
    struct rule_block *block;   /* the one that is being filled; NULL: none yet */
    struct buf metadata_text, metadata_cut;
    struct map metadata_built;   /* arguments to JSON; of the last rules */
    struct arena metadata;       /* of these */
    struct map required_built;   /* what rules of the block require */
};
void rule_builder_init(struct rule_builder *b, struct ruleset *set,
                       const struct ruleset_request *request, rule_finish_fn *finish);
void rule_builder_fini(struct rule_builder *b);

/* On RULE_OK *out is the rule, not yet in the set. `swapped`: exchanges source and destination, for
 * the second half of a "<>" rule. */
enum rule_outcome rule_parse(struct rule_builder *b, const struct rule_text *text, bool swapped,
                             struct rule **out, struct err *err);

/* header.c: splits the fields, then parses them into b->parser.rule. */
int rule_split(const struct rule_text *text, struct rule_parts *parts, struct err *err);
int rule_header_parse(struct rule_builder *b, const struct rule_parts *parts, bool swapped,
                      struct err *err);

/* metadata.c: returns the pairs as one JSON object of arrays, sorted by key; NULL without pairs. */
const char *rule_metadata_render(struct rule_builder *b);

/* requires.c: checks that this engine, as configured, has what the rule requires. err names what is
 * missing or wrong. */
enum requires_result { REQUIRES_MET, REQUIRES_UNMET, REQUIRES_BAD };
enum requires_result rule_requires(struct text in, const struct conf_node *root,
                                   struct err *err);

#endif
