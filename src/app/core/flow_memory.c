/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/flow_memory.c - memory that a flow takes when it needs it: a spare buffer of its thread,
 * and the members that few flows need. It calls nothing else of the framework, so every other file
 * may use it. */
#include "app/core/thread.h"
#include "app/parser.h"
#include "base/memory/lib_memory.h"

/* Members that few flows need are apart, so that the session stays within four cache lines. */
struct app_ext *app_ext_make(struct app_flow *af)
{
    if (af->ext == NULL)
        af->ext = lib_calloc(1, sizeof(*af->ext));
    return af->ext;
}

/* An empty buffer when none is spare; buf_add() then allocates. Its length is 0. */
struct buf app_buf_take(struct app_thread *at)
{
    if (at->spare_count == 0)
        return (struct buf){ 0 };
    return at->spare[--at->spare_count];
}

/* Frees large buffers, because a few large messages would otherwise keep much memory allocated. */
void app_buf_release(struct app_thread *at, struct buf *b)
{
    if (b->data == NULL)
        return;
    if (b->cap > APP_SPARE_BUF_MAX || at->spare_count == APP_SPARE_BUFS) {
        buf_fini(b);
    } else {
        buf_clear(b);
        at->spare[at->spare_count++] = *b;
    }
    *b = (struct buf){ 0 };
}
