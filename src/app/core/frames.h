/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/frames.h - the frames of one direction of a flow, and the bytes that they cover. Owned
 * by the flow's thread. */
#ifndef APP_CORE_FRAMES_H
#define APP_CORE_FRAMES_H

#include "app/core/session.h"

struct frame {
    uint32_t id;
    uint8_t type, logged;
    uint64_t offset, tx_id, inspected;
    int64_t len;
};
#define FRAME_PARTS_MAX 16                 /* between gaps */

struct frames {
    struct buf store;           /* struct frame, oldest first */
    uint32_t next_id;
    struct buf retained;            /* bytes that frames cover, as far as rules and logs may read */
    unsigned part_count;
    struct frame_part { uint64_t offset; uint32_t len; } part[FRAME_PARTS_MAX];
};

static inline struct frames *frames_of(const struct app_session *s, enum direction d)
{
    return s->flow.ext != NULL ? s->flow.ext->frames[d] : NULL;
}
static inline unsigned frame_count(const struct frames *frames)
{
    return frames != NULL ? (unsigned)(frames->store.len / sizeof(struct frame)) : 0;
}

/* Handles data while there are frames of their direction. */
void app_frames_data(struct app_session *s, enum direction d, uint64_t offset, struct slice data);
void app_frames_prune(struct app_session *s, const struct inspection *in);
void app_frames_free(struct app_session *s);
void app_frames_stream(struct app_session *s, enum direction d, const struct app_input *in);

#endif
