/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_private.h - declarations that the files of the planner share. */
#ifndef ENGINE_PLAN_PRIVATE_H
#define ENGINE_PLAN_PRIVATE_H

#include "engine/plan.h"

/* cpu_placement.c: assigns a CPU to each thread, in the order of the threads. */
int plan_place(struct plan *plan, struct err *err);
/* plan_warn.c: adds warnings about unwise settings. */
void plan_warn(struct plan *plan, const char *interfaces);

/* Returns the NUMA node local to what the plan captures from; -1: not known. */
int plan_source_numa(const struct plan *plan, const char *source);
/* cpu_placement.c: whether the stage has a list of CPUs of its own in `runmodes:`. */
bool plan_has_own_cpus(const struct plan_stage *stage);
/* cpu_placement.c: whether the thread should be near the interface that it reads. */
bool plan_follows_interface(const struct plan_thread *t);
/* Returns the CPUs that count for thread numbers: the role's set if configured, else all
 * allowed. */
unsigned plan_cpus_of(const struct plan *plan, enum cpu_role role);
/* Returns the most threads that capture from one interface and inspect: `threads` of the worker
 * set, else detect-thread-ratio of all CPUs. */
unsigned plan_worker_limit(const struct plan *plan);

#endif
