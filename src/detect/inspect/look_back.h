/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/look_back.h - the payload parts of rules that also look at a body.
 *
 * A body is inspected when enough of it has come, or all of it; until then the stream may have been
 * reported in several windows. Such a rule sees as much of the stream before the window as the
 * protocol says (app_proto.lookbehind): what it found there counts in this window, and what must
 * be absent must have been absent there. Bytes that are needed together must be in one window.
 * Not in IPS mode, where windows overlap. */
#ifndef DETECT_LOOK_BACK_H
#define DETECT_LOOK_BACK_H

#include "detect/inspect/flow_state.h"

struct app_flow;
struct detect_thread;
struct flow;
struct rule;

/* In bytes. */
uint32_t look_back_by(const struct app_flow *af, enum direction d);

/* The payload part does not hold in the present window of `ds`. */
void look_back_missed(struct stream_dir *ds, const struct rule *r);

/* Before a window is reported: adds what earlier windows found to ds->payload_hits, and removes
 * what they refute. */
void look_back(const struct detect_thread *dt, const struct flow *f, enum direction d);

#endif
