/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/packet_work.h - a bound on what all rules together do for one packet.
 *
 * Each program has limits of its own, but a sender may bring hundreds of rules close to theirs. So
 * a packet pays for steps with its bytes (detect.work-by-byte). What its flow has paid for before
 * and not used is left for packets that need more, as those that end a large body do. When all is
 * used, programs of a few steps still run; a rule that needs more counts as one at its limit. Sums
 * are those of the flow, so the result is the same with any number of threads. */
#ifndef DETECT_PACKET_WORK_H
#define DETECT_PACKET_WORK_H

#include "detect/inspect/inspect_private.h"

/* For rules that the thread attaches. */
void packet_work_attach(struct detect_thread *dt);
/* At the hooks before the stream: the counts of the flow belong to another thread. */
void packet_work_at_early_hook(struct detect_thread *dt, bool early);
/* After the last rule, if work->most is not 0. */
void packet_work_finish(struct detect_thread *dt);

#endif
