/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/slot.h - the slot of the stream module in a packet: the data that it made available,
 * and flags about its role in the session. */
#ifndef STREAM_SLOT_H
#define STREAM_SLOT_H

#include "packet/packet.h"

/* In-order data that the stream module hands off once, without a copy if stream and detect share
 * a thread. `lookbehind` bytes before data are earlier data of the same direction and may be
 * read too (at most the raw inspection window). Borrowed until the packet leaves detect. */
enum stream_chunk_kind {
    CHUNK_DATA, CHUNK_GAP,
    CHUNK_REINSPECT,            /* for rules only: in IPS mode a retransmission as it goes to the
                                 * receiver, or data after a hole; at the end of the stream the
                                 * data left there. Always in the packet's own memory */
};
struct stream_chunk {
    const uint8_t *data;                /* NULL for a gap */
    uint32_t len;                       /* of data, or of the gap */
    uint32_t lookbehind;
    uint64_t offset;                    /* of data[0] from the start of the stream */
    uint8_t direction;                  /* enum direction of the bytes, not of the packet */
    uint8_t kind;
    bool depth_reached;                 /* no later data of this direction follow */
    bool never_acked;                   /* the flow has ended without an ACK of these data */
    uint32_t unacked;                   /* bytes that came in order behind data, for later chunks */
};
#define PACKET_CHUNKS_MAX 4

struct stream_slot {
    uint32_t sent[2];                   /* sequence space each side has sent so far */
    uint32_t history[2];                /* acknowledged bytes of it that are kept to compare
                                         * retransmissions with */
    uint16_t flags;                     /* enum stream_pkt_flag: what TCP tracking found about it */
    uint8_t chunk_count;
    /* Valid up to the count. */
    struct stream_chunk chunk[PACKET_CHUNKS_MAX];
};
PACKET_SLOT_ACCESSOR(stream, PACKET_SLOT_STREAM)
_Static_assert(offsetof(struct stream_slot, chunk) <= PACKET_SLOT_STREAM_CLEARED,
               "what no count guards has to be cleared");

#endif
