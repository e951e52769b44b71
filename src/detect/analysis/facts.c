/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/facts.c - what follows from a rule's parts; the reports only write it down. */
#include "detect/analysis/private.h"

#include "detect/compile.h"
#include "detect/keywords/packet/tcp_flags.h"

#include <ctype.h>
#include <string.h>

const struct rule_list *analysis_payload(const struct rule *rule)
{
    const struct rule_list *l = rule->list;

    while (l != NULL && l->buffer != NULL)
        l = l->next;
    return l;
}

bool analysis_has_test(const struct rule *rule, const char *keyword)
{
    for (unsigned i = 0; i < rule->test_count; i++)
        if (strcmp(rule->test[i].keyword->name, keyword) == 0)
            return true;
    return false;
}

/* --- needs -------------------------------------------------------------------------------- */

static uint32_t dsize_needs(const struct int_match *m)
{
    switch ((enum int_op)m->op) {
    case INT_RANGE:
    case INT_GT:
    case INT_GE:
    case INT_NE:
        return NEED_PAYLOAD;
    case INT_EQ:
        return m->a > 0 ? NEED_PAYLOAD : NEED_NO_PAYLOAD;
    default:
        return 0;
    }
}

static uint32_t test_needs(const struct rule_test *test)
{
    static const struct { const char *keyword; uint32_t needs; } known[] = {
        { "flowbits", NEED_FLOW },       { "flowint", NEED_FLOW },
        { "flow", NEED_FLOW },           { "decode-event", NEED_EVENT },
        { "stream-event", NEED_EVENT },  { "engine-event", NEED_EVENT },
        { "app-layer-event", NEED_EVENT },
    };

    if (strcmp(test->keyword->name, "dsize") == 0)
        return dsize_needs(test->arg);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(test->keyword->name, known[i].keyword) == 0)
            return known[i].needs;
    return 0;
}

uint32_t analysis_needs(const struct rule *rule)
{
    uint8_t flags = rule_tcp_flags(rule, false);
    uint32_t needs = 0;

    if ((rule->flags & (RULE_NEEDS_PACKET | RULE_NEEDS_STREAM)) == RULE_NEEDS_PACKET)
        needs |= NEED_REAL_PACKET;
    if (analysis_payload(rule) != NULL)
        needs |= NEED_PAYLOAD;
    if (rule->app_proto != APP_PROTO_UNKNOWN || rule->tx_test_count > 0 ||
        (rule->flags & (RULE_FLOW_ESTABLISHED | RULE_FLOW_NOT_ESTABLISHED | RULE_FLOW_STATELESS |
                        RULE_ONLY_FRAG | RULE_NO_FRAG)))
        needs |= NEED_FLOW;
    if (flags & (TCP_SYN | TCP_RST | TCP_FIN))
        needs |= NEED_INIT_FLAGS;
    if (flags & (TCP_URG | TCP_ECE | TCP_CWR))
        needs |= NEED_RARE_FLAGS;
    for (unsigned i = 0; i < rule->test_count; i++)
        needs |= test_needs(&rule->test[i]);
    return needs;
}

/* --- contents ----------------------------------------------------------------------------- */

static bool serves_negated(const struct rule *rule, const struct rule_op *op)
{
    const struct rule_list *l = op->list;

    return op->kind == OP_CONTENT && (op->flags & OP_NEGATED) &&
           (l->buffer != NULL || rule->type != RULE_APP_TX) && !l->program->absent;
}

const struct rule_op *analysis_pattern(const struct rule *rule, bool *negated)
{
    const struct rule_op *longest = NULL;

    *negated = false;
    if (rule->fast_op != NULL)
        return rule->fast_op;
    for (const struct rule_list *l = rule->list; l != NULL; l = l->next)
        for (const struct rule_op *op = l->first; op != NULL; op = op->next)
            if (serves_negated(rule, op) &&
                (longest == NULL || op->content.len > longest->content.len))
                longest = op;
    *negated = longest != NULL;
    return longest;
}

bool analysis_is_conclusive(const struct rule_op *op)
{
    if (op->flags & (OP_DISTANCE | OP_WITHIN | OP_RELATIVE_NEXT | OP_DEPTH | OP_OFFSET |
                     OP_NEGATED | OP_REPLACE | OP_ENDSWITH))
        return false;
    return !(op->flags & OP_FAST_CHOP) || op->content.fast_len == op->content.len;
}

/* Letters are everywhere, zeroes and 0xff nearly so; a byte seen before adds little. */
unsigned analysis_strength(const uint8_t *bytes, unsigned len)
{
    bool seen[256] = { false };
    unsigned strength = 0;

    for (unsigned i = 0; i < len; i++) {
        uint8_t c = bytes[i];

        if (seen[c])
            strength += 1;
        else if (isalpha(c))
            strength += 3;
        else if (isprint(c) || c == 0x00 || c == 0x01 || c == 0xff)
            strength += 4;
        else
            strength += 6;
        seen[c] = true;
    }
    return strength;
}

/* What base64_decode left is looked at from where the buffer's last match ended. */
static bool has_something_before(const struct rule_op *op)
{
    if (op->list->buffer != NULL && op->list->buffer->kind == BUFFER_BASE64)
        return true;
    for (op = op->prev; op != NULL; op = op->prev)
        if (op->kind == OP_CONTENT || op->kind == OP_PCRE || op->kind == OP_BYTE_JUMP ||
            op->kind == OP_BYTE_EXTRACT || op->kind == OP_BYTE_MATH)
            return true;
    return false;
}

struct content_place analysis_place(const struct rule_op *op)
{
    const struct content_op *c = &op->content;
    struct content_place p = {
        .flags = op->flags & (OP_OFFSET | OP_DEPTH | OP_DISTANCE | OP_WITHIN),
        .offset = c->offset, .depth = c->depth, .distance = c->distance, .within = c->within,
    };

    if (!(p.flags & (OP_DISTANCE | OP_WITHIN)) || has_something_before(op) ||
        (op->flags & (OP_DISTANCE_VAR | OP_WITHIN_VAR)) || c->distance < 0)
        return p;
    if (p.flags & OP_DISTANCE) {
        p.offset = c->distance;
        p.was_distance = true;
    }
    if (p.flags & OP_WITHIN) {
        p.depth = c->within + p.offset;
        p.was_within = true;
    }
    p.flags = (p.was_distance ? OP_OFFSET : 0) | (p.was_within ? OP_DEPTH : 0);
    return p;
}

/* What a rule would have to escape stands in hex. */
static bool is_plain(uint8_t c)
{
    return isprint(c) && strchr("/;:\\ |\"`'", c) == NULL;
}

void analysis_pattern_text(struct buf *out, const uint8_t *bytes, unsigned len)
{
    bool hex = false;

    for (unsigned i = 0; i < len; i++) {
        if (is_plain(bytes[i])) {
            buf_printf(out, "%s%c", hex ? "|" : "", bytes[i]);
            hex = false;
        } else {
            buf_printf(out, "%s%02X", hex ? " " : "|", bytes[i]);
            hex = true;
        }
    }
    if (hex)
        buf_add_u8(out, '|');
    buf_add_u8(out, '\0');
}
