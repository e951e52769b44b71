/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/port_lists.h - finds rules by their ports, if they have no usable pattern. A
 * rule is listed by its destination ports, else by its source ports, else in the list for all.
 * Ports with the same rules share one list. The table from ports to lists is divided into pages,
 * and equal pages are stored once: nearly all high ports share a page. If a rule has a literal near
 * the front of the payload, the list has the literal too, which is tested first. Literals that may
 * be anywhere are tested if the payload has their first two bytes: one pass finds those of all. */
#ifndef DETECT_PORT_LISTS_H
#define DETECT_PORT_LISTS_H

#include "detect/prefilter/candidates.h"
#include "detect/prefilter/anchored_literal.h"
#include "detect/rule/rule.h"

struct rule_ids { uint32_t *at; unsigned count; };

struct placed_rule { struct anchored_literal literal; uint32_t rule; };

struct port_rules {
    struct rule_ids plain;
    struct placed_rule *placed;   /* rules that are candidates if their literal is in the payload */
    unsigned placed_count;
    struct placed_rule *anywhere; /* those whose literal has no bounds; the same */
    unsigned anywhere_count;
};

#define PORTS_A_PAGE 256

struct port_classes {
    uint8_t page_of[65536 / PORTS_A_PAGE];
    uint16_t (*page)[PORTS_A_PAGE];     /* classes of ports; NULL: no rule has these ports */
    struct port_rules *list;    /* by class; class 0 is empty */
    unsigned count;
};

struct port_lists {
    struct port_classes dst, src;
    struct port_rules any;
    struct pair_set *pairs;     /* the first two bytes of literals anywhere; NULL: there are none */
};

void port_lists_build(struct port_lists *lists, const struct anchored_entry *entry, unsigned count);
void port_lists_fini(struct port_lists *lists);

static inline void rule_ids_add(const struct rule_ids *ids, struct candidates *out)
{
    for (unsigned i = 0; i < ids->count; i++)
        candidates_add(out, ids->at[i]);
}

static inline void port_rules_add(const struct port_rules *rules, struct slice payload,
                                  struct candidates *out)
{
    rule_ids_add(&rules->plain, out);
    for (unsigned i = 0; i < rules->placed_count; i++)
        if (anchored_literal_matches(&rules->placed[i].literal, payload))
            candidates_add(out, rules->placed[i].rule);
}

/* The rules of a port; NULL: no rule names ports. */
static inline const struct port_rules *port_rules_of(const struct port_classes *c, uint16_t port)
{
    return c->page != NULL
               ? &c->list[c->page[c->page_of[port / PORTS_A_PAGE]][port % PORTS_A_PAGE]] : NULL;
}

static inline void port_classes_add(const struct port_classes *c, uint16_t port,
                                    struct slice payload, struct candidates *out)
{
    const struct port_rules *rules = port_rules_of(c, port);

    if (rules != NULL)
        port_rules_add(rules, payload, out);
}

/* Prefetches what port_lists_collect() reads for these ports: first where their rules are, then
 * these. */
static inline void port_lists_fetch(const struct port_lists *lists, uint16_t src, uint16_t dst)
{
    PREFETCH(port_rules_of(&lists->dst, dst));
    PREFETCH(port_rules_of(&lists->src, src));
}
static inline void port_rules_fetch(const struct port_rules *rules)
{
    if (rules != NULL) {
        PREFETCH(rules->plain.at);
        PREFETCH(rules->placed);
    }
}
static inline void port_lists_fetch_rules(const struct port_lists *lists, uint16_t src,
                                          uint16_t dst)
{
    port_rules_fetch(port_rules_of(&lists->dst, dst));
    port_rules_fetch(port_rules_of(&lists->src, src));
}

/* Adds the rules of these ports whose literal is anywhere in the payload. */
void port_lists_collect_anywhere(const struct port_lists *lists, uint16_t src, uint16_t dst,
                                 struct slice payload, struct candidates *out);

static inline void port_lists_collect(const struct port_lists *lists, uint16_t src, uint16_t dst,
                                      struct slice payload, struct candidates *out)
{
    port_rules_add(&lists->any, payload, out);
    port_classes_add(&lists->dst, dst, payload, out);
    port_classes_add(&lists->src, src, payload, out);
    if (lists->pairs != NULL && payload.len > 1)
        port_lists_collect_anywhere(lists, src, dst, payload, out);
}

#endif
