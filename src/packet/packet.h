/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/packet.h - one packet on its way from receive to output.
 *
 * A packet belongs to exactly one thread at a time: the one that holds its vector. It comes from a
 * packet_pool and returns to that pool; no other object keeps a pointer to it after that. Decode
 * locates the layers; later modules only read them. */
#ifndef PACKET_PACKET_H
#define PACKET_PACKET_H

#include "base/base.h"
#include "base/memory/buf.h"
#include "base/text/ip.h"
#include "packet/events.h"
#include "packet/headers.h"
#include "packet/slots.h"
#include "packet/verdict.h"

struct flow;
struct packet_pool;
struct capture_device;

/* The origin of a packet, as EVE shows it in pkt_src. */
/* E(source, name in EVE). The engine creates STREAM_END to finish a flow, and STREAM_FLUSH to
 * inspect and log data before a parser stops. */
#define PACKET_SOURCE_LIST(E)                     \
    E(PACKET_WIRE, "wire/pcap")                   \
    E(PACKET_GRE, "gre tunnel")                   \
    E(PACKET_IPV4_TUNNEL, "ipv4 tunnel")          \
    E(PACKET_IPV6_TUNNEL, "ipv6 tunnel")          \
    E(PACKET_TEREDO, "teredo tunnel")             \
    E(PACKET_GENEVE, "geneve encapsulation")      \
    E(PACKET_VXLAN, "vxlan encapsulation")        \
    E(PACKET_PLUGIN_TUNNEL, "plugin tunnel")      \
    E(PACKET_DEFRAG, "defrag")                    \
    E(PACKET_STREAM_END, "stream (flow timeout)") \
    E(PACKET_STREAM_FLUSH, "stream (detect/log)") \
    E(PACKET_RELOAD_FLUSH, "detect reload flush") \
    E(PACKET_SHUTDOWN_FLUSH, "shutdown flush")
enum packet_source {
#define E(id, name) id,
    PACKET_SOURCE_LIST(E)
#undef E
};
const char *packet_source_name(enum packet_source source);

const char *ip_proto_name(uint8_t proto);      /* NULL: it has no name */

enum packet_flag {
    PACKET_PSEUDO          = 1u << 0,   /* created by the engine: no frame, no verdict */
    PACKET_TUNNEL          = 1u << 1,   /* inner packet: its data are in root's frame */
    PACKET_HAS_TUNNEL      = 1u << 2,   /* outer packet of an inner one */
    PACKET_FRAGMENT        = 1u << 3,   /* IP fragment, not reassembled */
    PACKET_REASSEMBLED     = 1u << 4,   /* reassembled by defrag */
    PACKET_INVALID         = 1u << 5,   /* a header is malformed; the layers found are still
                                         * valid */
    PACKET_BAD_CHECKSUM    = 1u << 6,   /* the transport checksum is wrong, and the settings make it
                                         * count */
    PACKET_NO_CHECKSUM     = 1u << 7,   /* do not verify (the kernel or a setting says so) */
    PACKET_NO_INSPECT      = 1u << 8,   /* pass rule, bypass: rules do not run */
    PACKET_NO_PAYLOAD_INSPECT = 1u << 9,
    PACKET_STREAM_ADDED    = 1u << 10,  /* payload went into reassembly */
    PACKET_STREAM_NO_APP   = 1u << 11,  /* payload must not be inspected: stream rejected it */
    PACKET_ESTABLISHED     = 1u << 12,  /* its flow had seen both sides, or a TCP handshake */
    PACKET_FLOW_START      = 1u << 13,  /* first packet of its flow */
    /* pseudo: last of its flow, which returns to the pool with it */
    PACKET_FLOW_END        = 1u << 14,
    PACKET_FIRST_IN_DIR    = 1u << 15,  /* first of its flow in its direction */
    PACKET_TO_CLIENT       = 1u << 16,  /* direction within the flow; clear: to server */
    PACKET_MODIFIED        = 1u << 17,  /* `replace` wrote into the frame */
    PACKET_DETECT_ONLY     = 1u << 18,  /* pseudo packet to inspect, not to count */
    PACKET_ICMP_ERROR      = 1u << 19,  /* unreachable: its flow is the one in `embedded` */
    PACKET_MIDSTREAM       = 1u << 20,  /* flow picked up without its handshake */
    PACKET_PROTO_DETECTED      = 1u << 21,  /* rules on the protocol of its flow, as detected in its
                                         * direction, are due */
    PACKET_TAGGED          = 1u << 22,  /* follows a rule with `tag`: to be logged */
    PACKET_BYPASSED        = 1u << 26,  /* its flow is not inspected: the capture may bypass it */
    PACKET_OPEN_CHECKSUM   = 1u << 27,  /* the sender may have left it to a network card; the
                                         * capture does not report that, so decode finds out */
    PACKET_PPP_VJ          = 1u << 23,  /* IPv4 protocol 0 means TCP here */
    PACKET_END_TO_SERVER   = 1u << 24,  /* its chunks are the last of that direction: closed */
    PACKET_END_TO_CLIENT   = 1u << 25,
    PACKET_LAST_TO_SERVER  = 1u << 28,  /* at a flow's end: its stream has data left */
    PACKET_LAST_TO_CLIENT  = 1u << 29,  /* to inspect in this direction */
    PACKET_STREAM_OPEN     = 1u << 30,  /* the TCP session is established, now or before */
    PACKET_UNIDIRECTIONAL       = 1u << 31,  /* only this direction of its TCP session has been
                                              * seen */
};

#define PACKET_EVENTS_MAX 15
#define PACKET_SCTP_DATA_MAX 16
#define PACKET_VLANS_MAX 3
#define PACKET_LAYERS_DEFAULT 16

struct packet {
    /* where it is */
    uint8_t *data;                      /* the frame, from the link header on */
    uint32_t len, wire_len;             /* captured; on the wire */
    uint64_t time_us;                   /* since 1970 */
    uint64_t number;                    /* in its capture, from 1 (EVE pcap_cnt); 0: pseudo */
    uint64_t seqno, seqno_sub;          /* position in the packet order of the run, see
                                         * sequencer.h; 0: the run has no order */
    uint32_t flags;                     /* enum packet_flag */
    uint8_t datalink;                   /* enum datalink, see packet/decode.h */
    uint8_t source;                     /* enum packet_source */
    uint8_t event_count;
    uint8_t vlan_count;

    /* layers: an absent one has a NULL pointer and length 0 */
    uint8_t *eth;                       /* Ethernet header, 14 bytes at least */
    uint8_t *l3;                        /* IPv4 or IPv6 header (or ARP's, see ethertype) */
    uint8_t *l4;                        /* transport header */
    uint8_t *payload;                   /* data of the transport protocol */
    uint32_t payload_len;
    uint32_t l4_len;                    /* transport header and payload, by the length in the IP
                                         * header */
    uint16_t l3_len;                    /* IPv4 header with options, IPv6 with extensions */
    uint16_t l4_header_len;
    uint16_t ethertype;                 /* of the innermost link layer */
    uint8_t ip_proto;                   /* transport protocol after all extension headers */
    uint8_t recursion;                  /* tunnel depth: 0 outermost */
    uint8_t layers;                     /* headers seen, the outer packets' included */
    uint16_t ip_options;                /* IPv4 options in the header: IP_OPTION_* */
    struct {
        uint32_t id;
        uint16_t offset;                /* bytes */
        bool more, present;             /* present: IPv4 with either set, or an IPv6 header */
    } fragment;
    struct ip src, dst;
    uint16_t src_port, dst_port;        /* TCP, UDP, SCTP; host order */
    uint16_t vlan[PACKET_VLANS_MAX];    /* ids, outermost first */
    union {
        struct {
            uint32_t seq, ack;          /* host order */
            uint16_t window;
            uint8_t flags;              /* TCP_* */
            uint8_t reserved;
        } tcp;
        struct {
            uint8_t type, code;
            uint16_t id, seq;           /* of echo and similar messages; host order */
            const uint8_t *embedded;    /* IP header quoted by an error; NULL if none */
            uint32_t embedded_len;
        } icmp;
        struct { uint32_t spi; } esp;
        struct {
            uint16_t chunks, data;      /* how many; of them the DATA chunks at sctp_data */
            bool malformed;             /* a chunk is cut off */
        } sctp;
    };
    struct tcp_options tcp_options;

    /* the flow; the stream module sets it */
    uint32_t flow_hash;                 /* symmetric; 0: no flow possible. Fragments have a hash,
                                         * which all fragments of a datagram share, but no flow */
    struct flow *flow;

    /* the verdict */
    uint8_t action;                     /* enum packet_action */
    uint8_t drop_reason;                /* enum drop_reason */
    bool tunnel_verdict;                /* root: one of its inner packets was dropped; atomic */
    uint16_t inner_count;               /* root: number of inner packets that decode created */
    uint16_t verdict_count;             /* root: how many of these and itself have a verdict;
                                         * atomic */

    /* ownership */
    struct packet *root;                /* outermost packet of a tunnel, or of fragments; it
                                         * stays until this one is released */
    uint32_t children;                  /* itself and inner ones not yet released; atomic */
    uint32_t mark;                      /* NFQ mark */
    struct packet *next;                /* in the pool's list */
    const struct capture_device *device;    /* NULL for files */
    const struct capture_file *file;    /* packet/capture_file.h; borrowed from the capture */
    const char *device_name;            /* the interface; NULL for files */

    struct {
        PACKET_SLOT(sequencer, PACKET_SLOT_SEQUENCER);
        PACKET_SLOT(capture, PACKET_SLOT_CAPTURE);
        PACKET_SLOT(flow, PACKET_SLOT_FLOW);
        PACKET_SLOT(detect, PACKET_SLOT_DETECT);
        PACKET_SLOT(stream, PACKET_SLOT_STREAM);        /* last: a part of it is not cleared */
    } slot;

    /* A reset sets only the counts of the following members to 0. */
    uint16_t event[PACKET_EVENTS_MAX];  /* enum packet_event */
    struct packet_pool *pool;
    struct buf frame;                   /* a frame in own memory: defrag, compressed files,
                                         * pseudo packets */
    struct buf memory[PACKET_MEMORY_COUNT];
    union {
        uint8_t pseudo_headers[60];     /* headers of a pseudo packet */
        uint16_t sctp_data[PACKET_SCTP_DATA_MAX];       /* offsets of DATA chunks from l4 */
    };
};

static inline bool packet_is_tcp(const struct packet *p) { return p->ip_proto == 6 && p->l4; }
static inline bool packet_is_udp(const struct packet *p) { return p->ip_proto == 17 && p->l4; }
static inline enum direction packet_direction(const struct packet *p)
{
    return (p->flags & PACKET_TO_CLIENT) ? TO_CLIENT : TO_SERVER;
}

static inline bool packet_has_event(const struct packet *p, enum packet_event event)
{
    for (unsigned i = 0; i < p->event_count; i++)
        if (p->event[i] == event)
            return true;
    return false;
}

/* The same event may occur several times: each is counted and logged. */
static inline void packet_set_event(struct packet *p, enum packet_event event)
{
    if (p->event_count < PACKET_EVENTS_MAX)
        p->event[p->event_count++] = (uint16_t)event;
}

/* Takes one such event back. */
void packet_clear_event(struct packet *p, enum packet_event event);

static inline void packet_drop(struct packet *p, enum drop_reason reason)
{
    p->action |= ACTION_DROP;
    if (p->drop_reason == DROP_NONE)
        p->drop_reason = (uint8_t)reason;
}

/* Header fields by name, for keywords and logs; 0 where the layer is missing. */
uint8_t packet_hop_limit(const struct packet *p);
uint8_t packet_tos(const struct packet *p);
uint16_t packet_ip_id(const struct packet *p);

/* Exchanges source and destination, and the direction. For packets that the engine creates to
 * answer another one. */
void packet_swap_direction(struct packet *p);

/* Clears the packet for reuse; keeps its buffers and its pool. */
void packet_reset(struct packet *p);
/* Frees the packet's buffers, but not the packet. */
void packet_fini(struct packet *p);

#endif
