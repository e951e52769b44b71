/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_table.c - the hash table, its memory and its clock.
 *
 * A bucket is one cache line: seven flows, a tag byte of the hash for each. A miss costs that one
 * line, a hit the flow's own lines besides. What does not fit goes to the next bucket, and the
 * full one counts how many it sent away, so that a search knows when to stop.
 *
 * The buckets start few, so that few flows keep to few cache lines and pages, and double when they
 * are nearly half full. Nothing stops for that: each new flow moves a few of the old buckets over,
 * and while some are left both are searched. */
#include "flow/flow_private.h"

#include "base/array.h"
#include "base/pool.h"
#include "packet/turn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS 7
#define OVERFLOW_MANY 255       /* this many or more: no longer counted, never cleared */

struct bucket {
    CACHE_ALIGNED uint8_t tag[SLOTS];       /* 0: free */
    uint8_t overflow;
    struct flow *flow[SLOTS];
};

struct flow_counters {
    counter_id total, active, tcp, udp, icmpv4, icmpv6, memcap, memuse, spare;
    counter_id get_used, get_used_eval, get_used_eval_reject, get_used_failed;
    counter_id emergency_entered, emergency_over;
    counter_id end_state[FLOW_STATE_COUNT];
    counter_id checked, not_timed_out, timed_out, evicted, recycled;
};

struct flow_list {
    struct flow *first, *last;
};

struct buckets {
    struct bucket *at;              /* NULL: none */
    uint64_t mask;
    unsigned shift;
};

struct flow_table {
    struct buckets now, old;        /* old: those in front of `moved` are empty */
    uint64_t moved;
    const struct flow_conf *conf;
    struct counters *counters;
    struct memcap_lease memory;
    struct pool pool;
    struct wheel wheel;
    struct flow_list ended;
    uint32_t active;
    uint64_t made;                  /* flows, ever */
    uint64_t position, tick;        /* packet.order of the packet at hand; time passed to */
    ARRAY_OF(struct flow *) sorting;
    uint64_t now_us, hand;          /* hand: where the emergency sweep goes on */
    uint32_t emergency_until;       /* active flows at which the emergency is over */
    bool emergency;
    void (*settle)(struct flow *flow, void *arg);   /* NULL: packets under way change nothing */
    void *settle_arg;
    void (*foretell)(const struct flow *flow, uint64_t order, void *arg);   /* NULL: nobody asks */
    void *foretell_arg;
    struct flow_counters id;
};

/* ---- buckets ---- */

#define FIRST_BUCKETS UINT64_C(4096)
#define HUGE_PAGE (2u << 20)

static uint64_t buckets_size(const struct buckets *buckets)
{
    return buckets->at != NULL ? (buckets->mask + 1) * sizeof(struct bucket) : 0;
}

/* As many as flow.hash-size says where that is less. */
static uint64_t first_count(const struct flow_conf *conf)
{
    uint64_t want = MIN(conf->hash_size / conf->tables, FIRST_BUCKETS), count = 64;

    while (count < want)
        count <<= 1;
    return count;
}

/* Many go on huge pages where there are some: a lookup then misses the TLB less. */
static bool buckets_map(struct buckets *buckets, uint64_t count)
{
    size_t size = count * sizeof(struct bucket);
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return false;
    if (size >= HUGE_PAGE)
        (void)madvise(at, size, MADV_HUGEPAGE);
    *buckets = (struct buckets){
        .at = at, .mask = count - 1, .shift = 64 - (unsigned)__builtin_ctzll(count),
    };
    return true;
}

static void buckets_unmap(struct buckets *buckets)
{
    if (buckets->at != NULL)
        munmap(buckets->at, buckets_size(buckets));
    buckets->at = NULL;
}

/* The dealer that chose this thread used bits of the same hash: mixed, so that all buckets are
 * used whichever share of the hashes comes here. */
static inline uint64_t spread(uint32_t hash)
{
    return hash * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t bucket_of(const struct buckets *buckets, uint64_t spread_hash)
{
    return spread_hash >> buckets->shift;
}

static inline uint8_t tag_of(uint64_t spread_hash)
{
    uint8_t tag = (uint8_t)(spread_hash >> 24);

    return tag != 0 ? tag : 1;
}

/* ---- counters ---- */

static void register_counters(struct flow_counters *id)
{
    static const char *const end_state[FLOW_STATE_COUNT] = {
        "flow.end.state.new", "flow.end.state.established", "flow.end.state.closed",
        "flow.end.state.local_bypassed", "flow.end.state.capture_bypassed",
    };
    static const char *const always_zero[] = {
        "flow.get_used_eval_busy", "flow.mgr.flows_evicted_needs_work", "flow.mgr.rows_maxlen",
        "flow.mgr.full_hash_pass", "flow.wrk.spare_sync", "flow.wrk.spare_sync_empty",
        "flow.wrk.spare_sync_incomplete", "flow.wrk.spare_sync_avg", "flow.wrk.flows_injected",
        "flow.wrk.flows_injected_max", "flow.mgr.rows_per_sec", "flow.recycler.queue_avg",
        "flow.recycler.queue_max", "flow_bypassed.local_capture_pkts",
        "flow_bypassed.local_capture_bytes", "flow_bypassed.closed", "flow_bypassed.pkts",
        "flow_bypassed.bytes",
    };

    id->total = counter_register("flow.total", COUNTER_SUM);
    id->active = counter_register("flow.active", COUNTER_GAUGE);
    id->tcp = counter_register("flow.tcp", COUNTER_SUM);
    id->udp = counter_register("flow.udp", COUNTER_SUM);
    id->icmpv4 = counter_register("flow.icmpv4", COUNTER_SUM);
    id->icmpv6 = counter_register("flow.icmpv6", COUNTER_SUM);
    id->memcap = counter_register("flow.memcap", COUNTER_SUM);
    id->memuse = counter_register("flow.memuse", COUNTER_GAUGE);
    id->spare = counter_register("flow.spare", COUNTER_GAUGE);
    id->get_used = counter_register("flow.get_used", COUNTER_SUM);
    id->get_used_eval = counter_register("flow.get_used_eval", COUNTER_SUM);
    id->get_used_eval_reject = counter_register("flow.get_used_eval_reject", COUNTER_SUM);
    id->get_used_failed = counter_register("flow.get_used_failed", COUNTER_SUM);
    id->emergency_entered = counter_register("flow.emerg_mode_entered", COUNTER_SUM);
    id->emergency_over = counter_register("flow.emerg_mode_over", COUNTER_SUM);
    id->checked = counter_register("flow.mgr.flows_checked", COUNTER_SUM);
    id->not_timed_out = counter_register("flow.mgr.flows_notimeout", COUNTER_SUM);
    id->timed_out = counter_register("flow.mgr.flows_timeout", COUNTER_SUM);
    id->evicted = counter_register("flow.mgr.flows_evicted", COUNTER_SUM);
    id->recycled = counter_register("flow.recycler.recycled", COUNTER_SUM);
    for (unsigned i = 0; i < FLOW_STATE_COUNT; i++)
        id->end_state[i] = counter_register(end_state[i], COUNTER_SUM);
    for (unsigned i = 0; i < ARRAY_LEN(always_zero); i++)
        (void)counter_register(always_zero[i], COUNTER_SUM);
}

static void count_new(struct flow_table *table, uint8_t proto)
{
    counter_inc(table->counters, table->id.total);
    counter_inc(table->counters, table->id.active);
    switch (proto) {
    case 6:
        counter_inc(table->counters, table->id.tcp);
        break;
    case 17:
        counter_inc(table->counters, table->id.udp);
        break;
    case 1:
        counter_inc(table->counters, table->id.icmpv4);
        break;
    case 58:
        counter_inc(table->counters, table->id.icmpv6);
        break;
    }
}

void flow_table_gauge(struct flow_table *table)
{
    uint64_t tables = buckets_size(&table->now) + buckets_size(&table->old);

    counter_set(table->counters, table->id.memuse, table->memory.used + tables);
    counter_set(table->counters, table->id.spare, table->pool.made - table->pool.in_use);
}

/* ---- making ---- */

#define FLOWS_PER_SLAB 256

struct flow_table *flow_table_new(const struct flow_conf *conf, struct counters *counters,
                                  struct err *err)
{
    struct flow_table *table = aligned_alloc(
        CACHE_LINE, (sizeof(*table) + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));

    if (table == NULL)
        goto fail;
    memset(table, 0, sizeof(*table));
    if (!buckets_map(&table->now, first_count(conf)))
        goto fail_table;
    table->conf = conf;
    table->counters = counters;
    /* the memcap is the one thing in the settings that threads write */
    table->memory.shared = (struct memcap *)&conf->memcap;
    pool_init(&table->pool, sizeof(struct flow), FLOWS_PER_SLAB, 0);
    pool_reserve(&table->pool, MIN(conf->prealloc, conf->memcap.limit / sizeof(struct flow)) /
                                   conf->tables);
    wheel_init(&table->wheel, 0);
    register_counters(&table->id);
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
    memcap_lease_end(&table->memory);
    pool_fini(&table->pool);
    ARRAY_FREE(&table->sorting);
    buckets_unmap(&table->now);
    buckets_unmap(&table->old);
    free(table);
}

/* ---- the hash ---- */

void flow_table_prefetch(const struct flow_table *table, uint32_t hash)
{
    PREFETCH(&table->now.at[bucket_of(&table->now, spread(hash))]);
}

struct flow *flow_table_prefetch_flow(const struct flow_table *table, uint32_t hash)
{
    uint64_t h = spread(hash);
    const struct bucket *b = &table->now.at[bucket_of(&table->now, h)];
    uint8_t tag = tag_of(h);

    for (unsigned i = 0; i < SLOTS; i++) {
        if (b->tag[i] == tag) {
            PREFETCH(b->flow[i]);
            PREFETCH((const char *)b->flow[i] + CACHE_LINE);
            PREFETCH((const char *)b->flow[i] + 2 * CACHE_LINE);
            return b->flow[i];
        }
    }
    return NULL;
}

/* There is a free slot: they are never filled. */
static void buckets_insert(struct buckets *buckets, struct flow *flow)
{
    uint64_t h = spread(flow->hash), at = bucket_of(buckets, h);

    for (;; at = (at + 1) & buckets->mask) {
        struct bucket *b = &buckets->at[at];

        for (unsigned i = 0; i < SLOTS; i++) {
            if (b->tag[i] == 0) {
                b->tag[i] = tag_of(h);
                b->flow[i] = flow;
                return;
            }
        }
        if (b->overflow < OVERFLOW_MANY)
            b->overflow++;
    }
}

static bool bucket_remove(struct bucket *b, const struct flow *flow)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (b->tag[i] != 0 && b->flow[i] == flow) {
            b->tag[i] = 0;
            return true;
        }
    }
    return false;
}

/* False: it is not there. */
static bool buckets_remove(struct buckets *buckets, const struct flow *flow)
{
    uint64_t home = bucket_of(buckets, spread(flow->hash)), at = home;

    while (!bucket_remove(&buckets->at[at], flow)) {
        if (buckets->at[at].overflow == 0)
            return false;
        at = (at + 1) & buckets->mask;
    }
    for (; home != at; home = (home + 1) & buckets->mask)
        if (buckets->at[home].overflow < OVERFLOW_MANY)
            buckets->at[home].overflow--;
    return true;
}

static struct flow *buckets_find_id(const struct buckets *buckets, uint64_t id)
{
    uint64_t h = spread((uint32_t)id), at;

    if (buckets->at == NULL)
        return NULL;
    for (at = bucket_of(buckets, h);; at = (at + 1) & buckets->mask) {
        const struct bucket *b = &buckets->at[at];

        for (unsigned i = 0; i < SLOTS; i++)
            if (b->tag[i] == tag_of(h) && b->flow[i]->id == id)
                return b->flow[i];
        if (b->overflow == 0)
            return NULL;
    }
}

struct flow *flow_table_find_id(struct flow_table *table, uint64_t id)
{
    struct flow *flow = buckets_find_id(&table->now, id);

    return flow != NULL ? flow : buckets_find_id(&table->old, id);
}

static void hash_remove(struct flow_table *table, const struct flow *flow)
{
    if (!buckets_remove(&table->now, flow) && table->old.at != NULL)
        (void)buckets_remove(&table->old, flow);
}

static void move_bucket(struct flow_table *table, struct bucket *b)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        struct flow *flow = b->flow[i];

        if (b->tag[i] == 0)
            continue;
        (void)buckets_remove(&table->old, flow);
        buckets_insert(&table->now, flow);
    }
}

#define MOVES_AT_ONCE 8

static COLD void move_some(struct flow_table *table)
{
    for (unsigned i = 0; i < MOVES_AT_ONCE; i++) {
        move_bucket(table, &table->old.at[table->moved++]);
        if (table->moved > table->old.mask) {
            buckets_unmap(&table->old);
            return;
        }
    }
}

static COLD void start_growing(struct flow_table *table)
{
    struct buckets more;

    if (!buckets_map(&more, (table->now.mask + 1) * 2))
        return;             /* the next flow tries again */
    table->old = table->now;
    table->now = more;
    table->moved = 0;
}

/* Overflow is rare while a bucket has three flows on the average. Without memory to grow there is
 * still room for twice as many. */
#define FLOWS_TO_GROW 3
#define FLOWS_AT_MOST 6

/* False: there is none. */
static bool hash_make_room(struct flow_table *table)
{
    if (UNLIKELY(table->old.at != NULL))
        move_some(table);
    else if (UNLIKELY(table->active >= FLOWS_TO_GROW * (table->now.mask + 1)))
        start_growing(table);
    return LIKELY(table->active < FLOWS_AT_MOST * (table->now.mask + 1));
}

/* ---- what a packet is compared with ---- */

/* What an ICMP destination unreachable quotes: it belongs to the flow it speaks of, in either
 * direction. */
static bool quoted_key(const struct packet *p, struct flow_key *key)
{
    struct bytes in = bytes_of(p->icmp.embedded, p->icmp.embedded_len);
    uint8_t first = take_u8(&in);
    unsigned header = (first & 0xfu) * 4;
    const uint8_t *addresses;

    take_skip(&in, 8);
    key->proto = take_u8(&in);
    take_skip(&in, 2);
    addresses = take_bytes(&in, 8);
    if (addresses == NULL || first >> 4 != 4 || header < 20)
        return false;
    key->src = ip_v4(addresses);
    key->dst = ip_v4(addresses + 4);
    take_skip(&in, header - 20);
    key->src_port = take_be16(&in);
    key->dst_port = take_be16(&in);
    return !in.failed && (key->proto == 6 || key->proto == 17);
}

#define ICMP4_UNREACHABLE 3

static bool is_icmp4_error(const struct packet *p)
{
    if (p->ip_proto != 1 || p->l4 == NULL)
        return false;
    switch (p->icmp.type) {
    case ICMP4_UNREACHABLE:
    case 4:             /* source quench */
    case 5:             /* redirect */
    case 11:            /* time exceeded */
    case 12:            /* parameter problem */
        return true;
    default:
        return false;
    }
}

static void lookup_key(const struct packet *p, struct flow_key *key)
{
    struct flow_key quoted;

    flow_key_of_packet(p, key);
    if (!is_icmp4_error(p) || p->icmp.type != ICMP4_UNREACHABLE || p->icmp.embedded == NULL)
        return;
    quoted = *key;
    if (quoted_key(p, &quoted))
        *key = quoted;
}

static inline bool same_way(const struct flow_key *a, const struct flow_key *b)
{
    return a->src_port == b->src_port && a->dst_port == b->dst_port &&
           ip_equal(&a->src, &b->src) && ip_equal(&a->dst, &b->dst);
}

static inline bool other_way(const struct flow_key *a, const struct flow_key *b)
{
    return a->src_port == b->dst_port && a->dst_port == b->src_port &&
           ip_equal(&a->src, &b->dst) && ip_equal(&a->dst, &b->src);
}

#define PROTO_ESP 50

static bool key_matches(const struct flow_conf *conf, const struct flow_key *a,
                        const struct flow_key *b)
{
    if (a->proto != b->proto)
        return false;
    if (!same_way(a, b) && (a->proto == PROTO_ESP || !other_way(a, b)))
        return false;
    if (conf->use_vlan && memcmp(a->vlan, b->vlan, sizeof(a->vlan)) != 0)
        return false;
    if (conf->use_recursion && a->recursion != b->recursion)
        return false;
    return !conf->use_device || a->device == b->device;
}

/* Only tells devices apart: their addresses do. */
static uint16_t device_number(const struct packet *p)
{
    return (uint16_t)((uintptr_t)p->device / 16);
}

/* ---- time ---- */

/* What is dropped goes no further: packets that were on their way when the drop was decided have
 * changed nothing. */
static inline enum flow_state state_of(const struct flow *flow)
{
    uint32_t wishes = flow_wishes(flow);

    return UNLIKELY(wishes & FLOW_WISH_DROP_STATES)
               ? (enum flow_state)(wishes >> FLOW_WISH_FLOW_STATE & 0xf)
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

#define WHEEL_TICK_US UINT64_C(10000)

/* The tick of the wheel by which the flow is gone: what its own packets say, whatever else
 * happens on this thread. */
static uint64_t tick_after(const struct flow_table *table, const struct flow *flow)
{
    uint64_t due = (flow->last_us + timeout_of(table, flow)) / WHEEL_TICK_US;
    uint64_t last = order_time_us(flow->last_order) / WHEEL_TICK_US;

    return MAX(due, last) + 1;
}

static uint64_t end_of_tick(uint64_t tick)
{
    return order_before_us(tick * WHEEL_TICK_US);
}

/* So much ahead ends are told. */
#define FORETOLD_TICKS 20

/* The timer comes by once more in time for that. */
static void arm(struct flow_table *table, struct flow *flow)
{
    uint64_t tick = tick_after(table, flow);

    if (table->foretell != NULL) {
        if (tick > table->tick + FORETOLD_TICKS)
            tick -= FORETOLD_TICKS;
        else
            table->foretell(flow, end_of_tick(tick), table->foretell_arg);
    }
    wheel_add(&table->wheel, &flow->timer, tick);
}

void flow_table_foretell(struct flow_table *table,
                         void (*tell)(const struct flow *flow, uint64_t order, void *arg),
                         void *arg)
{
    table->foretell = tell;
    table->foretell_arg = arg;
}

/* In an emergency flows end without notice. */
uint64_t flow_table_foretold(const struct flow_table *table)
{
    return table->emergency ? 0 : end_of_tick(table->tick + FORETOLD_TICKS + 1);
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

struct flow *flow_table_take_ended(struct flow_table *table)
{
    struct flow *flow = table->ended.first;

    if (flow == NULL)
        return NULL;
    table->ended.first = flow->next;
    if (flow->next == NULL)
        table->ended.last = NULL;
    flow->next = NULL;
    return flow;
}

bool flow_table_has_ended(const struct flow_table *table)
{
    return table->ended.first != NULL;
}

static void leave_emergency_when_over(struct flow_table *table)
{
    if (table->emergency && table->active <= table->emergency_until) {
        table->emergency = false;
        counter_inc(table->counters, table->id.emergency_over);
    }
}

uint64_t flow_table_due_us(const struct flow_table *table, const struct flow *flow)
{
    return flow->last_us + timeout_of(table, flow);
}

void flow_table_end(struct flow_table *table, struct flow *flow, enum flow_end_reason reason)
{
    flow->last_order = table->position;
    hash_remove(table, flow);
    wheel_del(&flow->timer);
    flow->end_reason = (uint8_t)reason;
    flow->end_state = flow->state;
    flow->emergency |= table->emergency && reason == FLOW_END_TIMEOUT;
    table->active--;
    counter_sub(table->counters, table->id.active, 1);
    counter_inc(table->counters, table->id.recycled);
    counter_inc(table->counters, table->id.end_state[flow_final_state(flow)]);
    list_append(&table->ended, flow);
    leave_emergency_when_over(table);
}

void flow_table_before_timeout(struct flow_table *table,
                               void (*settle)(struct flow *flow, void *arg), void *arg)
{
    table->settle = settle;
    table->settle_arg = arg;
}

static inline void settle(const struct flow_table *table, struct flow *flow)
{
    if (UNLIKELY(table->settle != NULL) && !flow_is_settled(flow))
        table->settle(flow, table->settle_arg);
}

static void timer_fired(struct wheel_timer *timer, void *arg)
{
    struct flow_table *table = arg;
    struct flow *flow = CONTAINER_OF(timer, struct flow, timer);
    uint64_t tick;

    settle(table, flow);
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
    flow->last_order = end_of_tick(tick);
}

/* In an emergency timers stand too late; a hand goes round the table instead. True when a flow
 * was found past the shorter timeout, which ends it. */
static bool sweep_bucket(struct flow_table *table)
{
    struct bucket *b;
    bool found = false;

    if (table->old.at != NULL)
        move_some(table);
    table->hand &= table->now.mask;
    b = &table->now.at[table->hand++];
    for (unsigned i = 0; i < SLOTS; i++) {
        if (b->tag[i] == 0)
            continue;
        counter_inc(table->counters, table->id.get_used_eval);
        if (is_timed_out(table, b->flow[i], table->now_us)) {
            flow_table_end(table, b->flow[i], FLOW_END_TIMEOUT);
            found = true;
        } else {
            counter_inc(table->counters, table->id.get_used_eval_reject);
        }
    }
    return found;
}

#define SWEEP_PER_VECTOR 128

void flow_table_expire(struct flow_table *table, uint64_t now_us, unsigned max)
{
    if (now_us > table->now_us)
        table->now_us = now_us;
    wheel_advance(&table->wheel, table->now_us / WHEEL_TICK_US, timer_fired, table, max);
    for (unsigned i = 0; table->emergency && i < SWEEP_PER_VECTOR; i++)
        (void)sweep_bucket(table);
}

static int by_end(const void *a, const void *b)
{
    const struct flow *x = *(struct flow *const *)a, *y = *(struct flow *const *)b;

    if (x->last_order != y->last_order)
        return x->last_order < y->last_order ? -1 : 1;
    return x->start_rank < y->start_rank ? -1 : x->start_rank > y->start_rank;
}

/* Into the order of the capture. Nearly always there are none, one or two. */
static void sort_ended(struct flow_table *table)
{
    struct flow_list sorted = { 0 };

    table->sorting.count = 0;
    for (struct flow *f = table->ended.first; f != NULL; f = f->next)
        ARRAY_PUSH(&table->sorting, f);
    qsort(table->sorting.at, table->sorting.count, sizeof(table->sorting.at[0]), by_end);
    for (size_t i = 0; i < table->sorting.count; i++)
        list_append(&sorted, table->sorting.at[i]);
    table->ended = sorted;
}

void flow_table_pass(struct flow_table *table, uint64_t order)
{
    uint64_t tick = order_time_us(order) / WHEEL_TICK_US;

    if (LIKELY(tick <= table->tick))
        return;
    table->tick = tick;
    table->now_us = MAX(table->now_us, order_time_us(order));
    wheel_advance(&table->wheel, tick, timer_fired, table, 0);
    if (table->ended.first != table->ended.last)
        sort_ended(table);
    for (unsigned i = 0; table->emergency && i < SWEEP_PER_VECTOR; i++)
        (void)sweep_bucket(table);
}

void flow_table_at(struct flow_table *table, uint64_t order)
{
    table->position = order;
}

/* ---- finding and making ---- */

static struct flow *buckets_find(const struct buckets *buckets, const struct flow_conf *conf,
                                 uint64_t spread_hash, const struct flow_key *key)
{
    uint64_t at = bucket_of(buckets, spread_hash);
    uint8_t tag = tag_of(spread_hash);

    for (;; at = (at + 1) & buckets->mask) {
        const struct bucket *b = &buckets->at[at];

        for (unsigned i = 0; i < SLOTS; i++)
            if (b->tag[i] == tag && LIKELY(key_matches(conf, &b->flow[i]->key, key)))
                return b->flow[i];
        if (LIKELY(b->overflow == 0))
            return NULL;
    }
}

struct flow *flow_table_peek(const struct flow_table *table, const struct packet *p)
{
    uint64_t h = spread(p->flow_hash);
    struct flow_key key;
    struct flow *flow;

    lookup_key(p, &key);
    key.device = device_number(p);
    flow = buckets_find(&table->now, table->conf, h, &key);
    if (flow == NULL && UNLIKELY(table->old.at != NULL))
        flow = buckets_find(&table->old, table->conf, h, &key);
    return flow;
}

struct flow *flow_table_find(struct flow_table *table, const struct packet *p)
{
    struct flow *flow = flow_table_peek(table, p);

    if (flow == NULL || LIKELY(!is_timed_out(table, flow, p->time_us)))
        return flow;
    flow_table_end(table, flow, FLOW_END_TIMEOUT);
    return NULL;
}

static COLD void enter_emergency(struct flow_table *table)
{
    if (table->emergency)
        return;
    table->emergency = true;
    table->emergency_until =
        (uint32_t)((uint64_t)table->active * (100 - table->conf->recovery_percent) / 100);
    counter_inc(table->counters, table->id.emergency_entered);
}

#define SWEEP_FOR_ONE 5

/* At the memcap a flow past the emergency timeout makes room: the new one takes its place in the
 * account at once, the old one's memory follows when it comes home. */
static COLD bool make_room(struct flow_table *table, uint64_t now_us)
{
    if (now_us > table->now_us)
        table->now_us = now_us;
    enter_emergency(table);
    for (unsigned i = 0; i < SWEEP_FOR_ONE; i++) {
        if (sweep_bucket(table)) {
            counter_inc(table->counters, table->id.get_used);
            return true;
        }
    }
    counter_inc(table->counters, table->id.get_used_failed);
    return false;
}

static struct flow *flow_alloc(struct flow_table *table, uint64_t now_us)
{
    bool has_room = memcap_take(&table->memory, sizeof(struct flow));
    struct flow *flow;

    if (!has_room && make_room(table, now_us)) {
        table->memory.used += sizeof(struct flow);
        has_room = true;
    }
    if (!has_room)
        return NULL;
    flow = pool_get(&table->pool);
    if (flow == NULL)
        memcap_give(&table->memory, sizeof(struct flow));
    return flow;
}

static bool may_have_flow(const struct packet *p)
{
    return p->flow_hash != 0 && p->l3 != NULL &&
           !(p->flags & (PACKET_FRAGMENT | PACKET_PSEUDO)) && !is_icmp4_error(p);
}

static uint8_t packet_ttl(const struct packet *p)
{
    return p->src.version == 4 ? p->l3[8] : p->l3[7];
}

/* By the first packet's number, and its place in the frame where that holds several. */
static uint64_t rank_of(struct flow_table *table, const struct packet *p)
{
    const struct packet *root = p->root != NULL ? p->root : p;

    table->made++;
    return p->order != 0 ? root->number << 9 | p->order_sub : table->made;
}

static void flow_start(struct flow_table *table, struct flow *flow, const struct packet *p)
{
    memset(flow, 0, sizeof(*flow));
    flow_key_of_packet(p, &flow->key);
    flow->key.device = device_number(p);
    flow->hash = p->flow_hash;
    flow->start_us = flow->last_us = p->time_us;
    flow->id = flow_id_make(&flow->key, flow->hash, flow->start_us);
    flow->start_rank = rank_of(table, p);
    flow->emergency = table->emergency;
    flow->min_ttl[TO_SERVER] = flow->max_ttl[TO_SERVER] = packet_ttl(p);
}

struct flow *flow_table_add(struct flow_table *table, const struct packet *p, bool *memcap)
{
    struct flow *flow;

    *memcap = false;
    if (!may_have_flow(p))
        return NULL;
    flow = LIKELY(hash_make_room(table)) ? flow_alloc(table, p->time_us) : NULL;
    if (UNLIKELY(flow == NULL)) {
        counter_inc(table->counters, table->id.memcap);
        *memcap = true;
        return NULL;
    }
    flow_start(table, flow, p);
    buckets_insert(&table->now, flow);
    arm(table, flow);
    table->active++;
    count_new(table, flow->key.proto);
    return flow;
}

/* Protocols that we know nothing of have no client and no server. */
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

/* A flow but TCP is established once both sides have spoken; the packet that shows it counts. */
static void update_seen(struct flow_table *table, struct flow *flow, struct packet *p,
                        enum direction dir)
{
    if (!is_icmp4_error(p) && flow->seen[dir]++ == 0)
        p->flags |= PACKET_FIRST_IN_DIR;
    if (flow->state == FLOW_ESTABLISHED) {
        p->flags |= PACKET_ESTABLISHED;
    } else if (flow->key.proto != 6 && flow->seen[TO_SERVER] > 0 && flow->seen[TO_CLIENT] > 0) {
        p->flags |= PACKET_ESTABLISHED;
        if (flow->state == FLOW_NEW)
            flow_table_set_state(table, flow, FLOW_ESTABLISHED);
    }
}

void flow_table_touch(struct flow_table *table, struct flow *flow, struct packet *p)
{
    enum direction dir = direction_of(flow, p);

    p->flow = flow;
    if (dir == TO_CLIENT)
        p->flags |= PACKET_TO_CLIENT;
    if (p->time_us > flow->last_us)
        flow->last_us = p->time_us;
    flow->last_order = p->order;
    if (LIKELY(p->l3 != NULL))
        update_ttl(flow, dir, packet_ttl(p));
    update_seen(table, flow, p, dir);
}

struct flow *flow_table_get(struct flow_table *table, struct packet *p, bool *made, bool *memcap)
{
    struct flow *flow = NULL;

    *made = *memcap = false;
    if (p->flow_hash != 0)
        flow = flow_table_find(table, p);
    if (flow == NULL) {
        flow = flow_table_add(table, p, memcap);
        if (flow == NULL)
            return NULL;
        *made = true;
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

void flow_table_end_all(struct flow_table *table, uint64_t final_us)
{
    ARRAY_OF(struct flow *) all = { 0 };

    if (table->active == 0)
        return;
    ARRAY_RESERVE(&all, table->active);
    while (table->old.at != NULL)
        move_some(table);
    for (uint64_t at = 0; at <= table->now.mask; at++)
        for (unsigned i = 0; i < SLOTS; i++)
            if (table->now.at[at].tag[i] != 0)
                ARRAY_PUSH(&all, table->now.at[at].flow[i]);
    qsort(all.at, all.count, sizeof(all.at[0]), by_start);
    for (size_t i = 0; i < all.count; i++) {
        settle(table, all.at[i]);
        flow_table_end(table, all.at[i], is_timed_out(table, all.at[i], final_us)
                                             ? FLOW_END_TIMEOUT : FLOW_END_SHUTDOWN);
    }
    ARRAY_FREE(&all);
}

void flow_table_restart(struct flow_table *table)
{
    wheel_init(&table->wheel, 0);
    table->now_us = table->tick = table->position = 0;
}

void flow_table_give_back(struct flow_table *table, struct flow *flow)
{
    pool_put(&table->pool, flow);
    memcap_give(&table->memory, sizeof(struct flow));
}

unsigned flow_table_active(const struct flow_table *table)
{
    return table->active;
}
