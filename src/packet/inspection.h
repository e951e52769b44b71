/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/inspection.h - one inspection: which flow, seen from which side, and why.
 *
 * Most packets are inspected once, as they go. The last packet of a flow stands for one from each
 * side, as Suricata makes two there, and so it is inspected for one side and then for the other.
 * The packet stays as it is: who needs to know the side or the reason asks the inspection. */
#ifndef PACKET_INSPECTION_H
#define PACKET_INSPECTION_H

#include "packet/packet.h"

struct stream_chunk;

enum inspect_reason {
    INSPECT_PACKET,             /* a packet came, and with it the data that it acknowledges */
    INSPECT_DETECTLOG_FLUSH,    /* a parser leaves: what there is of it, for rules and logs */
    INSPECT_LAST_DATA,          /* a flow ends with data of both sides: those the packet's way */
    INSPECT_FLOW_END,           /* the last of its flow; all that hangs on the flow goes after */
};

/* At the end of a flow, sides that have something left to inspect. */
enum inspect_side {
    INSPECT_OWN_SIDE   = 1u << 0,       /* as the packet goes */
    INSPECT_OTHER_SIDE = 1u << 1,
};

struct inspection {
    struct packet *packet;
    struct flow *flow;                  /* NULL: it has none */
    enum direction direction;           /* of the side that is inspected */
    uint8_t reason;                     /* enum inspect_reason */
    uint8_t last_sides;                 /* enum inspect_side; 0 unless the flow ends */
    uint8_t chunk_count;                /* of the packet's chunks, those to be inspected */
    struct stream_chunk *chunk;
};

/* Rules look at what is left as if nothing could follow. */
static inline bool inspection_is_last(const struct inspection *in)
{
    return in->reason >= INSPECT_LAST_DATA;
}

static inline bool inspection_ends_flow(const struct inspection *in)
{
    return in->reason == INSPECT_FLOW_END;
}

/* Who sends to whom. */
struct packet_ends {
    const struct ip *src, *dst;
    uint16_t src_port, dst_port;
};

/* In direction d of its flow: as the packet says, or the other way round. */
static inline struct packet_ends packet_ends(const struct packet *p, enum direction d)
{
    if (d == packet_direction(p))
        return (struct packet_ends){ &p->src, &p->dst, p->src_port, p->dst_port };
    return (struct packet_ends){ &p->dst, &p->src, p->dst_port, p->src_port };
}

#endif
