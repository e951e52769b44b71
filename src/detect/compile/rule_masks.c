/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/rule_masks.c - what rejects most candidates of a rule, in few bytes. */
#include "detect/compile/compile.h"
#include "detect/rule/flowbits.h"
#include "match/address.h"
#include "match/port.h"

#include <string.h>

bool rule_is_on_any_port(const struct rule *r)
{
    return (r->src_port == NULL || r->src_port->any) && (r->dst_port == NULL || r->dst_port->any);
}

/* Rules on both directions have their pattern in one of them. */
static bool needs_tx_pattern(const struct rule *r)
{
    return r->type == RULE_APP_TX && r->payload != NULL && r->upstream == NULL &&
           !(r->flags & RULE_TX_BOTH) && r->fast_op != NULL && r->fast_list != NULL &&
           r->fast_list->buffer != NULL && r->fast_list->buffer->kind == BUFFER_TX;
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
    for (unsigned i = 0; i < plan->rule_count; i++)
        if (plan->rule[i]->shared_payload_match != i)
            plan->mask[plan->rule[i]->shared_payload_match].needs_tx_pattern = false;
    payload_parts_number(plan);
}
