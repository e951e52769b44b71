/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/defrag.h - reassembles IP fragments as the receiving host would.
 *
 * One defragmenter per decoder, on its thread. A tracker collects the fragments of one datagram
 * (addresses, identification, protocol, VLANs); the policy of the destination's operating system
 * decides overlaps. defrag.memcap limits the memory; at the limit the tracker that has been without
 * a fragment for longest is freed. RFC 791, 8200. */
#ifndef PACKET_DEFRAG_H
#define PACKET_DEFRAG_H

#include "base/report/counters.h"
#include "base/err.h"
#include "conf/conf.h"
#include "packet/packet.h"

struct defrag_conf;
struct defrag_conf *defrag_conf_new(const struct conf_node *root, struct err *err);
void defrag_conf_free(struct defrag_conf *conf);
/* Sets what depends on the run: how many defragmenters share the memcap, and whether packets can be
 * dropped. */
void defrag_conf_set_run(struct defrag_conf *conf, unsigned sharers, bool is_inline);
/* The memcap of all defragmenters together; any thread, also while packets flow. False: less than
 * their minimum. */
uint64_t defrag_conf_memcap(const struct defrag_conf *conf);
bool defrag_conf_set_memcap(struct defrag_conf *conf, uint64_t bytes);
/* For tests of the memcap policy: the memcap refuses the fragment in the packet of this number.
 * 0: none. */
void defrag_conf_simulate_memcap(struct defrag_conf *conf, uint64_t packet_number);

struct defrag;
struct defrag *defrag_new(const struct defrag_conf *conf, struct counters *counters);
void defrag_clear(struct defrag *df);          /* frees all incomplete datagrams */
void defrag_free(struct defrag *df);

/* Fields of a fragment's headers. Offset, id and the "more" flag are in the packet. */
struct fragment {
    uint32_t head_len;          /* bytes of the frame before the fragmented part */
    uint32_t next_at;           /* IPv6: position in them of the fragment header's number */
    uint8_t next;               /* IPv6: the number to write there */
    const uint8_t *data;
    uint32_t data_len;
};

struct datagram {
    uint32_t ip_offset;         /* of the IP header in the frame */
    uint8_t datalink;
};

/* Adds a fragment. True when the datagram is complete: its frame can then be taken. */
bool defrag_add(struct defrag *df, struct packet *p, const struct fragment *fragment,
                struct datagram *datagram);
/* Exchanges the finished frame for the given buffer. */
void defrag_take_frame(struct defrag *df, struct buf *frame);

/* Frees trackers that timed out well before now. */
void defrag_expire(struct defrag *df, uint64_t now_us);

#endif
