/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/liveness.h - do the packet threads get on? One that has something to do and does not, look
 * after look, is stuck: in a module, in a system call, or waiting for what will not come.
 *
 * Looks are made at intervals by one thread. How long an interval is does not matter to the
 * packet threads, which know nothing of it. */
#ifndef ENGINE_WATCH_H
#define ENGINE_WATCH_H

#include "engine/engine.h"

struct engine_watch;

/* A running engine, borrowed. */
struct engine_watch *engine_watch_new(const struct engine *engine);
void engine_watch_free(struct engine_watch *watch);
/* The name of a thread that did nothing between the last `patience` looks, though it had to; the
 * one nearest to the capture. NULL: all get on. A process that was stopped and goes on loses one
 * look: patience is 2 at least. */
const char *engine_watch_look(struct engine_watch *watch, unsigned patience);

#endif
