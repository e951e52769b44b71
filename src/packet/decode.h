/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode.h - finds the layers of a frame, from the link header to the payload.
 *
 * One file per header in packet/decode/; each locates its own and calls the next. What is wrong
 * becomes a packet event and a counter; a packet that cannot be read further is PACKET_INVALID
 * and still goes on. Tunnels give further packets, inserted behind their outer one. */
#ifndef PACKET_DECODE_H
#define PACKET_DECODE_H

#include "base/counters.h"
#include "base/err.h"
#include "conf/conf.h"
#include "packet/pool.h"
#include "packet/vector.h"

enum datalink {
    DATALINK_NONE, DATALINK_ETHERNET, DATALINK_RAW, DATALINK_NULL, DATALINK_PPP, DATALINK_CHDLC,
    DATALINK_SLL, DATALINK_SLL2, DATALINK_GRE_OVER_IP,
};
/* From a pcap LINKTYPE_/DLT_ number; DATALINK_NONE when unknown. */
enum datalink datalink_from_pcap(int dlt);

/* Settings: read-only, shared by all threads. */
struct decode_conf;
struct decode_conf *decode_conf_new(const struct conf_node *root, struct err *err);
void decode_conf_free(struct decode_conf *conf);

/* One per thread: counters, defragmenter, the pool inner packets come from. */
struct decoder;
struct decoder *decoder_new(const struct decode_conf *conf, struct packet_pool *pool,
                            struct counters *counters);
void decoder_free(struct decoder *d);

/* All packets of the vector, including those it inserts. */
void decode_vector(struct decoder *d, struct packet_vector *v);

/* True when the transport checksum is right, or absent; computed on each call. */
bool packet_l4_checksum_ok(const struct packet *p);
bool packet_ip_checksum_ok(const struct packet *p);

/* Symmetric hash over addresses, ports, protocol, VLANs, recursion: the same for both
 * directions, for all fragments of a datagram (ports left out there), and for an ICMP error and
 * the flow it speaks of. Set as packet.flow_hash by decode. */
uint32_t packet_flow_hash(const struct packet *p, bool use_vlan, bool use_recursion);

#endif
