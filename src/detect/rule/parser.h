/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/parser.h - one rule's text to a struct rule.
 *
 * Header, then options one by one through the keyword registry, then rule_finish(). The first
 * mistake ends the rule; its place is the option's or the header field's. */
#ifndef DETECT_RULE_PARSER_H
#define DETECT_RULE_PARSER_H

#include "base/memory/buf.h"
#include "base/containers/map.h"
#include "detect/rule/keyword.h"
#include "detect/rule/text.h"
#include "detect/rule/ruleset_private.h"

/* The fields of the header and the options, as written. */
struct rule_parts {
    struct text action, protocol, src, src_port, arrow, dst, dst_port;
    struct text options;        /* between the parentheses */
};

enum rule_outcome {
    RULE_OK,
    RULE_FAILED,                /* err says why */
    RULE_IGNORED,               /* left out with a warning: about something that is no more */
    RULE_SKIPPED,               /* `requires` is not met; err names what is missing */
};

/* Kept from rule to rule: lists being filled, settings of the load. */
struct rule_builder {
    struct rule_parser parser;
    const struct rule_text *text;
    ARRAY_OF(struct rule_test) tests[3];    /* packet, transaction, post */
    struct set_vars address_vars, port_vars;
    bool firewall;              /* the rules are the firewall's */
    struct buf metadata_text, metadata_cut;
    struct map metadata_built;   /* arguments to JSON */
};
void rule_builder_init(struct rule_builder *b, struct ruleset *set,
                       const struct ruleset_request *request);
void rule_builder_fini(struct rule_builder *b);

/* On RULE_OK *out is the rule, which is not yet in the set. `swapped`: source and destination
 * change places, for the second half of a "<>" rule. */
enum rule_outcome rule_parse(struct rule_builder *b, const struct rule_text *text, bool swapped,
                             struct rule **out, struct err *err);

/* header.c: fields apart; then what they mean, into b->parser.rule. */
int rule_split(const struct rule_text *text, struct rule_parts *parts, struct err *err);
int rule_header_parse(struct rule_builder *b, const struct rule_parts *parts, bool swapped,
                      struct err *err);

/* metadata.c: the pairs as one JSON object of arrays, sorted by key; NULL without pairs. */
const char *rule_metadata_render(struct rule_builder *b);

/* requires.c: does this engine, as configured, offer what the rule asks for? err says what is
 * missing or wrong. */
enum requires_result { REQUIRES_MET, REQUIRES_UNMET, REQUIRES_BAD };
enum requires_result rule_requires(struct text in, const struct conf_node *root,
                                   struct err *err);

#endif
