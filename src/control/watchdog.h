/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/watchdog.h - a thread that checks the progress of the others: packet threads, and the
 * main thread while it does not load rules. While all make progress, it reports that to the service
 * manager, if required. If one hangs, it logs that once and stops reporting, so that the manager
 * restarts the engine. */
#ifndef CONTROL_WATCHDOG_H
#define CONTROL_WATCHDOG_H

#include "engine/engine.h"

struct watchdog;

/* Returns NULL when no thread could be created; the other functions accept NULL. */
struct watchdog *watchdog_start(const struct engine *engine);
/* Returns the longest time between two calls of watchdog_here(). */
int watchdog_round_ms(const struct watchdog *w);
/* The main thread calls this; busy: its current work may take long. */
void watchdog_here(struct watchdog *w, bool busy);
void watchdog_stop(struct watchdog *w);

#endif
