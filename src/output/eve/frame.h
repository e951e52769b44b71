/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/frame.h - the `frame` object, in alerts and in frame records. */
#ifndef OUTPUT_EVE_FRAME_H
#define OUTPUT_EVE_FRAME_H

#include "app/frames.h"
#include "output/eve/eve.h"

/* Writes up to `limit` bytes of the frame; notes if some are missing. */
void eve_frame_object(struct render *r, struct json *j, const struct packet *p,
                      const struct app_frame_view *frame, uint32_t limit);

#endif
