/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/take_over.h - ids --take-over: this process goes on with the capture of another one. And the
 * other side: what that one does when it stops. */
#ifndef MAIN_TAKE_OVER_H
#define MAIN_TAKE_OVER_H

#include "main/setup.h"

/* Log files go on where they are. Part of run_configure(). */
void take_over_configure(const struct options *o, struct conf *conf);
/* After the plan: asks the other engine for its sockets. 0 without the option. */
int take_over_begin(struct setup *s, struct err *err);
/* After the capture was opened. */
int take_over_adopt(struct setup *s, struct err *err);
/* With the rights of the start. */
int take_over_pid_file(struct setup *s, const char *path, struct err *err);
/* When all threads are ready: the other engine stops, and these threads go on. -1 with *err: stop
 * the engine, then call take_over_free(), and the other one goes on. */
int take_over_finish(struct setup *s, const struct engine *engine, struct err *err);
/* Ends the other engine. -1 as above. */
int take_over_done(struct setup *s, struct err *err);
/* Once a round of the main loop: frees the flows of the other engine when none is left. */
void take_over_expire(struct setup *s);
struct predecessor *take_over_predecessor(const struct setup *s);     /* NULL: none */
void take_over_free(struct setup *s);

/* The engine that runs, when its threads have ended because another process waits. True: that one
 * runs. False: its threads can be started again; they go on. */
bool take_over_leave(struct setup *s);

#endif
