/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/watchdog.h - a thread that sees to it that the others get on: the packet threads, and
 * the main thread while it is not loading rules. As long as they do it tells the service manager,
 * where that wants to be told; when one does not it says so once, and is silent towards the
 * manager, which then starts the engine anew. */
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
