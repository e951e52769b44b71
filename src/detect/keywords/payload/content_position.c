/* SPDX-License-Identifier: GPL-2.0-or-later */
/* offset, depth, distance, within, startswith, endswith - where the content before them
 * may occur: counted from the start of the buffer, or from the end of the previous match.
 * Numbers or byte variables. */
#include "detect/rule/program.h"

#include <ctype.h>

/* Bytes; Suricata's DETECT_CONTENT_VALUE_MAX. */
#define RELATIVE_LIMIT (1024 * 1024)
#define RELATIVE_FLAGS (OP_DISTANCE | OP_WITHIN)
#define ABSOLUTE_FLAGS (OP_DEPTH | OP_OFFSET)

/* Returns the content that a modifier applies to, or NULL with an error. A content has
 * either an absolute position or a relative one, never both: `conflicting` are the flags
 * of the other kind. fast_pattern:only drops the content from the program, so a position
 * would be lost. */
static struct rule_op *place_target(struct rule_parser *p, uint32_t conflicting)
{
    struct rule_op *op = op_last_content(p);

    if (op == NULL) {
        rule_error(p, "%s needs preceding content option", p->keyword->name);
        return NULL;
    }
    if (op->flags & conflicting) {
        rule_error(p, "can't use a relative keyword like within/distance with a absolute relative "
                   "keyword like depth/offset for the same content.");
        return NULL;
    }
    if ((op->flags & OP_NEGATED) && (op->flags & OP_FAST)) {
        rule_error(p, "can't have a relative negated keyword set along with 'fast_pattern'.");
        return NULL;
    }
    if (op->flags & OP_FAST_ONLY) {
        rule_error(p, "can't have a relative keyword set along with 'fast_pattern:only;'.");
        return NULL;
    }
    return op;
}

/* A fast_pattern:only content is not searched again after the prefilter, so its position
 * is unknown. A relative content after it has no start. */
static int check_before(struct rule_parser *p, const struct rule_op *op)
{
    for (op = op->prev; op != NULL; op = op->prev) {
        if (op->kind == OP_CONTENT && (op->flags & OP_FAST_ONLY))
            return rule_error(p, "previous keyword has a fast_pattern:only; set. Can't have "
                              "relative keywords around a fast_pattern only content");
        if (op->kind == OP_CONTENT || op->kind == OP_PCRE)
            break;
    }
    return 0;
}

/* A modifier's range, and the flag that its op gets when a byte variable gives the number. */
struct position_kind { int32_t min, max; uint32_t var_flag; };

static const struct position_kind offset_kind = { 0, 65535, OP_OFFSET_VAR };
static const struct position_kind depth_kind = { 0, 65535, OP_DEPTH_VAR };
static const struct position_kind distance_kind = { -RELATIVE_LIMIT, RELATIVE_LIMIT,
                                                    OP_DISTANCE_VAR };
static const struct position_kind within_kind = { -RELATIVE_LIMIT, RELATIVE_LIMIT,
                                                  OP_WITHIN_VAR };

/* Reads a number in C's notation, or the name of a byte variable. Anything may follow a number
 * that may be negative, because published rules say "within:10,relative". */
static int position_number(struct rule_parser *p, struct text in, const struct position_kind *kind,
                           struct rule_op *op, int32_t *out)
{
    struct text rest = in;
    int64_t value;

    if (in.n > 0 && isalpha((unsigned char)in.p[0])) {
        int var = byte_var_find(p, in);

        if (var < 0)
            return rule_error(p, "unknown byte_ keyword var seen in %s - %.*s", p->keyword->name,
                              TEXT(in));
        op->flags |= kind->var_flag;
        *out = var;
        return 0;
    }
    if (!text_take_c_number(&rest, &value) || value < kind->min || value > kind->max ||
        (rest.n > 0 && kind->min >= 0))
        return rule_error(p, "invalid value for %s: %.*s", p->keyword->name, TEXT(in));
    *out = (int32_t)value;
    return 0;
}

/* An offset may come before or after its depth; the sum is made by whichever comes second.
 * With a variable it is made at run time. */
static int offset_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule_op *op = place_target(p, RELATIVE_FLAGS);

    if (op == NULL)
        return -1;
    if (op->flags & OP_STARTSWITH)
        return rule_error(p, "can't use offset with startswith.");
    if (op->flags & OP_OFFSET)
        return rule_error(p, "can't use multiple offsets for the same content.");
    if (position_number(p, in, &offset_kind, op, &op->content.offset) < 0)
        return -1;
    /* A rule counts depth from the offset; content_op.depth counts from the buffer's start. */
    if ((op->flags & OP_DEPTH) && !(op->flags & (OP_OFFSET_VAR | OP_DEPTH_VAR)))
        op->content.depth += op->content.offset;
    op->flags |= OP_OFFSET;
    return 0;
}

const struct keyword_ops keyword_offset = {
    .name = "offset",
    .doc = "the content begins at this byte or after it",
    .syntax = "<n or name>",
    .point = POINT_NONE,
    .parse = offset_parse,
};

/* A depth below the length of the content could never match, so the rule is wrong. */
static int depth_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule_op *op = op_last_content(p);

    if (op != NULL && (op->flags & OP_DEPTH))
        return rule_error(p, "can't use multiple depths for the same content.");
    op = place_target(p, RELATIVE_FLAGS);
    if (op == NULL || position_number(p, in, &depth_kind, op, &op->content.depth) < 0)
        return -1;
    if (!(op->flags & OP_DEPTH_VAR) && op->content.depth < op->content.len)
        return rule_error(p, "depth:%d smaller than content of len %u.", op->content.depth,
                          op->content.len);
    if (!(op->flags & (OP_OFFSET_VAR | OP_DEPTH_VAR)))
        op->content.depth += op->content.offset;
    op->flags |= OP_DEPTH;
    return 0;
}

const struct keyword_ops keyword_depth = {
    .name = "depth",
    .doc = "the content is within so many first bytes",
    .syntax = "<n or name>",
    .point = POINT_NONE,
    .parse = depth_parse,
};

/* Negative distances look back before the end of the previous match. */
static int distance_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule_op *op = op_last_content(p);

    if (op != NULL && (op->flags & OP_DISTANCE))
        return rule_error(p, "can't use multiple distances for the same content.");
    op = place_target(p, ABSOLUTE_FLAGS);
    if (op == NULL || position_number(p, in, &distance_kind, op, &op->content.distance) < 0)
        return -1;
    op->flags |= OP_DISTANCE;
    return check_before(p, op);
}

const struct keyword_ops keyword_distance = {
    .name = "distance",
    .doc = "the content begins so many bytes or more after the previous match",
    .syntax = "<n or name>",
    .point = POINT_NONE,
    .parse = distance_parse,
};

/* As with depth: less than the content's length could never match. */
static int within_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule_op *op = op_last_content(p);

    if (op != NULL && (op->flags & OP_WITHIN))
        return rule_error(p, "can't use multiple withins for the same content.");
    op = place_target(p, ABSOLUTE_FLAGS);
    if (op == NULL || position_number(p, in, &within_kind, op, &op->content.within) < 0)
        return -1;
    if (!(op->flags & OP_WITHIN_VAR) && op->content.within < op->content.len)
        return rule_error(p, "within argument \"%d\" is less than the content length \"%u\" which "
                          "is invalid, since this will never match.  Invalidating signature",
                          op->content.within, op->content.len);
    op->flags |= OP_WITHIN;
    return check_before(p, op);
}

const struct keyword_ops keyword_within = {
    .name = "within",
    .doc = "the content ends within so many bytes after the previous match",
    .syntax = "<n or name>",
    .point = POINT_NONE,
    .parse = within_parse,
};

/* The same as "depth: length of the content", and compiled to it. The flag remains for
 * --engine-analysis. */
static int startswith_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    struct rule_op *op = op_last_content(p);

    if (op != NULL && (op->flags & OP_DEPTH))
        return rule_error(p, "can't use multiple depth/startswith settings for the same content.");
    op = place_target(p, RELATIVE_FLAGS);
    if (op == NULL)
        return -1;
    if (op->flags & OP_OFFSET)
        return rule_error(p, "can't mix offset with startswith.");
    op->content.depth = op->content.len;
    op->flags |= OP_DEPTH | OP_STARTSWITH;
    return 0;
}

const struct keyword_ops keyword_startswith = {
    .name = "startswith",
    .doc = "the content is at the start of the buffer",
    .features = "No option",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = startswith_parse,
};

/* Combines with positions: the content must end the buffer and be where they say. */
static int endswith_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    struct rule_op *op = op_last_content(p);

    if (op == NULL)
        return rule_error(p, "endswith needs a preceding content option");
    op->flags |= OP_ENDSWITH;
    return 0;
}

const struct keyword_ops keyword_endswith = {
    .name = "endswith",
    .doc = "the content is at the end of the buffer",
    .features = "No option",
    .point = POINT_NONE,
    .argument = ARGUMENT_NONE,
    .parse = endswith_parse,
};
