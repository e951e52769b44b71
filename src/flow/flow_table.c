/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_table.c - the flows of a thread: memory, timeouts, emergency and end. No locks. */
#include "flow/flow_table.h"

#include "base/array.h"
#include "base/memory/pool.h"
#include "base/memory/traffic_memory.h"
#include "flow/flow_buckets.h"
#include "flow/flow_counters.h"
#include "flow/flow_export.h"
#include "flow/flow_match.h"
#include "sequencer/sequencer.h"

#include <stdlib.h>
#include <string.h>

struct flow_list {
    struct flow *first, *last;
};

/* Belongs to the stream thread. The inspecting thread sees flows through packets only. */
struct flow_table {
    struct flow_buckets buckets;
    const struct flow_conf *conf;
    struct counters *counters;
    struct memcap_reservation memory;
    struct pool pool;
    struct wheel wheel;
    struct flow_list finished;
    uint64_t created;                  /* flows, ever */
    uint64_t position, tick; /* current sequence number; tick up to which timers ran */
    /* Temporary array of sort_finished(); kept to avoid allocating. */
    ARRAY_OF(struct flow *) sorting;
    uint64_t now_us;
    uint64_t emergency_tick;        /* when it began */
    uint32_t emergency_until;       /* number of active flows at which the emergency ends */
    bool emergency;
    /* Waits until detection has finished with packets in flight; NULL: they change nothing. */
    void (*wait_inflight)(struct flow *flow, void *arg);
    void *wait_arg;
    struct flow_counters id;
};

void flow_table_gauge(struct flow_table *table)
{
    counter_set(table->counters, table->id.memuse,
                table->memory.used + flow_buckets_size(&table->buckets));
    counter_set(table->counters, table->id.spare, table->pool.created - table->pool.in_use);
}

/* ---- making ---- */

#define FLOWS_PER_SLAB 256

/* The pool is preallocated for this thread's part of flow.prealloc, but never beyond the memcap. */
struct flow_table *flow_table_new(const struct flow_conf *conf, struct counters *counters,
                                  struct err *err)
{
    struct flow_table *table = aligned_alloc(
        CACHE_LINE, (sizeof(*table) + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));

    if (table == NULL)
        goto fail;
    memset(table, 0, sizeof(*table));
    if (!flow_buckets_init(&table->buckets, conf))
        goto fail_table;
    table->conf = conf;
    table->counters = counters;
    /* the memcap is the one thing in the settings that threads write */
    table->memory.shared = (struct memcap *)&conf->memcap;
    pool_init(&table->pool, sizeof(struct flow), FLOWS_PER_SLAB, 0);
    pool_reserve(&table->pool, MIN(conf->prealloc, conf->memcap.limit / sizeof(struct flow)) /
                                   conf->tables);
    wheel_init(&table->wheel, 0);
    flow_counters_register(&table->id, conf->expects_imports);
    return table;

fail_table:
    free(table);
fail:
    err_set(err, "flow: no memory for the flow table");
    return NULL;
}

void flow_table_free(struct flow_table *table)
{
    if (table == NULL)
        return;
    memcap_reservation_end(&table->memory);
    pool_fini(&table->pool);
    traffic_free(table->sorting.at);
    flow_buckets_fini(&table->buckets);
    free(table);
}

void flow_table_prefetch(const struct flow_table *table, uint32_t hash)
{
    flow_buckets_prefetch(&table->buckets, hash);
}

struct flow *flow_table_prefetch_flow(const struct flow_table *table, uint32_t hash)
{
    return flow_buckets_prefetch_flow(&table->buckets, hash);
}

struct flow *flow_table_find_id(struct flow_table *table, uint64_t id)
{
    return flow_buckets_find_id(&table->buckets, id);
}

/* ---- time ---- */

/* If a drop has been decided, the states that it was decided with count: packets that were in
 * flight then must not change the flow's end, or its result would depend on the number of
 * threads. */
static inline enum flow_state state_of(const struct flow *flow)
{
    uint32_t requests = flow_requests(flow);

    return UNLIKELY(requests & FLOW_REQ_DROP_STATES)
               ? (enum flow_state)(requests >> FLOW_REQ_FLOW_STATE & 0xf)
               : (enum flow_state)flow->state;
}

static inline uint64_t timeout_of(const struct flow_table *table, const struct flow *flow)
{
    const struct flow_timeouts *t =
        table->emergency ? &table->conf->emergency : &table->conf->normal;

    return t->after[flow_proto_of(flow->key.proto)][state_of(flow)];
}

static inline bool is_timed_out(const struct flow_table *table, const struct flow *flow,
                                uint64_t now_us)
{
    return now_us >= flow->last_us + timeout_of(table, flow);
}

/* 10 ms: timeouts are in seconds, so finer ticks would only cost work. */
#define WHEEL_TICK_US UINT64_C(10000)

/* Returns the tick by which the flow has ended. It depends on the flow's own packets only, not on
 * when this thread checks, so all run modes end a flow at the same time. */
static uint64_t tick_after(const struct flow_table *table, const struct flow *flow)
{
    uint64_t due = (flow->last_us + timeout_of(table, flow)) / WHEEL_TICK_US;
    uint64_t last = seqno_time_us(flow->last_seqno) / WHEEL_TICK_US;

    return MAX(due, last) + 1;
}

static uint64_t end_of_tick(uint64_t tick)
{
    return seqno_before_us(tick * WHEEL_TICK_US);
}

/* Packets do not move the timer: it fires, checks last_us and is set again. That saves a list
 * operation per packet. */
static void arm(struct flow_table *table, struct flow *flow)
{
    wheel_add(&table->wheel, &flow->timer, tick_after(table, flow));
}

void flow_table_set_state(struct flow_table *table, struct flow *flow, enum flow_state state)
{
    if (flow->state == state)
        return;
    flow->state = (uint8_t)state;
    if (wheel_is_queued(&flow->timer))
        arm(table, flow);
}

/* ---- ending ---- */

static void list_append(struct flow_list *list, struct flow *flow)
{
    flow->next = NULL;
    if (list->last != NULL)
        list->last->next = flow;
    else
        list->first = flow;
    list->last = flow;
}

/* FIFO. The caller sends the flow downstream with its last packet. */
struct flow *flow_table_take_finished(struct flow_table *table)
{
    struct flow *flow = table->finished.first;

    if (flow == NULL)
        return NULL;
    table->finished.first = flow->next;
    if (flow->next == NULL)
        table->finished.last = NULL;
    flow->next = NULL;
    return flow;
}

bool flow_table_has_finished(const struct flow_table *table)
{
    return table->finished.first != NULL;
}

static void leave_emergency_when_over(struct flow_table *table)
{
    if (table->emergency && table->buckets.count <= table->emergency_until) {
        table->emergency = false;
        counter_inc(table->counters, table->id.emergency_over);
    }
}

/* Removes the flow from lookups. Its memory stays until the inspecting thread has released it, see
 * flow_table_release(). */
/* It is in no bucket any more. */
static void end_flow(struct flow_table *table, struct flow *flow, enum flow_end_reason reason)
{
    flow->last_seqno = table->position;
    wheel_del(&flow->timer);
    flow->end_reason = (uint8_t)reason;
    flow->end_state = flow->state;
    flow->emergency |= table->emergency && reason == FLOW_END_TIMEOUT;
    counter_sub(table->counters, table->id.active, 1);
    counter_inc(table->counters, table->id.recycled);
    counter_inc(table->counters, table->id.end_state[flow_final_state(flow)]);
    list_append(&table->finished, flow);
    leave_emergency_when_over(table);
}

void flow_table_end(struct flow_table *table, struct flow *flow, enum flow_end_reason reason)
{
    flow_buckets_remove(&table->buckets, flow);
    end_flow(table, flow, reason);
}

void flow_table_replace(struct flow_table *table, struct flow *flow, const struct packet *p,
                        enum flow_end_reason reason)
{
    flow_table_end(table, flow, reason);
    flow->start_rank = p->seqno_sub;
}

void flow_table_before_timeout(struct flow_table *table,
                               void (*wait_inflight)(struct flow *flow, void *arg), void *arg)
{
    table->wait_inflight = wait_inflight;
    table->wait_arg = arg;
}

static inline void wait_inflight(const struct flow_table *table, struct flow *flow)
{
    if (UNLIKELY(table->wait_inflight != NULL) && !flow_is_drained(flow))
        table->wait_inflight(flow, table->wait_arg);
}

/* With packet order (table->tick != 0) the decision depends on ticks; in live capture, on the
 * clock. */
static void timer_fired(struct wheel_timer *timer, void *arg)
{
    struct flow_table *table = arg;
    struct flow *flow = CONTAINER_OF(timer, struct flow, timer);
    uint64_t tick;

    wait_inflight(table, flow);
    tick = tick_after(table, flow);

    counter_inc(table->counters, table->id.checked);
    if (table->tick != 0 ? tick > table->tick : !is_timed_out(table, flow, table->now_us)) {
        counter_inc(table->counters, table->id.not_timed_out);
        arm(table, flow);
        return;
    }
    counter_inc(table->counters, table->id.timed_out);
    counter_inc(table->counters, table->id.evicted);
    flow_table_end(table, flow, FLOW_END_TIMEOUT);
    /* the shorter timeout may have passed before it applied */
    flow->last_seqno = end_of_tick(table->emergency ? MAX(tick, table->emergency_tick) : tick);
}

static void arm_again(struct wheel_timer *timer, void *arg)
{
    arm(arg, CONTAINER_OF(timer, struct flow, timer));
}

/* Timers are set again for the shorter timeouts, so that flows go by age, and which one goes does
 * not depend on the keys of the hash. That visits each flow once; before the next time a part of
 * them, recovery_percent, has to end. */
static COLD void enter_emergency(struct flow_table *table)
{
    if (table->emergency)
        return;
    table->emergency = true;
    table->emergency_tick = table->tick;
    table->emergency_until =
        (uint32_t)((uint64_t)table->buckets.count * (100 - table->conf->recovery_percent) / 100);
    counter_inc(table->counters, table->id.emergency_entered);
    wheel_restart(&table->wheel, arm_again, table);
}

/* Near the memory limit, idle flows are ended first. */
static inline void heed_pressure(struct flow_table *table)
{
    if (LIKELY(!table->emergency) && table->buckets.count > 0 &&
        UNLIKELY(traffic_memory_gives_back(PRESSURE_IDLE)))
        enter_emergency(table);
}

/* Memory that runs short ends what the size of the file says can stay. */
static inline bool keeps_idle(const struct flow_table *table)
{
    return table->conf->keep_idle && LIKELY(!table->emergency);
}

/* Timers per vector in an emergency, besides the ordinary ones: bounds the work. */
#define EMERGENCY_TIMERS 512

/* Live: once per vector, with at most `max` timers. */
void flow_table_expire(struct flow_table *table, uint64_t now_us, unsigned max)
{
    if (now_us > table->now_us)
        table->now_us = now_us;
    heed_pressure(table);
    if (keeps_idle(table))
        return;
    if (UNLIKELY(table->emergency))
        max += EMERGENCY_TIMERS;
    wheel_advance(&table->wheel, table->now_us / WHEEL_TICK_US, timer_fired, table, max);
}

static int by_end(const void *a, const void *b)
{
    const struct flow *x = *(struct flow *const *)a, *y = *(struct flow *const *)b;

    if (x->last_seqno != y->last_seqno)
        return x->last_seqno < y->last_seqno ? -1 : 1;
    return x->start_rank < y->start_rank ? -1 : x->start_rank > y->start_rank;
}

/* Unlike most arrays this one counts for global-memcap: in an emergency most flows end at once. */
static bool sorting_has_space(struct flow_table *table)
{
    size_t cap = MAX(table->sorting.cap * 2, (size_t)8);
    struct flow **at;

    if (LIKELY(table->sorting.count < table->sorting.cap))
        return true;
    at = traffic_realloc(table->sorting.at, cap * sizeof(*at));
    if (at == NULL)
        return false;
    table->sorting.at = at;
    table->sorting.cap = cap;
    return true;
}

/* Sorts finished flows into the order of the capture. Nearly always there are at most two. */
static void sort_finished(struct flow_table *table)
{
    struct flow_list sorted = { 0 };

    table->sorting.count = 0;
    for (struct flow *f = table->finished.first; f != NULL; f = f->next) {
        if (!sorting_has_space(table))
            return;                     /* they go out of order */
        table->sorting.at[table->sorting.count++] = f;
    }
    qsort(table->sorting.at, table->sorting.count, sizeof(table->sorting.at[0]), by_end);
    for (size_t i = 0; i < table->sorting.count; i++)
        list_append(&sorted, table->sorting.at[i]);
    table->finished = sorted;
}

/* With packet order: runs the timers up to the time of `order`, in ticks, so that all threads end
 * flows at the same positions. */
void flow_table_pass(struct flow_table *table, uint64_t seqno)
{
    uint64_t tick = seqno_time_us(seqno) / WHEEL_TICK_US;

    if (LIKELY(tick <= table->tick))
        return;
    table->tick = tick;
    table->now_us = MAX(table->now_us, seqno_time_us(seqno));
    heed_pressure(table);
    if (keeps_idle(table))
        return;
    wheel_advance(&table->wheel, tick, timer_fired, table, 0);
    if (table->finished.first != table->finished.last)
        sort_finished(table);
}

void flow_table_at(struct flow_table *table, uint64_t seqno)
{
    table->position = seqno;
}

/* ---- finding and making ---- */

/* Without side effects, for prefetching and checks. */
struct flow *flow_table_peek(const struct flow_table *table, const struct packet *p)
{
    struct flow_key key;

    if (LIKELY(flow_match_is_plain(p)))
        return flow_buckets_find_plain(&table->buckets, table->conf, p);
    flow_match_key(p, &key);
    key.device = flow_device_number(p);
    return flow_buckets_find(&table->buckets, table->conf, p->flow_hash, &key);
}

/* A flow past its timeout never matches: it ends here and its packet starts a new one. */
struct flow *flow_table_find(struct flow_table *table, const struct packet *p)
{
    struct flow *flow = flow_table_peek(table, p);

    if (flow == NULL || LIKELY(!is_timed_out(table, flow, p->time_us)))
        return flow;
    flow_table_replace(table, flow, p, FLOW_END_TIMEOUT);
    return NULL;
}

/* Most calls take one step. What more there are make up for time in which no vector came. */
#define STEPS_FOR_ONE 1024

static void fired_for_one(struct wheel_timer *timer, void *arg)
{
    struct flow_table *table = arg;
    uint32_t before = table->buckets.count;

    counter_inc(table->counters, table->id.get_used_eval);
    timer_fired(timer, arg);
    if (table->buckets.count == before)
        counter_inc(table->counters, table->id.get_used_eval_reject);
}

/* At the memcap, the flow that is past the emergency timeout for longest is ended for the new one.
 * The new flow takes its part of the memcap at once; the old flow's memory follows when it is
 * released. */
static COLD bool make_space(struct flow_table *table, uint64_t now_us)
{
    uint32_t before = table->buckets.count;
    bool all = false;
    uint64_t tick;

    if (now_us > table->now_us)
        table->now_us = now_us;
    enter_emergency(table);
    tick = table->tick != 0 ? table->tick : table->now_us / WHEEL_TICK_US;
    for (unsigned i = 0; i < STEPS_FOR_ONE && table->buckets.count == before && !all; i++)
        all = wheel_advance(&table->wheel, tick, fired_for_one, table, 1);
    counter_inc(table->counters, table->buckets.count < before ? table->id.get_used
                                                               : table->id.get_used_failed);
    return table->buckets.count < before;
}

/* NULL at the memcap or without memory. */
static struct flow *flow_alloc(struct flow_table *table, uint64_t now_us)
{
    bool has_space = memcap_take(&table->memory, sizeof(struct flow));
    struct flow *flow;

    if (!has_space && make_space(table, now_us)) {
        table->memory.used += sizeof(struct flow);
        has_space = true;
    }
    if (!has_space)
        return NULL;
    flow = pool_get(&table->pool);
    if (flow == NULL)
        memcap_release(&table->memory, sizeof(struct flow));
    return flow;
}

/* Fragments wait for reassembly, pseudo packets have a flow already, ICMP errors only match
 * existing flows. */
static bool may_have_flow(const struct packet *p)
{
    return p->flow_hash != 0 && p->l3 != NULL &&
           !(p->flags & (PACKET_FRAGMENT | PACKET_PSEUDO)) && !flow_is_icmp4_error(p);
}

static uint8_t packet_ttl(const struct packet *p)
{
    return p->src.version == 4 ? p->l3[8] : p->l3[7];
}

/* The number of the first packet, and its position in the frame if that has several. It orders
 * flows that start or end at the same time. */
static uint64_t rank_of(struct flow_table *table, const struct packet *p)
{
    const struct packet *root = p->root != NULL ? p->root : p;

    table->created++;
    return p->seqno != 0 ? root->number << 9 | p->seqno_sub : table->created;
}

static void flow_start(struct flow_table *table, struct flow *flow, const struct packet *p)
{
    memset(flow, 0, sizeof(*flow));
    flow_key_of_packet(p, &flow->key);
    flow->key.device = flow_device_number(p);
    flow->vlan_count = p->vlan_count;
    flow->hash = p->flow_hash;
    flow->start_us = flow->last_us = p->time_us;
    flow->id = flow_id_make(&flow->key, flow->hash, flow->start_us);
    flow->start_rank = rank_of(table, p);
    flow->emergency = table->emergency;
    flow->min_ttl[TO_SERVER] = flow->max_ttl[TO_SERVER] = packet_ttl(p);
}

/* NULL with *memcap: the memcap policy decides about the packet. NULL without: the packet has no
 * flow. */
struct flow *flow_table_add(struct flow_table *table, const struct packet *p, bool *memcap)
{
    struct flow *flow;

    *memcap = false;
    if (!may_have_flow(p))
        return NULL;
    flow = LIKELY(flow_buckets_make_space(&table->buckets)) ? flow_alloc(table, p->time_us) : NULL;
    if (UNLIKELY(flow == NULL)) {
        counter_inc(table->counters, table->id.memcap);
        *memcap = true;
        return NULL;
    }
    flow_start(table, flow, p);
    flow_buckets_insert(&table->buckets, flow);
    arm(table, flow);
    flow_counters_new(&table->id, table->counters, flow->key.proto);
    return flow;
}

/* Timeouts are those of this process's configuration. */
static COLD bool take_import(struct flow_table *table, struct flow *flow,
                             struct flow_imports *imports, struct flow_import *from)
{
    struct flow was = { .key.proto = flow->key.proto };

    if (!flow_imports_take(imports, flow, from))
        return false;
    was.state = MIN(from->flow.state, (uint8_t)FLOW_CAPTURE_BYPASSED);
    was.last_us = from->flow.last_us;
    if (is_timed_out(table, &was, flow->start_us))
        return false;
    flow->start_us = MIN(flow->start_us, from->flow.start_us);
    flow_import(flow, from);
    flow_table_set_state(table, flow, (enum flow_state)was.state);
    counter_inc(table->counters, table->id.continued);
    return true;
}

bool flow_table_continue(struct flow_table *table, struct flow *flow, struct flow_import *from)
{
    struct flow_imports *imports = __atomic_load_n(&table->conf->imports, __ATOMIC_ACQUIRE);

    return UNLIKELY(imports != NULL) && take_import(table, flow, imports, from);
}

/* Unknown protocols have no client and no server: all packets go to the server. */
static enum direction direction_of(const struct flow *flow, const struct packet *p)
{
    bool as_key = ip_equal(&flow->key.src, &p->src);

    if (p->ip_proto == 6 || p->ip_proto == 17 || p->ip_proto == 132) {
        if (p->src_port != p->dst_port)
            as_key = flow->key.src_port == p->src_port;
    } else if (p->ip_proto != 1 && p->ip_proto != 58) {
        return TO_SERVER;
    }
    return as_key != flow->swapped ? TO_SERVER : TO_CLIENT;
}

static void update_ttl(struct flow *flow, enum direction dir, uint8_t ttl)
{
    if (flow->min_ttl[dir] == 0 || ttl < flow->min_ttl[dir])
        flow->min_ttl[dir] = ttl;
    if (ttl > flow->max_ttl[dir])
        flow->max_ttl[dir] = ttl;
}

/* A flow other than TCP is established when both sides have sent a packet, which includes the
 * packet that shows it. */
static void update_seen(struct flow_table *table, struct flow *flow, struct packet *p,
                        enum direction dir)
{
    if (!flow_is_icmp4_error(p) && flow->seen[dir]++ == 0)
        p->flags |= PACKET_FIRST_IN_DIR;
    if (flow->state == FLOW_ESTABLISHED) {
        p->flags |= PACKET_ESTABLISHED;
    } else if (flow->key.proto != 6 && flow->seen[TO_SERVER] > 0 && flow->seen[TO_CLIENT] > 0) {
        p->flags |= PACKET_ESTABLISHED;
        if (flow->state == FLOW_NEW)
            flow_table_set_state(table, flow, FLOW_ESTABLISHED);
    }
}

/* For each packet of a flow, also of a new one. */
void flow_table_touch(struct flow_table *table, struct flow *flow, struct packet *p)
{
    enum direction dir = direction_of(flow, p);

    p->flow = flow;
    if (dir == TO_CLIENT)
        p->flags |= PACKET_TO_CLIENT;
    if (p->time_us > flow->last_us)
        flow->last_us = p->time_us;
    flow->last_seqno = p->seqno;
    if (LIKELY(p->l3 != NULL))
        update_ttl(flow, dir, packet_ttl(p));
    update_seen(table, flow, p, dir);
}

struct flow *flow_table_get(struct flow_table *table, struct packet *p, bool *created, bool *memcap)
{
    struct flow *flow = NULL;

    *created = *memcap = false;
    if (p->flow_hash != 0)
        flow = flow_table_find(table, p);
    if (flow == NULL) {
        flow = flow_table_add(table, p, memcap);
        if (flow == NULL)
            return NULL;
        *created = true;
        p->flags |= PACKET_FLOW_START;
    }
    flow_table_touch(table, flow, p);
    return flow;
}

/* ---- the end ---- */

static int by_start(const void *a, const void *b)
{
    const struct flow *x = *(struct flow *const *)a, *y = *(struct flow *const *)b;

    return x->start_rank < y->start_rank ? -1 : x->start_rank > y->start_rank;
}

static void end_at_last(struct flow_table *table, struct flow *flow, bool checks, uint64_t final_us)
{
    end_flow(table, flow, checks && is_timed_out(table, flow, final_us) ? FLOW_END_TIMEOUT
                                                                        : FLOW_END_SHUTDOWN);
}

/* Without the memory to sort them: as they come. */
static COLD void end_unsorted(struct flow_table *table, uint64_t final_us)
{
    struct flow *flows[FLOW_BUCKET_SLOTS];
    bool checks = !keeps_idle(table);

    while (table->buckets.count > 0) {
        unsigned count = flow_buckets_next(&table->buckets, flows);

        for (unsigned i = 0; i < count; i++) {
            wait_inflight(table, flows[i]);
            flow_buckets_remove(&table->buckets, flows[i]);
            end_at_last(table, flows[i], checks, final_us);
        }
    }
}

/* At the end of a run, in the order of the flows' starts, so that outputs are the same in all run
 * modes. */
void flow_table_end_all(struct flow_table *table, uint64_t final_us)
{
    ARRAY_OF(struct flow *) all = { 0 };
    bool checks = !keeps_idle(table);

    if (table->buckets.count == 0)
        return;
    if (!ARRAY_HAS_SPACE(&all, table->buckets.count)) {
        end_unsorted(table, final_us);
        return;
    }
    all.count = table->buckets.count;
    flow_buckets_take_all(&table->buckets, all.at);
    qsort(all.at, all.count, sizeof(all.at[0]), by_start);
    for (size_t i = 0; i < all.count; i++) {
        wait_inflight(table, all.at[i]);
        table->buckets.count--;
        end_at_last(table, all.at[i], checks, final_us);
    }
    ARRAY_FREE(&all);
}

/* The next capture file has its own time; flow_table_end_all() comes first. */
void flow_table_restart(struct flow_table *table)
{
    wheel_init(&table->wheel, 0);
    table->now_us = table->tick = table->position = 0;
}

/* The packet that carried the flow's end has returned: no thread refers to it any more. */
void flow_table_release(struct flow_table *table, struct flow *flow)
{
    pool_put(&table->pool, flow);
    memcap_release(&table->memory, sizeof(struct flow));
}

_Static_assert(FLOW_VISIT_MAX == FLOW_BUCKET_SLOTS, "the flows of a bucket");

unsigned flow_table_visit(const struct flow_table *table, uint64_t *hand,
                          struct flow *flows[static FLOW_VISIT_MAX])
{
    return flow_buckets_visit(&table->buckets, hand, flows);
}

unsigned flow_table_active(const struct flow_table *table)
{
    return table->buckets.count;
}
