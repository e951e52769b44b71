/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/facts.c - what follows from a rule's parts, as Suricata derives it. The
 * reports only write it down. */
#include "detect/analysis/private.h"

#include "detect/compile/compile.h"
#include "detect/keywords/packet/tcp_flags.h"

#include <ctype.h>
#include <string.h>

/* Compares the keyword's name in rules. */
bool analysis_has_test(const struct rule *rule, const char *keyword)
{
    for (unsigned i = 0; i < rule->test_count; i++)
        if (strcmp(rule->test[i].keyword->name, keyword) == 0)
            return true;
    return false;
}

/* Suricata counts these contents as tests on files. */
bool analysis_names_file(const struct rule *rule)
{
    for (const struct rule_list *l = rule->list; l != NULL; l = l->next)
        for (const struct rule_op *op = l->first; op != NULL; op = op->next)
            if (strcmp(op->keyword->name, "filename") == 0 ||
                strcmp(op->keyword->name, "fileext") == 0 ||
                strcmp(op->keyword->name, "filemagic") == 0)
                return true;
    return false;
}

/* A rule whose only tests are checksums needs no packet in Suricata's reports. */
bool analysis_needs_packet(const struct rule *rule)
{
    bool needs = rule->test_count == 0;

    for (unsigned i = 0; i < rule->test_count; i++)
        needs |= strstr(rule->test[i].keyword->name, "-csum") == NULL;
    return needs && (rule->flags & RULE_NEEDS_PACKET);
}

/* --- needs -------------------------------------------------------------------------------- */

/* Comparisons that only a payload can pass. INT_LT and INT_LE allow an empty one. */
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

/* Returns what a keyword needs of a packet; 0 for most. */
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

/* The "requirements" of rules.json: NEED_* bits. */
uint32_t analysis_needs(const struct rule *rule)
{
    uint8_t flags = rule_tcp_flags(rule, false);
    uint32_t needs = 0;

    if (analysis_needs_packet(rule) && !(rule->flags & RULE_NEEDS_STREAM))
        needs |= NEED_REAL_PACKET;
    if (rule_payload(rule) != NULL)
        needs |= NEED_PAYLOAD;
    if (rule->app_proto != APP_PROTO_UNKNOWN || analysis_names_file(rule) ||
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

/* Can Suricata find the rule by this content? `negated`: only contents that must be
 * absent. */
static bool can_serve(const struct rule *rule, const struct rule_op *op, bool negated)
{
    const struct rule_list *l = op->list;

    if (op->kind != OP_CONTENT || ((op->flags & OP_NEGATED) != 0) != negated)
        return false;
    if (l->buffer == NULL)
        return !(negated && rule->type == RULE_APP_TX);
    return !l->program->absent && l->buffer->kind != BUFFER_BASE64;
}

/* Suricata's order of buffers; lower is better. Buffers with few values come last, just
 * after the payload. */
static unsigned rank_of(const struct rule *rule, const struct rule_list *l)
{
    if (l->buffer == NULL)
        return 3;
    if (buffer_declared(l->buffer)->pattern_rank != 0)
        return buffer_declared(l->buffer)->pattern_rank;
    /* a rule over both directions is found by the client's data, if possible */
    return (rule->flags & RULE_TX_BOTH) && l->directions == APP_TC ? 5 : 2;
}

/* Compares by buffer, then length, then strength, as Suricata does. */
static bool is_better(const struct rule *rule, const struct rule_op *a, const struct rule_op *b)
{
    unsigned x, y;

    if (b == NULL)
        return true;
    x = rank_of(rule, a->list);
    y = rank_of(rule, b->list);
    if (x != y)
        return x < y;
    if (a->content.len != b->content.len)
        return a->content.len > b->content.len;
    return analysis_strength(a->content.bytes, a->content.len) >
           analysis_strength(b->content.bytes, b->content.len);
}

/* fast_pattern decides, if a content has it. */
static const struct rule_op *best_pattern(const struct rule *rule, bool negated)
{
    const struct rule_op *best = NULL;

    for (const struct rule_list *l = rule->list; l != NULL; l = l->next)
        for (const struct rule_op *op = l->first; op != NULL; op = op->next) {
            if (!can_serve(rule, op, negated))
                continue;
            if (op->flags & OP_FAST)
                return op;
            if (is_better(rule, op, best))
                best = op;
        }
    return best;
}

/* The content that Suricata would choose, because rule writers expect that one in reports.
 * Inspection may use another, see compile/fast_pattern.c. NULL: there is none. */
const struct rule_op *analysis_pattern(const struct rule *rule, bool *negated)
{
    const struct rule_op *op = NULL;

    *negated = false;
    if (rule->prefilter == NULL)
        op = best_pattern(rule, false);
    if (op == NULL && rule->prefilter == NULL) {
        op = best_pattern(rule, true);
        *negated = op != NULL;
    }
    return op;
}

/* To Suricata isdataat counts from the operation directly before it, other operations from the
 * last pattern before them. */
static bool is_counted_from(const struct rule_op *op)
{
    bool found = false;

    for (const struct rule_op *o = op->next; o != NULL && !found; o = o->next) {
        found = (o->flags & (OP_RELATIVE | OP_DISTANCE | OP_WITHIN)) &&
                (o->kind != OP_ISDATAAT || o->prev == op);
        if (o->kind == OP_CONTENT || o->kind == OP_PCRE)
            break;
    }
    return found;
}

/* base64_decode continues from a match without being marked as relative. */
bool analysis_has_relative(const struct rule_op *op)
{
    return (op->flags & OP_RELATIVE_NEXT) && (op->next == NULL || op->next->kind != OP_BASE64) &&
           is_counted_from(op);
}

/* A hit of the prefilter proves the content: no position, no negation, nothing relative to
 * it. */
bool analysis_is_conclusive(const struct rule_op *op)
{
    const struct content_position position = analysis_position(op);

    if ((op->flags & (OP_NEGATED | OP_REPLACE)) || analysis_has_relative(op) ||
        position.flags != 0 || (op->flags & (OP_DISTANCE | OP_WITHIN | OP_DEPTH | OP_OFFSET)))
        return false;
    return !(op->flags & OP_FAST_CHOP) || op->content.fast_len == op->content.len;
}

/* Suricata's measure for a pattern: letters count least, control characters most, and a
 * byte that came before adds 1. */
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

/* True if a relative content has an origin other than the start of the buffer. The output of
 * base64_decode starts where the last match ended. */
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

/* A bound on the length of the URI limits the position of its contents, so Suricata turns
 * it into a depth. */
static void bound_by_urilen(const struct rule_op *op, struct content_position *p)
{
    for (const struct rule_op *o = op->list->first; o != NULL; o = o->next) {
        const struct int_match *m = &o->size;
        uint64_t most;

        if (o->kind != OP_URILEN || (m->op != INT_EQ && m->op != INT_LT && m->op != INT_RANGE))
            continue;
        most = m->op == INT_EQ ? m->a : (m->op == INT_LT ? m->a : m->b) + 1;
        if (!(p->flags & OP_DEPTH) || (uint64_t)p->depth > most) {
            p->flags |= OP_DEPTH;
            p->depth = (int32_t)most;
        }
    }
}

/* A relative content without a predecessor is relative to the start, so it becomes an
 * absolute one. */
struct content_position analysis_position(const struct rule_op *op)
{
    const struct content_op *c = &op->content;
    struct content_position p = {
        .flags = op->flags & (OP_OFFSET | OP_DEPTH | OP_DISTANCE | OP_WITHIN),
        .offset = c->offset, .depth = c->depth, .distance = c->distance, .within = c->within,
    };

    bound_by_urilen(op, &p);
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
    p.flags = (p.was_distance && p.offset > 0 ? OP_OFFSET : 0) | (p.was_within ? OP_DEPTH : 0);
    return p;
}

/* So does a bound on the length of the payload. */
static void bound_by_dsize(const struct rule *r, struct content_position *p)
{
    for (unsigned i = 0; i < r->test_count; i++) {
        const struct rule_test *test = &r->test[i];
        const struct int_match *m = test->arg;
        uint64_t most;

        if (strcmp(test->keyword->name, "dsize") != 0 ||
            (m->op != INT_EQ && m->op != INT_LT && m->op != INT_RANGE))
            continue;
        most = m->op == INT_RANGE ? m->b : m->a;
        if (!(p->flags & OP_DEPTH) || (uint64_t)p->depth >= most) {
            p->flags |= OP_DEPTH;
            p->depth = (int32_t)most;
        }
    }
}

struct content_position analysis_position_in(const struct rule *rule, const struct rule_op *op)
{
    struct content_position p = analysis_position(op);

    if (op->list->buffer == NULL && !(op->flags & OP_WITHIN))
        bound_by_dsize(rule, &p);
    return p;
}

/* Characters that a rule would have to escape are shown in hexadecimal. */
static bool is_plain(uint8_t c)
{
    return isprint(c) && strchr("/;:\\ |\"`'", c) == NULL;
}

/* In the notation of rules, ended by a NUL. */
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
