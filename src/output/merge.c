/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/merge.c - records of several threads in the order of the capture. */
#include "output/merge.h"

#include "base/array.h"
#include "sequencer/setup.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Bytes. Asking all threads how far they are costs more than keeping this much for a
 * while. */
#define MERGE_STEP (256 * 1024)
/* Bytes of one input. A thread with more waits for the others (merge_is_full). */
#define MERGE_MOST (16 << 20)

/* Precedes the records of one packet in merge_input.retained. */
struct entry_head {
    struct watermark place;
    size_t len;
};

/* The input of one rendering thread; owned by the merge, because others write its records. */
struct merge_input {
    struct merge *merge;
    struct buf retained;                /* entries, in order */
    size_t at;                      /* of them, the first that is not written */
};

/* The lock protects all members below, except those set in merge_new(). `inputs` grows only before
 * threads run. */
struct merge {
    pthread_mutex_t lock;
    const struct sequencer *seq;
    void (*write)(void *arg, const uint8_t *records, size_t len);
    void *arg;
    ARRAY_OF(struct merge_input *) inputs;
    size_t added;                   /* bytes since the last look */
};

struct merge *merge_new(const struct sequencer *seq,
                        void (*write)(void *arg, const uint8_t *records, size_t len), void *arg)
{
    struct merge *m = xcalloc(1, sizeof(*m));

    pthread_mutex_init(&m->lock, NULL);
    m->seq = seq;
    m->write = write;
    m->arg = arg;
    return m;
}

struct merge_input *merge_input_new(struct merge *m)
{
    struct merge_input *input = xcalloc(1, sizeof(*input));

    input->merge = m;
    ARRAY_PUSH(&m->inputs, input);
    return input;
}

/* The first entry that is not written yet. False: there is none. Copied, as it is not
 * aligned. */
static bool head_of(const struct merge_input *input, struct entry_head *head)
{
    if (input->at == input->retained.len)
        return false;
    memcpy(head, input->retained.data + input->at, sizeof(*head));
    return true;
}

/* Bytes that are not written yet. */
static size_t held(const struct merge_input *input)
{
    return input->retained.len - input->at;
}

/* The input with the earliest entry; NULL: no input has one before `end`. There are as
 * many inputs as threads, so a plain walk is fast enough. */
static struct merge_input *earliest(const struct merge *m, struct watermark end,
                                   struct entry_head *head)
{
    struct merge_input *best = NULL;
    struct watermark least = end;

    for (size_t i = 0; i < m->inputs.count; i++) {
        struct entry_head h;

        if (!head_of(m->inputs.at[i], &h) ||
            watermark_has_passed(h.place, least.at, least.sub))
            continue;
        least = h.place;
        best = m->inputs.at[i];
        *head = h;
    }
    return best;
}

/* Moves the rest to the front once more is written than left, so that a byte is moved at most once
 * for each byte written, however far this thread is ahead. The buffer keeps its memory. */
static void remove_written(struct merge_input *input)
{
    if (input->at < held(input))
        return;
    buf_drop_front(&input->retained, input->at);
    input->at = 0;
}

/* Writes all entries before `end` in the order of the capture. Nothing before `end` can be
 * added any more, because all threads have passed it. The lock is held. */
static void write_before(struct merge *m, struct watermark end)
{
    struct merge_input *input;
    struct entry_head head;

    while ((input = earliest(m, end, &head)) != NULL) {
        input->at += sizeof(head);
        m->write(m->arg, input->retained.data + input->at, head.len);
        input->at += head.len;
    }
    for (size_t i = 0; i < m->inputs.count; i++)
        if (m->inputs.at[i]->at > 0)
            remove_written(m->inputs.at[i]);
    m->added = 0;
}

bool merge_is_full(struct merge_input *input)
{
    bool full;

    pthread_mutex_lock(&input->merge->lock);
    full = held(input) >= MERGE_MOST;
    pthread_mutex_unlock(&input->merge->lock);
    return full;
}

/* The records go to the sinks on whichever thread fills the step, not always the same one. */
bool merge_add(struct merge_input *input, const struct packet *p, const struct buf *records)
{
    struct merge *m = input->merge;
    struct entry_head head = { { p->seqno, p->seqno_sub }, records->len };
    bool complete = true;

    pthread_mutex_lock(&m->lock);
    if (buf_reserve(&input->retained, sizeof(head) + records->len)) {
        buf_add(&input->retained, &head, sizeof(head));
        buf_add(&input->retained, records->data, records->len);
        m->added += records->len;
    } else {
        buf_cut_failed(&input->retained, input->retained.len);
        complete = false;
    }
    if (m->added >= MERGE_STEP || held(input) >= MERGE_MOST)
        write_before(m, seq_low_watermark(m->seq));
    pthread_mutex_unlock(&m->lock);
    return complete;
}

/* All threads have ended, so all that is left can be written, without the lock. */
void merge_free(struct merge *m)
{
    if (m == NULL)
        return;
    write_before(m, (struct watermark){ SEQNO_END, SEQNO_END });
    for (size_t i = 0; i < m->inputs.count; i++) {
        buf_fini(&m->inputs.at[i]->retained);
        free(m->inputs.at[i]);
    }
    ARRAY_FREE(&m->inputs);
    pthread_mutex_destroy(&m->lock);
    free(m);
}
