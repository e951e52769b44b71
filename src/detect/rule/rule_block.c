/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/rule_block.c - the memory of parsed rules, shared by successive rulesets. */
#include "detect/rule/rule_block.h"

#include "base/memory/packer.h"
#include "detect/rule/keyword.h"
#include "detect/rule/program.h"
#include "detect/rule/ruleset_private.h"

#include <stdlib.h>

/* The arena maps a second piece for a rule that does not fit; only pages in use take memory. */
#define NEARLY_FULL (RULE_BLOCK_SIZE - RULE_BLOCK_SIZE / 32)
#define COMMON_TO_FREE 64       /* unused arguments of transforms that it may have in any case */

struct rule_block *rule_block_new(struct ruleset *set)
{
    struct rule_block *block = xcalloc(1, sizeof(*block));

    block->load = UINT64_MAX;
    arena_init(&block->arena, RULE_BLOCK_SIZE, 0);
    rule_block_share(set, block);
    return block;
}

struct rule_block *rule_block_common(struct ruleset *set)
{
    if (set->common == NULL)
        set->common = rule_block_new(set);
    return set->common;
}

void rule_block_close_common(struct ruleset *set)
{
    struct rule_block *common = rule_block_common(set);

    if (common->first_used > 0)
        return;
    common->first_used = common->arena.used;
    common->first_to_free = common->to_free.count;
}

/* A transform that is parsed again leaves its argument here, used or not. */
bool rule_block_common_is_worth_sharing(const struct rule_block *common)
{
    return common->arena.used <= 2 * common->first_used + RULE_BLOCK_SIZE &&
           common->to_free.count <= 2 * common->first_to_free + COMMON_TO_FREE;
}

/* The number of the load tells blocks that the set has from others without a search. */
void rule_block_share(struct ruleset *set, struct rule_block *block)
{
    if (block->load == set->load)
        return;
    block->load = set->load;
    block->live = 0;
    __atomic_fetch_add(&block->refs, 1, __ATOMIC_RELAXED);
    ARRAY_PUSH(&set->blocks, block);
}

static void unref(struct rule_block *block)
{
    if (__atomic_sub_fetch(&block->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t i = 0; i < block->to_free.count; i++)
        block->to_free.at[i].keyword->free_arg((void *)(uintptr_t)block->to_free.at[i].arg);
    ARRAY_FREE(&block->to_free);
    packed_arena_fini(&block->texts);
    packed_arena_fini(&block->operations);
    arena_fini(&block->arena);
    free(block);
}

void rule_blocks_release(struct ruleset *set)
{
    for (size_t i = 0; i < set->blocks.count; i++)
        unref(set->blocks.at[i]);
    ARRAY_FREE(&set->blocks);
    set->common = NULL;
}

void rule_blocks_pack(struct ruleset *set)
{
    struct packer *packer = packer_new();

    for (size_t i = 0; i < set->blocks.count; i++) {
        packed_arena_close(&set->blocks.at[i]->texts, packer);
        packed_arena_close(&set->blocks.at[i]->operations, packer);
    }
    packer_close(packer);
    packer_unref(packer);
}

void rule_blocks_read_operations(const struct ruleset *set)
{
    for (size_t i = 0; i < set->blocks.count; i++)
        packed_arena_read_all(&set->blocks.at[i]->operations);
}

static void read_list(const struct rule_list *list)
{
    for (const struct rule_op *op = list != NULL ? list->first : NULL; op != NULL; op = op->next)
        packed_read(op);
}

/* Rules that are of no block have nothing packed. */
void rule_read_operations(const struct rule *rule)
{
    if (rule->source == NULL)
        return;
    for (const struct rule_list *l = rule->list; l != NULL; l = l->next) {
        read_list(l);
        read_list(l->decoded);
    }
}

bool rule_block_is_full(const struct rule_block *block)
{
    return block->arena.used >= NEARLY_FULL;
}

/* At most a quarter of the memory of a block is for rules that are gone. A block is not small for
 * long, because each reload would leave another one. */
bool rule_block_is_worth_sharing(const struct rule_block *block)
{
    size_t used = block->arena.used + block->texts.used + block->operations.used;

    return used >= RULE_BLOCK_SIZE / 2 && block->live * 4 >= block->parsed * 3;
}
