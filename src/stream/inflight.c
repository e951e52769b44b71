/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/inflight.c - a flow's next packet waits until detection has finished with those before it.
 *
 * This is only needed where the result changes how the flow is followed: in IPS mode, where a flow
 * can be dropped; with rules that bypass flows or store files; with rules that have hooks before
 * the stream, which read and write the inspection state; and at the depth, which may not apply to
 * the protocol that detection finds. Earlier packets of the vector leave first, so with detection
 * on the same thread the result is there at the next call. A thread only waits for a packet that is
 * before its own: see sequencer.h why that cannot deadlock. */
#include "sequencer/sequencer.h"
#include "stream/stream_thread.h"

/* Nanoseconds until the condition is checked again, in case a wake-up is missed. */
#define LOOK_AGAIN_NS 200000
/* No flow has a shorter timeout. */
#define SHORTEST_TIMEOUT_US 1000000

/* by_packet_time: offline, where timeouts are part of the result. */
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

/* Detect threads wake this one after each packet while streams_asleep is not 0. */
static COLD void wait_for(struct stream_thread *st, struct flow *flow)
{
    const struct stream_inflight *s = &st->inflight;

    s->sleeps(s->self);
    while (!eventcount_wait(s->eventcount, is_drained, flow, LOOK_AGAIN_NS))
        continue;
    s->wakes(s->self);
}

/* Does not wait for packets of the current vector, which this thread itself still holds. */
void stream_wait_inflight(struct flow *flow, void *arg)
{
    struct stream_thread *st = arg;

    if (flow->last_seqno < st->vector_from)
        wait_for(st, flow);
}

/* Whether a packet is so much later than the vector's first one that a flow may time out between
 * them. */
bool stream_time_leaps(const struct stream_thread *st, const struct packet_vector *v,
                       uint64_t seqno)
{
    return v->count > 0 &&
           seqno_time_us(seqno) >= seqno_time_us(st->vector_from) + SHORTEST_TIMEOUT_US;
}

/* False: send the vector first, then call again. */
bool stream_may_cross_depth(struct stream_thread *st, const struct packet_vector *v,
                            struct flow *flow, const struct packet *p)
{
    /* flow_is_drained() reads another cache line, so it comes last. */
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

    if (v->count > 0 && (!drained || (p->seqno != 0 && stream_time_leaps(st, v, p->seqno))))
        return false;
    if (!drained)
        wait_for(st, flow);
    if (v->count == 0)
        st->vector_from = p->seqno;
    return true;
}
