/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/thread_affinity.h - puts the calling thread where the plan wants it: name, CPUs, nice,
 * memory. */
#ifndef ENGINE_THREAD_AFFINITY_H
#define ENGINE_THREAD_AFFINITY_H

#include "engine/plan.h"

void thread_apply_affinity(const struct plan_thread *t);

#endif
