/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_private.h - what the files that make a plan share. */
#ifndef ENGINE_PLAN_PRIVATE_H
#define ENGINE_PLAN_PRIVATE_H

#include "engine/plan.h"

/* cpu_placement.c: gives each thread its CPU, in the order of the threads. */
int plan_place(struct plan *plan, struct err *err);
/* plan_warn.c: what is unwise about it. */
void plan_warn(struct plan *plan, const char *interfaces);

/* Local to what the plan captures from; -1: not known. */
int plan_source_numa(const struct plan *plan, const char *source);
/* CPUs that count for thread numbers: of the role's set if there is one, else all allowed. */
unsigned plan_cpus_of(const struct plan *plan, enum cpu_role role);

#endif
