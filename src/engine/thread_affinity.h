/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/thread_affinity.h - puts the calling thread where the plan wants it: name, CPUs, nice, memory. */
#ifndef ENGINE_SETTLE_H
#define ENGINE_SETTLE_H

#include "engine/plan.h"

void settle_thread(const struct plan_thread *t);

#endif
