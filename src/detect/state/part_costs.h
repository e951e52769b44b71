/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/part_costs.h - what the parts of a ruleset cost: its groups, the buffers it looks
 * into, and keywords. The figures are estimates from a sample of the packets
 * (detect/inspect/part_cost.h), so all threads count in one place.
 *
 * Any thread may add and sum while packets move. */
#ifndef DETECT_PART_COSTS_H
#define DETECT_PART_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ruleset;

enum cost_kind {
    COST_GROUP,                 /* rules of a transport or protocol, in a direction: all of it */
    COST_BUFFER,                /* search for patterns, and programs of rules */
    COST_KEYWORD,               /* a step of these programs, or a test */
    COST_KINDS
};

struct part_cost {
    const char *name;           /* NULL: not used; set once, so atomic */
    uint64_t checks, ticks;     /* estimates for all packets */
    uint64_t timed;             /* how often it was timed for them */
    uint64_t max_ticks;
};

struct part_costs;
/* At most `buffers` of them, as inspect/ looks into. */
struct part_costs *part_costs_new(unsigned buffers);
void part_costs_free(struct part_costs *c);         /* NULL is fine */
void part_costs_clear(struct part_costs *c);

/* Names are compared by their address, which must stay. NULL: the table is full. */
struct part_cost *part_cost_of(struct part_costs *c, enum cost_kind kind, const char *name);
/* It has taken `ticks` on a packet that stands for `weight`. */
void part_cost_add(struct part_cost *part, uint64_t ticks, uint32_t weight);

/* Calls visit for each part that has been timed, with a copy. */
void part_costs_each(const struct part_costs *c, enum cost_kind kind,
                     void (*visit)(const struct part_cost *part, void *arg), void *arg);

/* A thread's stop watch: the parts that are timed on its packet (detect/inspect/part_cost.h). */
struct part_laps {
    bool on;
    unsigned sampled;           /* packets of the sample so far */
    uint32_t weight;            /* of this packet */
    uint32_t weight_due;        /* of packets of the sample since the last one with parts */
    struct part_cost *at[COST_KINDS];       /* NULL: none */
    uint64_t since[COST_KINDS];
};

#endif
