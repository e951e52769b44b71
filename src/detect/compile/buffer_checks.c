/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/buffer_checks.c - a check for each rule on transactions whose fast pattern has a
 * fixed place, or whose buffer has a length. */
#include "detect/compile/buffer_checks.h"

#include "detect/compile/compile.h"
#include "detect/rule/program.h"

#include <string.h>

static void at_least(struct buffer_check *b, uint64_t len)
{
    b->least = (uint16_t)MAX(b->least, MIN(len, UINT16_MAX));
}

static void at_most(struct buffer_check *b, uint64_t len)
{
    b->most = (uint16_t)MIN(b->most, len);
}

/* Of a comparison of the length. Others than these exclude little. */
static void take_size(struct buffer_check *b, const struct int_match *size)
{
    switch ((enum int_op)size->op) {
    case INT_EQ:    at_least(b, size->a); at_most(b, size->a); break;
    case INT_LT:    at_most(b, MAX(size->a, 1) - 1); break;
    case INT_LE:    at_most(b, size->a); break;
    case INT_GT:    at_least(b, size->a < UINT16_MAX ? size->a + 1 : UINT16_MAX); break;
    case INT_GE:    at_least(b, size->a); break;
    case INT_RANGE:
        at_least(b, size->a < UINT16_MAX ? size->a + 1 : UINT16_MAX);
        at_most(b, MAX(size->b, 1) - 1);
        break;
    default: break;
    }
}

/* Takes the last bytes of a content: rules of a kind differ in how their contents end. */
static void take_end(struct buffer_check *b, const struct rule_op *op, bool from_end,
                       uint32_t start)
{
    const unsigned count = MIN(op->content.len, BUFFER_CHECK_BYTES), skip = op->content.len - count;

    b->from_end = from_end;
    b->at = (uint16_t)(from_end ? count : start + skip);
    b->count = (uint8_t)count;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t c = op->content.bytes[skip + i];

        b->bytes[i] = c;
        b->fold[i] = (op->flags & OP_NOCASE) && c >= 'a' && c <= 'z' ? 0x20 : 0;
    }
}

/* Whether offset and depth are numbers from the start of the buffer. */
static bool stays(const struct rule_op *op)
{
    return !(op->flags & (OP_DISTANCE | OP_WITHIN | OP_OFFSET_VAR | OP_DEPTH_VAR)) &&
           op->content.offset >= 0;
}

/* Where a content is if it can only be at one place. False: it may be at several. */
static bool has_place(const struct rule_op *op, bool *from_end, uint32_t *start)
{
    *from_end = (op->flags & OP_ENDSWITH) != 0;
    *start = (uint32_t)op->content.offset;
    if (*from_end)
        return true;
    return (op->flags & OP_DEPTH) && stays(op) &&
           op->content.depth == op->content.offset + op->content.len &&
           op->content.depth <= UINT16_MAX;
}

/* *best: the length of the content whose bytes the check has. The longest differs from most
 * buffers. */
static void take_content(struct buffer_check *b, const struct rule_op *op, uint32_t *best)
{
    uint32_t start;
    bool from_end;

    at_least(b, op->content.len + (stays(op) ? (uint32_t)op->content.offset : 0));
    if (stays(op) && (op->flags & (OP_DEPTH | OP_ENDSWITH)) == (OP_DEPTH | OP_ENDSWITH))
        at_most(b, (uint64_t)op->content.depth);
    if (op->content.len <= *best || !has_place(op, &from_end, &start))
        return;
    take_end(b, op, from_end, start);
    *best = op->content.len;
}

/* All operations of a list must match in the same bytes, so what any of them asks for is needed. A
 * rule over both directions keeps what it has found in one of them. */
bool buffer_check_of(const struct rule *r, struct buffer_check *out)
{
    const struct rule_list *l = r->fast_list;
    uint32_t best = 0;

    *out = (struct buffer_check){ .most = UINT16_MAX };
    if (r->type != RULE_APP_TX || (r->flags & RULE_TX_BOTH) || r->fast_op == NULL || l == NULL ||
        l->buffer == NULL || l->buffer->kind != BUFFER_TX || l->program->absent)
        return false;
    for (const struct rule_op *op = l->first; op != NULL; op = op->next) {
        if (op->kind == OP_CONTENT && !(op->flags & OP_NEGATED))
            take_content(out, op, &best);
        else if ((op->kind == OP_BSIZE || op->kind == OP_URILEN) && !(op->flags & OP_VALUE_VAR))
            take_size(out, &op->size);
    }
    return out->count > 0 || out->most != UINT16_MAX ||
           out->least > (r->fast_op->flags & OP_FAST_CHOP ? r->fast_op->content.fast_len
                                                          : r->fast_op->content.len);
}

/* One element more than checks, because 0 in a mask means none. */
void buffer_checks_build(struct detect_plan *plan, struct arena *arena)
{
    struct buffer_check check, *to;
    unsigned count = 1;

    for (unsigned i = 0; i < plan->rule_count; i++)
        if (count < UINT16_MAX && buffer_check_of(plan->rule[i], &check))
            plan->mask[i].buffer_check = (uint16_t)count++;
    plan->buffer_check = to = arena_zalloc(arena, count * sizeof(*to));
    for (unsigned i = 0; i < plan->rule_count; i++)
        if (plan->mask[i].buffer_check != 0)
            (void)buffer_check_of(plan->rule[i], &to[plan->mask[i].buffer_check]);
}
