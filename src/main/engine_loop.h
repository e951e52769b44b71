/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/engine_loop.h - the engine at work on what setup has made. */
#ifndef MAIN_ENGINE_LOOP_H
#define MAIN_ENGINE_LOOP_H

#include "main/setup.h"

/* Until the capture or the user ends it. Exit status; *err says why it did not start. */
int engine_loop_run(struct setup *s, struct err *err);
/* Others take their place, or, when they are broken, do not. */
void engine_loop_reload_rules(struct setup *s);
/* To the user that is to run it. */
int engine_loop_drop_privileges(const struct setup *s, struct err *err);

#endif
