/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/fast_pattern.c - selects the content by which the prefilter finds a rule.
 * The rule's author may name it with fast_pattern. Otherwise the content wins that is
 * least likely to occur in other traffic: a long one, of varied and rare bytes, in a small
 * buffer. */
#include "detect/compile/compile.h"
#include "detect/rule/program.h"

#include <string.h>

#define LENGTH_ENOUGH 24        /* more bytes than that make no pattern rarer */

/* How rare a byte is in traffic, from 1 (everywhere) to 6; the score adds these values. NUL, blank
 * and 0xff fill padding; digits and capitals are rarer than lower case in text. */
static unsigned byte_worth(uint8_t c)
{
    if (c == 0 || c == ' ' || c == 0xff)
        return 1;
    if (c == '/' || c == '.' || c == '\r' || c == '\n' || c == '=' || c == ':' || c == 'e')
        return 2;
    if (c >= 'a' && c <= 'z')
        return c == 'j' || c == 'q' || c == 'x' || c == 'z' ? 5 : 3;
    if (c >= '0' && c <= '9')
        return 4;
    if (c >= 'A' && c <= 'Z')
        return 5;
    return 6;
}

/* fast_pattern:offset,length restricts the search to a part of the content. */
static struct literal_pattern literal_of(const struct rule_op *op)
{
    struct literal_pattern p = { op->content.bytes, op->content.len,
                                 (op->flags & OP_NOCASE) != 0 };

    if (op->flags & OP_FAST_CHOP) {
        p.bytes += op->content.fast_offset;
        p.len = op->content.fast_len;
    }
    return p;
}

/* A byte that was seen before adds 1: "aaaa" is not rarer than "a" by much. Without case
 * each letter has two forms, so the score drops by an eighth. */
static unsigned literal_worth(struct literal_pattern p)
{
    uint64_t seen[4] = { 0 };
    unsigned worth = 0, len = MIN(p.len, LENGTH_ENOUGH);

    for (unsigned i = 0; i < len; i++) {
        uint8_t c = p.bytes[i];
        bool again = seen[c >> 6] >> (c & 63) & 1;

        seen[c >> 6] |= 1ull << (c & 63);
        worth += again ? 1 : byte_worth(c);
    }
    if (p.nocase)
        worth -= worth / 8;
    return worth;
}

static unsigned op_worth(const struct rule_op *op)
{
    const struct buffer *b = op->list->buffer;
    unsigned worth = literal_worth(literal_of(op));

    /* Of two equal contents the one that is not relative wins: it is confirmed sooner. */
    if ((op->flags & (OP_DISTANCE | OP_WITHIN)) && worth > 1)
        worth--;

    if (b == NULL)
        return worth;
    if (buffer_declared(b)->few_values)        /* filter little, however long they are */
        return worth / 4 + 1;
    return worth + 16;          /* few bytes, scanned once and only with the right protocol */
}

/* Can the prefilter find the rule by this content? The order of the tests is that of cost. */
static bool can_serve(const struct rule *r, const struct rule_op *op)
{
    const struct rule_list *l = op->list;

    if (op->kind != OP_CONTENT || (op->flags & OP_NEGATED) || literal_of(op).len == 0)
        return false;
    /* Rules on transactions are inspected with those, not with each packet. */
    if (l->buffer == NULL || l->buffer->kind == BUFFER_PACKET)
        return r->type != RULE_APP_TX;
    if (l->program->absent)
        return false;
    /* A rule over both directions begins with the request. */
    if ((r->flags & RULE_TX_BOTH) && !(l->directions & APP_TS))
        return false;
    return l->buffer->kind != BUFFER_BASE64;
}

unsigned rule_fast_pattern_worth(const struct rule *rule, const struct rule_op *op)
{
    return can_serve(rule, op) ? op_worth(op) : 0;
}

/* Of several contents with fast_pattern the first wins, because a later one is not better.
 * A rule without a usable content keeps NULL and is found by port or position. */
void rule_select_fast_pattern(struct rule *r)
{
    unsigned best = 0;

    r->fast_list = NULL;
    r->fast_op = NULL;
    for (struct rule_list *l = r->list; l != NULL; l = l->next)
        for (struct rule_op *op = l->first; op != NULL; op = op->next) {
            unsigned worth;

            if (!can_serve(r, op))
                continue;
            worth = op->flags & OP_FAST ? UINT32_MAX : op_worth(op);
            if (worth <= best)
                continue;
            best = worth;
            r->fast_list = l;
            r->fast_op = op;
        }
}

struct literal_pattern rule_fast_literal(const struct rule *r)
{
    return literal_of(r->fast_op);
}

/* NULL: the rule does not inspect payload. */
const struct rule_list *rule_payload(const struct rule *r)
{
    const struct rule_list *l = r->list;

    while (l != NULL && l->buffer != NULL)
        l = l->next;
    return l;
}

/* A rule with one cannot match a payload that the pattern sets have not hit. */
bool rule_payload_has_pattern(const struct rule *r)
{
    const struct rule_list *l = rule_payload(r);

    for (const struct rule_op *op = l != NULL ? l->first : NULL; op != NULL; op = op->next)
        if (op->kind == OP_CONTENT && !(op->flags & OP_NEGATED))
            return true;
    return false;
}

/* The largest position at which the content can end, when the previous one ends at `last`
 * at the most. UINT32_MAX: no limit is known. */
static uint64_t content_end(const struct rule_op *op, uint64_t last)
{
    uint64_t end = UINT32_MAX;

    if ((op->flags & OP_DEPTH) && !(op->flags & OP_DEPTH_VAR) && op->content.depth >= 0)
        end = (uint64_t)op->content.depth;
    if ((op->flags & OP_WITHIN) && !(op->flags & (OP_WITHIN_VAR | OP_DISTANCE_VAR)) &&
        last < UINT32_MAX)
        end = MIN(end, last + (uint64_t)MAX(op->content.within, 0) +
                       (uint64_t)(op->flags & OP_DISTANCE ? MAX(op->content.distance, 0) : 0));
    return end;
}

/* The largest payload that all tests of the packet allow (dsize). */
static uint32_t payload_most(const struct rule *r)
{
    uint32_t most = UINT32_MAX;

    for (unsigned i = 0; i < r->test_count; i++) {
        const struct rule_test *test = &r->test[i];

        if (test->keyword != NULL && test->keyword->payload_most != NULL && !test->negated)
            most = MIN(most, test->keyword->payload_most(test->arg));
    }
    return most;
}

/* The best literal of the payload for a pattern set, and the position where it ends at the
 * latest. The rule's fast pattern wins when it is one of them. */
static struct literal_pattern payload_literal(const struct rule *r, uint64_t *best_end)
{
    const struct rule_list *l = rule_payload(r);
    struct literal_pattern best = { 0 };
    unsigned best_worth = 0;
    uint64_t end = UINT32_MAX;

    *best_end = UINT32_MAX;
    for (const struct rule_op *op = l != NULL ? l->first : NULL; op != NULL; op = op->next) {
        struct literal_pattern p;
        unsigned worth;

        if (op->kind == OP_ISDATAAT || op->kind == OP_BYTE_TEST || (op->flags & OP_NEGATED))
            continue;           /* does not move the origin of the next one */
        if (op->kind != OP_CONTENT) {
            end = UINT32_MAX;
            continue;
        }
        end = content_end(op, end);
        p = literal_of(op);
        worth = op == r->fast_op ? UINT32_MAX : literal_worth(p);
        if (p.len <= PATTERN_SHORT_MAX || worth <= best_worth)
            continue;
        best = p;
        best_worth = worth;
        *best_end = end;
    }
    return best;
}

struct literal_pattern rule_payload_literal(const struct rule *r)
{
    uint64_t end;

    return payload_literal(r, &end);
}

unsigned rule_payload_worth(const struct rule *r)
{
    struct literal_pattern p = rule_payload_literal(r);

    return p.len > 0 ? literal_worth(p) : 0;
}

/* True when a hit of the pattern set already proves the rule's payload part, so that no
 * program need run. */
bool rule_payload_is_literal(const struct rule *r)
{
    const uint32_t more = OP_NEGATED | OP_DEPTH | OP_OFFSET | OP_DISTANCE | OP_WITHIN |
                          OP_ENDSWITH |
                          OP_REPLACE | OP_FAST_CHOP;
    const struct rule_list *l = rule_payload(r);

    return l != NULL && l->op_count == 1 && l->first->kind == OP_CONTENT &&
           !(l->first->flags & more) && l->first->content.len > PATTERN_SHORT_MAX &&
           l->first->content.len <= PATTERN_LONG_MAX;
}

/* Returns the first bytes of a content and where they may occur, if that does not depend on other
 * contents. */
static struct anchored_literal anchored_literal_of(const struct rule_op *op)
{
    struct anchored_literal l = { .nocase = (op->flags & OP_NOCASE) != 0, .to = UINT32_MAX };

    l.len = (uint8_t)MIN(op->content.len, ANCHORED_BYTES);
    memcpy(l.bytes, op->content.bytes, l.len);
    if (op->flags & (OP_DISTANCE | OP_WITHIN | OP_OFFSET_VAR | OP_DEPTH_VAR))
        return l;
    if ((op->flags & OP_OFFSET) && op->content.offset > 0)
        l.from = (uint32_t)op->content.offset;
    if ((op->flags & OP_DEPTH) && op->content.depth >= 0)
        l.to = (uint32_t)op->content.depth;
    return l;
}

/* A bounded position excludes more than length does, so it wins. */
struct anchored_literal rule_anchored_literal(const struct rule *r)
{
    const struct rule_list *l = rule_payload(r);
    struct anchored_literal best = { .to = UINT32_MAX };

    for (const struct rule_op *op = l != NULL ? l->first : NULL; op != NULL; op = op->next) {
        struct anchored_literal n;
        bool is_placed;

        if (op->kind != OP_CONTENT || (op->flags & OP_NEGATED))
            continue;
        n = anchored_literal_of(op);
        is_placed = anchored_literal_is_bounded(&n);
        if (is_placed != anchored_literal_is_bounded(&best) ? is_placed : n.len > best.len)
            best = n;
    }
    return best;
}

/* The condition on the front of a payload that is tested before the whole of it is searched. One
 * place costs a comparison, a range a search. */
static struct anchored_literal front_condition(const struct rule *r)
{
    const struct rule_list *l = rule_payload(r);
    struct anchored_literal best = { .len = 0 };
    bool best_is_exact = false;

    for (const struct rule_op *op = l != NULL ? l->first : NULL; op != NULL; op = op->next) {
        struct anchored_literal n;
        bool is_exact;

        if (op->kind != OP_CONTENT || (op->flags & OP_NEGATED))
            continue;
        n = anchored_literal_of(op);
        is_exact = n.to - n.from == n.len;
        if (n.len == 0 || n.to > CONDITION_REACH)
            continue;
        if (best.len == 0 || (is_exact != best_is_exact ? is_exact : n.len > best.len)) {
            best = n;
            best_is_exact = is_exact;
        }
    }
    return best;
}

/* A pattern that must end within PAYLOAD_FRONT bytes goes to a set that is searched only
 * there. */
struct payload_pattern rule_packet_pattern(const struct rule *r)
{
    uint64_t end;
    struct literal_pattern literal = payload_literal(r, &end);

    return (struct payload_pattern){ literal, r, MIN(end, payload_most(r)) <= PAYLOAD_FRONT,
                                     front_condition(r) };
}
