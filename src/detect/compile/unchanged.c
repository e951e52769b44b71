/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/unchanged.c - takes rules over from the ruleset before. */
#include "detect/compile/unchanged.h"

#include "base/containers/hash.h"
#include "base/report/log.h"
#include "detect/rule/classification.h"
#include "detect/rule/program.h"
#include "detect/rule/rule_block.h"
#include "detect/rule/ruleset_private.h"

#include <stdlib.h>
#include <string.h>

static int by_hash(const void *a, const void *b)
{
    const struct unchanged_rule *x = a, *y = b;

    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* What keywords read apart from their text. A tenant's file is read again at each reload, so its
 * settings may be others. */
static bool has_same_settings(const struct ruleset *set, const struct ruleset *previous)
{
    return previous->read_from == set->read_from && previous->is_inline == set->is_inline &&
           !previous->strict && !set->strict && previous->state == set->state;
}

/* Buffers and names go over as a whole. */
static bool can_share(struct ruleset *set, const struct ruleset *previous)
{
    if (previous == NULL || previous->common == NULL || !has_same_settings(set, previous) ||
        !rule_block_common_is_worth_sharing(previous->common) ||
        !buffer_registry_continue(set, previous))
        return false;
    if (rule_names_continue(set->names, previous->names))
        return true;
    buffer_registry_free(set);
    return false;
}

void unchanged_open(struct unchanged *u, struct ruleset *set,
                    const struct ruleset_request *request)
{
    const struct ruleset *previous = request->previous;

    *u = (struct unchanged){ .set = set };
    if (!can_share(set, previous)) {
        rule_names_keep(set->names, &rule_block_common(set)->arena);
        return;
    }
    rule_blocks_read_operations(previous);
    set->common = previous->common;
    rule_block_share(set, set->common);
    ARRAY_RESERVE(&u->by_hash, previous->rules.count);
    ARRAY_RESERVE(&set->rules, previous->rules.count + previous->rules.count / 64);
    for (size_t i = 0; i < previous->rules.count; i++) {
        const struct rule *r = previous->rules.at[i];

        if (r->source != NULL && rule_block_is_worth_sharing(r->source->block))
            ARRAY_PUSH(&u->by_hash, (struct unchanged_rule){ r->source->hash[0], r });
    }
    if (u->by_hash.count > 1)
        qsort(u->by_hash.at, u->by_hash.count, sizeof(u->by_hash.at[0]), by_hash);
}

/* Texts are not kept, because they take as much memory as all else of a rule. 128 bits with keys of
 * this process tell them apart. */
void unchanged_hash(const struct rule_text *text, bool swapped, bool firewall, uint64_t hash[2])
{
    const struct hash_keys *keys = hash_keys();
    struct hash_key second = { { keys->pair[0], keys->pair[1] } };
    uint64_t how = (uint64_t)(swapped | firewall << 1) * UINT64_C(0x9e3779b97f4a7c15);

    hash[0] = hash_bytes(text->text.p, text->text.n) ^ how;
    hash[1] = hash_bytes_keyed(text->text.p, text->text.n, second) ^ how;
}

static const struct rule *find(const struct unchanged *u, const uint64_t hash[2])
{
    struct unchanged_rule key = { hash[0], NULL }, *at;

    if (u->by_hash.count == 0)
        return NULL;
    at = bsearch(&key, u->by_hash.at, u->by_hash.count, sizeof(key), by_hash);
    return at != NULL && at->rule->source->hash[1] == hash[1] ? at->rule : NULL;
}

static void keep_expressions(const struct rule_list *list)
{
    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        if (op->kind == OP_PCRE)
            expression_keep(op->pcre->compiled);
}

/* Sets belong to one ruleset, because rules are grouped by their pointers. */
static void copy_sets(struct ruleset *set, struct rule *rule)
{
    if (rule->src != NULL)
        rule->src = address_set_copy(&set->addresses, rule->src);
    if (rule->dst != NULL)
        rule->dst = address_set_copy(&set->addresses, rule->dst);
    if (rule->src_port != NULL)
        rule->src_port = port_set_copy(&set->ports, rule->src_port);
    if (rule->dst_port != NULL)
        rule->dst_port = port_set_copy(&set->ports, rule->dst_port);
}

struct rule *unchanged_take(struct unchanged *u, const struct rule_text *text,
                            const uint64_t hash[2])
{
    const struct rule *old = find(u, hash);
    struct ruleset *set = u->set;
    struct rule *rule;

    if (old == NULL)
        return NULL;
    rule = arena_copy(&set->arena, old, sizeof(*old));
    rule->flags = rule->source->flags;
    rule->threshold = rule->source->threshold;
    rule->text = text->text.p;
    rule->at = rule_text_at(text, text->text.p);
    copy_sets(set, rule);
    if (rule->source->required != NULL)
        app_required_add(&set->required, rule->source->required);
    for (const struct rule_list *l = rule->list; l != NULL; l = l->next) {
        keep_expressions(l);
        if (l->decoded != NULL)
            keep_expressions(l->decoded);
    }
    rule_block_share(set, rule->source->block);
    rule->source->block->live++;
    u->taken++;
    return rule;
}

void unchanged_close(struct unchanged *u)
{
    size_t all = u->set->rules.count;

    if (u->by_hash.count > 0)
        log_config("detect", "%u rules are as before, %zu were parsed", u->taken,
                   all - MIN(all, u->taken));
    expressions_take_kept(&u->set->expressions);
    rule_block_close_common(u->set);
    ARRAY_FREE(&u->by_hash);
}
