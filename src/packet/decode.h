/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode.h - finds the layers of a frame, from the link header to the payload.
 *
 * Each header has a file in packet/decode/: the decoder there locates its own header and calls
 * the next decoder. An error sets a packet event and a counter. A packet that cannot be decoded
 * further is marked PACKET_INVALID and stays in the vector. A tunnel yields inner packets, which
 * are inserted after their outer one. */
#ifndef PACKET_DECODE_H
#define PACKET_DECODE_H

#include "base/report/counters.h"
#include "base/err.h"
#include "conf/conf.h"
#include "packet/pool.h"
#include "packet/vector.h"

enum datalink {
    DATALINK_NONE, DATALINK_ETHERNET, DATALINK_RAW, DATALINK_NULL, DATALINK_PPP, DATALINK_CHDLC,
    DATALINK_SLL, DATALINK_SLL2, DATALINK_GRE_OVER_IP, DATALINK_RAW2, DATALINK_IPV4, DATALINK_IPV6,
};
/* Translates a pcap LINKTYPE_ or DLT_ number; DATALINK_NONE when unknown. */
enum datalink datalink_from_pcap(int dlt);

/* Settings: read-only, shared by all threads. */
struct decode_conf;
struct defrag_conf;
struct decode_conf *decode_conf_new(const struct conf_node *root, struct err *err);
void decode_conf_free(struct decode_conf *conf);
/* Before the first decoder is created: how many there will be (they share defrag.memcap), and
 * whether packets can be dropped (exception policies). The root node must still exist. */
void decode_conf_set_run(struct decode_conf *conf, unsigned decoders, bool is_inline);
/* For tests of defrag.memcap-policy: the memcap refuses the fragment in the packet of this
 * number. 0: none. */
struct defrag_conf *decode_conf_defrag(struct decode_conf *conf);
void decode_conf_simulate_defrag_memcap(struct decode_conf *conf, uint64_t packet_number);

/* One per thread: counters, defragmenter, and the pool of inner packets. */
struct decoder;
struct decoder *decoder_new(const struct decode_conf *conf, struct packet_pool *pool,
                            struct counters *counters);
void decoder_clear(struct decoder *d);     /* drops all incomplete datagrams */
void decoder_free(struct decoder *d);

/* Decodes all packets of the vector, including those it inserts, and counts their events. */
void decode_vector(struct decoder *d, struct packet_vector *v);

/* The same for callers that process packets one by one: packet number `at`; returns how many it
 * inserted after it. Call decode_end() at the end of the vector. */
unsigned decode_packet(struct decoder *d, struct packet_vector *v, unsigned at);
void decode_end(struct decoder *d, const struct packet_vector *v);
/* Sets the counters to use from now on; fragments of known datagrams are still counted in those
 * given at creation. */
void decoder_count_into(struct decoder *d, struct counters *counters);

/* Decoders that plugins add at the start, before packets flow, for numbers that no decoder of
 * decode/lists.h has. `self` is what was registered. False: the header cannot be read. */
enum decode_by { DECODE_BY_ETHERTYPE, DECODE_BY_IP_PROTOCOL };
struct decode_registered {
    bool (*decode)(const struct decode_registered *self, struct decoder *d, struct packet *p,
                   struct slice in);
};
/* -1: the number has a decoder, or there are too many. */
int decode_register(enum decode_by by, uint16_t number, const struct decode_registered *what,
                    struct err *err);
/* What they call for what follows their header: in the same packet, before it has an IP header; and
 * as the inner packet of a tunnel. */
bool decode_next_ethertype(struct decoder *d, struct packet *p, uint16_t type, struct slice in);
bool decode_tunnelled_ip(struct decoder *d, struct packet *p, struct slice in);

/* Counts the packet's events from number `from` on: for events that later modules have set. */
void packet_events_count(const struct decode_conf *conf, struct counters *counters,
                         const struct packet *p, unsigned from);

/* True when the transport checksum is right, or absent; computed on each call. */
bool packet_l4_checksum_ok(const struct packet *p);
bool packet_ip_checksum_ok(const struct packet *p);

/* Symmetric hash over addresses, ports, protocol, VLANs and recursion. Both directions have the
 * same hash, as do all fragments of a datagram (without ports), and an ICMP error and the flow
 * that it quotes. Decode stores it in packet.flow_hash. */
uint32_t packet_flow_hash(const struct packet *p, bool use_vlan, bool use_recursion);

#endif
