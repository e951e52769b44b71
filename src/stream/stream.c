/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/stream.c - passes a vector through the transport state.
 *
 * Offline (vectors with an order) packets leave in the order of the capture, and flows that time
 * out end between them. Live, the vector is processed in place. */
#include "stream/stream.h"

#include "base/array.h"
#include "sequencer/sequencer.h"
#include "stream/reassembly.h"
#include "stream/segment.h"
#include "stream/snapshot.h"
#include "stream/stream_conf.h"
#include "stream/stream_thread.h"
#include "stream/tcp.h"
#include "stream/tcp_session.h"

#include <stdio.h>
#include <stdlib.h>

/* The largest IP payload. */
#define SCRATCH_SIZE 65536

/* ---- counters ---- */

#define POLICIES_FLOW                                                                          \
    (EXCEPTION_BIT(EXCEPTION_PASS_PACKET) | EXCEPTION_BIT(EXCEPTION_PASS_FLOW) |               \
     EXCEPTION_BIT(EXCEPTION_BYPASS) | EXCEPTION_BIT(EXCEPTION_REJECT) |                       \
     EXCEPTION_BIT(EXCEPTION_REJECT_BOTH))
#define POLICIES_DROP                                                                          \
    (EXCEPTION_BIT(EXCEPTION_DROP_PACKET) | EXCEPTION_BIT(EXCEPTION_DROP_FLOW))

/* Policies that cannot apply get no counter. */
static void register_policies(struct tcp_counters *id, const struct stream_conf *conf)
{
    unsigned any = POLICIES_FLOW | (conf->ips ? POLICIES_DROP : 0);
    unsigned packet = any & ~(EXCEPTION_BIT(EXCEPTION_PASS_FLOW) |
                              EXCEPTION_BIT(EXCEPTION_DROP_FLOW));
    unsigned midstream = any & ~(EXCEPTION_BIT(EXCEPTION_PASS_PACKET) |
                                 EXCEPTION_BIT(EXCEPTION_DROP_PACKET));

    if (conf->midstream)
        midstream = EXCEPTION_BIT(EXCEPTION_PASS_FLOW);
    exception_counters_register(&id->flow_memcap, "exception_policy.flow.memcap.",
                                conf->flow_memcap_policy, packet);
    exception_counters_register(&id->session_memcap, "exception_policy.tcp.ssn_memcap.",
                                conf->session_memcap_policy, any);
    exception_counters_register(&id->data_memcap, "exception_policy.tcp.reassembly.",
                                conf->data_memcap_policy, any);
    exception_counters_register(&id->midstream, "exception_policy.tcp.midstream.",
                                conf->midstream_policy, midstream);
}

static void register_end_states(struct tcp_counters *id)
{
    for (unsigned i = 0; i < TCP_STATE_COUNT; i++) {
        char name[64];

        if (i == TCP_LISTEN)
            continue;
        snprintf(name, sizeof(name), "flow.end.tcp_state.%s",
                 tcp_state_name((enum tcp_state)i));
        id->end_state[i] = counter_register(name, COUNTER_SUM);
    }
    id->end_liberal = counter_register("flow.end.tcp_liberal", COUNTER_SUM);
}

static void register_events(struct tcp_counters *id)
{
    for (unsigned i = 0; i < PACKET_EVENT_COUNT; i++) {
        char name[PACKET_EVENT_NAME_MAX];

        if (packet_event_is_stream((enum packet_event)i))
            id->event[i] = counter_register(
                packet_event_counter_name((enum packet_event)i, "decoder.event.", name),
                COUNTER_SUM);
    }
}

static void register_counters(struct tcp_counters *id, const struct stream_conf *conf)
{
    const struct {
        counter_id *id;
        const char *name;
        enum counter_kind kind;
    } all[] = {
        { &id->sessions, "tcp.sessions", COUNTER_SUM },
        { &id->active_sessions, "tcp.active_sessions", COUNTER_GAUGE },
        { &id->ssn_memcap_drop, "tcp.ssn_memcap_drop", COUNTER_SUM },
        { &id->ssn_from_cache, "tcp.ssn_from_cache", COUNTER_SUM },
        { &id->ssn_from_pool, "tcp.ssn_from_pool", COUNTER_SUM },
        { &id->pseudo, "tcp.pseudo", COUNTER_SUM },
        { &id->invalid_checksum, "tcp.invalid_checksum", COUNTER_SUM },
        { &id->midstream_pickups, "tcp.midstream_pickups", COUNTER_SUM },
        { &id->ack_unseen_data, "tcp.ack_unseen_data", COUNTER_SUM },
        { &id->segment_memcap_drop, "tcp.segment_memcap_drop", COUNTER_SUM },
        { &id->segment_from_cache, "tcp.segment_from_cache", COUNTER_SUM },
        { &id->segment_from_pool, "tcp.segment_from_pool", COUNTER_SUM },
        { &id->depth_reached, "tcp.stream_depth_reached", COUNTER_SUM },
        { &id->gap, "tcp.reassembly_gap", COUNTER_SUM },
        { &id->overlap, "tcp.overlap", COUNTER_SUM },
        { &id->overlap_diff_data, "tcp.overlap_diff_data", COUNTER_SUM },
        { &id->insert_normal_fail, "tcp.insert_data_normal_fail", COUNTER_SUM },
        { &id->insert_overlap_fail, "tcp.insert_data_overlap_fail", COUNTER_SUM },
        { &id->urgent_oob, "tcp.urgent_oob_data", COUNTER_SUM },
        { &id->memuse, "tcp.memuse", COUNTER_GAUGE },
        { &id->reassembly_memuse, "tcp.reassembly_memuse", COUNTER_GAUGE },
        { &id->reuse, "flow.tcp_reuse", COUNTER_SUM },
        { &id->evicted, "flow.wrk.flows_evicted", COUNTER_SUM },
        { &id->evicted_work, "flow.wrk.flows_evicted_needs_work", COUNTER_SUM },
        { &id->evicted_inject, "flow.wrk.flows_evicted_pkt_inject", COUNTER_SUM },
        { &id->bypass_packets, "flow_bypassed.local_pkts", COUNTER_SUM },
        { &id->bypass_bytes, "flow_bypassed.local_bytes", COUNTER_SUM },
        { &id->pressure, "memcap.pressure", COUNTER_MAX },
        { &id->pressure_max, "memcap.pressure_max", COUNTER_MAX },
    };

    for (unsigned i = 0; i < ARRAY_LEN(all); i++)
        *all[i].id = counter_register(all[i].name, all[i].kind);
    register_end_states(id);
    register_policies(id, conf);
    if (conf->count_events)
        register_events(id);
}

/* ---- the thread ---- */

/* A flow returns to its pool with the packet that ended it. Runs on this thread, which owns the
 * packet's pool. */
static void packet_returned(struct packet *p, void *arg)
{
    struct stream_thread *st = arg;

    if (LIKELY(!(p->flags & PACKET_FLOW_END)) || p->flow == NULL)
        return;
    if (p->flow->tcp != NULL)
        tcp_session_free(st, p->flow->tcp);
    flow_table_release(st->flows, p->flow);
    p->flow = NULL;
}

struct stream_thread *stream_thread_new(const struct stream_env *env, struct err *err)
{
    const struct stream_conf *conf = env->conf;
    struct stream_thread *st = xcalloc(1, sizeof(*st));

    st->flows = flow_table_new(env->flows, env->counters, err);
    if (st->flows == NULL) {
        free(st);
        return NULL;
    }
    st->conf = conf;
    st->pool = env->pool;
    st->counters = env->counters;
    st->copy_chunks = env->copy_chunks;
    st->has_usual = tcp_has_usual(conf);
    st->vector_number = 1;
    st->scratch = xmalloc(SCRATCH_SIZE);
    /* the memcaps are what threads write in the settings */
    st->flow_memory = flow_conf_memcap((struct flow_conf *)(uintptr_t)env->flows);
    st->session_memory.shared = (struct memcap *)&conf->session_memcap;
    st->data_memory.shared = (struct memcap *)&conf->data_memcap;
    pool_init(&st->sessions, sizeof(struct tcp_session), 256, 0);
    pool_init(&st->segments, sizeof(struct segment), 1024, 0);
    pool_init(&st->syns, sizeof(struct syn_record), 64, 0);
    pool_init(&st->holes, sizeof(struct stream_holes), 64, 0);
    ARRAY_RESERVE(&st->retired, 4 * VECTOR_FILL);
    vector_grow(&st->input, 4 * VECTOR_FILL);   /* swapped with the input vector of the thread */
    register_counters(&st->id, conf);
    packet_pool_on_return(env->pool, packet_returned, st);
    return st;
}

void stream_thread_set_early_hooks(struct stream_thread *st,
                                   const struct stream_early_hooks *early_hooks)
{
    st->early_hooks = *early_hooks;
}

/* Buffers that were replaced while chunks pointed to them; those chunks have been inspected by
 * now. */
static void release_retired(struct stream_thread *st)
{
    for (size_t i = 0; i < st->retired.count; i++)
        block_put(&st->blocks, st->retired.at[i].data, st->retired.at[i].block_class);
    st->retired.count = 0;
}

/* Nothing that the vectors before point to is in use any more. */
static void next_vector(struct stream_thread *st)
{
    release_retired(st);
    st->vector_number++;
    if (UNLIKELY(st->blocks.grown != st->shrink.grown))
        stream_shrink(st);
}

void stream_thread_free(struct stream_thread *st)
{
    if (st == NULL)
        return;
    memcap_reservation_end(&st->session_memory);
    memcap_reservation_end(&st->data_memory);
    pool_fini(&st->sessions);
    pool_fini(&st->segments);
    pool_fini(&st->syns);
    pool_fini(&st->holes);
    ARRAY_FREE(&st->retired);
    blocks_fini(&st->blocks);
    flow_table_free(st->flows);
    free(st->input.packet);
    free(st->scratch);
    free(st);
}

/* Only this thread may call it. */
const struct flow *stream_find_flow(struct stream_thread *st, uint64_t id)
{
    return flow_table_find_id(st->flows, id);
}

/* --- requests of detect and of exception policies --- */

static COLD void apply_drop(struct flow *flow, struct packet *p, uint32_t requests)
{
    if (!flow->drop_all) {
        flow->drop_all = true;
        flow->drop_reason_all = requests & FLOW_REQ_DROP_FIREWALL    ? DROP_FW_FLOW
                                : requests & FLOW_REQ_DROP_EXCEPTION ? DROP_EXCEPTION_FLOW
                                                                    : DROP_FLOW_DROP;
    }
    packet_drop(p, (enum drop_reason)flow->drop_reason_all);
    p->action |= ACTION_DROP_FLOW;
}

/* Applies requests that came upstream. False: the packet needs no further processing here. */
static COLD bool apply_requests(struct stream_thread *st, struct flow *flow, struct packet *p,
                              uint32_t requests)
{
    if ((requests & FLOW_REQ_BYPASS) || flow->state == FLOW_LOCAL_BYPASSED) {
        flow_table_set_state(st->flows, flow, FLOW_LOCAL_BYPASSED);
        p->flags |= PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_STREAM_NO_APP |
                    PACKET_BYPASSED;
        counter_inc(st->counters, st->id.bypass_packets);
        counter_add(st->counters, st->id.bypass_bytes, p->len);
        return false;
    }
    /* For later packets, a dropped packet never existed: TCP state does not follow it. Records show
     * its flags nevertheless. */
    if (requests & FLOW_REQ_DROP) {
        if (packet_is_tcp(p) && flow->tcp != NULL)
            tcp_note_dropped(st, flow, p);
        apply_drop(flow, p, requests);
        p->flags |= PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_STREAM_NO_APP;
        return false;
    }
    if (requests & FLOW_REQ_PASS)
        p->flags |= PACKET_NO_INSPECT;
    if (requests & FLOW_REQ_NO_PAYLOAD)
        p->flags |= PACKET_NO_PAYLOAD_INSPECT;
    return true;
}

/* ---- one packet ---- */

static COLD void flow_refused(struct stream_thread *st, struct packet *p)
{
    const struct stream_conf *conf = st->conf;

    exception_policy_apply(conf->flow_memcap_policy, p, DROP_FLOW_MEMCAP, conf->ips);
    exception_counters_inc(&st->id.flow_memcap, st->counters, conf->flow_memcap_policy);
}

/* The flow that the packet goes on with; NULL: it starts another one. */
static struct flow *unless_reused(struct stream_thread *st, struct flow *flow, struct packet *p)
{
    if (flow == NULL || !packet_is_tcp(p) || LIKELY(!tcp_starts_anew(st->conf, flow, p)))
        return flow;
    counter_inc(st->counters, st->id.reuse);
    stream_slot(p)->flags |= STREAM_PKT_SESSION_REUSE;
    flow_table_replace(st->flows, flow, p, FLOW_END_TCP_REUSE);
    return NULL;
}

/* NULL: the packet has no flow, or the memcap policy has decided about it. */
static struct flow *make_flow(struct stream_thread *st, struct packet *p)
{
    bool memcap;
    struct flow *flow = flow_table_add(st->flows, p, &memcap);

    if (flow == NULL && memcap)
        flow_refused(st, p);
    return flow;
}

/* A flow of another process is taken once, so the second new flow is new. */
static struct flow *find_or_make(struct stream_thread *st, struct packet *p)
{
    struct flow *flow = unless_reused(st, flow_table_find(st->flows, p), p);

    if (LIKELY(flow != NULL))
        return flow;
    flow = make_flow(st, p);
    if (flow != NULL && stream_continue(st, flow, p)) {
        flow = unless_reused(st, flow, p);
        if (flow != NULL)
            return flow;
        flow = make_flow(st, p);
    }
    if (flow != NULL)
        p->flags |= PACKET_FLOW_START;
    return flow;
}

static void count_events(const struct stream_thread *st, const struct packet *p)
{
    for (unsigned i = 0; i < p->event_count; i++)
        if (packet_event_is_stream((enum packet_event)p->event[i]))
            counter_inc(st->counters, st->id.event[p->event[i]]);
}

static uint8_t state_of(const struct flow *flow)
{
    return flow->tcp != NULL ? flow->tcp->state & 0xf : 0;
}

/* Rules with hook pre_stream see the state that the packets before have left. */
static bool may_enter(const struct stream_thread *st, struct packet *p, const struct flow *flow)
{
    if (LIKELY(st->early_hooks.pre_stream == NULL))
        return true;
    flow_slot(p)->tcp_state = state_of(flow);
    return st->early_hooks.pre_stream(st->early_hooks.arg, p);
}

/* Rules with hook pre_flow dropped the packet: it gets no flow and continues only to be logged. */
static COLD bool is_stopped(const struct stream_thread *st, struct packet *p)
{
    if ((p->flags & PACKET_PSEUDO) || st->early_hooks.pre_flow(st->early_hooks.arg, p))
        return false;
    p->flags |= PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_STREAM_NO_APP;
    return true;
}

static void packet_in(struct stream_thread *st, struct packet *p, struct flow *flow)
{
    uint32_t requests;

    flow_table_touch(st->flows, flow, p);
    flow->sent++;
    requests = flow_requests(flow);
    if (UNLIKELY(requests != 0 || flow->state == FLOW_LOCAL_BYPASSED) &&
        !apply_requests(st, flow, p, requests)) {
        if (UNLIKELY(st->conf->snapshots != 0))
            stream_snapshot(st->conf, p);
        return;
    }
    if (packet_is_tcp(p) && may_enter(st, p, flow)) {
        tcp_packet(st, flow, p);
        if (UNLIKELY(p->event_count > 0) && st->conf->count_events)
            count_events(st, p);
        flow_slot(p)->tcp_state = state_of(flow);
    }
    flow_slot(p)->flow_state = flow->state & 0xf;
}

bool stream_is_closing(const struct packet *p)
{
    return flow_slot(p)->tcp_state > TCP_TIME_WAIT;
}

bool stream_has_fin(const struct packet *p)
{
    uint8_t state = flow_slot(p)->tcp_state;

    return state >= TCP_FIN_WAIT1 && state <= TCP_CLOSING;
}

bool stream_is_closed(const struct packet *p)
{
    return flow_slot(p)->tcp_state == TCP_CLOSED;
}

/* Flows that end before one packet; more wait for the next. */
#define ENDS_PER_PACKET 16

/* Stores the capture for pseudo packets, which have none. Inner packets have no link. */
static void note_source(struct stream_thread *st, const struct packet *p)
{
    if (p->flags & PACKET_PSEUDO)
        return;
    st->datalink = p->root != NULL ? p->root->datalink : p->datalink;
    st->file = p->file;
}

/* Processes the packet at *at. Flows that it ends are inserted before it, and *at moves along. */
static void packet_at(struct stream_thread *st, struct packet_vector *v, unsigned *at)
{
    struct packet *p = v->packet[*at];
    struct flow *flow;

    if (p->time_us > st->now_us)
        st->now_us = p->time_us;
    note_source(st, p);
    if (UNLIKELY(st->early_hooks.pre_flow != NULL) && is_stopped(st, p))
        return;
    if (p->flow_hash == 0 || (p->flags & (PACKET_PSEUDO | PACKET_FRAGMENT)))
        return;
    flow = find_or_make(st, p);
    /* *at - 1 is the position before it; for the first packet it wraps, which vector_insert()
     * expects. */
    *at += flow_ends_insert(st, v, *at - 1, ENDS_PER_PACKET);
    if (flow != NULL)
        packet_in(st, p, flow);
}

/* ---- the vector ---- */

/* With many flows nearly every access misses the caches. Each structure is prefetched some packets
 * ahead, in the order in which one leads to the next. The distances are in packets. */
#define AHEAD_BUCKET 12
#define AHEAD_FLOW 8
#define AHEAD_SESSION 4
#define AHEAD_DATA 2

/* A bit of st->fresh for each packet ahead, the furthest in bit 0: it is not of the flow of the
 * packet before it. */
#define FRESH(distance) (1u << (AHEAD_BUCKET - (distance)))

/* Only for prefetching: flows start and end in between, and packets may be inserted before
 * others. */
static inline const struct flow **flow_ahead(struct stream_thread *st, unsigned at)
{
    return &st->ahead[at % STREAM_AHEAD];
}

/* Packets of one flow often come together, so it is prefetched with the first of them. */
static inline void fetch_flow(struct stream_thread *st, unsigned at, uint32_t hash)
{
    const struct flow *flow;

    if ((st->fresh & FRESH(AHEAD_FLOW)) == 0) {
        *flow_ahead(st, at) = *flow_ahead(st, at - 1);
        return;
    }
    *flow_ahead(st, at) = flow = flow_table_prefetch_flow(st->flows, hash);
    if (flow != NULL && stream_lookback(st->conf, TO_SERVER) != 0)
        PREFETCH(&flow->raw_progress);  /* stream_release() asks how far rules are */
}

static inline void fetch_session(const struct flow *flow)
{
    const char *ssn = flow != NULL ? (const char *)flow->tcp : NULL;

    if (ssn == NULL)
        return;
    for (size_t line = 0; line < sizeof(struct tcp_session); line += CACHE_LINE)
        PREFETCH(ssn + line);
}

/* The end of the buffer, to which the payload will be copied. */
static inline void fetch_data(const struct flow *flow, const struct packet *p)
{
    const struct tcp_stream *s;

    if (flow == NULL || flow->tcp == NULL || p->payload_len == 0)
        return;
    s = &flow->tcp->stream[(flow->key.src_port != p->src_port) != flow->swapped];
    PREFETCH(s->merged.last);
    if (s->buffer != NULL)
        for (uint32_t i = 0; i < p->payload_len; i += CACHE_LINE)
            PREFETCH(s->buffer + s->start + s->len + i);
}

/* The first packet of a vector counts as another flow's: there is none before it that could have
 * prefetched anything. */
static inline void fetch_bucket(struct stream_thread *st, const struct packet_vector *v,
                                unsigned place)
{
    uint32_t hash = v->packet[place]->flow_hash;

    if (place > 0 && hash == v->packet[place - 1]->flow_hash)
        return;
    st->fresh |= FRESH(AHEAD_BUCKET);
    flow_table_prefetch(st->flows, hash);
}

/* Once for each packet that came; `place` is where it is in the vector, in which flows that ended
 * may precede it. */
static inline void look_ahead(struct stream_thread *st, const struct packet_vector *v,
                              unsigned place)
{
    unsigned at = st->looked++;

    st->fresh <<= 1;
    if (place + AHEAD_BUCKET < v->count)
        fetch_bucket(st, v, place + AHEAD_BUCKET);
    if (place + AHEAD_FLOW < v->count)
        fetch_flow(st, at + AHEAD_FLOW, v->packet[place + AHEAD_FLOW]->flow_hash);
    if ((st->fresh & FRESH(AHEAD_SESSION)) != 0)
        fetch_session(*flow_ahead(st, at + AHEAD_SESSION));
    if ((st->fresh & FRESH(AHEAD_DATA)) != 0)
        fetch_data(*flow_ahead(st, at + AHEAD_DATA), v->packet[place + AHEAD_DATA]);
}

/* For the first packets of a vector: positions below 0 wrap, which is intended. */
static inline void look_ahead_first(struct stream_thread *st, const struct packet_vector *v)
{
    st->fresh = 0;
    st->looked = 0u - AHEAD_BUCKET;
    while (st->looked != 0)
        look_ahead(st, v, st->looked);
}

/* Timers and ended flows per vector: bounds the work, the rest follows with the next vector. */
#define EXPIRE_PER_VECTOR 256
#define ENDS_PER_VECTOR 128

static void start_vector(struct stream_thread *st, const struct packet_vector *v)
{
    next_vector(st);
    if (v->tick && v->now_us > st->now_us)
        st->now_us = v->now_us;
    flow_table_expire(st->flows, st->now_us, EXPIRE_PER_VECTOR);
}

/* Used part of the limit, in percent. */
static uint64_t pressure_of(const struct memcap *m)
{
    uint64_t limit = memcap_limit(m);

    return limit > 0 ? memcap_used(m) * 100 / limit : 0;
}

static void gauge_pressure(struct stream_thread *st)
{
    uint64_t most = pressure_of(st->flow_memory);

    most = MAX(most, pressure_of(st->session_memory.shared));
    most = MAX(most, pressure_of(st->data_memory.shared));
    counter_set(st->counters, st->id.pressure, most);
    counter_max(st->counters, st->id.pressure_max, most);
}

static void finish_vector(struct stream_thread *st)
{
    gauge_pressure(st);
    flow_table_gauge(st->flows);
    counter_set(st->counters, st->id.memuse, st->session_memory.used);
    counter_set(st->counters, st->id.reassembly_memuse, st->data_memory.used);
}

/* Takes the packets of the vector; the vector is then empty and gets them back one by one. */
static void take_input(struct stream_thread *st, struct packet_vector *v)
{
    struct packet_vector was = st->input;

    look_ahead_first(st, v);
    st->input = *v;
    st->input_at = 0;
    st->has_input = true;
    v->packet = was.packet;
    v->cap = was.cap;
    v->count = 0;
}

static bool may_have_flow(const struct stream_thread *st, struct packet *p)
{
    if (UNLIKELY(st->early_hooks.pre_flow != NULL) && is_stopped(st, p))
        return false;
    return p->flow_hash != 0 && !(p->flags & PACKET_FRAGMENT);
}

/* Packets before this one leave first; that vector carries a watermark at this packet. */
static COLD bool stands_alone(struct stream_thread *st, const struct packet_vector *v)
{
    bool alone = st->is_announced && v->count == 0;

    st->is_announced = true;
    return alone;
}

/* A flow may have been started to end when the pool had no packet left. */
static inline bool ends_wait(const struct stream_thread *st)
{
    return st->ending != NULL || flow_table_has_finished(st->flows);
}

/* Moves the next packet into the vector, after the flows that end before it. False: the vector must
 * leave first. */
static bool next_in_order(struct stream_thread *st, struct packet_vector *v)
{
    struct packet *p = st->input.packet[st->input_at];

    if (!st->is_found) {
        if (UNLIKELY(st->waits_inflight) && !stream_may_go_on(st, v, p))
            return false;
        flow_table_pass(st->flows, p->seqno);
        if (UNLIKELY(ends_wait(st)) && !flow_ends_push(st, v))
            return false;
        if (UNLIKELY(st->early_hooks.alone) && !stands_alone(st, v))
            return false;
        flow_table_at(st->flows, p->seqno);
        st->now_us = p->time_us;
        note_source(st, p);
        st->input_flow = may_have_flow(st, p) ? find_or_make(st, p) : NULL;
        st->is_found = true;
    }
    if (UNLIKELY(ends_wait(st)) && !flow_ends_push(st, v))
        return false;
    if (st->input_flow != NULL && packet_is_tcp(p) &&
        !stream_may_cross_depth(st, v, st->input_flow, p))
        return false;
    if (UNLIKELY(!vector_has_space(v)))
        return false;
    st->is_found = st->is_announced = false;
    st->input_at++;
    vector_push(v, p);
    if (st->input_flow != NULL)
        packet_in(st, p, st->input_flow);
    return true;
}

/* The vector's watermark gives the engine this thread's position, before it calls again. By then
 * flows that were looked at ahead may be gone. */
static void call_again(struct stream_thread *st, struct packet_vector *v)
{
    const struct packet *last = st->is_announced ? st->input.packet[st->input_at]
                              : v->count > 0 ? v->packet[v->count - 1] : NULL;

    v->seqno_at = last != NULL ? last->seqno : 0;
    v->seqno_sub = last != NULL ? last->seqno_sub : 0;
    st->fresh = 0;
    flow_table_gauge(st->flows);
}

/* True: call again with an empty vector (MODULE_MORE). */
static bool vector_in_order(struct stream_thread *st, struct packet_vector *v)
{
    if (!st->has_input)
        take_input(st, v);
    next_vector(st);
    st->ends_pushed = 0;
    while (st->input_at < st->input.count) {
        if (LIKELY(st->looked == st->input_at))
            look_ahead(st, &st->input, st->input_at);
        if (!next_in_order(st, v)) {
            call_again(st, v);
            return true;
        }
    }
    if (UNLIKELY(st->waits_inflight) && stream_time_leaps(st, v, st->input.seqno_at)) {
        call_again(st, v);
        return true;
    }
    flow_table_pass(st->flows, st->input.seqno_at);
    if (ends_wait(st) && !flow_ends_push(st, v)) {
        call_again(st, v);
        return true;
    }
    v->seqno_at = st->input.seqno_at;
    v->seqno_sub = st->input.seqno_sub;
    st->has_input = false;
    finish_vector(st);
    return false;
}

/* Live, with requests that must be awaited: processes as much of the vector as is possible now. */
static COLD bool vector_drained(struct stream_thread *st, struct packet_vector *v)
{
    if (!st->has_input)
        take_input(st, v);
    start_vector(st, v);
    while (st->input_at < st->input.count) {
        struct packet *p = st->input.packet[st->input_at];
        unsigned at = v->count;

        if (!vector_has_space(v) || !stream_may_go_on(st, v, p))
            return true;
        st->input_at++;
        vector_push(v, p);
        packet_at(st, v, &at);
    }
    (void)flow_ends_insert(st, v, v->count, ENDS_PER_VECTOR);
    st->has_input = false;
    finish_vector(st);
    return false;
}

bool stream_vector(struct stream_thread *st, struct packet_vector *v)
{
    if (v->seqno_at != 0 || (st->has_input && st->input.seqno_at != 0))
        return vector_in_order(st, v);
    if (UNLIKELY(st->waits_inflight || st->has_input))
        return vector_drained(st, v);
    start_vector(st, v);
    look_ahead_first(st, v);
    for (unsigned i = 0; i < v->count; i++) {
        look_ahead(st, v, i);
        packet_at(st, v, &i);
    }
    (void)flow_ends_insert(st, v, v->count, ENDS_PER_VECTOR);
    finish_vector(st);
    return false;
}

/* Flows that timed out before the last packet come before those that only end because the run
 * ends. */
bool stream_flush(struct stream_thread *st, struct packet_vector *v, uint64_t final_us,
                  uint64_t last_us)
{
    next_vector(st);
    st->ends_pushed = 0;
    if (final_us > st->now_us)
        st->now_us = final_us;
    if (v->seqno_at != 0)       /* the last packet may be another thread's, and not seen here */
        st->now_us = MAX(st->now_us, seqno_time_us(v->seqno_at));
    if (!st->all_finished && v->seqno_at != 0) {
        flow_table_pass(st->flows, v->seqno_at);
        if (!flow_ends_push(st, v))
            return true;
    }
    if (!st->all_finished) {
        flow_table_end_all(st->flows, st->now_us);
        st->end_us = last_us;
        st->all_finished = true;
    }
    (void)flow_ends_insert(st, v, v->count, UINT32_MAX);
    if (v->count > 0 || ends_wait(st))
        return true;
    st->all_finished = false;
    st->now_us = st->end_us = 0;
    flow_table_restart(st->flows);
    return false;
}

/* --- sessions for other modules --- */

static unsigned stream_regions(const struct tcp_stream *s)
{
    return 1 + (s->holes != NULL ? s->holes->regions_max : 0u);
}

bool stream_tcp_summary(const struct flow *flow, struct tcp_summary *out)
{
    const struct tcp_session *ssn = flow != NULL ? flow->tcp : NULL;
    enum tcp_state state;
    uint32_t requests;

    if (ssn == NULL)
        return false;
    requests = flow_requests(flow);
    state = requests & FLOW_REQ_DROP_STATES
                ? (enum tcp_state)(requests >> FLOW_REQ_TCP_STATE & 0x1f)
                : (enum tcp_state)ssn->state;
    *out = (struct tcp_summary){
        .flags_ts = ssn->stream[TO_SERVER].tcp_flags,
        .flags_tc = ssn->stream[TO_CLIENT].tcp_flags,
        .flags = ssn->tcp_flags,
        .state = tcp_state_name(state),
        .ts_max_regions = stream_regions(&ssn->stream[TO_SERVER]),
        .tc_max_regions = stream_regions(&ssn->stream[TO_CLIENT]),
        .midstream = (ssn->flags & SSN_MIDSTREAM) != 0,
        .ts_urgent_oob = ssn->urgent_offset[TO_SERVER],
        .tc_urgent_oob = ssn->urgent_offset[TO_CLIENT],
    };
    return true;
}
