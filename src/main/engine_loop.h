/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/engine_loop.h - runs the engine that setup has built. */
#ifndef MAIN_ENGINE_LOOP_H
#define MAIN_ENGINE_LOOP_H

#include "main/setup.h"

/* Runs until the capture ends or the user stops it. Returns an exit status; *err has the reason
 * if it did not start. */
int engine_loop_run(struct setup *s, struct err *err);
/* Reloads the rules; keeps the old set if the new one has errors. */
void engine_loop_reload_rules(struct setup *s);
/* Drops privileges to the user of run-as or --user. */
int engine_loop_drop_privileges(const struct setup *s, struct err *err);

#endif
