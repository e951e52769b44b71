/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/vars.h - flowbits, flowints and captured variables of one flow; inspection state.
 *
 * Names become small numbers at load time (var_names); a flow keeps what is set, sorted. */
#ifndef FLOW_VARS_H
#define FLOW_VARS_H

#include "base/text/bytes.h"
#include "flow/flow.h"

enum var_kind { VAR_FLOWBIT, VAR_FLOWINT, VAR_FLOWVAR, VAR_PKTVAR, VAR_XBIT, VAR_HOSTBIT,
                VAR_ENTROPY, VAR_KIND_COUNT };

/* Returns the number of a name. Process-wide, at load time, under a lock; ids from 1, never
 * reused. */
uint32_t var_name_id(enum var_kind kind, const char *name);
const char *var_name(enum var_kind kind, uint32_t id);

void flow_vars_free(struct flow_vars *vars);

bool flowbit_is_set(const struct flow *f, uint32_t id);
void flowbit_set(struct flow *f, uint32_t id);
void flowbit_unset(struct flow *f, uint32_t id);
bool flowint_get(const struct flow *f, uint32_t id, uint32_t *value);
void flowint_put(struct flow *f, uint32_t id, uint32_t value);
/* A captured text, with an optional key (pcre "flow:key,value"); copied. */
void flowvar_put(struct flow *f, uint32_t id, struct slice key, struct slice value);

/* The latest entropy stored under this name. */
void flow_entropy_put(struct flow *f, uint32_t id, double value);

/* The variables in the order of setting, for EVE metadata. */
struct flow_var_view {
    enum var_kind kind;
    uint32_t id, number;
    double entropy;
    struct slice key, value;
};
bool flow_vars_each(const struct flow *f, bool (*visit)(const struct flow_var_view *v, void *arg),
                    void *arg);

#endif
