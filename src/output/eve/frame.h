/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/frame.h - the `frame` object, of alerts and of records of its own. */
#ifndef OUTPUT_EVE_FRAME_H
#define OUTPUT_EVE_FRAME_H

#include "output/eve/eve.h"

struct eve_frame {
    const struct app_frame_view *view;
    const char *type;
    uint64_t length;            /* bytes so far, where the view does not know */
    struct slice data;          /* what there is of it; may be empty */
    bool complete, is_udp;
};
void eve_frame_object(struct json *j, const struct eve_frame *f);

#endif
