/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/port_lists.h - rules by the ports they name, for those that have nothing better
 * to be found by. A rule stands under its destination ports, else under its source ports, else
 * in the list for all. Ports that the same rules name share one list. The table from ports to
 * lists is cut into pages, of which equal ones are kept once: nearly all high ports lead to one. */
#ifndef DETECT_PORT_LISTS_H
#define DETECT_PORT_LISTS_H

#include "detect/prefilter/candidates.h"
#include "detect/rule.h"

struct rule_ids { uint32_t *at; unsigned count; };

#define PORTS_A_PAGE 256

struct port_classes {
    uint8_t page_of[65536 / PORTS_A_PAGE];
    uint16_t (*page)[PORTS_A_PAGE];     /* classes of ports; NULL: no rule is here */
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

static inline void port_classes_add(const struct port_classes *c, uint16_t port,
                                    struct candidates *out)
{
    if (c->page != NULL)
        port_lists_add(&c->list[c->page[c->page_of[port / PORTS_A_PAGE]][port % PORTS_A_PAGE]],
                       out);
}

static inline void port_lists_collect(const struct port_lists *lists, uint16_t src, uint16_t dst,
                                      struct candidates *out)
{
    port_lists_add(&lists->any, out);
    port_classes_add(&lists->dst, dst, out);
    port_classes_add(&lists->src, src, out);
}

#endif
