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

/* True: a wastes less than b, or has to grow less where neither has the space. */
static bool fits_better(const struct buf *a, const struct buf *b, size_t len)
{
    if (a->cap < len)
        return a->cap > b->cap;
    return b->cap < len || a->cap < b->cap;
}

/* An empty buffer when none is spare; buf_add() then allocates. Its length is 0. What waits for the
 * rest of a message may wait for the rest of the flow, so that a large buffer is not for few
 * bytes. */
struct buf app_buf_take(struct app_thread *at, size_t len)
{
    struct buf *newest, *best, taken;

    if (at->spare_count == 0)
        return (struct buf){ 0 };
    newest = best = &at->spare[--at->spare_count];
    for (unsigned i = 1; len > 0 && i < APP_SPARE_CHOICE && i <= at->spare_count; i++)
        if (fits_better(newest - i, best, len))
            best = newest - i;
    taken = *best;
    *best = *newest;
    return taken;
}

/* Returns the larger of the two. */
static struct buf keep_smaller(struct buf *spare, const struct buf *b)
{
    struct buf larger = *spare;

    if (b->cap >= spare->cap)
        return *b;
    *spare = *b;
    buf_clear(spare);
    return larger;
}

/* Frees large buffers, because a few large messages would otherwise keep much memory allocated. A
 * thread with many flows frees them earlier: most of its messages are short. */
void app_buf_release(struct app_thread *at, struct buf *b)
{
    if (b->data == NULL)
        return;
    if (b->cap > (at->spare_count < APP_SPARE_FEW ? APP_SPARE_BUF_MAX : APP_SPARE_BUF_USUAL)) {
        buf_fini(b);
    } else if (at->spare_count == APP_SPARE_BUFS) {
        *b = keep_smaller(&at->spare[APP_SPARE_BUFS - 1], b);
        buf_fini(b);
    } else {
        buf_clear(b);
        at->spare[at->spare_count++] = *b;
    }
    *b = (struct buf){ 0 };
}
