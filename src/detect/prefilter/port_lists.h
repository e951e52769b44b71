/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/port_lists.h - rules by the ports they name, for those that have nothing better
 * to be found by. A rule stands under its destination ports, else under its source ports, else
 * in the list for all. Ports that the same rules name share one list. */
#ifndef DETECT_PORT_LISTS_H
#define DETECT_PORT_LISTS_H

#include "detect/prefilter/candidates.h"
#include "detect/rule.h"

struct rule_ids { uint32_t *at; unsigned count; };

struct port_classes {
    uint16_t *class_of;         /* 65536, or NULL: no rule is here */
    struct rule_ids *list;      /* by class; class 0 is empty */
    unsigned count;
};

struct port_lists {
    struct port_classes dst, src;
    struct rule_ids any;
};

/* ids index `rule`. */
void port_lists_build(struct port_lists *lists, struct rule *const *rule, const uint32_t *ids,
                      unsigned count);
void port_lists_fini(struct port_lists *lists);

static inline void port_lists_add(const struct rule_ids *ids, struct candidates *out)
{
    for (unsigned i = 0; i < ids->count; i++)
        candidates_add(out, ids->at[i]);
}

static inline void port_lists_collect(const struct port_lists *lists, uint16_t src, uint16_t dst,
                                      struct candidates *out)
{
    port_lists_add(&lists->any, out);
    if (lists->dst.class_of != NULL)
        port_lists_add(&lists->dst.list[lists->dst.class_of[dst]], out);
    if (lists->src.class_of != NULL)
        port_lists_add(&lists->src.list[lists->src.class_of[src]], out);
}

#endif
