/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/sack.c - selective acknowledgments (RFC 2018): a small sorted array of ranges. */
#include "stream/sack.h"

#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/snapshot.h"
#include "stream/tcp.h"
#include "stream/tcp_seq.h"

/* Bytes that the ranges cover; they never overlap. */
uint32_t sack_size(const struct sack_set *set)
{
    uint32_t size = 0;

    for (uint32_t i = 0; i < set->count; i++)
        size += set->range[i].right - set->range[i].left;
    return size;
}

/* The array is short (SACK_RANGES), so moving beats a tree. */
static void remove_at(struct sack_set *set, uint32_t at)
{
    set->count--;
    for (uint32_t i = at; i < set->count; i++)
        set->range[i] = set->range[i + 1];
}

/* Removes ranges that the cumulative ACK has reached. */
void sack_prune(struct sack_set *set, uint32_t ack)
{
    while (set->count > 0 && seq_leq(set->range[0].right, ack))
        remove_at(set, 0);
    if (set->count > 0 && seq_lt(set->range[0].left, ack))
        set->range[0].left = ack;
}

/* A full array drops its last range, which is the least useful: it is farthest from the ACK. */
static void insert_at(struct sack_set *set, uint32_t at, struct sack_range range)
{
    if (set->count == SACK_RANGES) {
        if (at == SACK_RANGES)
            return;
        set->count--;
    }
    for (uint32_t i = set->count; i > at; i--)
        set->range[i] = set->range[i - 1];
    set->range[at] = range;
    set->count++;
}

/* Ranges that touch are merged. */
void sack_add(struct sack_set *set, uint32_t left, uint32_t right)
{
    uint32_t at = 0;

    while (at < set->count && seq_lt(set->range[at].right, left))
        at++;
    while (at < set->count && seq_leq(set->range[at].left, right)) {
        left = seq_min(left, set->range[at].left);
        right = seq_max(right, set->range[at].right);
        remove_at(set, at);
    }
    insert_at(set, at, (struct sack_range){ left, right });
}

static struct sack_range range_of(const struct tcp_in *in, unsigned i)
{
    const uint8_t *at = in->p->tcp_options.sack + (size_t)i * 8;

    return (struct sack_range){ get_be32(at), get_be32(at + 4) };
}

/* The option's length is checked by the decoder: sack_count ranges of eight bytes are there. */
static unsigned range_count(const struct tcp_in *in)
{
    const struct tcp_options *o = &in->p->tcp_options;

    return (o->has & TCP_HAS_SACK) && o->sack != NULL ? o->sack_count : 0;
}

/* A range below the ACK reports a duplicate (RFC 2883), and so does the second range if it contains
 * the first. Neither reports data beyond the ACK. */
static bool reports_duplicate(const struct tcp_in *in, unsigned index, struct sack_range r)
{
    struct sack_range first;

    if (seq_lt(r.left, in->ack))
        return true;
    if (index != 1)
        return false;
    first = range_of(in, 0);
    return seq_geq(first.left, r.left) && seq_leq(first.right, r.right);
}

/* Hostile ranges (beyond the window, reversed) are ignored. */
static bool is_news(const struct tcp_in *in, const struct tcp_stream *acked, unsigned index,
                    struct sack_range r)
{
    if (UNLIKELY(reports_duplicate(in, index, r)))
        stream_slot(in->p)->flags |= STREAM_PKT_DSACK;
    if (seq_lt(r.left, in->ack) || index == 1)
        return false;
    return seq_gt(r.right, acked->last_ack) && seq_leq(r.right, acked->next_win) &&
           seq_lt(r.left, r.right) && !seq_gt(r.left, acked->last_ack + acked->window);
}

/* Takes the ranges that one packet reports about the other side's data. Without memory they are
 * ignored: reassembly then only sees the cumulative ACK. */
void sack_take(struct tcp_in *in, struct tcp_stream *acked)
{
    unsigned count = range_count(in);

    if (LIKELY(count == 0))
        return;
    for (unsigned i = 0; i < count; i++) {
        struct sack_range r = range_of(in, i);
        struct stream_holes *holes;

        if (!is_news(in, acked, i, r))
            continue;
        holes = stream_holes_make(in->st, acked);
        if (holes == NULL)
            return;
        sack_add(&holes->sack, r.left, r.right);
    }
    if (acked->holes != NULL)
        sack_prune(&acked->holes->sack, acked->last_ack);
}

static bool is_known(const struct sack_set *set, struct sack_range r)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (seq_geq(r.left, set->range[i].left) && seq_leq(r.right, set->range[i].right))
            return true;
    return false;
}

/* Whether all ranges of the packet are known already. */
bool sack_is_outdated(const struct tcp_in *in, const struct tcp_stream *acked)
{
    unsigned count = range_count(in), known = 0;

    for (unsigned i = 0; i < count; i++) {
        if (acked->holes != NULL && is_known(&acked->holes->sack, range_of(in, i)))
            known++;
    }
    return count > 0 && known == count;
}
