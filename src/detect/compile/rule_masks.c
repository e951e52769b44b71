/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/rule_masks.c - what rejects most candidates of a rule, in few bytes. */
#include "detect/compile/compile.h"
#include "detect/rule/flowbits.h"
#include "match/address.h"
#include "match/port.h"

#include <stdlib.h>
#include <string.h>

bool rule_is_on_any_port(const struct rule *r)
{
    return (r->src_port == NULL || r->src_port->any) && (r->dst_port == NULL || r->dst_port->any);
}

/* Rules that share a payload part: the part is evaluated without a look at the patterns of more. */
#define PATTERNS_A_PART 4

/* Rules on both directions have their pattern in one of them. Of a body it is never known that it
 * lacks a pattern while that matters. */
static bool needs_tx_pattern(const struct rule *r)
{
    return r->type == RULE_APP_TX && r->payload != NULL && r->upstream == NULL &&
           !(r->flags & RULE_TX_BOTH) && r->fast_op != NULL && r->fast_list != NULL &&
           r->fast_list->buffer != NULL && r->fast_list->buffer->kind == BUFFER_TX &&
           !r->fast_list->buffer->grows;
}

/* The bit of its first "isset" of one name. */
static uint16_t needed_flowbit(const struct rule *r)
{
    struct flowbits_use use;

    for (unsigned i = 0; i < r->test_count - r->late_count; i++)
        if (!r->test[i].negated && flowbits_use_of(&r->test[i], &use) && use.count == 1 &&
            use.id[0] <= UINT16_MAX && strcmp(use.command, "isset") == 0)
            return (uint16_t)use.id[0];
    return 0;
}

/* The first rule with a part has its number. It comes before the others in evaluation order. */
static void payload_parts_number(struct detect_plan *plan)
{
    for (unsigned i = 0; i < plan->rule_count; i++) {
        const struct rule *r = plan->rule[i];
        uint16_t *part = &plan->mask[i].payload_part;

        if (r->type != RULE_APP_TX || rule_payload(r) == NULL)
            continue;
        if (r->shared_payload_match != i)
            *part = plan->mask[r->shared_payload_match].payload_part;
        else if (plan->payload_part_count < UINT16_MAX)
            *part = (uint16_t)++plan->payload_part_count;
    }
}

/* A part that is a pattern alone needs no evaluation. */
static bool part_needs_tx_pattern(const struct detect_plan *plan, const struct rule *r)
{
    const struct rule_mask *first = &plan->mask[r->shared_payload_match];

    return needs_tx_pattern(r) && first->payload_part != 0 && !first->is_pattern;
}

/* The rule's contents are packed away later, so this is a copy. */
static struct tx_pattern tx_pattern_of(const struct rule *r)
{
    const struct literal_pattern literal = rule_fast_literal(r);
    struct tx_pattern p = { .buffer = r->fast_list->buffer, .rule = r->index,
                            .len = (uint8_t)MIN(literal.len, TX_PATTERN_MAX),
                            .nocase = literal.nocase };

    memcpy(p.bytes, literal.bytes, p.len);
    return p;
}

/* A part counts for each rule that has it, so all of them must have a pattern. */
static void part_patterns_collect(struct detect_plan *plan, struct arena *arena)
{
    const unsigned parts = plan->payload_part_count + 1;
    struct tx_pattern **at = xcalloc(parts, sizeof(struct tx_pattern *));
    unsigned *rules = xcalloc(parts, sizeof(*rules));

    for (unsigned i = 0; i < plan->rule_count; i++)
        rules[plan->mask[i].payload_part]++;
    for (unsigned i = 0; i < plan->rule_count; i++) {
        struct rule_mask *first = &plan->mask[plan->rule[i]->shared_payload_match];

        first->needs_tx_pattern &= part_needs_tx_pattern(plan, plan->rule[i]) &&
                                   rules[first->payload_part] <= PATTERNS_A_PART;
    }
    plan->part_patterns = arena_zalloc(arena, parts * sizeof(*plan->part_patterns));
    for (unsigned i = 0; i < plan->rule_count; i++) {
        const struct rule *r = plan->rule[i];
        unsigned part = plan->mask[i].payload_part;

        if (part == 0 || !plan->mask[r->shared_payload_match].needs_tx_pattern)
            continue;
        if (at[part] == NULL)
            at[part] = arena_alloc(arena, rules[part] * sizeof(*at[part]));
        at[part][plan->part_patterns[part].count++] = tx_pattern_of(r);
        plan->part_patterns[part].at = at[part];
    }
    free(rules);
    free(at);
}

static const struct port_set *named_ports(const struct port_set *set)
{
    return set != NULL && !set->any ? set : NULL;
}

static const struct address_set *named_addresses(const struct address_set *set)
{
    return set != NULL && !set->any ? set : NULL;
}

static struct plan_header header_of(const struct rule *r)
{
    struct plan_header h = {
        .src_port = named_ports(r->src_port), .dst_port = named_ports(r->dst_port),
        .src = named_addresses(r->src), .dst = named_addresses(r->dst),
        .rule = r, .ip_version = r->ip_version,
    };

    for (uint8_t proto = 0; proto < 64; proto++)
        h.ip_protos |= (uint64_t)rule_has_ip_proto(r, proto) << proto;
    return h;
}

/* A mask holds what excludes most candidates, in few bytes: the rule itself need not be
 * read. One element more than rules, so that an empty ruleset has an array too. */
void rule_masks_build(struct detect_plan *plan, struct arena *arena)
{
    plan->mask = arena_zalloc(arena, (plan->rule_count + 1) * sizeof(*plan->mask));
    plan->header[HEADER_ID_SENDER] = header_of(&plan->cases.sender);
    plan->header[HEADER_ID_RECEIVER] = header_of(&plan->cases.receiver);
    for (unsigned i = 0; i < plan->rule_count; i++) {
        const struct rule *r = plan->rule[i];

        if (r->header_id != HEADER_ID_NONE && plan->header[r->header_id].rule == NULL)
            plan->header[r->header_id] = header_of(r);
        plan->mask[i] = (struct rule_mask){
            .flowbit = needed_flowbit(r), .header_id = r->header_id, .app_proto = r->app_proto,
            .conditions = rule_conditions(r->flags),
            .is_tx = r->type == RULE_APP_TX, .is_both = (r->flags & RULE_TX_BOTH) != 0,
            .is_pattern = rule_payload_is_literal(r),
            .needs_payload_hit = r->fast_op == NULL && rule_payload_has_pattern(r),
            .needs_payload = (r->flags & RULE_NEEDS_PAYLOAD) != 0,
            .is_proto = r->type == RULE_PROTO_ONLY,
            .is_found_once = (r->flags & RULE_PAYLOAD_PATTERN) != 0 ||
                             (rule_is_on_any_port(r) && rule_anchored_literal(r).len > 0),
            .needs_tx_pattern = needs_tx_pattern(r),
        };
    }
    payload_parts_number(plan);
    part_patterns_collect(plan, arena);
}
