/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/inflight.c - a flow's next packet waits until detection has answered for those before it.
 *
 * Only where such an answer changes how the flow is followed: inline, where a flow can be dropped,
 * with rules that bypass flows or store files, with rules in front of the stream, which read and
 * write the inspection state, and at the depth, which may not hold for what the flow turned out to
 * be. Packets of the vector at hand leave first, so with detection on the same thread
 * the answer is there when we are called again. Who waits, waits for a packet that stands before
 * his own: see sequencer.h why nobody waits for ever. */
#include "stream/stream_private.h"

#include "sequencer/sequencer.h"

/* Should a wake-up be missed. */
#define LOOK_AGAIN_NS 200000
/* No flow times out faster. */
#define SHORTEST_TIMEOUT_US 1000000

void stream_configure_inflight(struct stream_thread *st, const struct stream_inflight *how,
                           bool by_packet_time, bool always)
{
    bool timeouts = by_packet_time && always;

    st->inflight = *how;
    st->waits_inflight = always;
    flow_table_before_timeout(st->flows, timeouts ? stream_wait_inflight : NULL, st);
}

static bool is_drained(void *flow)
{
    return flow_is_drained(flow);
}

static COLD void wait_for(struct stream_thread *st, struct flow *flow)
{
    const struct stream_inflight *s = &st->inflight;

    s->sleeps(s->self);
    while (!eventcount_wait(s->eventcount, is_drained, flow, LOOK_AGAIN_NS))
        continue;
    s->wakes(s->self);
}

/* Not for packets in our own hands. */
void stream_wait_inflight(struct flow *flow, void *arg)
{
    struct stream_thread *st = arg;

    if (flow->last_order < st->vector_from)
        wait_for(st, flow);
}

bool stream_time_leaps(const struct stream_thread *st, const struct packet_vector *v,
                       uint64_t order)
{
    return v->count > 0 &&
           order_time_us(order) >= order_time_us(st->vector_from) + SHORTEST_TIMEOUT_US;
}

bool stream_may_cross_depth(struct stream_thread *st, const struct packet_vector *v,
                            struct flow *flow, const struct packet *p)
{
    /* whether it is settled stands far from what else is looked at here, and is asked last */
    if (st->inflight.eventcount == NULL || !stream_meets_depth(flow, p) || flow_is_drained(flow))
        return true;
    if (v->count > 0)
        return false;
    wait_for(st, flow);
    return true;
}

bool stream_may_go_on(struct stream_thread *st, const struct packet_vector *v,
                      const struct packet *p)
{
    struct flow *flow = p->flow_hash != 0 ? flow_table_peek(st->flows, p) : NULL;
    bool drained = flow == NULL || flow_is_drained(flow);

    if (v->count > 0 && (!drained || (p->order != 0 && stream_time_leaps(st, v, p->order))))
        return false;
    if (!drained)
        wait_for(st, flow);
    if (v->count == 0)
        st->vector_from = p->order;
    return true;
}
