/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/ruleset_private.h - the contents of a ruleset; for detect/ alone.
 *
 * ruleset_load() creates the struct. It parses each rule with keyword->parse and rule_finish(),
 * appends the valid ones, reads thresholds, and calls ruleset_compile(). */
#ifndef DETECT_RULESET_H
#define DETECT_RULESET_H

#include "app/conf.h"
#include "base/array.h"
#include "base/containers/map.h"
#include "detect/rule/buffer.h"
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset.h"
#include "match/address.h"
#include "match/expressions.h"
#include "match/port.h"

struct buffer_registry;         /* detect/rule/buffers.c */
struct detect_plan;             /* detect/compile/compile.h: groups, prefilters, order */
struct part_costs;
struct profile;
struct rule_state;
struct threshold_table;         /* their state, shared by all threads */
struct dataset_table;           /* detect/state/dataset.h */
struct lua_script;

#define RULESET_FAILURES_MAX 1000

struct ruleset {
    struct arena arena;                 /* what dies with this set */
    uint32_t refs;                      /* atomic */
    uint64_t load;                      /* number of the load, of those that share `state` */
    const uint32_t *renumbered;         /* detect/compile/renumber.h; NULL: no set came before */
    uint64_t renumbered_from;           /* the load of that set */
    ARRAY_OF(struct rule_block *) blocks;       /* what following sets may share */
    struct rule_block *common;          /* one of them; rule_block_common() creates it */
    const struct conf_node *read_from;  /* to compare; not valid after loading */
    bool strict;                        /* --strict-rule-keywords was given */
    bool is_inline;
    const struct conf_node *conf;       /* root; valid while loading only */
    const char *config_dir;
    bool suricata_9;                    /* conf/compatibility.h */
    bool packet_facts;                  /* detect.packet-facts */
    unsigned packet_fact_count;
    unsigned flowbits_max;              /* of a rule; 0: any number */
    ARRAY_OF(struct rule *) rules;      /* as parsed; evaluation order once compiled */
    struct buffer_registry *buffers;    /* created at first use */
    struct detect_plan *plan;
    struct profile *profile, *costs;    /* detect/state/profile.h; created by the compiler */
    struct part_costs *parts;           /* detect/state/part_costs.h; NULL: no rules */
    struct firewall *firewall;          /* detect/compile/firewall.h; NULL: not in firewall mode */
    bool has_early_hook[EARLY_HOOK_COUNT], early_hooks_share_state;
    bool affects_stream;
    /* rules that do not belong to the firewall */
    struct { uint32_t *at; size_t count, cap; } hook[EARLY_HOOK_COUNT];
    struct rule_state *state;           /* detect/state/rule_state.h; these three are in it: */
    struct threshold_table *threshold_state;
    struct host_bits *host_bits;        /* detect/state/host_bits.h: xbits, hostbits */
    struct tag_table *tags;             /* detect/state/tag.h */
    struct dataset_table *datasets;
    struct app_required_features required;             /* what the rules need of the protocols */
    struct address_table addresses;
    struct port_table ports;
    struct expressions expressions;
    struct { uint32_t match, depth; } pcre_limits;      /* as configured; 0: not read yet */
    struct rule_names *names;           /* detect/rule/classification.h */
    struct iprep *iprep;                /* detect/state/iprep.h; NULL: none configured */
    ARRAY_OF(const struct lua_script *) scripts;    /* detect/lua/script.h */
    struct lua_total *lua_total;        /* memory of all scripts; NULL: no scripts */
    uint64_t lua_packet_instructions;
    ARRAY_OF(struct ruleset_failure) failures;  /* at most RULESET_FAILURES_MAX */
    ARRAY_OF(struct rule_test) to_free; /* arguments with a free_arg that no block has;
                                         * ruleset_unref calls them */
};

/* Orders, classifies and groups the rules, chooses fast patterns, builds the prefilters. previous:
 * whose unchanged parts are shared; or NULL. */
int ruleset_compile(struct ruleset *set, const struct ruleset *previous, struct err *err);
void ruleset_plan_free(struct ruleset *set);            /* plan and buffer registry */

#endif
