/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/liveness.h - detects stalled packet threads. A thread is stalled if it has work but makes
 * no progress during several checks: it is stuck in a module, in a system call, or in a wait that
 * does not end.
 *
 * One thread makes the checks, at intervals. Packet threads do not depend on the length of an
 * interval. */
#ifndef ENGINE_LIVENESS_H
#define ENGINE_LIVENESS_H

#include "engine/engine.h"

struct liveness;

/* A running engine, borrowed. */
struct liveness *liveness_new(const struct engine *engine);
void liveness_free(struct liveness *liveness);
/* Returns the name of a thread that had work and made no progress during the last `max_missed`
 * checks; of several, the one nearest to the capture. NULL: all threads make progress. A process
 * that was stopped and continues fails one check, so max_missed is at least 2. */
const char *liveness_check(struct liveness *liveness, unsigned max_missed);

#endif
