/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/rules_in_force.h - the rulesets that packets are inspected with: the common rules, and
 * those of each tenant. */
#ifndef CONTROL_RULES_IN_FORCE_H
#define CONTROL_RULES_IN_FORCE_H

#include "base/array.h"
#include "modules/context.h"

/* Each set is referenced, so its rules stay valid while a reload replaces them. */
struct rules_in_force {
    ARRAY_OF(struct ruleset *) sets;
    ARRAY_OF(uint32_t) tenants;             /* by set; 0: the common rules */
};

struct rules_in_force rules_in_force_get(struct run_context *ctx);
void rules_in_force_put(struct rules_in_force *f);

#endif
