/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode.h - finds the layers of a frame, from the link header to the payload.
 *
 * One file per header in packet/decode/; each locates its own and calls the next. What is wrong
 * becomes a packet event and a counter; a packet that cannot be read further is PACKET_INVALID
 * and still goes on. Tunnels give further packets, inserted behind their outer one. */
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
/* From a pcap LINKTYPE_/DLT_ number; DATALINK_NONE when unknown. */
enum datalink datalink_from_pcap(int dlt);

/* Settings: read-only, shared by all threads. */
struct decode_conf;
struct defrag_conf;
struct decode_conf *decode_conf_new(const struct conf_node *root, struct err *err);
void decode_conf_free(struct decode_conf *conf);
/* Before the first decoder is made: how many there will be (they share defrag.memcap), and
 * whether packets can be dropped (exception policies). The root node must still be there. */
void decode_conf_set_run(struct decode_conf *conf, unsigned decoders, bool is_inline);
/* For tests of defrag.memcap-policy: the packet of this number meets a full table. 0: none. */
struct defrag_conf *decode_conf_defrag(struct decode_conf *conf);
void decode_conf_simulate_defrag_memcap(struct decode_conf *conf, uint64_t packet_number);

/* One per thread: counters, defragmenter, the pool inner packets come from. */
struct decoder;
struct decoder *decoder_new(const struct decode_conf *conf, struct packet_pool *pool,
                            struct counters *counters);
void decoder_clear(struct decoder *d);     /* what it has of datagrams in fragments */
void decoder_free(struct decoder *d);

/* All packets of the vector, including those it inserts: decoded, their events counted. */
void decode_vector(struct decoder *d, struct packet_vector *v);

/* The same for those who take packets one by one: packet number `at`, and how many it has put
 * behind it; at the end of the vector decode_end(). */
unsigned decode_packet(struct decoder *d, struct packet_vector *v, unsigned at);
void decode_end(struct decoder *d, const struct packet_vector *v);
/* Where it counts from now on; what is known of datagrams in fragments is counted where the
 * decoder was told when it was made. */
void decoder_count_into(struct decoder *d, struct counters *counters);

/* Counts the packet's events from number `from` on: for those that later stages have set. */
void packet_events_count(const struct decode_conf *conf, struct counters *counters,
                         const struct packet *p, unsigned from);

/* True when the transport checksum is right, or absent; computed on each call. */
bool packet_l4_checksum_ok(const struct packet *p);
bool packet_ip_checksum_ok(const struct packet *p);

/* Symmetric hash over addresses, ports, protocol, VLANs, recursion: the same for both
 * directions, for all fragments of a datagram (ports left out there), and for an ICMP error and
 * the flow it speaks of. Set as packet.flow_hash by decode. */
uint32_t packet_flow_hash(const struct packet *p, bool use_vlan, bool use_recursion);

#endif
