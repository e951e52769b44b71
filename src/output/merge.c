/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/merge.c - records of several threads in the order of the capture. */
#include "output/merge.h"

#include "base/array.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* So much more must have come together before another look at how far the threads are. */
#define MERGE_STEP (256 * 1024)

/* In front of the records of one packet. */
struct entry_head {
    struct order_mark place;
    size_t len;
};

struct merge_lane {
    struct merge *merge;
    struct buf kept;                /* entries, in order */
    size_t at;                      /* of them, the first that is not written */
};

struct merge {
    pthread_mutex_t lock;
    const struct turns *turns;
    void (*write)(void *arg, const uint8_t *records, size_t len);
    void *arg;
    ARRAY_OF(struct merge_lane *) lanes;
    size_t added;                   /* bytes since the last look */
};

struct merge *merge_new(const struct turns *turns,
                        void (*write)(void *arg, const uint8_t *records, size_t len), void *arg)
{
    struct merge *m = xcalloc(1, sizeof(*m));

    pthread_mutex_init(&m->lock, NULL);
    m->turns = turns;
    m->write = write;
    m->arg = arg;
    return m;
}

struct merge_lane *merge_lane_new(struct merge *m)
{
    struct merge_lane *lane = xcalloc(1, sizeof(*lane));

    lane->merge = m;
    ARRAY_PUSH(&m->lanes, lane);
    return lane;
}

static bool head_of(const struct merge_lane *lane, struct entry_head *head)
{
    if (lane->at == lane->kept.len)
        return false;
    memcpy(head, lane->kept.data + lane->at, sizeof(*head));
    return true;
}

/* The lane with the earliest entry; NULL when nothing is left before `end`. */
static struct merge_lane *earliest(const struct merge *m, struct order_mark end,
                                   struct entry_head *head)
{
    struct merge_lane *best = NULL;
    struct order_mark least = end;

    for (size_t i = 0; i < m->lanes.count; i++) {
        struct entry_head h;

        if (!head_of(m->lanes.at[i], &h) ||
            order_mark_has_passed(h.place, least.at, least.sub))
            continue;
        least = h.place;
        best = m->lanes.at[i];
        *head = h;
    }
    return best;
}

static void forget_written(struct merge_lane *lane)
{
    size_t left = lane->kept.len - lane->at;

    memmove(lane->kept.data, lane->kept.data + lane->at, left);
    lane->kept.len = left;
    lane->at = 0;
}

static void write_before(struct merge *m, struct order_mark end)
{
    struct merge_lane *lane;
    struct entry_head head;

    while ((lane = earliest(m, end, &head)) != NULL) {
        lane->at += sizeof(head);
        m->write(m->arg, lane->kept.data + lane->at, head.len);
        lane->at += head.len;
    }
    for (size_t i = 0; i < m->lanes.count; i++)
        if (m->lanes.at[i]->at > 0)
            forget_written(m->lanes.at[i]);
    m->added = 0;
}

void merge_add(struct merge_lane *lane, const struct packet *p, const struct buf *records)
{
    struct merge *m = lane->merge;
    struct entry_head head = { { p->order, p->order_sub }, records->len };

    pthread_mutex_lock(&m->lock);
    buf_add(&lane->kept, &head, sizeof(head));
    buf_add(&lane->kept, records->data, records->len);
    m->added += records->len;
    if (m->added >= MERGE_STEP)
        write_before(m, turns_passed(m->turns));
    pthread_mutex_unlock(&m->lock);
}

void merge_free(struct merge *m)
{
    if (m == NULL)
        return;
    write_before(m, (struct order_mark){ ORDER_END, ORDER_END });
    for (size_t i = 0; i < m->lanes.count; i++) {
        buf_fini(&m->lanes.at[i]->kept);
        free(m->lanes.at[i]);
    }
    ARRAY_FREE(&m->lanes);
    pthread_mutex_destroy(&m->lock);
    free(m);
}
