/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/lists.h - the decoder for each protocol number. A new decoder is one file and one
 * line here.
 *
 * Each list becomes a switch of direct calls: decode_NAME() is called for the number. */
#ifndef PACKET_DECODE_LISTS_H
#define PACKET_DECODE_LISTS_H

/* X(enum datalink suffix, decoder) */
#define DATALINK_LIST(X)       \
    X(ETHERNET, ethernet)      \
    X(RAW, raw)                \
    X(NULL, null)              \
    X(PPP, ppp)                \
    X(CHDLC, chdlc)            \
    X(SLL, sll)                \
    X(SLL2, sll2)              \
    X(GRE_OVER_IP, raw)        \
    X(RAW2, raw)               \
    X(IPV4, raw)               \
    X(IPV6, raw)

/* X(pcap LINKTYPE_ or DLT_ number, enum datalink suffix) */
#define DATALINK_PCAP_LIST(X) \
    X(0, NULL)                \
    X(1, ETHERNET)            \
    X(9, PPP)                 \
    X(12, RAW)                \
    X(101, RAW2)              \
    X(104, CHDLC)             \
    X(113, SLL)               \
    X(228, IPV4)              \
    X(229, IPV6)              \
    X(276, SLL2)              \
    X(778, GRE_OVER_IP)

/* X(EtherType, decoder) */
#define ETHERTYPE_LIST(X)       \
    X(0x0800, ipv4)             \
    X(0x86dd, ipv6)             \
    X(0x0806, arp)              \
    X(0x8100, vlan)             \
    X(0x88a8, vlan)             \
    X(0x9100, vlan)             \
    X(0x88e7, ieee8021ah)       \
    X(0x8847, mpls)             \
    X(0x8848, mpls)             \
    X(0x8863, pppoe_discovery)  \
    X(0x8864, pppoe_session)    \
    X(0x8903, dce)              \
    X(0x8926, vntag)            \
    X(0x894f, nsh)

/* The same, which Suricata 8.0 does not decode: only with `compatibility: suricata-9`. */
#define ETHERTYPE_9_LIST(X) \
    X(0x893f, etag)

/* X(IP protocol number, decoder) after IPv4; 4 and 41 open a tunnel */
#define IPV4_PROTOCOL_LIST(X) \
    X(6, tcp)                 \
    X(17, udp)                \
    X(1, icmpv4)              \
    X(2, igmp)                \
    X(47, gre)                \
    X(132, sctp)              \
    X(50, esp)                \
    X(4, ipv4_in_ipv4)        \
    X(41, ipv6_in_ipv4)       \
    X(58, icmpv6_in_ipv4)     \
    X(0, ppp_vj)

/* The same right after the IPv6 header; other numbers may be extension headers. */
#define IPV6_PROTOCOL_LIST(X) \
    X(6, tcp)                 \
    X(17, udp)                \
    X(58, icmpv6)             \
    X(132, sctp)              \
    X(4, ipv4_in_ipv6)        \
    X(41, ipv6_in_ipv6)       \
    X(47, gre)

/* The same after extension headers. */
#define IPV6_INNER_PROTOCOL_LIST(X) \
    X(6, tcp)                       \
    X(17, udp)                      \
    X(58, icmpv6)                   \
    X(132, sctp)                    \
    X(50, esp)                      \
    X(4, ipv4_in_ipv6)

/* X(decoder) of tunnels in UDP, in the order of the attempts. Each has a struct port_set in
 * decode_conf with its ports, and returns false for other data. */
#define UDP_TUNNEL_LIST(X) \
    X(teredo)              \
    X(geneve)              \
    X(vxlan)

/* Decoders that other decoders call by name. */
#define OTHER_DECODER_LIST(X) \
    X(erspan_1)               \
    X(erspan_2)

#endif
