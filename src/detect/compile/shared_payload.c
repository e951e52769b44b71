/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/shared_payload.c - finds equal payload parts. Hundreds of rules on
 * transactions have the same one, such as "GET " in the first four bytes. One rule
 * searches for it, and the others refer to that rule. */
#include "detect/compile/compile.h"
#include "base/containers/map.h"
#include "detect/rule/program.h"

#include <string.h>

#define OWN_CHOICE (OP_FAST | OP_FAST_ONLY | OP_FAST_CHOP)  /* does not affect what matches */

/* Only contents can be shared. Variables, captures and the effects of other keywords
 * belong to one rule. */
static bool is_plain(const struct rule_op *op)
{
    return op->kind == OP_CONTENT && !(op->flags & (OP_OFFSET_VAR | OP_DEPTH_VAR | OP_DISTANCE_VAR |
                                                    OP_WITHIN_VAR | OP_REPLACE));
}

/* Only rules on transactions search a payload part separately from the rest of the rule. */
static bool is_shareable(const struct rule *r, const struct rule_list *payload)
{
    if (payload == NULL || r->type != RULE_APP_TX || (r->flags & RULE_FIREWALL))
        return false;
    for (const struct rule_op *op = payload->first; op != NULL; op = op->next)
        if (!is_plain(op))
            return false;
    return true;
}

/* Flags of OWN_CHOICE do not change what matches, so they are not part of the key. */
static void add_content(struct buf *key, const struct rule_op *op)
{
    const struct content_op *c = &op->content;
    const int32_t numbers[] = { (int32_t)(op->flags & ~(uint32_t)OWN_CHOICE), c->offset, c->depth,
                                c->distance, c->within, c->len };

    buf_add(key, numbers, sizeof(numbers));
    buf_add(key, c->bytes, c->len);
}

/* The key of a payload part with everything that decides when it is searched. Two rules
 * with equal keys find their parts in the same streams. */
static void add_rule(struct buf *key, const struct rule *r, const struct rule_list *payload)
{
    const void *sets[] = { r->src, r->dst, r->src_port, r->dst_port };
    const uint32_t rest[] = { r->app_proto, r->ip_version,
                              r->flags & (RULE_TO_SERVER | RULE_TO_CLIENT), r->looks_back };

    buf_add(key, sets, sizeof(sets));
    buf_add(key, rest, sizeof(rest));
    buf_add(key, r->ip_proto, sizeof(r->ip_proto));
    for (const struct rule_op *op = payload->first; op != NULL; op = op->next)
        add_content(key, op);
}

/* The map stores index + 1, because 0 means absent. */
void rules_share_payload_matches(struct ruleset *set)
{
    struct map parts = { 0 };
    struct buf key = { 0 };

    for (size_t i = 0; i < set->rules.count; i++) {
        struct rule *r = set->rules.at[i];
        const struct rule_list *payload = rule_payload(r);
        uintptr_t first;

        r->shared_payload_match = r->index;
        if (!is_shareable(r, payload))
            continue;
        buf_clear(&key);
        add_rule(&key, r, payload);
        first = (uintptr_t)map_get(&parts, key.data, key.len);
        if (first != 0)
            r->shared_payload_match = (uint32_t)(first - 1);
        else
            map_put(&parts, key.data, key.len, (void *)(uintptr_t)(r->index + 1u));
    }
    buf_fini(&key);
    map_fini(&parts);
}
