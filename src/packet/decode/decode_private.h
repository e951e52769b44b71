/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/decode_private.h - declarations that the decoders share.
 *
 * A decoder receives a pointer to the first byte of its header and the number of bytes. It
 * checks the length once, locates its layer in the packet and calls the next decoder. It returns
 * false if it cannot read the header. Then an inner packet is discarded, and a UDP payload is
 * not treated as a tunnel. */
#ifndef PACKET_DECODE_PRIVATE_H
#define PACKET_DECODE_PRIVATE_H

#include "base/text/bytes.h"
#include "packet/decode.h"
#include "packet/decode/lists.h"
#include "packet/defrag.h"

#define ETHERTYPE_IPV4   0x0800
#define ETHERTYPE_ARP    0x0806
#define ETHERTYPE_BRIDGE 0x6558
#define ETHERTYPE_VLAN   0x8100
#define ETHERTYPE_IPV6   0x86dd
#define ETHERTYPE_QINQ   0x9100
#define ETHERTYPE_AD     0x88a8
#define ETHERTYPE_ERSPAN 0x88be

#define ETHERNET_HEADER 14u
#define IPV4_HEADER_MIN 20u
#define IPV6_HEADER     40u
#define IP_MAX          65535u

/* X(name, counter, kind) */
#define DECODE_COUNTER_LIST(X)                                 \
    X(pkts, "decoder.pkts", SUM)                               \
    X(bytes, "decoder.bytes", SUM)                             \
    X(invalid, "decoder.invalid", SUM)                         \
    X(ipv4, "decoder.ipv4", SUM)                               \
    X(ipv6, "decoder.ipv6", SUM)                               \
    X(ethernet, "decoder.ethernet", SUM)                       \
    X(arp, "decoder.arp", SUM)                                 \
    X(unknown_ethertype, "decoder.unknown_ethertype", SUM)     \
    X(chdlc, "decoder.chdlc", SUM)                             \
    X(raw, "decoder.raw", SUM)                                 \
    X(null, "decoder.null", SUM)                               \
    X(sll, "decoder.sll", SUM)                                 \
    X(sll2, "decoder.sll2", SUM)                               \
    X(tcp, "decoder.tcp", SUM)                                 \
    X(tcp_syn, "tcp.syn", SUM)                                 \
    X(tcp_synack, "tcp.synack", SUM)                           \
    X(tcp_rst, "tcp.rst", SUM)                                 \
    X(tcp_urg, "tcp.urg", SUM)                                 \
    X(udp, "decoder.udp", SUM)                                 \
    X(sctp, "decoder.sctp", SUM)                               \
    X(esp, "decoder.esp", SUM)                                 \
    X(icmpv4, "decoder.icmpv4", SUM)                           \
    X(icmpv6, "decoder.icmpv6", SUM)                           \
    X(ppp, "decoder.ppp", SUM)                                 \
    X(pppoe, "decoder.pppoe", SUM)                             \
    X(geneve, "decoder.geneve", SUM)                           \
    X(gre, "decoder.gre", SUM)                                 \
    X(vlan, "decoder.vlan", SUM)                               \
    X(vlan_qinq, "decoder.vlan_qinq", SUM)                     \
    X(vlan_qinqinq, "decoder.vlan_qinqinq", SUM)               \
    X(vxlan, "decoder.vxlan", SUM)                             \
    X(vntag, "decoder.vntag", SUM)                             \
    X(ieee8021ah, "decoder.ieee8021ah", SUM)                   \
    X(teredo, "decoder.teredo", SUM)                           \
    X(ipv4_in_ipv4, "decoder.ipv4_in_ipv4", SUM)               \
    X(ipv6_in_ipv4, "decoder.ipv6_in_ipv4", SUM)               \
    X(ipv4_in_ipv6, "decoder.ipv4_in_ipv6", SUM)               \
    X(ipv6_in_ipv6, "decoder.ipv6_in_ipv6", SUM)               \
    X(mpls, "decoder.mpls", SUM)                               \
    X(avg_pkt_size, "decoder.avg_pkt_size", AVG)               \
    X(max_pkt_size, "decoder.max_pkt_size", MAX)               \
    X(max_mac_addrs_src, "decoder.max_mac_addrs_src", MAX)     \
    X(max_mac_addrs_dst, "decoder.max_mac_addrs_dst", MAX)     \
    X(erspan, "decoder.erspan", SUM)                           \
    X(nsh, "decoder.nsh", SUM)

struct decode_counters {
#define X(name, counter, kind) counter_id name;
    DECODE_COUNTER_LIST(X)
#undef X
    counter_id inner_lost;
};

#define PORT_SET_MAX 4
struct port_set {
    bool enabled, any;
    bool dst_only;                      /* the destination port alone decides */
    unsigned count;
    uint16_t port[PORT_SET_MAX];
};

/* Bits of a VXLAN header that must be zero: those that Suricata 8.0 checks, all, or none. */
enum vxlan_reserved { VXLAN_LAST_BYTE, VXLAN_STRICT, VXLAN_PERMISSIVE };

struct decode_conf {
    struct decode_counters id;
    counter_id event_id[PACKET_EVENT_COUNT];    /* valid where event_counted */
    bool event_counted[PACKET_EVENT_COUNT];
    unsigned max_layers;
    bool use_vlan, use_recursion;
    struct port_set teredo, geneve, vxlan;
    uint8_t vxlan_reserved;             /* enum vxlan_reserved */
    bool suricata_9;                    /* conf/compatibility.h: E-Tags are decoded, and the payload
                                         * of SCTP is that of the first DATA chunk */
    struct defrag_conf *defrag;
};

/* Each inner packet adds a layer, and there are at most 255. */
#define INNER_MAX 256

struct decoder {
    const struct decode_conf *conf;     /* borrowed */
    struct counters *counters;          /* borrowed; only this decoder writes */
    struct packet_pool *pool;           /* borrowed; where inner packets come from */
    struct defrag *defrag;
    unsigned inner_count;               /* inner packets of the current frame, in order */
    struct packet *inner[INNER_MAX];
};

/* BIG TCP: the kernel joins segments to more than 65,535 bytes, and writes length 0 into each
 * header from IP on. No such packet is on a wire, so its checksums are meaningless. */
static inline uint32_t decode_length(struct packet *p, uint32_t written, uint32_t have)
{
    if (LIKELY(written != 0) || have <= IP_MAX)
        return written;
    p->flags |= PACKET_NO_CHECKSUM;
    return have;
}

typedef bool decode_fn(struct decoder *d, struct packet *p, const uint8_t *at, uint32_t len);

#define X(number, name) decode_fn decode_##name;
DATALINK_LIST(X)
ETHERTYPE_LIST(X)
ETHERTYPE_9_LIST(X)
IPV4_PROTOCOL_LIST(X)
IPV6_PROTOCOL_LIST(X)
IPV6_INNER_PROTOCOL_LIST(X)
#undef X
#define X(name) decode_fn decode_##name;
UDP_TUNNEL_LIST(X)
OTHER_DECODER_LIST(X)
#undef X

/* Calls the decoder for an EtherType. False, with the event set: the type is unknown. */
bool decode_ethertype(struct decoder *d, struct packet *p, uint16_t type, const uint8_t *at,
                      uint32_t len);

/* The decoder that a plugin has registered for the number. False: there is none. */
bool decode_by_registered(enum decode_by by, struct decoder *d, struct packet *p,
                          uint16_t number, struct slice in);

/* Decodes extension headers from `at` on; first: next-header value of the IPv6 header. */
void decode_ipv6_extensions(struct decoder *d, struct packet *p, uint8_t first,
                            const uint8_t *at, uint32_t len);
/* Decodes the options between the fixed IPv4 header and its end. False: the header is
 * unreliable. */
bool decode_ipv4_options(struct packet *p, const uint8_t *at, uint32_t len);
void decode_tcp_options(struct packet *p, const uint8_t *at, uint32_t len);
#define TCP_HEADER 20u
/* The fields of a TCP header, whose lengths have been checked: `len` bytes, of which `header` are
 * the header with its options. */
static inline void decode_take_tcp(struct packet *p, uint8_t *at, uint32_t len, uint32_t header)
{
    p->l4 = at;
    p->l4_len = len;
    p->l4_header_len = (uint16_t)header;
    p->payload = at + header;
    p->payload_len = len - header;
    p->ip_proto = 6;
    p->src_port = get_be16(at);
    p->dst_port = get_be16(at + 2);
    p->tcp.seq = get_be32(at + 4);
    p->tcp.ack = get_be32(at + 8);
    p->tcp.reserved = at[12] & 0x0f;
    p->tcp.flags = at[13];
    p->tcp.window = get_be16(at + 14);
}
/* Reads the options if they are the usual ones; else nothing has changed. */
bool decode_only_timestamp(struct packet *p, const uint8_t *at, uint32_t len);

/* decode.c: decodes a frame of the usual kind, and counts nothing. False: it is not such a one, and
 * nothing has changed. */
bool decode_usual(const struct decoder *d, struct packet *p);

/* Creates an inner packet for the bytes and decodes it with fn. NULL, and the outer packet is
 * unchanged but for events: too many layers, no free packet, or fn failed. */
struct packet *decode_inner(struct decoder *d, struct packet *outer, struct slice data,
                            decode_fn *fn, enum packet_source source);
/* Passes a fragment to defrag. A datagram that becomes complete is decoded as an inner packet. */
void decode_fragment(struct decoder *d, struct packet *p, const struct fragment *fragment);

static inline void decode_count(struct decoder *d, counter_id id)
{
    counter_inc(d->counters, id);
}
#define COUNT(d, name) decode_count((d), (d)->conf->id.name)

/* Marks a packet that cannot be decoded further. Returns false for `return decode_invalid(...)`. */
static inline bool decode_invalid(struct packet *p, enum packet_event event)
{
    p->flags |= PACKET_INVALID;
    packet_set_event(p, event);
    return false;
}

/* Counts one more header; false when there are too many. */
static inline bool decode_layer(const struct decoder *d, struct packet *p)
{
    if (LIKELY(++p->layers < d->conf->max_layers))
        return true;
    return decode_invalid(p, EVENT_TOO_MANY_LAYERS);
}

static inline void decode_set_flow(const struct decoder *d, struct packet *p)
{
    p->flow_hash = packet_flow_hash(p, d->conf->use_vlan, d->conf->use_recursion);
}

static inline bool port_set_has(const struct port_set *set, const struct packet *p)
{
    if (!set->enabled)
        return false;
    if (set->any)
        return true;
    for (unsigned i = 0; i < set->count; i++)
        if (set->port[i] == p->dst_port || (!set->dst_only && set->port[i] == p->src_port))
            return true;
    return false;
}

#endif
