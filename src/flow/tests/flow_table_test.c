/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/traffic_memory.h"
#include "base/test.h"
#include "base/tests/pressure.h"
#include "base/array.h"
#include "base/containers/hash.h"
#include "flow/flow_buckets.h"
#include "flow/flow_table.h"
#include "sequencer/sequencer.h"
#include "packet/pool.h"

#include <stdlib.h>
#include <string.h>

struct env {
    struct conf *yaml;
    struct flow_conf *conf;
    struct counters *counters;
    struct flow_table *table;
};

static void open_env(struct env *e, const char *yaml)
{
    struct err err;

    e->yaml = conf_new();
    if (yaml != NULL && conf_load_string(e->yaml, yaml, "test", &err) < 0)
        abort();
    e->conf = flow_conf_new(conf_root(e->yaml), 1, &err);
    e->counters = counters_new("test");
    e->table = flow_table_new(e->conf, e->counters, &err);
    if (e->table == NULL)
        abort();
}

static void close_env(struct env *e)
{
    struct flow *f;

    flow_table_end_all(e->table, 0);
    while ((f = flow_table_take_finished(e->table)) != NULL)
        flow_table_release(e->table, f);
    flow_table_free(e->table);
    counters_free(e->counters);
    flow_conf_free(e->conf);
    conf_free(e->yaml);
}

static uint64_t count(const struct env *e, const char *name)
{
    return e->counters->value[counter_register(name, COUNTER_SUM)];
}

static struct packet *packet_of(uint8_t proto, unsigned from, uint16_t src_port, unsigned to,
                                uint16_t dst_port, uint64_t time_s)
{
    static struct packet p;
    static uint8_t header[40] = { 0x45, 0, 0, 0, 0, 0, 0, 0, 64 };
    uint8_t a[4] = { 10, 0, (uint8_t)(from >> 8), (uint8_t)from };
    uint8_t b[4] = { 10, 0, (uint8_t)(to >> 8), (uint8_t)to };

    memset(&p, 0, sizeof(p));
    p.data = p.l3 = header;
    p.l4 = header + 20;
    p.src = ip_v4(a);
    p.dst = ip_v4(b);
    p.ip_proto = proto;
    p.src_port = src_port;
    p.dst_port = dst_port;
    p.time_us = time_s * 1000000;
    p.flow_hash = (uint32_t)(from ^ to) * 2654435761u + (uint32_t)(src_port ^ dst_port) + 1;
    return &p;
}

TEST(flow_both_directions_meet)
{
    bool created, memcap;
    struct packet *p;
    struct flow *f;
    struct env e;

    open_env(&e, NULL);
    p = packet_of(17, 1, 5000, 2, 53, 1);
    f = flow_table_get(e.table, p, &created, &memcap);
    CHECK(created && f != NULL && packet_direction(p) == TO_SERVER);
    CHECK((p->flags & PACKET_FLOW_START) && (p->flags & PACKET_FIRST_IN_DIR));
    CHECK(!(p->flags & PACKET_ESTABLISHED));
    p = packet_of(17, 2, 53, 1, 5000, 2);
    CHECK(flow_table_get(e.table, p, &created, &memcap) == f && !created);
    CHECK(packet_direction(p) == TO_CLIENT && (p->flags & PACKET_ESTABLISHED));
    CHECK_INT(f->state, FLOW_ESTABLISHED);
    p = packet_of(17, 1, 5001, 2, 53, 2);
    CHECK(flow_table_get(e.table, p, &created, &memcap) != f && created);
    CHECK_INT(flow_table_active(e.table), 2);
    CHECK_INT(count(&e, "flow.udp"), 2);
    close_env(&e);
}

#define CROWD 4000u

static unsigned marks(const struct flow_buckets *buckets)
{
    unsigned count = 0;

    for (uint64_t i = 0; i <= buckets->now.mask; i++)
        count += buckets->now.at[i].overflow != 0 || buckets->now.beyond[i] != 0;
    return count;
}

/* Far more in a row of buckets than the byte of a bucket counts. */
TEST(flow_buckets_clear_marks_of_removed_flows)
{
    struct flow *flow = xcalloc(CROWD, sizeof(*flow));
    struct flow_buckets buckets;
    struct env e;

    open_env(&e, NULL);
    CHECK(flow_buckets_init(&buckets, e.conf));
    for (unsigned i = 0; i < CROWD; i++) {
        flow[i].hash = 1;
        flow_buckets_insert(&buckets, &flow[i]);
    }
    CHECK(marks(&buckets) >= CROWD / FLOW_BUCKET_SLOTS);
    for (unsigned i = 0; i < CROWD; i++)
        flow_buckets_remove(&buckets, &flow[i * 7 % CROWD]);
    CHECK_INT(marks(&buckets), 0);
    CHECK_INT(buckets.count, 0);
    flow_buckets_fini(&buckets);
    free(flow);
    close_env(&e);
}

TEST(flow_vlan_and_recursion_keep_flows_apart)
{
    bool created, memcap;
    struct packet *p;
    struct flow *f;
    struct env e;

    open_env(&e, NULL);
    f = flow_table_get(e.table, packet_of(17, 1, 5, 2, 6, 1), &created, &memcap);
    p = packet_of(17, 1, 5, 2, 6, 1);
    p->vlan[0] = 7;
    CHECK(flow_table_get(e.table, p, &created, &memcap) != f);
    p = packet_of(17, 1, 5, 2, 6, 1);
    p->recursion = 1;
    CHECK(flow_table_get(e.table, p, &created, &memcap) != f);
    close_env(&e);

    open_env(&e, "vlan: { use-for-tracking: no }\n"
                 "decoder: { recursion-level: { use-for-tracking: no } }");
    f = flow_table_get(e.table, packet_of(17, 1, 5, 2, 6, 1), &created, &memcap);
    p = packet_of(17, 1, 5, 2, 6, 1);
    p->vlan[0] = 7;
    p->recursion = 1;
    CHECK(flow_table_get(e.table, p, &created, &memcap) == f);
    close_env(&e);
}

TEST(flow_past_its_timeout_does_not_answer)
{
    bool created, memcap;
    struct flow *f;
    struct env e;

    open_env(&e, "flow-timeouts: { udp: { new: 10, established: 20 } }");
    f = flow_table_get(e.table, packet_of(17, 1, 5, 2, 6, 100), &created, &memcap);
    CHECK(flow_table_get(e.table, packet_of(17, 1, 5, 2, 6, 109), &created, &memcap) == f && !created);
    CHECK(flow_table_get(e.table, packet_of(17, 1, 5, 2, 6, 119), &created, &memcap) != f && created);
    CHECK(flow_table_take_finished(e.table) == f);
    CHECK_INT(f->end_reason, FLOW_END_TIMEOUT);
    CHECK_INT(count(&e, "flow.end.state.new"), 1);
    flow_table_release(e.table, f);
    close_env(&e);
}

TEST(flow_expires_by_the_wheel)
{
    bool created, memcap;
    struct flow *f;
    struct env e;

    open_env(&e, "flow-timeouts: { udp: { new: 10 } }");
    for (unsigned i = 0; i < 100; i++)
        flow_table_get(e.table, packet_of(17, i, 5, 200, 6, 100), &created, &memcap);
    flow_table_get(e.table, packet_of(17, 0, 5, 200, 6, 105), &created, &memcap);
    flow_table_expire(e.table, 109 * 1000000ull, 1000);
    CHECK_INT(flow_table_active(e.table), 100);
    flow_table_expire(e.table, 111 * 1000000ull, 1000);
    CHECK_INT(flow_table_active(e.table), 1);
    flow_table_expire(e.table, 116 * 1000000ull, 1000);
    CHECK_INT(flow_table_active(e.table), 0);
    while ((f = flow_table_take_finished(e.table)) != NULL)
        flow_table_release(e.table, f);
    close_env(&e);
}

/* The table does not look for timeouts, but a flow past its timeout still does not answer. */
TEST(flow_of_a_small_capture_stays)
{
    bool created, memcap;
    struct flow *f, *old;
    struct env e;

    open_env(&e, "flow-timeouts: { udp: { new: 10 } }");
    flow_conf_keep_idle(e.conf, true);
    old = flow_table_get(e.table, packet_of(17, 1, 5, 200, 6, 100), &created, &memcap);
    f = flow_table_get(e.table, packet_of(17, 2, 5, 200, 6, 100), &created, &memcap);
    flow_table_expire(e.table, 500 * 1000000ull, 1000);
    flow_table_pass(e.table, seqno_next(0, 600 * 1000000ull));
    CHECK_INT(flow_table_active(e.table), 2);
    CHECK(flow_table_get(e.table, packet_of(17, 2, 5, 200, 6, 109), &created, &memcap) == f);
    flow_table_get(e.table, packet_of(17, 1, 5, 200, 6, 111), &created, &memcap);
    CHECK(created);
    CHECK(flow_table_take_finished(e.table) == old);
    CHECK_INT(old->end_reason, FLOW_END_TIMEOUT);
    flow_table_release(e.table, old);
    close_env(&e);
}

TEST(flow_ends_in_order_of_their_start)
{
    bool created, memcap;
    struct flow *f;
    unsigned next = 0;
    struct env e;

    open_env(&e, NULL);
    for (unsigned i = 0; i < 500; i++)
        flow_table_get(e.table, packet_of(17, i, 5, 600, 6, i < 100 ? 10 : 100), &created, &memcap);
    flow_table_end_all(e.table, 101 * 1000000ull);
    while ((f = flow_table_take_finished(e.table)) != NULL) {
        CHECK_INT(f->start_rank, next + 1);
        CHECK_INT(f->end_reason, next < 100 ? FLOW_END_TIMEOUT : FLOW_END_SHUTDOWN);
        flow_table_release(e.table, f);
        next++;
    }
    CHECK_INT(next, 500);
    CHECK_INT(flow_table_active(e.table), 0);
    for (unsigned i = 0; i < 500; i++) {
        flow_table_get(e.table, packet_of(17, i, 5, 600, 6, 200), &created, &memcap);
        CHECK(created);
    }
    CHECK_INT(flow_table_active(e.table), 500);
    close_env(&e);
}

/* All the same, in no order. */
TEST(flow_ends_without_memory)
{
    bool created, memcap;
    unsigned finished = 0;
    struct flow *f;
    struct env e;

    open_env(&e, NULL);
    for (unsigned i = 0; i < 500; i++)
        flow_table_get(e.table, packet_of(17, i, 5, 600, 6, 10), &created, &memcap);
    alloc_failures_set((struct alloc_failures){ .every = 1 });
    flow_table_end_all(e.table, 101 * 1000000ull);
    alloc_failures_set((struct alloc_failures){ 0 });
    while ((f = flow_table_take_finished(e.table)) != NULL) {
        flow_table_release(e.table, f);
        finished++;
    }
    CHECK_INT(finished, 500);
    close_env(&e);
}

TEST(flow_many_share_buckets)
{
    enum { MANY = 20000 };
    struct flow **flows = calloc(MANY, sizeof(*flows));
    bool created, memcap;
    struct flow *f;
    struct env e;

    /* 64 buckets of 7 at first: they double nine times */
    open_env(&e, "flow: { memcap: 16mb, hash-size: 1, prealloc: 0 }");
    for (unsigned i = 0; i < MANY; i++)
        flows[i] = flow_table_get(e.table, packet_of(17, i, 5, 1, 6, 1), &created, &memcap);
    for (unsigned i = 0; i < MANY; i += 2)
        flow_table_end(e.table, flows[i], FLOW_END_FORCED);
    for (unsigned i = 0; i < MANY; i++)
        CHECK((flow_table_find(e.table, packet_of(17, i, 5, 1, 6, 1)) == flows[i]) == (i % 2));
    while ((f = flow_table_take_finished(e.table)) != NULL)
        flow_table_release(e.table, f);
    close_env(&e);
    free(flows);
}

/* While buckets move over, flows are found, ended and made on both sides. */
TEST(flow_table_grows_while_in_use)
{
    enum { MANY = 5000 };
    struct flow **flows = calloc(MANY, sizeof(*flows));
    bool created, memcap;
    struct flow *f;
    struct env e;

    open_env(&e, "flow: { memcap: 16mb, hash-size: 1, prealloc: 0 }");
    for (unsigned i = 0; i < MANY; i++) {
        unsigned old = (unsigned)(i * 2654435761u) % (i + 1);

        flows[i] = flow_table_get(e.table, packet_of(17, i, 5, 1, 6, 1), &created, &memcap);
        CHECK(created);
        CHECK(flow_table_find(e.table, packet_of(17, old, 5, 1, 6, 1)) == flows[old]);
        if (i % 3 != 0 || flows[old] == NULL)
            continue;
        flow_table_end(e.table, flows[old], FLOW_END_FORCED);
        flows[old] = NULL;
        CHECK(flow_table_find(e.table, packet_of(17, old, 5, 1, 6, 1)) == NULL);
    }
    for (unsigned i = 0; i < MANY; i++)
        CHECK(flow_table_find(e.table, packet_of(17, i, 5, 1, 6, 1)) == flows[i]);
    flow_table_end_all(e.table, 0);
    CHECK_INT(flow_table_active(e.table), 0);
    while ((f = flow_table_take_finished(e.table)) != NULL)
        flow_table_release(e.table, f);
    close_env(&e);
    free(flows);
}

TEST(flow_memcap_brings_emergency_and_ends_it)
{
    bool created, memcap = false;
    unsigned created_count = 0;
    struct flow *f;
    struct env e;

    open_env(&e, "flow: { memcap: 40000, hash-size: 1, prealloc: 0, emergency-recovery: 30 }\n"
                 "flow-timeouts: { udp: { new: 30, emergency-new: 5 } }");
    for (unsigned i = 0; i < 300; i++)
        created_count += flow_table_get(e.table, packet_of(17, i, 5, 400, 6, 100), &created, &memcap)
                      != NULL;
    CHECK(memcap && created_count > 50 && created_count < 300);
    CHECK_INT(count(&e, "flow.emerg_mode_entered"), 1);
    CHECK_INT(count(&e, "flow.memcap"), 300 - created_count);
    /* past the short timeout they make room one by one */
    f = flow_table_get(e.table, packet_of(17, 301, 5, 400, 6, 106), &created, &memcap);
    CHECK(f != NULL && f->emergency);
    flow_table_expire(e.table, 106 * 1000000ull, 1000);
    CHECK_INT(count(&e, "flow.emerg_mode_over"), 1);
    while ((f = flow_table_take_finished(e.table)) != NULL)
        flow_table_release(e.table, f);
    f = flow_table_get(e.table, packet_of(17, 302, 5, 400, 6, 106), &created, &memcap);
    CHECK(f != NULL && !f->emergency);
    close_env(&e);
}

/* Not in the order of hashes, which depends on the seed. */
TEST(flow_emergency_ends_the_oldest_first)
{
    bool created, memcap = false;
    unsigned created_count = 0;
    struct flow *f;
    struct env e;

    open_env(&e, "flow: { memcap: 40000, hash-size: 1, prealloc: 0, emergency-recovery: 90 }\n"
                 "flow-timeouts: { udp: { new: 3000, emergency-new: 200 } }");
    while (!memcap) {
        f = flow_table_get(e.table, packet_of(17, created_count, 5, 400, 6, 100 + created_count),
                           &created, &memcap);
        created_count += f != NULL;
    }
    CHECK(created_count > 60);
    /* the first one is used again: it is the youngest now */
    CHECK(flow_table_get(e.table, packet_of(17, 0, 5, 400, 6, 290), &created, &memcap) != NULL);
    for (unsigned i = 1; i < 50; i++) {
        CHECK(flow_table_get(e.table, packet_of(17, 1000 + i, 5, 400, 6, 302 + i), &created,
                             &memcap) != NULL);
        f = flow_table_take_finished(e.table);
        CHECK(f != NULL && f->start_us == (100 + i) * 1000000ull && f->emergency);
        flow_table_release(e.table, f);
        CHECK(flow_table_take_finished(e.table) == NULL);
    }
    CHECK_INT(count(&e, "flow.get_used"), 49);
    close_env(&e);
}

/* ---- ICMP ---- */

static struct packet *icmp_of(unsigned from, unsigned to, uint8_t type)
{
    struct packet *p = packet_of(1, from, 0, to, 0, 1);

    p->icmp.type = type;
    return p;
}

TEST(flow_icmp_answers_belong_to_requests)
{
    bool created, memcap;
    struct packet *p;
    struct flow *f;
    struct env e;

    open_env(&e, NULL);
    f = flow_table_get(e.table, icmp_of(1, 2, 8), &created, &memcap);
    p = icmp_of(2, 1, 0);
    CHECK(flow_table_get(e.table, p, &created, &memcap) == f);
    CHECK_INT(packet_direction(p), TO_CLIENT);
    CHECK(flow_table_get(e.table, icmp_of(1, 2, 13), &created, &memcap) != f);
    CHECK(flow_table_get(e.table, icmp_of(2, 1, 11), &created, &memcap) == NULL && !memcap);
    CHECK_INT(count(&e, "flow.icmpv4"), 2);
    close_env(&e);
}

TEST(flow_icmp_error_belongs_to_what_it_quotes)
{
    static const uint8_t quote[28] = { 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1,
                                       10, 0, 0, 2, 0x13, 0x88, 0, 53 };
    bool created, memcap;
    struct flow *f;
    struct packet *p;
    uint32_t hash;
    struct env e;

    open_env(&e, NULL);
    p = packet_of(17, 1, 5000, 2, 53, 1);
    hash = p->flow_hash;
    f = flow_table_get(e.table, p, &created, &memcap);
    p = icmp_of(2, 1, 3);
    p->icmp.embedded = quote;
    p->icmp.embedded_len = sizeof(quote);
    p->flow_hash = hash;
    CHECK(flow_table_get(e.table, p, &created, &memcap) == f);
    CHECK_INT(packet_direction(p), TO_CLIENT);
    CHECK_INT(f->state, FLOW_NEW);
    p->icmp.embedded_len = 21;
    CHECK(flow_table_get(e.table, p, &created, &memcap) == NULL);
    close_env(&e);
}

/* ---- ids ---- */

TEST(flow_id_depends_on_key_start_and_seed)
{
    struct flow_key a, b;
    uint64_t id;

    flow_key_of_packet(packet_of(6, 1, 5, 2, 6, 1), &a);
    flow_key_of_packet(packet_of(6, 1, 5, 2, 7, 1), &b);
    id = flow_id_make(&a, 1, 5);
    CHECK(id != 0 && id < (UINT64_C(1) << 53));
    CHECK(id == flow_id_make(&a, 1, 5));
    CHECK(id != flow_id_make(&a, 1, 6) && id != flow_id_make(&b, 1, 5));
    CHECK(id != flow_id_make(&a, 2, 5));
}

/* As published with the specification: 128.232.110.120:34855 -> 66.35.250.204:80. */
TEST(flow_community_id_as_specified)
{
    static const uint8_t src[4] = { 128, 232, 110, 120 }, dst[4] = { 66, 35, 250, 204 };
    struct flow_key key = { .src_port = 34855, .dst_port = 80, .proto = 6 };
    char id[40];

    key.src = ip_v4(src);
    key.dst = ip_v4(dst);
    CHECK(flow_community_id(&key, 0, id, sizeof(id)) > 0);
    CHECK_STRING(id, "1:LQU9qZlK+B5F3KDmev6m5PMibrg=");
    CHECK(flow_community_id(&key, 1, id, sizeof(id)) > 0);
    CHECK_STRING(id, "1:3V71V58M3Ksw/yuFALMcW0LAHvc=");
    key.src = ip_v4(dst);
    key.dst = ip_v4(src);
    key.src_port = 80;
    key.dst_port = 34855;
    flow_community_id(&key, 0, id, sizeof(id));
    CHECK_STRING(id, "1:LQU9qZlK+B5F3KDmev6m5PMibrg=");
}

/* ---- the memory of the process ---- */

TEST(flow_buckets_grow_below_the_limit)
{
    struct flow_buckets buckets;
    struct env e;

    open_env(&e, NULL);
    CHECK(flow_buckets_init(&buckets, e.conf));
    buckets.count = (uint32_t)(4 * (buckets.now.mask + 1));
    alloc_failures_set((struct alloc_failures){ .every = 1 });
    CHECK(flow_buckets_make_space(&buckets));
    CHECK(buckets.old.at == NULL);
    alloc_failures_set((struct alloc_failures){ 0 });
    CHECK(flow_buckets_make_space(&buckets));
    CHECK(buckets.old.at != NULL);
    flow_buckets_fini(&buckets);
    close_env(&e);
}

static unsigned finished_after(struct env *e, uint64_t time_s)
{
    unsigned finished = 0;
    struct flow *f;

    flow_table_expire(e->table, time_s * 1000000, 1000);
    for (; (f = flow_table_take_finished(e->table)) != NULL; finished++)
        flow_table_release(e->table, f);
    return finished;
}

/* The first step of giving memory back; below it flows wait for their timeout. */
TEST(flow_idle_ones_end_near_the_limit)
{
    uint64_t before = traffic_memory_given_back(PRESSURE_IDLE);
    bool created, memcap;
    struct env e;
    void *block;

    open_env(&e, "flow-timeouts: { udp: { new: 30, emergency-new: 5 } }");
    for (unsigned i = 0; i < 100; i++)
        flow_table_get(e.table, packet_of(17, i, 5, 400, 6, 100), &created, &memcap);
    block = pressure_begins(75);
    CHECK_INT(finished_after(&e, 110), 0);
    pressure_ends(block);
    block = pressure_begins(85);
    CHECK_INT(finished_after(&e, 111), 30);      /* emergency-recovery: 30 % at a time */
    CHECK_INT(finished_after(&e, 112), 21);
    CHECK_INT(count(&e, "flow.emerg_mode_entered"), 2);
    CHECK(traffic_memory_given_back(PRESSURE_IDLE) > before);
    pressure_ends(block);
    close_env(&e);
}
