/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/packed_window.h - a window of decompressed content that waits, packed again.
 *
 * Rules wait until enough of a body is there, and the rest of it may never come. A small bomb has
 * unpacked to some KB by then, which its sender has not paid for. While windows of all flows
 * together take much memory (unpacked_memory_is_much()), those that wait are packed, if that makes
 * them much smaller. What reads or adds unpacks first. Belongs to the thread that inspects the
 * flow. */
#ifndef APP_PACKED_WINDOW_H
#define APP_PACKED_WINDOW_H

#include "base/memory/buf.h"

/* Zero-initialized: the window is not packed. */
struct packed_window {
    uint8_t *data;                      /* NULL: not packed */
    uint32_t size, len;                 /* packed, and as it was */
    uint32_t tried;                     /* its length at the latest try */
    uint8_t tries;
};

/* The packet has been inspected. False: the window stays as it is. */
bool window_pack(struct packed_window *packed, struct buf *window);
/* False: there is no memory, and the window's content is lost. */
bool window_unpack(struct packed_window *packed, struct buf *window);
void window_drop(struct packed_window *packed);

static inline bool window_is_packed(const struct packed_window *packed)
{
    return UNLIKELY(packed->data != NULL);
}

#endif
