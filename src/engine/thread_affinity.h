/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/thread_affinity.h - applies the plan to the calling thread: name, CPUs, nice, memory. */
#ifndef ENGINE_THREAD_AFFINITY_H
#define ENGINE_THREAD_AFFINITY_H

#include "engine/plan.h"

void thread_apply_affinity(const struct plan *plan, const struct plan_thread *t);

#endif
