/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/liveness.h - do the packet threads get on? One that has something to do and does not, look
 * after look, is stuck: in a module, in a system call, or waiting for what will not come.
 *
* Checks are made at intervals by one thread. How long an interval is does not matter to the
 * packet threads, which know nothing of it. */
#ifndef ENGINE_LIVENESS_H
#define ENGINE_LIVENESS_H

#include "engine/engine.h"

struct liveness;

/* A running engine, borrowed. */
struct liveness *liveness_new(const struct engine *engine);
void liveness_free(struct liveness *liveness);
/* The name of a thread that did nothing between the last `max_missed` missed, though it had to; the
 * one nearest to the capture. NULL: all get on. A process that was stopped and goes on loses one
 * look: max_missed is 2 at least. */
const char *liveness_check(struct liveness *liveness, unsigned max_missed);

#endif
