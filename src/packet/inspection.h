/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/inspection.h - one inspection: its flow, direction and reason.
 *
 * Most packets are inspected once, in their own direction. The last packet of a flow stands for one
 * of each direction, as Suricata creates two there, so it is inspected once per direction. The
 * packet does not change: code that needs the direction or reason reads the inspection. */
#ifndef PACKET_INSPECTION_H
#define PACKET_INSPECTION_H

#include "packet/packet.h"

struct stream_chunk;

enum inspect_reason {
    INSPECT_PACKET,             /* a packet arrived, and with it the data that it acknowledges */
    INSPECT_DETECTLOG_FLUSH,    /* a parser stops: rules and logs process what it has */
    INSPECT_LAST_DATA,          /* a flow ends with data of both directions: the packet's own comes
                                 * first */
    INSPECT_FLOW_END,           /* the last one of its flow; the flow's state is freed after it */
};

/* At the end of a flow: directions with something left to inspect. */
enum inspect_side {
    INSPECT_OWN_SIDE   = 1u << 0,       /* the packet's own direction */
    INSPECT_OTHER_SIDE = 1u << 1,
};

struct inspection {
    struct packet *packet;
    struct flow *flow;                  /* NULL: the packet has no flow */
    enum direction direction;           /* the direction that is inspected */
    uint8_t reason;                     /* enum inspect_reason */
    uint8_t last_sides;                 /* enum inspect_side; 0 unless the flow ends */
    uint8_t chunk_count;                /* how many of the packet's chunks to inspect */
    bool unsampled;                     /* flow.elephant: rules do not search this payload */
    bool hands_over;                    /* the flow ends here, but goes on in another process */
    struct stream_chunk *chunk;
};

/* Rules inspect the remaining data as if nothing could follow. */
static inline bool inspection_is_last(const struct inspection *in)
{
    return in->reason >= INSPECT_LAST_DATA;
}

static inline bool inspection_ends_flow(const struct inspection *in)
{
    return in->reason == INSPECT_FLOW_END;
}

/* The addresses and ports of sender and receiver. */
struct packet_ends {
    const struct ip *src, *dst;
    uint16_t src_port, dst_port;
};

/* The ends as direction d has them: exchanged unless it is the direction of the packet. */
static inline struct packet_ends packet_ends(const struct packet *p, enum direction d)
{
    if (d == packet_direction(p))
        return (struct packet_ends){ &p->src, &p->dst, p->src_port, p->dst_port };
    return (struct packet_ends){ &p->dst, &p->src, p->dst_port, p->src_port };
}

#endif
