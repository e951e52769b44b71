/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/watchdog.h - a thread that watches whether the others make progress: packet threads, and
 * the main thread while it does not load rules. As long as they do, it tells the service manager,
 * if that expects it. If one hangs, it logs that once and sends the manager nothing more, which
 * then restarts the engine. */
#ifndef CONTROL_WATCHDOG_H
#define CONTROL_WATCHDOG_H

#include "engine/engine.h"

struct watchdog;

/* NULL when no thread could be made; fine for the others. */
struct watchdog *watchdog_start(const struct engine *engine);
/* How often the main thread should say that it is there, at least. */
int watchdog_round_ms(const struct watchdog *w);
/* By the main thread; busy: with something that may take its time. */
void watchdog_here(struct watchdog *w, bool busy);
void watchdog_stop(struct watchdog *w);

#endif
