/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of packet: names, pool, vector, flow hash, checksums. */
#include "packet/checksum.h"
#include "packet/checksum_private.h"
#include "packet/tests/decode_env.h"

#include <stdlib.h>
#include <string.h>

TEST(packet_event_names)
{
    char name[PACKET_EVENT_NAME_MAX];

    CHECK_STRING(packet_event_name(EVENT_IPV4_TRUNC_PKT), "decoder.ipv4.trunc_pkt");
    CHECK(packet_event_name(PACKET_EVENT_COUNT) == NULL);
    CHECK_INT(packet_event_find(text_of("decoder.IPV4.trunc_pkt")), EVENT_IPV4_TRUNC_PKT);
    CHECK_INT(packet_event_find_short("stream", text_of("fin_syn")), EVENT_STREAM_FIN_SYN);
    CHECK_INT(packet_event_find_short("stream", text_of("est_synack_resend_with_different_ack")),
              EVENT_STREAM_EST_SYNACK_RESEND_WITH_DIFF_ACK);
    CHECK_INT(packet_event_find_short("decoder", text_of("no_such")), PACKET_EVENT_NONE);
    CHECK(packet_event_is_stream(EVENT_STREAM_FIN_SYN));
    CHECK(!packet_event_is_stream(EVENT_ARP_PKT_TOO_SMALL));
    CHECK_STRING(packet_event_type(EVENT_GRE_WRONG_VERSION), "decode");
    CHECK_STRING(packet_event_type(EVENT_ARP_PKT_TOO_SMALL), "stream");
    CHECK_STRING(packet_event_counter_name(EVENT_GRE_WRONG_VERSION, "decoder.event", name),
                 "decoder.event.gre.wrong_version");
    CHECK_STRING(packet_event_counter_name(EVENT_TOO_MANY_LAYERS, "decoder.event", name),
                 "decoder.too_many_layers");
    for (unsigned i = 0; i < PACKET_EVENT_COUNT; i++)
        CHECK_INT(packet_event_find(text_of(packet_event_name(i))), i);
}

TEST(packet_names_are_whole)
{
    for (unsigned i = 0; i <= PACKET_SHUTDOWN_FLUSH; i++)
        CHECK(packet_source_name(i) != NULL);
    for (unsigned i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++)
        CHECK(drop_reason_text(i) != NULL && drop_reason_key(i) != NULL);
}

TEST(packet_events_have_a_limit)
{
    struct packet p = { 0 };

    for (unsigned i = 0; i < 40; i++)
        packet_set_event(&p, EVENT_IPV4_OPT_INVALID);
    CHECK_INT(p.event_count, PACKET_EVENTS_MAX);
}

static void count_return(struct packet *p, void *arg)
{
    (void)p;
    ++*(unsigned *)arg;
}

TEST(packet_pool_lends_and_takes_back)
{
    struct packet_pool *pool = packet_pool_new(3, 2);
    struct packet *a = packet_pool_get(pool), *b = packet_pool_get(pool);
    struct packet *c = packet_pool_get(pool);
    unsigned returned = 0;

    packet_pool_on_return(pool, count_return, &returned);
    CHECK(a != NULL && b != NULL && c != NULL);
    CHECK(packet_pool_get(pool) == NULL);
    packet_release(a, 0);
    packet_release(b, 1);
    CHECK_INT(packet_pool_out(pool), 1);
    CHECK_INT(packet_pool_taken(pool), 3);      /* others gave them back */
    CHECK_INT(returned, 0);
    CHECK(packet_pool_get(pool) != NULL);
    CHECK(packet_pool_get(pool) != NULL);
    CHECK_INT(returned, 2);
    CHECK_INT(packet_pool_taken(pool), 5);
    packet_release(c, PACKET_LANE_OWNER);
    CHECK_INT(packet_pool_taken(pool), 4);
    CHECK_INT(returned, 3);
    packet_pool_free(pool);
}

TEST(packet_root_waits_for_inner_ones)
{
    struct packet_pool *pool = packet_pool_new(3, 0);
    struct packet *root = packet_pool_get(pool);

    for (unsigned order = 0; order < 2; order++) {
        struct packet *inner = packet_pool_get(pool);

        inner->root = root;
        root->children++;
        packet_release(order == 0 ? inner : root, PACKET_LANE_OWNER);
        CHECK_INT(packet_pool_out(pool), order == 0 ? 1 : 2);
        if (order == 1)
            packet_release(inner, PACKET_LANE_OWNER);
    }
    CHECK_INT(packet_pool_out(pool), 0);
    packet_pool_free(pool);
}

TEST(packet_reset_forgets)
{
    struct packet_pool *pool = packet_pool_new(1, 0);
    struct packet *p = packet_pool_get(pool);

    p->flags = PACKET_INVALID;
    packet_set_event(p, EVENT_TCP_PKT_TOO_SMALL);
    packet_drop(p, DROP_RULES);
    p->chunk_count = 2;
    p->alert.count = 1;
    p->mark = 5;
    buf_add(&p->frame, "abc", 3);
    packet_release(p, PACKET_LANE_OWNER);
    p = packet_pool_get(pool);
    CHECK_INT(p->flags | p->event_count | p->action | p->chunk_count | p->alert.count, 0);
    CHECK_INT(p->mark, 0);
    CHECK_INT(p->frame.len, 0);
    CHECK(p->frame.cap >= 3 && p->home == pool);
    packet_release(p, PACKET_LANE_OWNER);
    packet_pool_free(pool);
}

TEST(vector_inserts_behind)
{
    struct packet_vector v = { 0 };
    struct packet p[4] = { { 0 } };

    vector_push(&v, &p[0]);
    vector_push(&v, &p[3]);
    vector_insert(&v, 0, &p[1]);
    vector_insert(&v, 1, &p[2]);
    for (unsigned i = 0; i < 4; i++)
        CHECK(v.packet[i] == &p[i]);
    for (unsigned i = 0; i < 200; i++)
        vector_insert(&v, v.count, &p[0]);
    CHECK_INT(v.count, 204);
    free(v.packet);
}

static uint32_t hash_of(struct decode_env *env, const char *words)
{
    return env_decode(env, DATALINK_RAW, words)->flow_hash;
}

/* The packet seen from the other side. */
static uint32_t hash_turned(struct decode_env *env, const char *words)
{
    struct packet p = *env_decode(env, DATALINK_RAW, words);
    struct ip ip = p.src;
    uint16_t port = p.src_port;

    p.src = p.dst;
    p.dst = ip;
    p.src_port = p.dst_port;
    p.dst_port = port;
    return packet_flow_hash(&p, true, true);
}

TEST(flow_hash_is_symmetric)
{
    static const char *const list[] = {
        "ip4:06 tcp:1000,80", "ip6:06 tcp:1000,80", "ip4:11 udp:53,53", "ip6:3a 8000000000000000",
    };
    struct decode_env env;

    env_open(&env, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(list); i++) {
        CHECK(hash_of(&env, list[i]) != 0);
        CHECK_INT(hash_of(&env, list[i]), hash_turned(&env, list[i]));
    }
    CHECK(hash_of(&env, "ip4:06 tcp:1,2") != hash_of(&env, "ip4:06 tcp:1,3"));
    CHECK(hash_of(&env, "ip4:06 tcp:1,2") != hash_of(&env, "ip4:11 udp:1,2"));
    CHECK_INT(hash_of(&env, "ip4:2f 00001234"), 0);
    env_close(t, &env);
}

TEST(flow_hash_minds_vlans_if_told)
{
    struct decode_env env;
    struct packet p;

    env_open(&env, NULL);
    p = *env_decode(&env, DATALINK_ETHERNET, "eth:8100 00010800 ip4:06 tcp:1,2");
    CHECK(packet_flow_hash(&p, true, true) != packet_flow_hash(&p, false, true));
    CHECK_INT(packet_flow_hash(&p, false, true), hash_of(&env, "ip4:06 tcp:1,2"));
    p.recursion = 1;
    CHECK(packet_flow_hash(&p, false, true) != packet_flow_hash(&p, false, false));
    env_close(t, &env);
}

/* The plain reading of RFC 1071. */
static uint16_t slow_checksum(const uint8_t *data, size_t len)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < len; i++)
        sum += i % 2 == 0 ? (uint32_t)data[i] << 8 : data[i];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

TEST(checksum_agrees_with_the_plain_one)
{
    uint8_t data[700];
    uint32_t x = 1;

    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
    for (unsigned len = 0; len < sizeof(data); len++)
        CHECK_INT(checksum_fold(checksum_add(0, data, len)), slow_checksum(data, len));
    memset(data, 0xff, sizeof(data));
    CHECK_INT(checksum_fold(checksum_add(0, data, 256)), 0);
}

typedef uint64_t blocks_fn(uint64_t sum, const uint8_t *at, size_t blocks);

static void check_blocks(struct test *t, const char *name, blocks_fn *add)
{
    uint8_t data[1 + 24 * CHECKSUM_BLOCK];

    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = i % 7 == 0 ? 0xff : (uint8_t)(i * 37);
    for (size_t blocks = 1; blocks <= 24; blocks++)
        for (size_t at = 0; at < 2; at++)
            if (checksum_fold(add(0, data + at, blocks)) !=
                slow_checksum(data + at, blocks * CHECKSUM_BLOCK))
                test_fail(t, __FILE__, __LINE__, "%s: %zu blocks at %zu", name, blocks, at);
    memset(data, 0xff, sizeof(data));
    CHECK_INT(checksum_fold(add(0, data, 24)), 0);
}

TEST(checksum_is_the_same_with_any_registers)
{
    check_blocks(t, "plain", checksum_blocks_plain);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        check_blocks(t, "avx2", checksum_blocks_avx2);
    if (__builtin_cpu_supports("avx512f"))
        check_blocks(t, "avx512", checksum_blocks_avx512);
#endif
}

TEST(checksums_are_fixed_and_found_right)
{
    static const char *const list[] = {
        "ip4:06 tcp:1,2 'hello", "ip6:06 tcp:1,2 'hello", "ip4:11 udp:1,2 'hello",
        "ip6:11 udp:1,2 'hello", "ip4:01 0800000000010002 'hello",
        "ip6:3a 8000000000010002 'hello",
    };
    struct decode_env env;

    env_open(&env, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(list); i++) {
        struct packet *p = env_decode(&env, DATALINK_RAW, list[i]);

        if (i != 2)     /* UDP over IPv4 may have none */
            CHECK(!packet_l4_checksum_ok(p));
        else
            CHECK(packet_l4_checksum_ok(p));
        packet_fix_checksums(p);
        CHECK(packet_l4_checksum_ok(p));
        CHECK(packet_ip_checksum_ok(p));
        p->payload[0] ^= 1;
        CHECK(!packet_l4_checksum_ok(p));
    }
    env_close(t, &env);
}
