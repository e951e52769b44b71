/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of packet/decode: which event each defect raises, and whether it ends the decoding. */
#include "packet/tests/decode_env.h"

#include <string.h>

struct defect {
    const char *words;
    enum packet_event event;
    bool invalid;
    enum datalink link;         /* DATALINK_NONE: Ethernet */
};

#define INVALID true
#define VALID   false

static void check_defects(struct test *t, const struct defect *defects, unsigned count)
{
    struct decode_env env;

    env_open(&env, NULL);
    for (unsigned i = 0; i < count; i++) {
        const struct defect *x = &defects[i];
        enum datalink link = x->link != DATALINK_NONE ? x->link : DATALINK_ETHERNET;
        struct packet *p = env_decode(&env, link, x->words);

        if (!packet_has_event(p, x->event))
            test_fail(t, __FILE__, __LINE__, "%s: no %s", x->words, packet_event_name(x->event));
        if (((p->flags & PACKET_INVALID) != 0) != x->invalid)
            test_fail(t, __FILE__, __LINE__, "%s: valid or not", x->words);
    }
    env_close(t, &env);
}
#define CHECK_DEFECTS(list) check_defects(t, list, ARRAY_LEN(list))

TEST(decode_link_events)
{
    static const struct defect list[] = {
        { "0200000000", EVENT_ETHERNET_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:1234 00", EVENT_ETHERNET_UNKNOWN_ETHERTYPE, VALID, 0 },
        { "zero:15", EVENT_SLL_PKT_TOO_SMALL, INVALID, DATALINK_SLL },
        { "zero:19", EVENT_SLL2_PKT_TOO_SMALL, INVALID, DATALINK_SLL2 },
        { "0f0008", EVENT_CHDLC_PKT_TOO_SMALL, INVALID, DATALINK_CHDLC },
        { "020000", EVENT_LTNULL_PKT_TOO_SMALL, INVALID, DATALINK_NULL },
        { "63000000", EVENT_LTNULL_UNSUPPORTED_TYPE, VALID, DATALINK_NULL },
        { "50 zero:30", EVENT_IPRAW_INVALID_IP_VERSION, VALID, DATALINK_RAW },
        { "45 zero:10", EVENT_IPV4_PKT_TOO_SMALL, INVALID, DATALINK_RAW },
        { "eth:8100 0001", EVENT_VLAN_HEADER_TOO_SMALL, INVALID, 0 },
        { "eth:8100 00011234", EVENT_VLAN_UNKNOWN_TYPE, INVALID, 0 },
        { "eth:8100 00018100 00028100 00038100 00040800", EVENT_VLAN_TOO_MANY_LAYERS, VALID, 0 },
        { "eth:88e7 zero:17", EVENT_IEEE8021AH_HEADER_TOO_SMALL, INVALID, 0 },
        { "eth:8926 zero:5", EVENT_VNTAG_HEADER_TOO_SMALL, INVALID, 0 },
        { "eth:8926 zero:4 1234", EVENT_VNTAG_UNKNOWN_TYPE, INVALID, 0 },
        { "eth:8903 zero:15", EVENT_DCE_PKT_TOO_SMALL, INVALID, 0 },
    };

    CHECK_DEFECTS(list);
}

TEST(decode_arp_events)
{
    static const struct defect list[] = {
        { "eth:0806 00010800060400", EVENT_ARP_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:0806 0002080006040001 zero:20", EVENT_ARP_UNSUPPORTED_HARDWARE, INVALID, 0 },
        { "eth:0806 000186dd06040001 zero:20", EVENT_ARP_UNSUPPORTED_PROTOCOL, INVALID, 0 },
        { "eth:0806 0001080006040001 zero:19", EVENT_ARP_INVALID_PKT, INVALID, 0 },
        { "eth:0806 0001080007040001 zero:20", EVENT_ARP_INVALID_HARDWARE_SIZE, INVALID, 0 },
        { "eth:0806 0001080006050001 zero:20", EVENT_ARP_INVALID_PROTOCOL_SIZE, INVALID, 0 },
        { "eth:0806 0001080006040005 zero:20", EVENT_ARP_UNSUPPORTED_OPCODE, INVALID, 0 },
    };

    CHECK_DEFECTS(list);
}

TEST(decode_ppp_events)
{
    static const struct defect list[] = {
        { "", EVENT_PPP_PKT_TOO_SMALL, INVALID, DATALINK_PPP },
        { "ff03", EVENT_PPP_PKT_TOO_SMALL, INVALID, DATALINK_PPP },
        { "ff0300", EVENT_PPP_PKT_TOO_SMALL, INVALID, DATALINK_PPP },
        { "0021 45", EVENT_PPP_IP4_PKT_TOO_SMALL, INVALID, DATALINK_PPP },
        { "0057 60", EVENT_PPP_IP6_PKT_TOO_SMALL, INVALID, DATALINK_PPP },
        { "002f 45", EVENT_PPP_VJU_PKT_TOO_SMALL, INVALID, DATALINK_PPP },
        { "2f 45", EVENT_PPP_VJU_PKT_TOO_SMALL, INVALID, DATALINK_PPP },
        { "002b", EVENT_PPP_UNSUP_PROTO, VALID, DATALINK_PPP },
        { "0aaa", EVENT_PPP_WRONG_TYPE, INVALID, DATALINK_PPP },
        { "eth:8863 1109000000", EVENT_PPPOE_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:8863 110800000000", EVENT_PPPOE_WRONG_CODE, INVALID, 0 },
        { "eth:8863 110900000001", EVENT_PPPOE_MALFORMED_TAGS, INVALID, 0 },
        { "eth:8864 110000010002", EVENT_PPPOE_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:8864 11000001000200", EVENT_PPPOE_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:8864 110000010002 0021 45", EVENT_PPP_IP4_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:8864 110000010002 0057 60", EVENT_PPP_IP6_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:8864 110000010002 002f 45", EVENT_PPP_VJU_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:8864 110000010002 0281", EVENT_PPP_UNSUP_PROTO, VALID, 0 },
        { "eth:8864 110000010002 0aaa", EVENT_PPP_WRONG_TYPE, INVALID, 0 },
    };

    CHECK_DEFECTS(list);
}

TEST(decode_mpls_and_nsh_events)
{
    static const struct defect list[] = {
        { "eth:8847 000101", EVENT_MPLS_HEADER_TOO_SMALL, INVALID, 0 },
        { "eth:8847 000100ff", EVENT_MPLS_HEADER_TOO_SMALL, INVALID, 0 },
        { "eth:8847 000101ff 45", EVENT_MPLS_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:8847 000011ff zero:4", EVENT_MPLS_BAD_LABEL_ROUTER_ALERT, VALID, 0 },
        { "eth:8847 000031ff zero:4", EVENT_MPLS_BAD_LABEL_IMPLICIT_NULL, VALID, 0 },
        { "eth:8847 0000e1ff zero:4", EVENT_MPLS_BAD_LABEL_RESERVED, VALID, 0 },
        { "eth:8847 000101ff 90000000", EVENT_MPLS_UNKNOWN_PAYLOAD_TYPE, INVALID, 0 },
        { "eth:894f 00060101000001", EVENT_NSH_HEADER_TOO_SMALL, INVALID, 0 },
        { "eth:894f 4006010100000100 zero:20", EVENT_NSH_UNSUPPORTED_VERSION, VALID, 0 },
        { "eth:894f 0006010100000100 zero:16", EVENT_NSH_BAD_HEADER_LENGTH, INVALID, 0 },
        { "eth:894f 0005010100000100 zero:20", EVENT_NSH_BAD_HEADER_LENGTH, INVALID, 0 },
        { "eth:894f 0002000100000100 zero:20", EVENT_NSH_RESERVED_TYPE, VALID, 0 },
        { "eth:894f 0002030100000100 zero:20", EVENT_NSH_UNSUPPORTED_TYPE, VALID, 0 },
        { "eth:894f 0002020400000100 zero:20", EVENT_NSH_UNKNOWN_PAYLOAD, VALID, 0 },
    };

    CHECK_DEFECTS(list);
}

TEST(decode_ipv4_events)
{
    static const struct defect list[] = {
        { "eth:0800 45 zero:18", EVENT_IPV4_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:0800 65 zero:19", EVENT_IPV4_WRONG_IP_VERSION, INVALID, 0 },
        { "eth:0800 44000014 zero:16", EVENT_IPV4_HLEN_TOO_SMALL, INVALID, 0 },
        { "eth:0800 45000013 zero:16", EVENT_IPV4_IPLEN_SMALLER_THAN_HLEN, INVALID, 0 },
        { "eth:0800 45000015 zero:16", EVENT_IPV4_TRUNC_PKT, INVALID, 0 },
        { "eth:0800 ip4:3a 00", EVENT_IPV4_ICMPV6, INVALID, 0 },
        { "eth:0800 ip4:fe,01010100", EVENT_IPV4_OPT_PAD_REQUIRED, VALID, 0 },
        { "eth:0800 ip4:fe,0101010101010107", EVENT_IPV4_OPT_EOL_REQUIRED, VALID, 0 },
        { "eth:0800 ip4:fe,0709040000000000", EVENT_IPV4_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:fe,0701000000000000", EVENT_IPV4_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:fe,0702010101010101", EVENT_IPV4_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:fe,0703030101010101", EVENT_IPV4_OPT_MALFORMED, INVALID, 0 },
        { "eth:0800 ip4:fe,0703050101010101", EVENT_IPV4_OPT_MALFORMED, INVALID, 0 },
        { "eth:0800 ip4:fe,0703080101010101", EVENT_IPV4_OPT_MALFORMED, INVALID, 0 },
        { "eth:0800 ip4:fe,4404050001010101", EVENT_IPV4_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:fe,4408040000000000", EVENT_IPV4_OPT_MALFORMED, INVALID, 0 },
        { "eth:0800 ip4:fe,4408060000000000", EVENT_IPV4_OPT_MALFORMED, INVALID, 0 },
        { "eth:0800 ip4:fe,8803000001010101", EVENT_IPV4_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:fe,1904000001010101", EVENT_IPV4_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:fe,8608000000010101", EVENT_IPV4_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:fe,860a0000000101030000010101010101", EVENT_IPV4_OPT_MALFORMED, INVALID,
          0 },
        { "eth:0800 ip4:fe,860a0000000101040100010101010101", EVENT_IPV4_OPT_MALFORMED, INVALID,
          0 },
        { "eth:0800 ip4:fe,5004000001010101", EVENT_IPV4_OPT_INVALID, VALID, 0 },
        { "eth:0800 ip4:fe,9404000094040000", EVENT_IPV4_OPT_DUPLICATE, VALID, 0 },
    };

    CHECK_DEFECTS(list);
}

TEST(decode_ipv6_events)
{
    static const struct defect list[] = {
        { "eth:86dd 40 zero:39", EVENT_IPV6_WRONG_IP_VERSION, INVALID, 0 },
        { "eth:86dd 60000000000106 zero:33", EVENT_IPV6_TRUNC_PKT, INVALID, 0 },
        { "eth:86dd ip6:00 06", EVENT_IPV6_TRUNC_EXTHDR, INVALID, 0 },
        { "eth:86dd ip6:00 0601010400000000", EVENT_IPV6_TRUNC_EXTHDR, INVALID, 0 },
        { "eth:86dd ip6:2b 0601010400000000", EVENT_IPV6_TRUNC_EXTHDR, INVALID, 0 },
        { "eth:86dd ip6:2c 06000001000000", EVENT_IPV6_TRUNC_EXTHDR, INVALID, 0 },
        { "eth:86dd ip6:33 0602000000000000", EVENT_IPV6_TRUNC_EXTHDR, INVALID, 0 },
        { "eth:86dd ip6:3c 0601010400000000", EVENT_IPV6_TRUNC_EXTHDR, INVALID, 0 },
        { "eth:86dd ip6:87 0601010400000000", EVENT_IPV6_TRUNC_EXTHDR, INVALID, 0 },
        { "eth:86dd ip6:2c 2c00000000000001 0600000000000001 tcp:1,2", EVENT_IPV6_EXTHDR_DUPL_FH,
          VALID, 0 },
        { "eth:86dd ip6:2c 0600000000000001 tcp:1,2", EVENT_IPV6_EXTHDR_USELESS_FH, VALID, 0 },
        { "eth:86dd ip6:2c 0601000000000001 tcp:1,2", EVENT_IPV6_FH_NON_ZERO_RESERVED_FIELD,
          VALID, 0 },
        { "eth:86dd ip6:2c 0600000100000001 00", EVENT_IPV6_FRAG_INVALID_LENGTH, VALID, 0 },
        { "eth:86dd ip6:2b 2b00020000000000 0600020000000000 tcp:1,2", EVENT_IPV6_EXTHDR_DUPL_RH,
          VALID, 0 },
        { "eth:86dd ip6:2b 0600000000000000 tcp:1,2", EVENT_IPV6_RH_TYPE_0, VALID, 0 },
        { "eth:86dd ip6:00 0000050200000100 0600050200000100 tcp:1,2", EVENT_IPV6_EXTHDR_DUPL_HH,
          VALID, 0 },
        { "eth:86dd ip6:3c 3c00010400000000 3c00010400000000 0600010400000000 tcp:1,2",
          EVENT_IPV6_EXTHDR_DUPL_DH, VALID, 0 },
        { "eth:86dd ip6:33 330100000000000000000000 060100000000000000000000 tcp:1,2",
          EVENT_IPV6_EXTHDR_DUPL_AH, VALID, 0 },
        { "eth:86dd ip6:33 060100010000000000000000 tcp:1,2", EVENT_IPV6_EXTHDR_AH_RES_NOT_NULL,
          VALID, 0 },
        { "eth:86dd ip6:00 0600010600000000 tcp:1,2", EVENT_IPV6_EXTHDR_INVALID_OPTLEN, INVALID,
          0 },
        { "eth:86dd ip6:00 0600050100000000 tcp:1,2", EVENT_IPV6_EXTHDR_INVALID_OPTLEN, INVALID,
          0 },
        { "eth:86dd ip6:00 0600c20300000000 tcp:1,2", EVENT_IPV6_EXTHDR_INVALID_OPTLEN, INVALID,
          0 },
        { "eth:86dd ip6:3c 0600c90400000000 tcp:1,2", EVENT_IPV6_EXTHDR_INVALID_OPTLEN, INVALID,
          0 },
        { "eth:86dd ip6:00 0600330400000000 tcp:1,2", EVENT_IPV6_HOPOPTS_UNKNOWN_OPT, VALID, 0 },
        { "eth:86dd ip6:00 0600010400000000 tcp:1,2", EVENT_IPV6_HOPOPTS_ONLY_PADDING, VALID, 0 },
        { "eth:86dd ip6:3c 0600330400000000 tcp:1,2", EVENT_IPV6_DSTOPTS_UNKNOWN_OPT, VALID, 0 },
        { "eth:86dd ip6:3c 0600010400000000 tcp:1,2", EVENT_IPV6_DSTOPTS_ONLY_PADDING, VALID, 0 },
        { "eth:86dd ip6:00 0600010001020000 tcp:1,2", EVENT_IPV6_ZERO_LEN_PADN, VALID, 0 },
        { "eth:86dd ip6:3b 00", EVENT_IPV6_DATA_AFTER_NONE_HEADER, VALID, 0 },
        { "eth:86dd ip6:63 0000", EVENT_IPV6_UNKNOWN_NEXT_HEADER, VALID, 0 },
        { "eth:86dd ip6:00 6300010400000000 0000", EVENT_IPV6_UNKNOWN_NEXT_HEADER, VALID, 0 },
        { "eth:86dd ip6:01 0000", EVENT_IPV6_ICMPV4, VALID, 0 },
        { "eth:86dd ip6:00 0100010400000000 0000", EVENT_IPV6_ICMPV4, VALID, 0 },
        { "eth:86dd ip6:04 45", EVENT_IPV6_IPV4_IN_IPV6_TOO_SMALL, INVALID, 0 },
        { "eth:86dd ip6:04 60 zero:19", EVENT_IPV6_IPV4_IN_IPV6_WRONG_VERSION, INVALID, 0 },
        { "eth:86dd ip6:29 60", EVENT_IPV6_IPV6_IN_IPV6_TOO_SMALL, INVALID, 0 },
        { "eth:86dd ip6:29 40 zero:39", EVENT_IPV6_IPV6_IN_IPV6_WRONG_VERSION, INVALID, 0 },
    };

    CHECK_DEFECTS(list);
}

TEST(decode_transport_events)
{
    static const struct defect list[] = {
        { "eth:0800 ip4:06 zero:19", EVENT_TCP_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:0800 ip4:06 zero:12 60 zero:7", EVENT_TCP_HLEN_TOO_SMALL, INVALID, 0 },
        { "eth:0800 ip4:06 zero:12 40 zero:7", EVENT_TCP_INVALID_OPTLEN, INVALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,02050000", EVENT_TCP_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,02030000", EVENT_TCP_OPT_INVALID_LEN, VALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,03020000", EVENT_TCP_OPT_INVALID_LEN, VALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,04030000", EVENT_TCP_OPT_INVALID_LEN, VALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,08040000", EVENT_TCP_OPT_INVALID_LEN, VALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,05040000", EVENT_TCP_OPT_INVALID_LEN, VALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,22030001", EVENT_TCP_OPT_INVALID_LEN, VALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,fd030001", EVENT_TCP_OPT_INVALID_LEN, VALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,13040000", EVENT_TCP_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,1d030001", EVENT_TCP_OPT_INVALID_LEN, INVALID, 0 },
        { "eth:0800 ip4:06 tcp:1,2,020405b4020405b4", EVENT_TCP_OPT_DUPLICATE, VALID, 0 },
        { "eth:0800 ip4:11 zero:7", EVENT_UDP_HLEN_TOO_SMALL, INVALID, 0 },
        { "eth:0800 ip4:11 0001000200090000", EVENT_UDP_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:0800 ip4:11 0001000200070000", EVENT_UDP_LEN_INVALID, INVALID, 0 },
        { "eth:0800 ip4:84 zero:11", EVENT_SCTP_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:0800 ip4:32 zero:7", EVENT_ESP_PKT_TOO_SMALL, INVALID, 0 },
    };

    CHECK_DEFECTS(list);
}

TEST(decode_icmp_events)
{
    static const struct defect list[] = {
        { "eth:0800 ip4:01 08000000000000", EVENT_ICMPV4_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:0800 ip4:01 1e00000000000000", EVENT_ICMPV4_UNKNOWN_TYPE, VALID, 0 },
        { "eth:0800 ip4:01 0801000000000000", EVENT_ICMPV4_UNKNOWN_CODE, VALID, 0 },
        { "eth:0800 ip4:01 0310000000000000", EVENT_ICMPV4_UNKNOWN_CODE, VALID, 0 },
        { "eth:0800 ip4:01 0301000000000000 45", EVENT_ICMPV4_IPV4_TRUNC_PKT, INVALID, 0 },
        { "eth:0800 ip4:01 0d00000000000000", EVENT_ICMPV4_IPV4_TRUNC_PKT, VALID, 0 },
        { "eth:0800 ip4:01 0900000001020000", EVENT_ICMPV4_IPV4_TRUNC_PKT, VALID, 0 },
        { "eth:0800 ip4:01 0301000000000000 60 zero:19", EVENT_ICMPV4_IPV4_UNKNOWN_VER, INVALID,
          0 },
        { "eth:86dd ip6:3a 80000000000000", EVENT_ICMPV6_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:86dd ip6:3a 7f00000000000000", EVENT_ICMPV6_UNKNOWN_TYPE, VALID, 0 },
        { "eth:86dd ip6:3a 8001000000000000", EVENT_ICMPV6_UNKNOWN_CODE, VALID, 0 },
        { "eth:86dd ip6:3a 0100000000000000 60", EVENT_ICMPV6_IPV6_TRUNC_PKT, INVALID, 0 },
        { "eth:86dd ip6:3a 0100000000000000 40 zero:39", EVENT_ICMPV6_IPV6_UNKNOWN_VERSION,
          INVALID, 0 },
        { "eth:86dd ip6:3a 6600000000000000", EVENT_ICMPV6_UNASSIGNED_TYPE, VALID, 0 },
        { "eth:86dd ip6:3a c800000000000000", EVENT_ICMPV6_EXPERIMENTATION_TYPE, VALID, 0 },
    };
    struct decode_env env;
    uint8_t data[128];
    size_t len = env_bytes("eth:86dd ip6:3a 8200000000000000", data, sizeof(data));

    CHECK_DEFECTS(list);
    env_open(&env, NULL);
    CHECK(env_decode_bytes(&env, DATALINK_ETHERNET, data, len)->event_count == 0);
    data[14 + 7] = 2;
    CHECK(packet_has_event(env_decode_bytes(&env, DATALINK_ETHERNET, data, len),
                           EVENT_ICMPV6_MLD_MESSAGE_WITH_INVALID_HL));
    env_close(t, &env);
}

TEST(decode_tunnel_events)
{
    static const struct defect list[] = {
        { "eth:0800 ip4:2f 000008", EVENT_GRE_PKT_TOO_SMALL, INVALID, 0 },
        { "eth:0800 ip4:2f 00020800", EVENT_GRE_WRONG_VERSION, INVALID, 0 },
        { "eth:0800 ip4:2f 01000800", EVENT_GRE_VERSION0_RECUR, INVALID, 0 },
        { "eth:0800 ip4:2f 00080800", EVENT_GRE_VERSION0_FLAGS, INVALID, 0 },
        { "eth:0800 ip4:2f 20000800 0000", EVENT_GRE_VERSION0_HDR_TOO_BIG, INVALID, 0 },
        { "eth:0800 ip4:2f 40000800 00000000 0001", EVENT_GRE_VERSION0_MALFORMED_SRE_HDR,
          INVALID, 0 },
        { "eth:0800 ip4:2f 40000800 00000000 00010009 00", EVENT_GRE_VERSION0_MALFORMED_SRE_HDR,
          INVALID, 0 },
        { "eth:0800 ip4:2f 8001880b", EVENT_GRE_VERSION1_CHKSUM, INVALID, 0 },
        { "eth:0800 ip4:2f 4001880b", EVENT_GRE_VERSION1_ROUTE, INVALID, 0 },
        { "eth:0800 ip4:2f 0801880b", EVENT_GRE_VERSION1_SSR, INVALID, 0 },
        { "eth:0800 ip4:2f 0101880b", EVENT_GRE_VERSION1_RECUR, INVALID, 0 },
        { "eth:0800 ip4:2f 0009880b", EVENT_GRE_VERSION1_FLAGS, INVALID, 0 },
        { "eth:0800 ip4:2f 00010800", EVENT_GRE_VERSION1_WRONG_PROTOCOL, INVALID, 0 },
        { "eth:0800 ip4:2f 0001880b", EVENT_GRE_VERSION1_NO_KEY, INVALID, 0 },
        { "eth:0800 ip4:2f 3001880b 00010001", EVENT_GRE_VERSION1_HDR_TOO_BIG, INVALID, 0 },
        { "eth:0800 ip4:11 udp:1,4789 0800000000000100 eth:1234",
          EVENT_VXLAN_UNKNOWN_PAYLOAD_TYPE, INVALID, 0 },
        { "eth:0800 ip4:11 udp:1,6081 0000123400000100", EVENT_GENEVE_UNKNOWN_PAYLOAD_TYPE,
          INVALID, 0 },
    };

    CHECK_DEFECTS(list);
}

TEST(decode_too_many_layers)
{
    struct decode_env env;
    struct packet *p;

    env_open(&env, "decoder:\n  max-layers: 4\n");
    p = env_decode(&env, DATALINK_ETHERNET, "eth:8100 00010800 ip4:06 tcp:1,2");
    CHECK_INT(p->event_count, 0);
    p = env_decode(&env, DATALINK_ETHERNET, "eth:8100 00018100 00020800 ip4:06 tcp:1,2");
    CHECK(packet_has_event(p, EVENT_TOO_MANY_LAYERS));
    p = env_decode(&env, DATALINK_ETHERNET, "eth:8100 00010800 ip4:04 ip4:06 tcp:1,2");
    CHECK_INT(env.vector.count, 1);
    CHECK(packet_has_event(p, EVENT_TOO_MANY_LAYERS));
    CHECK_INT(env_count(&env, "decoder.too_many_layers"), 2);
    env_close(t, &env);
}

/* Suricata 8.0 does not know the E-Tag. */
TEST(decode_etag_events)
{
    struct decode_env env;
    struct packet *p;

    env_open(&env, "");
    p = env_decode(&env, DATALINK_ETHERNET, "eth:893f zero:6 0800 45");
    CHECK(packet_has_event(p, EVENT_ETHERNET_UNKNOWN_ETHERTYPE));
    CHECK_INT(p->event_count, 1);
    env_close(t, &env);
    env_open(&env, "compatibility: suricata-9");
    p = env_decode(&env, DATALINK_ETHERNET, "eth:893f zero:7");
    CHECK(packet_has_event(p, EVENT_ETAG_HEADER_TOO_SMALL));
    p = env_decode(&env, DATALINK_ETHERNET, "eth:893f zero:6 1234");
    CHECK(packet_has_event(p, EVENT_ETAG_UNKNOWN_TYPE));
    p = env_decode(&env, DATALINK_ETHERNET, "eth:893f zero:6 0800 ip4:11 udp:1000,53 'x");
    CHECK_INT(p->event_count, 0);
    CHECK_INT(p->dst_port, 53);
    env_close(t, &env);
}

/* Its counter exists only with Suricata 9, but rules see the event with both. */
TEST(decode_unknown_protocol)
{
    static const char *const settings[] = { "", "compatibility: suricata-9" };

    for (unsigned i = 0; i < ARRAY_LEN(settings); i++) {
        struct decode_env env;
        struct packet *p;

        env_open(&env, settings[i]);
        p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:59 'ospf");
        CHECK(packet_has_event(p, EVENT_IPV4_UNKNOWN_PROTOCOL));
        CHECK(!(p->flags & PACKET_INVALID));
        CHECK_INT(env_count(&env, "decoder.event.ipv4.unknown_protocol"), i);
        p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:02 11000000 efffffff");
        CHECK_INT(p->event_count, 0);
        env_close(t, &env);
    }
}
