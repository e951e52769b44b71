/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/rule_block.h - the memory of parsed rules that a reload leaves as it is.
 *
 * Rules point to strings, arguments and programs. These take most of a ruleset's memory. They are
 * in blocks of some hundred rules, and a ruleset has references to its blocks. A reload parses only
 * rules that are new, and refers to the blocks of the others. What a block has of rules that are
 * gone is freed with it, so a block with many of these, or with few rules, is not used again: its
 * rules are parsed into a new one.
 *
 * Only texts and operations of a rule are packed when the set is compiled. They take half of it.
 *
 * The common block has what rules of several blocks point to: buffers with transforms, names of
 * classes. It goes from set to set, and loads add to it, until it has grown too much: then all
 * rules are parsed again. One thread loads; any thread may free. */
#ifndef DETECT_RULE_BLOCK_H
#define DETECT_RULE_BLOCK_H

#include "base/array.h"
#include "base/memory/arena.h"
#include "base/memory/packed_arena.h"
#include "detect/rule/rule.h"

struct ruleset;

/* Arenas map blocks from this size on, so that freed ones go back to the system. */
#define RULE_BLOCK_SIZE (256u << 10)

struct rule_block {
    uint32_t refs;              /* atomic: the rulesets that have it */
    uint64_t load;              /* ruleset.load of the newest set that has it; this and the
                                 * following are of the loading thread */
    unsigned parsed, live;      /* rules; those of them that this set has */
    struct arena arena;
    /* What no packet needs: what alerts show, and what the compiler and reports read. */
    struct packed_arena texts, operations;
    ARRAY_OF(struct rule_test) to_free;
    size_t first_used, first_to_free;   /* common block: after the load that created it */
};

/* Creates a block that only `set` has. */
struct rule_block *rule_block_new(struct ruleset *set);
/* Returns the set's block for what several rules share. */
struct rule_block *rule_block_common(struct ruleset *set);
/* Lets the set have the block, if it does not yet. */
void rule_block_share(struct ruleset *set, struct rule_block *block);
/* All rules of the set are read. */
void rule_block_close_common(struct ruleset *set);
/* False: much of it may belong to rules that are gone. */
bool rule_block_common_is_worth_sharing(const struct rule_block *common);
/* Releases all blocks of the set. */
void rule_blocks_release(struct ruleset *set);

/* All rules of the set are compiled: packs what packets do not need. */
void rule_blocks_pack(struct ruleset *set);
/* Call it before the operations of the set's rules are read: the lists from rule_list.first on, and
 * rule.source. */
void rule_blocks_read_operations(const struct ruleset *set);
/* The same for the lists of one rule. */
void rule_read_operations(const struct rule *rule);

bool rule_block_is_full(const struct rule_block *block);
/* False: its rules should be parsed again, into a block with fewer dead ones. */
bool rule_block_is_worth_sharing(const struct rule_block *block);

#endif
