/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/private.h - what the checks share: the options of a rule with their locations, and
 * findings. */
#ifndef DETECT_LINT_PRIVATE_H
#define DETECT_LINT_PRIVATE_H

#include "base/containers/map.h"
#include "detect/lint/lint.h"
#include "detect/prefilter/pattern_set.h"
#include "detect/rule/parser.h"
#include "detect/rule/program.h"
#include "detect/rule/ruleset_private.h"

struct lint;
struct lint_rule;

/* error: the rule never alerts. warning: it costs more than it must, or its author meant
 * something else. note: it works, and could be written better. */
enum lint_level { LINT_ERROR, LINT_WARNING, LINT_NOTE };

/* A class of findings. A new one is a `const struct lint_check lint_<name>` and a line in
 * list.h. */
struct lint_check {
    const char *name;           /* "never-length" */
    enum lint_level level;
    void (*rule)(struct lint *l, const struct lint_rule *r);    /* for each rule; or */
    void (*all)(struct lint *l);                                /* once; the other is NULL */
    /* Parts of messages with which the engine refuses rules that have this fault; NULL-ended. Such
     * a rule is a finding of this class instead of `refused`. */
    const char *const *refusals;
    const char *mend;           /* for those */
};

/* What an option of a rule is for. */
enum lint_role {
    LINT_CONDITION,             /* a test of the packet, flow or transaction */
    LINT_OPERATION,             /* looks into a buffer: content, pcre, byte_test */
    LINT_MODIFIER,              /* changes the operation before it: depth, nocase */
    LINT_BUFFER,                /* names the buffer of what follows, or a transform */
    LINT_OTHER,                 /* decides nothing about the match: msg, sid, flowbits:set */
};

struct lint_option {
    struct text all, name, value;       /* "content:"abc"", "content", ""abc"" */
    const struct keyword_ops *keyword;  /* NULL: unknown */
    const struct rule_op *op;           /* of LINT_OPERATION; NULL: it makes none of its own */
    enum lint_role role;
};

struct lint_rule {
    struct lint *lint;
    const struct rule *rule;
    struct rule_parts parts;            /* of rule->text */
    struct lint_option *option;
    unsigned option_count;
};

struct lint_finding {
    const struct lint_check *check;
    struct where at;
    uint32_t sid, gid;
    const char *reason, *mend;
};

struct lint {
    const struct ruleset *set;
    const struct lint_check *check;     /* that is running */
    struct arena arena;
    struct lint_rule *rule;             /* as written: by file and line; a "<>" rule once */
    unsigned rule_count;
    struct map parts;                   /* file and line to rule_text of continued rules */
    ARRAY_OF(struct lint_finding) finding;
};

/* Adds a finding of the check that is running. at: in the rule's text; NULL: the rule. The reason
 * is a sentence, and so is the mend. */
void lint_find(const struct lint_rule *r, const char *at, const char *mend, const char *fmt, ...)
    PRINTF(4, 5);
/* For rules that are not in the set. */
void lint_find_at(struct lint *l, const struct lint_finding *finding);

/* --- options.c ---------------------------------------------------------------------------- */

/* Reads the options of all rules; the arena holds them. */
void lint_read_rules(struct lint *l);
/* The option called so, from `from` on; NULL: none. */
const struct lint_option *lint_option_named(const struct lint_rule *r, const char *name,
                                            unsigned from);
/* The option that made the operation; NULL: not known. */
const struct lint_option *lint_option_of(const struct lint_rule *r, const struct rule_op *op);
/* The nth option of a keyword, from 0; NULL: none. */
const struct lint_option *lint_option_nth(const struct lint_rule *r, const struct keyword_ops *k,
                                          unsigned n);
/* Where they begin in the rule's text; NULL if not known. */
const char *lint_place(const struct lint_option *o);
const char *lint_place_of(const struct lint_rule *r, const struct rule_op *op);

/* length.c. True if the content is the complete buffer, or its place within `space` bytes follows
 * from the options of the rule. */
bool lint_is_at_known_place(const struct lint_rule *r, const struct rule_op *op, int64_t space);

/* --- words for reasons, in the arena ------------------------------------------------------ */

const char *lint_buffer_name(const struct rule_list *list);
/* A content as a rule writes it, cut when it is long. */
const char *lint_literal(struct lint *l, const uint8_t *bytes, unsigned len);

/* proto/common_text.c. True if the literal is a part of what most traffic has that the rule is
 * about. */
bool lint_is_common_text(const struct rule *rule, const struct rule_list *list,
                         struct literal_pattern p);
/* True if the content would be a poor fast pattern though it is long. */
bool lint_is_usual_text(const struct rule *rule, const struct rule_op *op);
/* Like common text, for a buffer that has few values. */
bool lint_is_common_value(const uint8_t *bytes, unsigned len);

#endif
