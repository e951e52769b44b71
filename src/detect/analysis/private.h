/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/private.h - declarations that the reports share. */
#ifndef DETECT_ANALYSIS_PRIVATE_H
#define DETECT_ANALYSIS_PRIVATE_H

#include "base/memory/buf.h"
#include "base/report/json.h"
#include "detect/compile/compile.h"
#include "detect/compile/tx_engines.h"
#include "detect/rule/program.h"
#include "detect/rule/ruleset_private.h"

/* --- names.c ------------------------------------------------------------------------------ */

const char *analysis_type_name(const struct rule *rule);        /* "pkt_stream" */
const char *analysis_test_name(const struct rule_test *test);   /* "flow.pkts" */
const char *analysis_op_name(const struct rule_op *op);         /* "content", "pcre" */

/* --- facts.c: properties derived from a rule ------------------------------------------------- */

enum rule_need {            /* what a packet must have before the rule is inspected */
    NEED_PAYLOAD      = 1u << 0,
    NEED_NO_PAYLOAD   = 1u << 1,
    NEED_FLOW         = 1u << 2,
    NEED_INIT_FLAGS   = 1u << 3,        /* SYN, RST or FIN */
    NEED_RARE_FLAGS   = 1u << 4,        /* URG, ECE or CWR */
    NEED_EVENT        = 1u << 5,
    NEED_REAL_PACKET  = 1u << 6,        /* a packet from the wire, not one built from stream data */
};
uint32_t analysis_needs(const struct rule *rule);

bool analysis_names_file(const struct rule *rule);      /* by filename, fileext, filemagic */
bool analysis_needs_packet(const struct rule *rule);
bool analysis_has_test(const struct rule *rule, const char *keyword);

/* The content by which the rule is found; NULL: the rule has no content. If all contents are
 * negated, the rule is listed under one of them and always evaluated: *negated. */
const struct rule_op *analysis_pattern(const struct rule *rule, bool *negated);
/* True when finding the pattern is all that the content requires. */
bool analysis_has_relative(const struct rule_op *op);   /* another content is relative to it */
bool analysis_is_conclusive(const struct rule_op *op);
/* Estimates how rare these bytes are in traffic: the higher, the better a pattern. */
unsigned analysis_strength(const uint8_t *bytes, unsigned len);

/* The positions that a content may have. A relative position with no content before it is
 * absolute. */
struct content_position {
    uint32_t flags;         /* OP_OFFSET, OP_DEPTH, OP_DISTANCE, OP_WITHIN */
    int32_t offset, depth, distance, within;
    bool was_within, was_distance;
};
struct content_position analysis_position(const struct rule_op *op);
struct content_position analysis_position_in(const struct rule *rule, const struct rule_op *op);

/* Appends "in|20|file", with a NUL. */
void analysis_pattern_text(struct buf *out, const uint8_t *bytes, unsigned len);

/* --- reports ------------------------------------------------------------------------------ */

void analysis_rule_json(struct buf *out, const struct rule *rule);
void analysis_patterns_json(struct buf *out, const struct ruleset *set);
void analysis_flowbits_json(struct buf *out, const struct ruleset *set);
void analysis_rule_text(struct buf *out, const struct rule *rule, const struct conf_node *root);
void analysis_fast_pattern_text(struct buf *out, const struct rule *rule,
                                const struct conf_node *root);
void analysis_fast_pattern_summary(struct buf *out, const struct ruleset *set);
void analysis_groups_json(struct buf *out, const struct ruleset *set,
                          const struct conf_node *root);

#endif
