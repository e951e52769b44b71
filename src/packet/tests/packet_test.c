/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of packet: names, pool, vector, flow hash, checksums. */
#include "packet/capture_file.h"

#include "base/array.h"
#include "packet/checksum.h"
#include "packet/checksum_private.h"
#include "packet/flow_hash.h"
#include "packet/tests/decode_env.h"

#include <stdlib.h>
#include <string.h>

TEST(packet_proto_names)
{
    CHECK_STRING(ip_proto_name(6), "TCP");
    CHECK_STRING(ip_proto_name(143), "Ethernet");
    CHECK(ip_proto_name(144) == NULL);
}

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
    CHECK(!packet_event_is_typed_stream(EVENT_GRE_WRONG_VERSION));
    CHECK(packet_event_is_typed_stream(EVENT_TOO_MANY_LAYERS));
    CHECK(packet_event_is_typed_stream(EVENT_ARP_PKT_TOO_SMALL));
    CHECK(!packet_event_is_typed_stream(EVENT_DETECT_PCRE_LIMIT));
    CHECK_STRING(packet_event_counter_name(EVENT_GRE_WRONG_VERSION, "decoder.event", name),
                 "decoder.event.gre.wrong_version");
    CHECK_STRING(packet_event_counter_name(EVENT_ARP_INVALID_PKT, "decoder.event", name),
                 "decoder.event.arp.invalid_pkt");
    CHECK_STRING(packet_event_counter_name(EVENT_TOO_MANY_LAYERS, "decoder.event", name),
                 "decoder.too_many_layers");
    for (unsigned i = 0; i < PACKET_EVENT_COUNT; i++)
        CHECK_INT(packet_event_find(text_of(packet_event_name(i))), i);
}

TEST(packet_names_are_complete)
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

TEST(packet_pool_lends_and_reclaims)
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
    packet_release(c, PACKET_THREAD_OWNER);
    CHECK_INT(packet_pool_taken(pool), 4);
    CHECK_INT(returned, 3);
    packet_pool_free(pool);
}

/* So few packets of a large pool take memory. */
TEST(packet_pool_prefers_packets_that_have_returned)
{
    struct packet_pool *pool = packet_pool_new(100, 1);
    struct packet *a = packet_pool_get(pool), *b = packet_pool_get(pool);

    packet_release(a, 0);
    CHECK(packet_pool_get(pool) == a);
    packet_release(b, PACKET_THREAD_OWNER);
    CHECK(packet_pool_get(pool) == b);
    CHECK(packet_pool_get(pool) == b + 1);
    CHECK_INT(packet_pool_left(pool), 97);
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
        packet_release(order == 0 ? inner : root, PACKET_THREAD_OWNER);
        CHECK_INT(packet_pool_out(pool), order == 0 ? 1 : 2);
        if (order == 1)
            packet_release(inner, PACKET_THREAD_OWNER);
    }
    CHECK_INT(packet_pool_out(pool), 0);
    packet_pool_free(pool);
}

TEST(packet_reset_clears)
{
    struct packet_pool *pool = packet_pool_new(1, 0);
    struct packet *p = packet_pool_get(pool);

    p->flags = PACKET_INVALID;
    packet_set_event(p, EVENT_TCP_PKT_TOO_SMALL);
    packet_drop(p, DROP_RULES);
    p->slot.sequencer[0] = p->slot.detect[PACKET_SLOT_DETECT - 1] = 1;
    p->slot.stream[PACKET_SLOT_STREAM_CLEARED - 1] = 1;
    buf_add(&p->memory[PACKET_MEMORY_RECORDS], "abc", 3);
    p->mark = 5;
    buf_add(&p->frame, "abc", 3);
    packet_release(p, PACKET_THREAD_OWNER);
    p = packet_pool_get(pool);
    CHECK_INT(p->flags | p->event_count | p->action, 0);
    CHECK_INT(p->slot.sequencer[0] | p->slot.detect[PACKET_SLOT_DETECT - 1], 0);
    CHECK_INT(p->slot.stream[PACKET_SLOT_STREAM_CLEARED - 1], 0);
    CHECK_INT(p->memory[PACKET_MEMORY_RECORDS].len, 0);
    CHECK_INT(p->mark, 0);
    CHECK_INT(p->frame.len, 0);
    CHECK(p->frame.cap >= 3 && p->pool == pool);
    packet_release(p, PACKET_THREAD_OWNER);
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

TEST(flow_hash_uses_vlans_if_configured)
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

#define FLOWS 4096u

/* As many flows as buckets: with random numbers more than 16 in one is a matter of 1 in 10^9. */
static unsigned fullest(uint32_t (*hash_of_number)(uint32_t i))
{
    static uint16_t bucket[FLOWS];
    unsigned most = 0;

    memset(bucket, 0, sizeof(bucket));
    for (uint32_t i = 0; i < FLOWS; i++)
        most = MAX(most, ++bucket[hash_of_number(i) % FLOWS]);
    return most;
}

static struct ip v6_of(uint64_t upper, uint64_t lower)
{
    return (struct ip){ .q = { upper, lower }, .version = 6 };
}

/* Address and port cancel each other where they are only put together by exclusive or. */
static uint32_t port_against_address(uint32_t i)
{
    struct flow_tuple t = { .src = v6_of(0x0120, (uint64_t)i << 48), .dst = v6_of(0x0220, 5),
                            .src_port = (uint16_t)i, .dst_port = 80, .proto = 6 };

    return flow_tuple_hash(&t, 0);
}

/* An operand of 0 hides the other. */
static uint32_t constant_host(uint32_t i)
{
    struct flow_tuple t = { .src = v6_of(i, UINT64_C(0xd1b54a32d192ed03)),
                            .dst = v6_of(0x0220, UINT64_C(0xd1b54a32d192ed03)), .proto = 6 };

    return flow_tuple_hash(&t, 0);
}

static uint32_t v4_flow(uint32_t i)
{
    struct flow_tuple t = { .src = { .w = { 0x0a + (i << 24) }, .version = 4 }, .proto = 6,
                            .dst = { .w = { 0x0b }, .version = 4 }, .src_port = (uint16_t)(i >> 8) };

    return flow_tuple_hash(&t, i << 20);
}

static uint32_t security_association(uint32_t i)
{
    struct packet p = { .src = v6_of(1, 2), .dst = v6_of(3, 4), .ip_proto = 50, .esp.spi = i };

    return packet_flow_hash(&p, true, false);
}

static uint32_t icmp_type_and_code(uint32_t i)
{
    struct packet p = { .src = v6_of(1, 2), .dst = v6_of(3, 4), .ip_proto = 58,
                        .icmp = { .type = (uint8_t)(i % 32 + 160), .code = (uint8_t)(i / 32) } };

    return packet_flow_hash(&p, true, false);
}

static uint32_t fragment_against_address(uint32_t i)
{
    struct packet p = { .src = v6_of(1, i), .dst = v6_of(3, 4), .fragment.id = i };

    return fragment_hash(&p);
}

static uint32_t hosts_with_one_end(uint32_t i)
{
    struct ip a = v6_of(i, UINT64_C(0xd1b54a32d192ed03)), b = v6_of(7, 7);

    return host_pair_hash(&a, &b);
}

static uint32_t host_with_one_end(uint32_t i)
{
    struct ip ip = v6_of(i, UINT64_C(0xd1b54a32d192ed03));

    return host_hash(&ip);
}

TEST(flow_hash_is_balanced_whatever_is_sent)
{
    CHECK(fullest(port_against_address) <= 16);
    CHECK(fullest(constant_host) <= 16);
    CHECK(fullest(v4_flow) <= 16);
    CHECK(fullest(security_association) <= 16);
    CHECK(fullest(icmp_type_and_code) <= 16);
    CHECK(fullest(fragment_against_address) <= 16);
    CHECK(fullest(hosts_with_one_end) <= 16);
    CHECK(fullest(host_with_one_end) <= 16);
}

TEST(flow_hash_of_an_answer)
{
    struct decode_env env;
    uint32_t asked;

    env_open(&env, NULL);
    asked = hash_of(&env, "ip6:3a 8000000000000000");
    CHECK_INT(hash_turned(&env, "ip6:3a 8100000000000000"), asked);
    CHECK(hash_of(&env, "ip6:3a 8001000000000000") != asked);
    asked = hash_of(&env, "ip4:01 0800000000000000");
    CHECK_INT(hash_turned(&env, "ip4:01 0000000000000000"), asked);
    CHECK_INT(hash_of(&env, "ip4:01 0801000000000000"), asked);
    CHECK(hash_of(&env, "ip4:01 0d00000000000000000000000000000000000000") != asked);
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
#ifdef __aarch64__
    check_blocks(t, "neon", checksum_blocks_neon);
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

TEST(capture_file_by_position)
{
    struct capture_file file[3] = { { .path = "one" }, { .path = "two" }, { .path = "three" } };

    capture_file_begin(&file[0], NULL, 10, 1);
    CHECK(capture_file_at(&file[0], 1) == &file[0]);       /* before the first packet */
    CHECK(capture_file_at(&file[0], UINT64_MAX) == &file[0]);
    capture_file_begin(&file[1], &file[0], 20, 1);
    capture_file_begin(&file[2], &file[1], 30, 2);
    for (size_t near = 0; near < ARRAY_LEN(file); near++) {
        CHECK(capture_file_at(&file[near], 10) == &file[0]);
        CHECK(capture_file_at(&file[near], 19) == &file[0]);
        CHECK(capture_file_at(&file[near], 20) == &file[1]);
        CHECK(capture_file_at(&file[near], 29) == &file[1]);
        CHECK(capture_file_at(&file[near], 30) == &file[2]);
        CHECK(capture_file_at(&file[near], UINT64_MAX) == &file[2]);
    }
}
