/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/private.h - what the reports share. */
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

/* --- facts.c: what follows from a rule's parts -------------------------------------------- */

enum rule_need {            /* of a packet, before anything else is looked at */
    NEED_PAYLOAD      = 1u << 0,
    NEED_NO_PAYLOAD   = 1u << 1,
    NEED_FLOW         = 1u << 2,
    NEED_INIT_FLAGS   = 1u << 3,        /* SYN, RST or FIN */
    NEED_RARE_FLAGS   = 1u << 4,        /* URG, ECE or CWR */
    NEED_EVENT        = 1u << 5,
    NEED_REAL_PACKET  = 1u << 6,        /* not one made of stream data */
};
uint32_t analysis_needs(const struct rule *rule);

bool analysis_names_file(const struct rule *rule);      /* by filename, fileext, filemagic */
bool analysis_needs_packet(const struct rule *rule);
bool analysis_has_test(const struct rule *rule, const char *keyword);

/* The content by which the rule is found. One without any that must be there is filed under a
 * content that must not, and asked always: *negated. NULL: no content at all. */
const struct rule_op *analysis_pattern(const struct rule *rule, bool *negated);
/* Finding the pattern says all that the content asks for. */
bool analysis_has_relative(const struct rule_op *op);   /* something is relative to it */
bool analysis_is_conclusive(const struct rule_op *op);
/* How rarely these bytes turn up: the higher, the better a pattern. */
unsigned analysis_strength(const uint8_t *bytes, unsigned len);

/* Where a content may stand, relative places without something before them being absolute. */
struct content_position {
    uint32_t flags;         /* OP_OFFSET, OP_DEPTH, OP_DISTANCE, OP_WITHIN */
    int32_t offset, depth, distance, within;
    bool was_within, was_distance;
};
struct content_position analysis_position(const struct rule_op *op);

/* "in|20|file", NUL-terminated. */
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
