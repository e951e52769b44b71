/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/ooo_index.c - an index of the segments after holes: runs of neighbours in a sorted list.
 *
 * A hostile sender can leave thousands of segments behind one hole. With runs an insertion costs a
 * binary search over the runs and a walk through one run, instead of a walk through the list. */
#include "stream/ooo_index.h"

#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/stream_thread.h"
#include "stream/tcp_seq.h"

#include <string.h>

/* Runs are split in halves when they are full, so only the first one may be short. */
#define RUNS_MAX (2 * WAITING_MAX / OOO_RUN_MAX + 2)
#define INDEX_FROM OOO_RUN_MAX          /* segments; fewer need no index */

static uint32_t segment_end(const struct segment *seg) { return seg->seq + seg->len; }

/* The order of the list: by start, then by length. */
static bool is_before(const struct segment *seg, uint32_t seq, uint32_t len)
{
    return seq_lt(seg->seq, seq) || (seg->seq == seq && seg->len < len);
}

/* ---- runs ---- */

void ooo_index_free(struct stream_thread *st, struct stream_holes *holes)
{
    if (holes->runs == NULL)
        return;
    stream_block_put(st, (uint8_t *)holes->runs, block_class_for(RUNS_MAX * sizeof(*holes->runs)));
    holes->runs = NULL;
    holes->run_count = 0;
}

static struct ooo_run run_of(struct segment *first, uint32_t count)
{
    struct ooo_run run = { .first = first, .end = segment_end(first), .count = count };

    for (uint32_t i = 1; i < count; i++) {
        first = first->next;
        run.end = seq_max(run.end, segment_end(first));
    }
    return run;
}

static struct segment *behind(const struct ooo_run *run, uint32_t n)
{
    struct segment *seg = run->first;

    while (n-- > 0)
        seg = seg->next;
    return seg;
}

/* Without memory for the index the list is walked from its start. */
static void index_make(struct stream_thread *st, struct stream_holes *holes)
{
    struct segment *seg = holes->waiting.first;
    uint32_t left = holes->segments_out;

    holes->runs = (struct ooo_run *)(void *)
        stream_block_get(st, block_class_for(RUNS_MAX * sizeof(*holes->runs)));
    if (holes->runs == NULL)
        return;
    while (left > 0) {
        struct ooo_run *run = &holes->runs[holes->run_count++];

        *run = run_of(seg, MIN(left, (uint32_t)OOO_RUN_MAX / 2));
        seg = behind(run, run->count);
        left -= run->count;
    }
}

static void run_split(struct stream_holes *holes, uint32_t i)
{
    struct ooo_run *run = &holes->runs[i];
    uint32_t count = run->count;

    memmove(run + 1, run, (holes->run_count - i) * sizeof(*run));
    holes->run_count++;
    run[0] = run_of(run->first, count / 2);
    run[1] = run_of(behind(&run[0], count / 2), count - count / 2);
}

/* The last run that begins before the position; the first run if none does. */
static uint32_t run_find(const struct stream_holes *holes, uint32_t seq, uint32_t len)
{
    uint32_t low = 0, high = holes->run_count;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;

        if (is_before(holes->runs[middle].first, seq, len))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- insertion ---- */

static void link_behind(struct segment_list *list, struct segment *before, struct segment *seg)
{
    struct segment **at = before != NULL ? &before->next : &list->first;

    seg->next = *at;
    *at = seg;
    if (seg->next == NULL)
        list->last = seg;
}

/* The last of at most `count` segments from `first` on that is before seg; NULL if `first` is not
 * before it. */
static struct segment *place_in(struct segment *first, uint32_t count, const struct segment *seg)
{
    struct segment *before = NULL;

    for (; count > 0 && first != NULL && is_before(first, seg->seq, seg->len); count--) {
        before = first;
        first = first->next;
    }
    return before;
}

static void insert_in_run(struct stream_holes *holes, uint32_t i, struct segment *before,
                          struct segment *seg)
{
    struct ooo_run *run = &holes->runs[i];

    link_behind(&holes->waiting, before, seg);
    if (before == NULL)
        run->first = seg;
    run->end = seq_max(run->end, segment_end(seg));
    if (++run->count > OOO_RUN_MAX)
        run_split(holes, i);
}

void ooo_insert(struct stream_thread *st, struct stream_holes *holes, struct segment *seg)
{
    struct segment_list *list = &holes->waiting;
    bool is_last = list->last == NULL || seq_geq(seg->seq, list->last->seq);
    uint32_t i;

    if (holes->runs == NULL && holes->segments_out >= INDEX_FROM)
        index_make(st, holes);
    holes->segments_out++;
    if (holes->runs == NULL) {
        link_behind(list, is_last ? list->last : place_in(list->first, UINT32_MAX, seg), seg);
        return;
    }
    i = is_last ? holes->run_count - 1u : run_find(holes, seg->seq, seg->len);
    insert_in_run(holes, i, is_last ? list->last : place_in(holes->runs[i].first,
                                                            holes->runs[i].count, seg), seg);
}

struct segment *ooo_take_first(struct stream_thread *st, struct stream_holes *holes)
{
    struct segment *seg = holes->waiting.first;

    holes->waiting.first = seg->next;
    if (seg->next == NULL)
        holes->waiting.last = NULL;
    holes->segments_out--;
    if (holes->runs == NULL)
        return seg;
    holes->runs[0].first = seg->next;
    if (--holes->runs[0].count == 0)
        memmove(holes->runs, holes->runs + 1, --holes->run_count * sizeof(*holes->runs));
    if (holes->segments_out == 0)
        ooo_index_free(st, holes);
    return seg;
}

void ooo_last_extended(struct stream_holes *holes)
{
    struct ooo_run *run;

    if (holes->runs == NULL)
        return;
    run = &holes->runs[holes->run_count - 1];
    run->end = seq_max(run->end, segment_end(holes->waiting.last));
}

/* ---- scanning ---- */

static bool run_reaches(const struct ooo_scan *scan, const struct ooo_run *run)
{
    return seq_gt(run->end, scan->from) && seq_lt(run->first->seq, scan->to);
}

void ooo_scan_begin(struct ooo_scan *scan, const struct tcp_stream *s, uint32_t from, uint32_t to)
{
    *scan = (struct ooo_scan){ .holes = s->holes, .from = from, .to = to,
                               .at = stream_waiting(s) };
    if (s->holes == NULL || s->holes->runs == NULL)
        scan->left = UINT32_MAX;
}

/* Moves to the next run that may contain a segment of the range. */
static bool scan_run(struct ooo_scan *scan)
{
    const struct stream_holes *holes = scan->holes;

    for (; holes != NULL && scan->run < holes->run_count; scan->run++) {
        const struct ooo_run *run = &holes->runs[scan->run];

        if (!run_reaches(scan, run))
            continue;
        scan->at = run->first;
        scan->left = run->count;
        scan->run++;
        return true;
    }
    return false;
}

/* Every waiting segment that overlaps the range, in order; NULL at the end. */
struct segment *ooo_scan_next(struct ooo_scan *scan)
{
    for (;;) {
        while (scan->left > 0 && scan->at != NULL) {
            struct segment *seg = scan->at;

            if (seq_geq(seg->seq, scan->to))
                return NULL;
            scan->at = seg->next;
            scan->left--;
            if (seq_gt(segment_end(seg), scan->from))
                return seg;
        }
        if (!scan_run(scan))
            return NULL;
    }
}
