/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/rules_in_force.c - references to the rules that packets are inspected with. */
#include "control/rules_in_force.h"

#include <stdlib.h>

struct rules_in_force rules_in_force_get(struct run_context *ctx)
{
    struct tenants *tenants = run_context_tenants(ctx);
    struct rules_in_force f = { 0 };
    unsigned generation;

    ARRAY_PUSH(&f.sets, run_context_rules(ctx, &generation));
    ARRAY_PUSH(&f.tenants, 0);
    for (size_t i = 0; tenants != NULL && i < tenants->list.count; i++) {
        ARRAY_PUSH(&f.sets, ruleset_ref(tenants->list.at[i]->rules));
        ARRAY_PUSH(&f.tenants, tenants->list.at[i]->id);
    }
    tenants_unref(tenants);
    return f;
}

void rules_in_force_put(struct rules_in_force *f)
{
    for (size_t i = 0; i < f->sets.count; i++)
        ruleset_unref(f->sets.at[i]);
    ARRAY_FREE(&f->sets);
    ARRAY_FREE(&f->tenants);
}
