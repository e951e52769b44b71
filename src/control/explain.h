/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/explain.h - a question about rules to the packet threads of the run, for some seconds
 * (detect/explain/live.h). There is one at a time; its answer stays until the next one. */
#ifndef CONTROL_EXPLAIN_H
#define CONTROL_EXPLAIN_H

#include "base/err.h"
#include "base/report/json.h"
#include "modules/context.h"

#define EXPLAIN_SECONDS 60          /* of a question that says nothing about it */
#define EXPLAIN_SECONDS_MAX 3600

/* The callers hold the control's lock. -1 with *err: why not. takes_captures: threads may also come
 * later, with a capture (--unix-socket). */
struct explain_question { const char *rules; int64_t seconds; bool takes_captures; };
int explain_start(struct run_context *ctx, const struct explain_question *q, struct err *err);
void explain_stop(struct run_context *ctx);

/* ENDING: a packet thread has not noticed yet that the time is over. */
enum explain_state { EXPLAIN_NONE, EXPLAIN_RUNNING, EXPLAIN_ENDING, EXPLAIN_DONE };
enum explain_state explain_state(struct run_context *ctx);
/* The answer, or why there is none yet. */
void explain_text(struct run_context *ctx, struct buf *out);
/* Writes members of the open object: `state`; `sids` if there is a question; `seconds_left` while
 * it runs. */
void explain_state_members(struct run_context *ctx, struct json *j);
/* These, and when it is done `packets`, `asked` and the array `rules`. */
void explain_members(struct run_context *ctx, struct json *j);

#endif
