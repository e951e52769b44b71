/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/alert_once.h - which packets' bytes a rule has matched before the stream brings
 * them again (detect.alert-once). */
#ifndef DETECT_ALERT_ONCE_H
#define DETECT_ALERT_ONCE_H

#include "detect/inspect/flow_state.h"

struct alerted_bytes;
struct match_input;

/* The rule has matched the payload of this packet, which is in the stream. */
void alert_once_note(struct stream_dir *ds, const struct match_input *in);
/* True if the rule has matched a packet with bytes of the window that is reported now. */
bool alert_once_has(const struct stream_dir *ds, uint32_t rule);
void alert_once_clear(struct alerted_bytes *list);          /* NULL is allowed */

#endif
