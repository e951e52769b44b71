/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/insert.c - puts a payload into its position in the stream.
 *
 * The usual segment continues the contiguous data: one copy, and one record at the end of a list.
 * Everything else (overlap, holes) is slower. Where old and new bytes overlap, the policy of the
 * receiving host decides, and the result is written to every copy, so that all agree.
 *
 * Hostile senders choose order, overlap and number of segments: WAITING_MAX, COPIES_MAX and the
 * memcap bound the memory, and the index of ooo_index.c bounds the work. */
#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "packet/checksum.h"
#include "stream/ooo_index.h"
#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/stream_conf.h"
#include "stream/stream_thread.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"

#include <string.h>

/* Above this number of unacknowledged segments their bounds are no longer exact: neighbours are
 * merged. */
#define MERGED_MAX 1024
/* The same for segments after holes, if one directly follows the last. */
#define WAITING_APART 1024
#define WAITING_LONGEST (32u << 10)
/* Average number of old copies that a new byte may meet. Beyond that the segment is refused, so
 * that many copies of the same bytes do not cost more and more. */
#define COPIES_MAX 64
#define REGION_SEGMENTS 512             /* regions are not counted with more waiting segments */
#define REGION_GAP 262144               /* bytes; a wider hole separates two regions */

static uint32_t segment_end(const struct segment *seg) { return seg->seq + seg->len; }

/* ---- memory ---- */

/* NULL at the memcap or without memory; the caller raises the event. */
static uint8_t *data_get(struct stream_thread *st, unsigned block_class)
{
    uint8_t *data;

    if (block_class > BLOCK_CLASS_MAX || !memcap_take(&st->data_memory, block_size(block_class)))
        return NULL;
    data = block_get(&st->blocks, block_class);
    if (data == NULL)
        memcap_release(&st->data_memory, block_size(block_class));
    return data;
}

static void data_put(struct stream_thread *st, uint8_t *data, uint8_t block_class)
{
    block_put(&st->blocks, data, block_class);
    memcap_release(&st->data_memory, block_size(block_class));
}

uint8_t *stream_block_get(struct stream_thread *st, unsigned block_class)
{
    return data_get(st, block_class);
}

void stream_block_put(struct stream_thread *st, uint8_t *data, unsigned block_class)
{
    data_put(st, data, (uint8_t)block_class);
}

/* One that cannot be noted is not used again before the thread ends: chunks point to it. */
static void retire(struct stream_thread *st, const struct tcp_stream *s)
{
    if (LIKELY(ARRAY_HAS_SPACE(&st->retired, 1)))
        st->retired.at[st->retired.count++] = (struct retired_block){ s->buffer, s->block_class };
}

/* A buffer that chunks of this vector point to stays until the vector is done with. */
static void buffer_put(struct stream_thread *st, const struct tcp_stream *s)
{
    if (s->pinned == st->vector_number)
        retire(st, s);
    else
        block_put(&st->blocks, s->buffer, s->block_class);
    memcap_release(&st->data_memory, block_size(s->block_class));
}

static struct segment *segment_new(struct stream_thread *st, uint32_t seq, uint32_t len)
{
    bool was_used = pool_has_free(&st->segments);
    struct segment *seg;

    if (!memcap_take(&st->data_memory, sizeof(*seg)))
        return NULL;
    seg = pool_get(&st->segments);
    if (seg == NULL) {
        memcap_release(&st->data_memory, sizeof(*seg));
        return NULL;
    }
    counter_inc(st->counters, was_used ? st->id.segment_from_cache : st->id.segment_from_pool);
    *seg = (struct segment){ .seq = seq, .len = len };
    return seg;
}

void segment_free(struct stream_thread *st, struct segment *seg)
{
    if (seg->data != NULL)
        data_put(st, seg->data, seg->block_class);
    pool_put(&st->segments, seg);
    memcap_release(&st->data_memory, sizeof(*seg));
}

static void list_free(struct stream_thread *st, struct segment_list *list)
{
    while (list->first != NULL) {
        struct segment *next = list->first->next;

        segment_free(st, list->first);
        list->first = next;
    }
    list->last = NULL;
}

/* Most streams have no holes, so this state is separate. NULL at the memcap. */
struct stream_holes *stream_holes_make(struct stream_thread *st, struct tcp_stream *s)
{
    if (s->holes != NULL || !memcap_take(&st->session_memory, sizeof(*s->holes)))
        return s->holes;
    s->holes = pool_get(&st->holes);
    if (s->holes == NULL)
        memcap_release(&st->session_memory, sizeof(*s->holes));
    else
        memset(s->holes, 0, sizeof(*s->holes));
    return s->holes;
}

void stream_holes_free(struct stream_thread *st, struct tcp_stream *s)
{
    if (s->holes == NULL)
        return;
    ooo_index_free(st, s->holes);
    pool_put(&st->holes, s->holes);
    memcap_release(&st->session_memory, sizeof(*s->holes));
    s->holes = NULL;
}

/* A sender that had so much on its way will have as much again, if a segment of this size begins.
 * More would be held where little waits. */
#define BURST_MAX 4096u
#define BURST_SEGMENT 1024u

/* Without a buffer, block_class is that of the last burst: the next one's buffer then need not
 * grow, and copy what there is, with each of its segments. */
void stream_release_buffer(struct stream_thread *st, struct tcp_stream *s)
{
    buffer_put(st, s);
    s->buffer = NULL;
    s->block_class = (uint8_t)block_class_for(MIN(s->start + s->len, BURST_MAX));
    s->offset += s->len;
    s->len = s->start = 0;
}

void stream_release_data(struct stream_thread *st, struct tcp_stream *s)
{
    list_free(st, &s->merged);
    s->segments_merged = 0;
    if (s->holes != NULL) {
        ooo_index_free(st, s->holes);
        list_free(st, &s->holes->waiting);
        s->holes->segments_out = 0;
    }
    if (s->buffer != NULL)
        stream_release_buffer(st, s);
}

/* ---- the contiguous buffer ---- */

static uint32_t buffer_space(const struct tcp_stream *s)
{
    return s->buffer != NULL ? block_size(s->block_class) - s->start - s->len : 0;
}

/* Frees data that were handed off, except bytes that rules may read again or that retransmissions
 * are compared with. */
static void drop_front(const struct stream_thread *st, const struct flow *flow,
                       struct tcp_stream *s, bool compares)
{
    enum direction dir = (enum direction)(s == &flow->tcp->stream[TO_CLIENT]);
    int64_t keep = stream_retained_from(st->conf, flow, s, dir);

    if (compares)
        keep = MIN(keep, s->base_offset);
    if (keep > s->offset) {
        uint32_t overlap_len = (uint32_t)MIN(keep - s->offset, (int64_t)s->len);

        s->start += overlap_len;
        s->len -= overlap_len;
        s->offset += overlap_len;
    }
}

static bool move_to_class(struct stream_thread *st, struct tcp_stream *s, unsigned block_class)
{
    uint8_t *data = data_get(st, block_class);

    if (data == NULL)
        return false;
    if (s->buffer != NULL) {
        memcpy(data, s->buffer + s->start, s->len);
        buffer_put(st, s);
    }
    s->buffer = data;
    s->block_class = (uint8_t)block_class;
    s->start = 0;
    s->pinned = st->vector_number - 1;
    return true;
}

/* Returns the class to which a buffer grows: each second one, so that small segments do not copy
 * what there is each time. But most of what waits for rules ends at the size of their window, with
 * a class that fits it. */
static unsigned larger_class(const struct stream_thread *st, const struct flow *flow,
                             const struct tcp_stream *s, uint64_t need)
{
    enum direction dir = (enum direction)(s == &flow->tcp->stream[TO_CLIENT]);
    uint32_t lookback = stream_lookback(st->conf, dir);
    unsigned next = s->block_class + 1u;

    if (next + 1 >= SLAB_CLASSES)
        return next;
    if (need <= lookback && block_size(next + 1) > lookback)
        return MAX(next, block_class_for(lookback));
    return next + 1;
}

/* Makes space for `more` bytes at the end of the buffer. Moving bytes within the block pays off if
 * it frees half of it; otherwise the next size is due. A pinned block cannot be moved in. */
static bool find_space(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s,
                      uint32_t more, bool compares)
{
    uint64_t need;
    unsigned block_class;

    drop_front(st, flow, s, compares);
    need = (uint64_t)s->len + more;
    block_class = block_class_for(need);
    if (s->buffer != NULL && need <= block_size(s->block_class)) {
        bool worth = s->len <= block_size(s->block_class) / 2;

        if (worth && s->pinned != st->vector_number) {
            memmove(s->buffer, s->buffer + s->start, s->len);
            s->start = 0;
            return true;
        }
        block_class = worth ? s->block_class : larger_class(st, flow, s, need);
    } else if (s->buffer != NULL) {
        block_class = MAX(block_class, larger_class(st, flow, s, need));
    } else if (more >= BURST_SEGMENT) {
        block_class = MAX(block_class, (unsigned)s->block_class);
    }
    return move_to_class(st, s, block_class);
}

/* Moves what is still needed to a smaller block, if much of the block is free. */
void stream_fit_buffer(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s)
{
    unsigned block_class;

    if (s->buffer == NULL || s->pinned == st->vector_number)
        return;
    drop_front(st, flow, s, st->conf->is_inline || stream_history(st, s) > 0);
    block_class = block_class_for(MAX(s->len, 1u));
    if (block_size(block_class) <= block_size(s->block_class) / 4 * 3)
        (void)move_to_class(st, s, block_class);
}

/* Frees bytes that are only kept for comparison, for new data. */
static bool make_space(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s,
                      uint32_t more)
{
    bool has_history = stream_history(st, s) > 0;

    return find_space(st, flow, s, more, st->conf->is_inline || has_history) ||
           (has_history && find_space(st, flow, s, more, false));
}

static bool append(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s,
                   const uint8_t *data, uint32_t len)
{
    if (UNLIKELY(buffer_space(s) < len) && !make_space(st, flow, s, len))
        return false;
    memcpy(s->buffer + s->start + s->len, data, len);
    s->len += len;
    return true;
}

/* ---- records ---- */

static void record_append(struct segment_list *list, struct segment *seg)
{
    if (list->last != NULL)
        list->last->next = seg;
    else
        list->first = seg;
    list->last = seg;
}

/* Orders by sequence number; of two with the same start the shorter one first. */
static void record_insert(struct segment_list *list, struct segment *seg)
{
    struct segment **at = &list->first;

    if (list->last == NULL || seq_geq(seg->seq, list->last->seq)) {
        record_append(list, seg);
        return;
    }
    while (*at != NULL && (seq_lt((*at)->seq, seg->seq) ||
                           ((*at)->seq == seg->seq && (*at)->len < seg->len)))
        at = &(*at)->next;
    seg->next = *at;
    *at = seg;
    if (seg->next == NULL)
        list->last = seg;
}

/* Records in-order data: in a new record, or if there are too many, in the last one. */
static void record_in_order(struct tcp_stream *s, struct segment *seg, uint32_t end)
{
    if (LIKELY(seg != NULL)) {
        record_append(&s->merged, seg);
        s->segments_merged++;
    } else if (s->merged.last != NULL) {
        s->merged.last->len = end - s->merged.last->seq;
    }
}

/* Segments that waited and now touch the contiguous data join them. Without memory they keep
 * waiting; the next segment tries again. */
static bool merge_first(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s)
{
    struct segment *seg = stream_waiting(s);
    int64_t from = stream_abs(s, seg->seq), edge = stream_edge(s);

    if (from + seg->len > edge) {
        uint32_t skip = (uint32_t)(edge - from);

        if (!append(st, flow, s, seg->data + skip, seg->len - skip))
            return false;
    }
    ooo_take_first(st, s->holes);
    data_put(st, seg->data, seg->block_class);
    seg->data = NULL;
    seg->next = NULL;
    record_insert(&s->merged, seg);
    s->segments_merged++;
    return true;
}

void stream_merge_waiting(struct stream_thread *st, const struct flow *flow, struct tcp_stream *s)
{
    const struct segment *first;

    while ((first = stream_waiting(s)) != NULL && stream_abs(s, first->seq) <= stream_edge(s) &&
           merge_first(st, flow, s))
        ;
}

/* ---- overlap ---- */

/* State of one insertion that overlaps older data. */
struct overlap {
    struct tcp_in *in;
    struct tcp_stream *s;
    uint8_t *data;                      /* the new segment's bytes as they will be stored */
    uint32_t seq, len;
    bool any, is_duplicate, differs;
};

/* The stored bytes of an old segment, clipped to those that count; NULL if there are none. The
 * buffer may hold more, but how much depends on the progress of other threads. */
static uint8_t *old_bytes(const struct tcp_stream *s, const struct segment *old, uint32_t *seq,
                          uint32_t *len)
{
    int64_t from = stream_abs(s, old->seq), to = from + old->len;
    int64_t first = MAX(s->offset, s->base_offset);

    *seq = old->seq;
    *len = old->len;
    if (old->data != NULL)
        return old->data;
    if (s->buffer == NULL || to <= first || from >= stream_edge(s))
        return NULL;
    if (from < first) {
        *seq += (uint32_t)(first - from);
        *len -= (uint32_t)(first - from);
        from = first;
    }
    if (from + *len > stream_edge(s))
        *len = (uint32_t)(stream_edge(s) - from);
    return s->buffer + s->start + (from - s->offset);
}

/* The bytes that two segments have in common. */
struct meeting {
    uint8_t *old_at, *new_at;
    uint32_t len;
};

static bool find_meeting(const struct overlap *o, const struct segment *old, struct meeting *m)
{
    uint32_t old_seq, old_len, from, to;
    uint8_t *old_data = old_bytes(o->s, old, &old_seq, &old_len);

    if (old_data == NULL)
        return false;
    from = seq_max(old_seq, o->seq);
    to = seq_min(old_seq + old_len, o->seq + o->len);
    if (!seq_lt(from, to))
        return false;
    m->old_at = old_data + (from - old_seq);
    m->new_at = o->data + (from - o->seq);
    m->len = to - from;
    return true;
}

/* IPS mode: the bytes that passed first count, so the packet is changed to have the same. */
static void replace_in_packet(const struct overlap *o, const struct meeting *m)
{
    struct packet *p = o->in->p;
    size_t at = (size_t)(m->new_at - o->data);

    memcpy(p->payload + at, m->old_at, m->len);
    p->flags |= PACKET_MODIFIED;
}

/* Copies the winner's bytes: an older segment that wins overwrites the new one here; later the new
 * one overwrites all copies (write_back). */
static void overlap_resolve(struct overlap *o, const struct segment *old)
{
    const struct stream_conf *conf = o->in->st->conf;
    bool compare = conf->is_inline || stream_compares(conf);
    bool same_bounds = old->seq == o->seq && old->len == o->len;
    struct meeting m;
    bool differs;

    o->any = true;
    o->is_duplicate |= same_bounds;
    if (!find_meeting(o, old, &m))
        return;
    differs = compare && memcmp(m.old_at, m.new_at, m.len) != 0;
    o->differs |= differs && !same_bounds;
    if (conf->is_inline) {
        if (!differs)
            return;
        in_event(o->in, EVENT_STREAM_REASSEMBLY_OVERLAP_DIFFERENT_DATA);
        replace_in_packet(o, &m);
    } else if (overlap_takes_new((enum os_policy)o->s->os, o->seq, o->seq + o->len, old->seq,
                                 segment_end(old))) {
        return;
    }
    memcpy(m.new_at, m.old_at, m.len);
}

static bool overlaps(const struct overlap *o, const struct segment *old)
{
    return seq_lt(old->seq, o->seq + o->len) && seq_gt(segment_end(old), o->seq);
}

static void overlap_resolve_list(struct overlap *o, const struct segment *first)
{
    for (const struct segment *old = first; old != NULL; old = old->next) {
        if (seq_geq(old->seq, o->seq + o->len))
            return;
        if (overlaps(o, old))
            overlap_resolve(o, old);
    }
}

static void overlap_resolve_waiting(struct overlap *o)
{
    struct ooo_scan scan;

    ooo_scan_begin(&scan, o->s, o->seq, o->seq + o->len);
    for (const struct segment *old; (old = ooo_scan_next(&scan)) != NULL;)
        overlap_resolve(o, old);
}

/* Hundreds of copies of the same bytes may wait behind a hole, and each further copy would be
 * compared with all of them. */
static bool has_too_many_copies(const struct tcp_stream *s, uint32_t seq, uint32_t len)
{
    uint64_t met = 0;
    struct ooo_scan scan;

    if (s->holes == NULL || s->holes->segments_out < COPIES_MAX)
        return false;
    ooo_scan_begin(&scan, s, seq, seq + len);
    for (const struct segment *old; (old = ooo_scan_next(&scan)) != NULL;) {
        met += seq_min(segment_end(old), seq + len) - seq_max(old->seq, seq);
        if (met > (uint64_t)COPIES_MAX * len)
            return true;
    }
    return false;
}

/* Bytes that were handed off do not change. */
static void write_back_buffer(const struct overlap *o)
{
    struct tcp_stream *s = o->s;
    int64_t seq = stream_abs(s, o->seq), from = MAX(seq, MAX(s->delivered, s->offset));
    int64_t to = MIN(seq + o->len, stream_edge(s));

    if (from < to && s->buffer != NULL)
        memcpy(s->buffer + s->start + (from - s->offset), o->data + (from - seq),
               (size_t)(to - from));
}

static void write_back(const struct overlap *o)
{
    struct ooo_scan scan;

    ooo_scan_begin(&scan, o->s, o->seq, o->seq + o->len);
    for (struct segment *old; (old = ooo_scan_next(&scan)) != NULL;) {
        struct meeting m;

        if (find_meeting(o, old, &m))
            memcpy(m.old_at, m.new_at, m.len);
    }
    write_back_buffer(o);
}

/* ---- storing ---- */

/* Counts parts of the stream that are separated by very wide holes. Only a segment far from the
 * edge can make another one. */
static void note_regions(struct tcp_stream *s, const struct segment *fresh)
{
    int64_t end = stream_edge(s);
    uint16_t regions = 0;

    if (stream_abs(s, fresh->seq) - end <= REGION_GAP || s->holes->segments_out > REGION_SEGMENTS)
        return;
    for (const struct segment *seg = s->holes->waiting.first; seg != NULL; seg = seg->next) {
        int64_t start = stream_abs(s, seg->seq);

        regions += start - end > REGION_GAP;
        end = MAX(end, start + seg->len);
    }
    s->holes->regions_max = MAX(s->holes->regions_max, regions);
}

/* Extends the last waiting segment. False: it needs a new record. */
static bool extend_last(struct stream_thread *st, struct stream_holes *holes, uint32_t seq,
                        const uint8_t *data, uint32_t len)
{
    struct segment *last = holes->waiting.last;
    unsigned block_class;
    uint8_t *more;

    if (LIKELY(holes->segments_out < WAITING_APART) || segment_end(last) != seq ||
        last->len + len > WAITING_LONGEST)
        return false;
    block_class = block_class_for(last->len + len);
    if (block_class != last->block_class) {
        more = data_get(st, block_class);
        if (more == NULL)
            return false;
        memcpy(more, last->data, last->len);
        data_put(st, last->data, last->block_class);
        last->data = more;
        last->block_class = (uint8_t)block_class;
    }
    memcpy(last->data + last->len, data, len);
    last->len += len;
    ooo_last_extended(holes);
    return true;
}

/* 0; -1 without memory; -2 at WAITING_MAX, which raises another event. */
static int store_waiting(struct stream_thread *st, struct tcp_stream *s, uint32_t seq,
                         const uint8_t *data, uint32_t len)
{
    struct stream_holes *holes = stream_holes_make(st, s);
    struct segment *seg;

    if (holes == NULL)
        return -1;
    if (extend_last(st, holes, seq, data, len))
        return 0;
    if (holes->segments_out >= WAITING_MAX)
        return -2;
    seg = segment_new(st, seq, len);
    if (seg == NULL)
        return -1;
    seg->block_class = (uint8_t)block_class_for(len);
    seg->data = data_get(st, seg->block_class);
    if (seg->data == NULL) {
        segment_free(st, seg);
        return -1;
    }
    memcpy(seg->data, data, len);
    ooo_insert(st, holes, seg);
    note_regions(s, seg);
    return 0;
}

/* For a segment that starts at or before the edge: appends what exceeds it, and keeps the
 * bounds. */
static int store_touching(const struct tcp_in *in, struct tcp_stream *s, uint32_t seq,
                          const uint8_t *data, uint32_t len)
{
    struct stream_thread *st = in->st;
    int64_t from = stream_abs(s, seq), edge = stream_edge(s);
    struct segment *seg;

    if (from + len > edge) {
        uint32_t skip = (uint32_t)(edge - from);

        if (!append(st, in->flow, s, data + skip, len - skip))
            return -1;
    }
    seg = s->segments_merged < MERGED_MAX ? segment_new(st, seq, len) : NULL;
    if (seg != NULL) {
        record_insert(&s->merged, seg);
        s->segments_merged++;
    }
    stream_merge_waiting(st, in->flow, s);
    return 0;
}

static void note_overlap(const struct overlap *o)
{
    struct stream_thread *st = o->in->st;

    counter_inc(st->counters, st->id.overlap);
    if (!o->differs)
        return;
    in_event(o->in, EVENT_STREAM_REASSEMBLY_OVERLAP_DIFFERENT_DATA);
    counter_inc(st->counters, st->id.overlap_diff_data);
}

/* 0 also for an exact duplicate, which adds nothing. */
static int insert_slowly(struct tcp_in *in, struct tcp_stream *s, const uint8_t *payload,
                         uint32_t seq, uint32_t len)
{
    struct stream_thread *st = in->st;
    struct overlap o = { .in = in, .s = s, .data = st->scratch, .seq = seq, .len = len };
    int result;

    if (UNLIKELY(has_too_many_copies(s, seq, len))) {
        counter_inc(st->counters, st->id.insert_overlap_fail);
        return -2;
    }
    memcpy(o.data, payload, len);
    if (stream_abs(s, seq) < stream_edge(s))    /* merged data are before it */
        overlap_resolve_list(&o, s->merged.first);
    overlap_resolve_waiting(&o);
    if (o.any) {
        note_overlap(&o);
        write_back(&o);
        if (UNLIKELY(in->p->flags & PACKET_MODIFIED))
            packet_fix_checksums(in->p);    /* as it will go on, rules and outputs see it */
        if (o.is_duplicate)
            return 0;
    }
    if (stream_abs(s, seq) > stream_edge(s))
        result = store_waiting(st, s, seq, o.data, len);
    else
        result = store_touching(in, s, seq, o.data, len);
    if (result < 0)
        counter_inc(st->counters, o.any ? st->id.insert_overlap_fail : st->id.insert_normal_fail);
    if (result == -1 && o.any)
        in_event(in, EVENT_STREAM_REASSEMBLY_INSERT_MEMCAP);
    return result;
}

static void note_seen(struct tcp_stream *s, uint32_t end)
{
    if (!(s->flags & STREAM_SEEN_DATA) || seq_gt(end, s->right_edge))
        s->right_edge = end;
    s->flags |= STREAM_SEEN_DATA;
}

int stream_insert_next(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len)
{
    struct stream_thread *st = in->st;
    struct segment *seg = NULL;

    note_seen(s, seq + len);
    if (LIKELY(s->segments_merged < MERGED_MAX)) {
        seg = segment_new(st, seq, len);
        if (UNLIKELY(seg == NULL)) {
            in_event(in, EVENT_STREAM_REASSEMBLY_NO_SEGMENT);
            return -1;
        }
    }
    if (UNLIKELY(!append(st, in->flow, s, in->p->payload, len))) {
        counter_inc(st->counters, st->id.insert_normal_fail);
        if (seg != NULL)
            segment_free(st, seg);
        return -1;
    }
    record_in_order(s, seg, seq + len);
    return 0;
}

/* Data below base_seq are done with and are not compared any more. */
int stream_insert(struct tcp_in *in, struct tcp_stream *s, uint32_t seq, uint32_t len)
{
    bool in_order = stream_abs(s, seq) == stream_edge(s) && stream_waiting(s) == NULL;

    if (UNLIKELY(seq_leq(seq + len, s->base_seq)))
        return 0;
    if (LIKELY(in_order))
        return stream_insert_next(in, s, seq, len);
    note_seen(s, seq + len);
    return insert_slowly(in, s, in->p->payload, seq, len);
}
