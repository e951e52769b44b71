/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of packet/decode: what is found in sound packets of each kind. */
#include "packet/tests/decode_env.h"

#include <string.h>

/* The last packet of the vector carries "hello" between 10.0.0.1 and 10.0.0.2, or the IPv6 pair,
 * and nothing is wrong with any. */
static void check_hello(struct test *t, struct decode_env *env, enum datalink link,
                        const char *words, unsigned packets)
{
    struct packet *p = env_decode(env, link, words), *last;

    (void)p;
    last = env->vector.packet[env->vector.count - 1];
    for (unsigned i = 0; i < env->vector.count; i++)
        if (env->vector.packet[i]->event_count > 0 &&
            !packet_event_is_of_9((enum packet_event)env->vector.packet[i]->event[0]))
            test_fail(t, __FILE__, __LINE__, "%s: %s", words,
                      packet_event_name(env->vector.packet[i]->event[0]));
    if (env->vector.count != packets)
        test_fail(t, __FILE__, __LINE__, "%s: %u packets", words, env->vector.count);
    if (last->payload_len != 5 || memcmp(last->payload, "hello", 5) != 0)
        test_fail(t, __FILE__, __LINE__, "%s: no hello", words);
    if (last->flow_hash == 0 || last->src.version == 0)
        test_fail(t, __FILE__, __LINE__, "%s: no flow", words);
}

TEST(decode_link_types)
{
    static const struct {
        enum datalink link;
        const char *words;
    } list[] = {
        { DATALINK_ETHERNET, "eth:0800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:86dd ip6:11 udp:1,2 'hello" },
        { DATALINK_SLL, "zero:14 0800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_SLL2, "86dd zero:18 ip6:06 tcp:1,2 'hello" },
        { DATALINK_RAW, "ip4:06 tcp:1,2 'hello" },
        { DATALINK_RAW, "ip6:06 tcp:1,2 'hello" },
        { DATALINK_GRE_OVER_IP, "ip4:06 tcp:1,2 'hello" },
        { DATALINK_NULL, "02000000 ip4:06 tcp:1,2 'hello" },
        { DATALINK_NULL, "1e000000 ip6:06 tcp:1,2 'hello" },
        { DATALINK_CHDLC, "0f000800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_PPP, "ff030021 ip4:06 tcp:1,2 'hello" },
        { DATALINK_PPP, "0021 ip4:06 tcp:1,2 'hello" },
        { DATALINK_PPP, "21 ip4:06 tcp:1,2 'hello" },
        { DATALINK_PPP, "57 ip6:06 tcp:1,2 'hello" },
        { DATALINK_PPP, "ff032f ip4:00 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:8100 00640800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:88a8 00018100 00020800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:88e7 zero:16 0800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:8926 zero:4 0800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:8903 0001 eth:0800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:8864 110000010002 0021 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:8864 110000010002 21 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:8847 000100ff 000101ff ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:8848 000021ff ip6:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:8847 000101ff 00000000 eth:0800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:894f 0006010100000100 zero:16 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:894f 0002020300000100 eth:0800 ip4:06 tcp:1,2 'hello" },
        { DATALINK_ETHERNET, "eth:894f 0002020500000100 000101ff ip4:06 tcp:1,2 'hello" },
    };
    struct decode_env env;

    env_open(&env, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(list); i++)
        check_hello(t, &env, list[i].link, list[i].words, 1);
    env_close(t, &env);
}

TEST(decode_transports)
{
    static const char *const list[] = {
        "eth:0800 ip4:84 00010002 zero:8 'hello",
        "eth:0800 ip4:32 0000000100000002 'hello",
        "eth:0800 ip4:01 0800000000010002 'hello",
        "eth:0800 ip4:01 0d00000000010002 zero:12 'hello",
        "eth:86dd ip6:3a 8000000000010002 'hello",
        "eth:86dd ip6:32 0000000100000002 'hello",
        "eth:86dd ip6:00 2b00050200000000 0600020000000000 tcp:1,2 'hello",
        "eth:86dd ip6:33 0604 zero:22 tcp:1,2 'hello",
        "eth:86dd ip6:8c 0600000000000000 tcp:1,2 'hello",
    };
    struct decode_env env;

    env_open(&env, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(list); i++)
        check_hello(t, &env, DATALINK_ETHERNET, list[i], 1);
    env_close(t, &env);
}

TEST(decode_tunnels)
{
    static const struct {
        const char *words;
        enum packet_source source;
    } list[] = {
        { "eth:0800 ip4:04 ip4:06 tcp:1,2 'hello", PACKET_IPV4_TUNNEL },
        { "eth:0800 ip4:29 ip6:06 tcp:1,2 'hello", PACKET_IPV4_TUNNEL },
        { "eth:86dd ip6:04 ip4:06 tcp:1,2 'hello", PACKET_IPV6_TUNNEL },
        { "eth:86dd ip6:29 ip6:06 tcp:1,2 'hello", PACKET_IPV6_TUNNEL },
        { "eth:0800 ip4:2f 00000800 ip4:06 tcp:1,2 'hello", PACKET_GRE },
        { "eth:0800 ip4:2f b0000800 zero:12 ip4:06 tcp:1,2 'hello", PACKET_GRE },
        { "eth:0800 ip4:2f 40000800 00000000 0001000361626300000000 ip4:06 tcp:1,2 'hello",
          PACKET_GRE },
        { "eth:0800 ip4:2f 000086dd ip6:06 tcp:1,2 'hello", PACKET_GRE },
        { "eth:86dd ip6:2f 00006558 eth:0800 ip4:06 tcp:1,2 'hello", PACKET_GRE },
        { "eth:0800 ip4:2f 00008100 00010800 ip4:06 tcp:1,2 'hello", PACKET_GRE },
        { "eth:0800 ip4:2f 000088be eth:0800 ip4:06 tcp:1,2 'hello", PACKET_GRE },
        { "eth:0800 ip4:2f 100088be 00000001 1005000000000000 eth:0800 ip4:06 tcp:1,2 'hello",
          PACKET_GRE },
        { "eth:0800 ip4:2f 3081880b 00200001 00000001 00000001 ff030021 ip4:06 tcp:1,2 'hello",
          PACKET_GRE },
        { "eth:0800 ip4:11 udp:9,4789 0800000000000100 eth:0800 ip4:06 tcp:1,2 'hello",
          PACKET_VXLAN },
        { "eth:0800 ip4:11 udp:9,6081 0000080000000100 ip4:06 tcp:1,2 'hello", PACKET_GENEVE },
        { "eth:0800 ip4:11 udp:9,6081 0200655800000100 0001010161626364 eth:0800 ip4:06 tcp:1,2 "
          "'hello", PACKET_GENEVE },
        { "eth:0800 ip4:11 udp:9,3544 ip6:06 tcp:1,2 'hello", PACKET_TEREDO },
        { "eth:0800 ip4:11 udp:9,3544 0000010101010101 ip6:06 tcp:1,2 'hello", PACKET_TEREDO },
    };
    struct decode_env env;

    env_open(&env, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(list); i++) {
        struct packet *inner;

        check_hello(t, &env, DATALINK_ETHERNET, list[i].words, 2);
        inner = env.vector.packet[1];
        CHECK_INT(inner->source, list[i].source);
        CHECK_INT(inner->recursion, 1);
        CHECK(inner->root == env.vector.packet[0]);
        CHECK(inner->flags & PACKET_TUNNEL);
        CHECK(env.vector.packet[0]->flags & PACKET_HAS_TUNNEL);
        CHECK(env.vector.packet[0]->flags & PACKET_NO_PAYLOAD_INSPECT);
    }
    env_close(t, &env);
}

TEST(decode_tunnels_that_are_none)
{
    static const char *const list[] = {
        "eth:0800 ip4:2f 00001234 zero:20",                         /* unknown to GRE */
        "eth:0800 ip4:2f 000088be zero:3",                          /* no frame */
        "eth:0800 ip4:2f 100088be 00000001 2005000000000000 eth:0800",  /* ERSPAN III */
        "eth:0800 ip4:2f 3001880b 00000001 00000001",               /* empty PPTP */
        "eth:0800 ip4:11 udp:4789,9 0800000000000100 eth:0800 ip4:06 tcp:1,2",
        "eth:0800 ip4:11 udp:9,4789 0000000000000100 eth:0800 ip4:06 tcp:1,2",
        "eth:0800 ip4:11 udp:9,4789 0800000000000101 eth:0800 ip4:06 tcp:1,2",
        "eth:0800 ip4:11 udp:9,4789 0800000000000100 eth:0806 zero:28",
        "eth:0800 ip4:11 udp:9,6081 4000080000000100 ip4:06 tcp:1,2",
        "eth:0800 ip4:11 udp:9,6081 0100080000000100 0001010161626364 ip4:06 tcp:1,2",
        "eth:0800 ip4:11 udp:9,6081 0001080000000100 ip4:06 tcp:1,2",
        "eth:0800 ip4:11 udp:9,3544 0001010101010101 ip6:06 tcp:1,2",
        "eth:0800 ip4:11 udp:9,3544 ip6:06 tcp:1,2,02050000",       /* invalid inside */
    };
    struct decode_env env;

    env_open(&env, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(list); i++) {
        env_decode(&env, DATALINK_ETHERNET, list[i]);
        if (env.vector.count != 1)
            test_fail(t, __FILE__, __LINE__, "%s: %u packets", list[i], env.vector.count);
    }
    env_close(t, &env);
}

TEST(decode_tunnel_ports_are_settings)
{
    static const char vxlan[] =
        "eth:0800 ip4:11 udp:9,8472 0800000000000100 eth:0800 ip4:06 tcp:1,2";
    static const char teredo[] = "eth:0800 ip4:11 udp:9,4000 ip6:06 tcp:1,2 'hello";
    struct decode_env env;

    env_open(&env, "vars:\n  port-groups:\n    OTHER: 8472\n"
                   "decoder:\n"
                   "  vxlan:\n    enabled: true\n    ports: '[4789, $OTHER]'\n"
                   "  teredo:\n    ports: 3544\n");
    env_decode(&env, DATALINK_ETHERNET, vxlan);
    CHECK_INT(env.vector.count, 2);
    env_decode(&env, DATALINK_ETHERNET, teredo);
    CHECK_INT(env.vector.count, 1);
    env_close(t, &env);
    env_open(&env, "decoder:\n  vxlan:\n    enabled: false\n    ports: 8472\n");
    env_decode(&env, DATALINK_ETHERNET, vxlan);
    CHECK_INT(env.vector.count, 1);
    env_decode(&env, DATALINK_ETHERNET, teredo);
    CHECK_INT(env.vector.count, 2);
    env_close(t, &env);
}

TEST(decode_nested_tunnels_stand_in_order)
{
    struct decode_env env;

    env_open(&env, NULL);
    env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:04 ip4:29 ip6:2f 00000800 ip4:06 tcp:1,2");
    CHECK_INT(env.vector.count, 4);
    for (unsigned i = 0; i < env.vector.count; i++) {
        CHECK_INT(env.vector.packet[i]->recursion, i);
        CHECK(i == 0 || env.vector.packet[i]->root == env.vector.packet[0]);
    }
    env_close(t, &env);
}

TEST(decode_fields)
{
    struct decode_env env;
    struct packet *p;

    env_open(&env, NULL);
    p = env_decode(&env, DATALINK_ETHERNET,
                   "eth:88a8 00058100 00060800 ip4:06,9404000001010101 "
                   "tcp:1000,80,020405b4040201030307080a0000000100000002 'hi");
    CHECK_INT(p->vlan_count, 2);
    CHECK_INT(p->vlan[0], 5);
    CHECK_INT(p->vlan[1], 6);
    CHECK_INT(p->ethertype, 0x0800);
    CHECK_INT(p->l3_len, 28);
    CHECK_INT(p->l4_header_len, 40);
    CHECK_INT(p->l4_len, 42);
    CHECK_INT(p->ip_proto, 6);
    CHECK_INT(p->ip_options, IP_OPTION_RTRALT | IP_OPTION_NOP);
    CHECK_INT(p->src_port, 1000);
    CHECK_INT(p->dst_port, 80);
    CHECK_INT(p->tcp.seq, 1);
    CHECK_INT(p->tcp.ack, 2);
    CHECK_INT(p->tcp.flags, TCP_ACK);
    CHECK_INT(p->tcp.window, 0x0400);
    CHECK_INT(p->tcp_options.mss, 0x05b4);
    CHECK_INT(p->tcp_options.window_scale, 7);
    CHECK_INT(p->tcp_options.ts_value, 1);
    CHECK_INT(p->tcp_options.ts_echo, 2);
    CHECK_INT(p->tcp_options.has, TCP_HAS_MSS | TCP_HAS_SACK_OK | TCP_HAS_WSCALE | TCP_HAS_TS);
    CHECK_INT(packet_hop_limit(p), 64);
    CHECK_INT(packet_ip_id(p), 1);
    CHECK_INT(env_count(&env, "decoder.vlan"), 1);
    CHECK_INT(env_count(&env, "decoder.vlan_qinq"), 1);
    CHECK_INT(env_count(&env, "decoder.pkts"), 1);

    p = env_decode(&env, DATALINK_ETHERNET,
                   "eth:0800 ip4:06 tcp:1,2,050a000000010000000222060102030413120000000000000000"
                   "000000000000000000000000");
    CHECK_INT(p->tcp_options.sack_count, 1);
    CHECK_INT(p->tcp_options.sack[3], 1);
    CHECK_INT(p->tcp_options.fastopen_len, 4);
    CHECK(p->tcp_options.has & TCP_HAS_MD5);

    p = env_decode(&env, DATALINK_ETHERNET, "eth:86dd ip6:3c 0600010400000000 tcp:1,2");
    CHECK_INT(p->l3_len, 48);
    CHECK_INT(packet_hop_limit(p), 1);

    p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:01 08000000000a000b 'hello");
    CHECK_INT(p->icmp.type, 8);
    CHECK_INT(p->icmp.id, 10);
    CHECK_INT(p->icmp.seq, 11);
    p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:32 0000000700000002");
    CHECK_INT(p->esp.spi, 7);
    p = env_decode(&env, DATALINK_ETHERNET, "eth:0806 0001080006040001 zero:20");
    CHECK(p->l3 != NULL && p->ethertype == 0x0806 && p->flow_hash == 0);
    env_close(t, &env);
}

TEST(decode_unreachable_joins_its_flow)
{
    struct decode_env env;
    uint32_t flow;
    struct packet *p;

    env_open(&env, NULL);
    flow = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:11 udp:1000,53 'hello")->flow_hash;
    p = env_decode(&env, DATALINK_ETHERNET,
                   "eth:0800 ip4:01 0303000000000000 ip4:11 udp:1000,53 'hello");
    CHECK(p->flags & PACKET_ICMP_ERROR);
    CHECK_INT(p->flow_hash, flow);
    CHECK(p->icmp.embedded != NULL);
    p = env_decode(&env, DATALINK_ETHERNET,
                   "eth:0800 ip4:01 0b00000000000000 ip4:11 udp:1000,53 'hello");
    CHECK((p->flags & PACKET_ICMP_ERROR) == 0);
    CHECK(p->flow_hash != flow);
    CHECK(p->icmp.embedded != NULL);
    env_close(t, &env);
}

TEST(datalink_numbers)
{
    CHECK_INT(datalink_from_pcap(1), DATALINK_ETHERNET);
    CHECK_INT(datalink_from_pcap(228), DATALINK_IPV4);
    CHECK_INT(datalink_from_pcap(276), DATALINK_SLL2);
    CHECK_INT(datalink_from_pcap(9999), DATALINK_NONE);
}

#define BIG 70000u

/* The words, then "x" up to BIG bytes, with 0 in the length fields at these places. */
static struct packet *decode_big(struct decode_env *env, const char *words, const unsigned *lengths,
                                 unsigned count)
{
    static uint8_t frame[BIG];
    size_t n = env_bytes(words, frame, sizeof(frame));

    memset(frame + n, 'x', BIG - n);
    for (unsigned i = 0; i < count; i++)
        memset(frame + lengths[i], 0, 2);
    env_decode_bytes(env, DATALINK_ETHERNET, frame, BIG);
    return env->vector.packet[env->vector.count - 1];
}

/* BIG TCP: frames that are longer than IP can say. */
TEST(decode_big_tcp)
{
    static const struct {
        const char *words;
        unsigned lengths[3], count;
        uint32_t payload;
    } list[] = {
        { "eth:0800 ip4:06 tcp:1,2", { 16 }, 1, BIG - 54 },
        { "eth:86dd ip6:06 tcp:1,2", { 18 }, 1, BIG - 74 },
        { "eth:86dd ip6:00 0600c20400011134 tcp:1,2", { 18 }, 1, BIG - 82 },
        { "eth:0800 ip4:11 udp:9,4789 0800000000000100 eth:0800 ip4:06 tcp:1,2", { 16, 38, 66 }, 3,
          BIG - 104 },
    };
    struct decode_env env;

    env_open(&env, "decoder: { vxlan: { enabled: true, ports: 4789 } }");
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        struct packet *p = decode_big(&env, list[i].words, list[i].lengths, list[i].count);

        CHECK_INT(p->event_count, 0);
        CHECK_INT(p->payload_len, list[i].payload);
        CHECK_INT(p->src_port, 1);
        CHECK((p->flags & PACKET_NO_CHECKSUM) != 0);
        CHECK_INT(env.vector.packet[0]->event_count, 0);
    }
    env_close(t, &env);
}

/* Suricata takes a jumbogram's option for cut short, and so it has that event, but is read. */
TEST(decode_jumbogram)
{
    static const unsigned length[] = { 18 };
    struct decode_env env;
    struct packet *p;

    env_open(&env, "");
    p = decode_big(&env, "eth:86dd ip6:00 3a00c20400011134 8000000000010001", length, 1);
    CHECK_INT(p->event_count, 1);
    CHECK(packet_has_event(p, EVENT_IPV6_TRUNC_EXTHDR));
    CHECK_INT(p->ip_proto, 58);
    CHECK_INT(p->payload_len, BIG - 70);
    env_close(t, &env);
}

/* A frame that is no longer than IP can say, and a fragment, have no such excuse. */
TEST(decode_length_0_is_wrong)
{
    static const unsigned total[] = { 16 };
    struct decode_env env;
    struct packet *p;

    env_open(&env, "");
    p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 45000000000000004006000001020304 05060708 00");
    CHECK(packet_has_event(p, EVENT_IPV4_IPLEN_SMALLER_THAN_HLEN));
    p = decode_big(&env, "eth:0800 ip4f:06,2000,1 tcp:1,2", total, 1);
    CHECK(packet_has_event(p, EVENT_IPV4_IPLEN_SMALLER_THAN_HLEN));
    env_close(t, &env);
}
