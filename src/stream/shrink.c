/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/shrink.c - gives back space of buffers that their streams do not need any more.
 *
 * Rules inspect data after they were handed off, so a buffer is mostly free after the last packet
 * that used it, and a flow may stay idle from then on. Each flow is looked at only while the memory
 * of stream data grows, a few flows for each slab more: traffic that is served by the blocks there
 * are costs nothing. */
#include "flow/flow_table.h"
#include "stream/reassembly.h"
#include "stream/stream_thread.h"
#include "stream/tcp_session.h"

/* Flows for each slab: more while it pays, fewer while all buffers are full. */
#define FLOWS_LEAST 128
#define FLOWS_MOST 2048
#define FLOWS_AT_ONCE 4096              /* between two vectors */
#define BATCH 4                         /* visits whose flows are fetched together */

static void shrink_flow(struct stream_thread *st, const struct flow *flow)
{
    for (unsigned d = 0; d < 2; d++) {
        struct tcp_stream *s = &flow->tcp->stream[d];

        stream_release(st, flow, s, (enum direction)d);
        stream_fit_buffer(st, flow, s);
    }
}

/* Returns how many flows it has looked at. */
static unsigned shrink_some(struct stream_thread *st)
{
    struct flow *flows[BATCH * FLOW_VISIT_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < BATCH; i++)
        n += flow_table_visit(st->flows, &st->shrink.hand, flows + n);
    for (unsigned i = 0; i < n; i++) {
        PREFETCH(&flows[i]->tcp);
        PREFETCH(&flows[i]->raw_progress);
    }
    for (unsigned i = 0; i < n; i++)
        if (flows[i]->tcp != NULL)
            PREFETCH_ALL(flows[i]->tcp, sizeof(struct tcp_session));
    for (unsigned i = 0; i < n; i++)
        if (flows[i]->tcp != NULL)
            shrink_flow(st, flows[i]);
    return n;
}

void stream_shrink(struct stream_thread *st)
{
    uint32_t slabs = st->blocks.grown - st->shrink.grown, rate = MAX(st->shrink.flows, FLOWS_LEAST);
    uint64_t before = st->data_memory.used, most = MIN((uint64_t)slabs * rate, FLOWS_AT_ONCE);
    uint64_t looked = 0, freed;

    for (unsigned visits = 0; looked < most && visits < FLOWS_AT_ONCE; visits += BATCH)
        looked += shrink_some(st);
    freed = before - st->data_memory.used;
    if (freed >= (uint64_t)slabs * BLOCK_SLAB_SIZE / 4)
        rate *= 2;
    else if (freed < (uint64_t)slabs * BLOCK_SLAB_SIZE / 16)
        rate /= 2;
    st->shrink.flows = MIN(MAX(rate, FLOWS_LEAST), FLOWS_MOST);
    st->shrink.grown = st->blocks.grown;
}
