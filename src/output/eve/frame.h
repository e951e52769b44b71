/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/frame.h - the `frame` object, of alerts and of records of its own. */
#ifndef OUTPUT_EVE_FRAME_H
#define OUTPUT_EVE_FRAME_H

#include "app/frames.h"
#include "output/eve/eve.h"

/* Shows up to `limit` bytes of it, with remarks where some are missing. */
void eve_frame_object(struct render *r, struct json *j, const struct packet *p,
                      const struct app_frame_view *frame, uint32_t limit);

#endif
