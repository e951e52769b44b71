/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/defrag.h - puts IP fragments together as the receiving host would.
 *
 * One defragmenter per decoder, on its thread. A tracker gathers the fragments of one datagram
 * (addresses, identification, protocol, VLANs); overlaps are settled by the policy of the
 * destination's operating system. Memory is bounded by defrag.memcap; at the bound the tracker
 * that was longest without a fragment gives way. RFC 791, 8200. */
#ifndef PACKET_DEFRAG_H
#define PACKET_DEFRAG_H

#include "base/report/counters.h"
#include "base/err.h"
#include "conf/conf.h"
#include "packet/packet.h"

struct defrag_conf;
struct defrag_conf *defrag_conf_new(const struct conf_node *root, struct err *err);
void defrag_conf_free(struct defrag_conf *conf);
/* Settles what depends on the run: among how many defragmenters the memcap is shared, and
 * whether dropping is possible. */
void defrag_conf_set_run(struct defrag_conf *conf, unsigned sharers, bool is_inline);
/* Of all defragmenters together; any thread, also while packets flow. False: less than they need
 * to be there at all. */
uint64_t defrag_conf_memcap(const struct defrag_conf *conf);
bool defrag_conf_set_memcap(struct defrag_conf *conf, uint64_t bytes);
/* For tests of the memcap policy: the packet of this number meets a full table. 0: none. */
void defrag_conf_simulate_memcap(struct defrag_conf *conf, uint64_t packet_number);

struct defrag;
struct defrag *defrag_new(const struct defrag_conf *conf, struct counters *counters);
void defrag_clear(struct defrag *df);          /* all that is not whole yet */
void defrag_free(struct defrag *df);

/* What the decoders have found out about a fragment. Offset, id, more: in the packet. */
struct fragment {
    uint32_t head_len;          /* bytes of the frame in front of what was cut to frags */
    uint32_t next_at;           /* IPv6: where in them the fragment header's number stands */
    uint8_t next;               /* IPv6: the number to put there */
    const uint8_t *data;
    uint32_t data_len;
};

struct datagram {
    uint32_t ip_offset;         /* of the IP header in the frame */
    uint8_t datalink;
};

/* Adds one; true when it was the last missing one: the frame can then be taken. */
bool defrag_add(struct defrag *df, struct packet *p, const struct fragment *fragment,
                struct datagram *datagram);
/* Swaps the finished frame with the given buffer. */
void defrag_take_frame(struct defrag *df, struct buf *frame);

/* Forgets trackers whose time was up well before now. */
void defrag_expire(struct defrag *df, uint64_t now_us);

#endif
