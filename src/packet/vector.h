/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/vector.h - the batch in which packets travel: modules receive and return whole vectors.
 *
 * A module may append packets (inner packets, reassembled ones, flow ends) at the end or right
 * after the packet that caused them; it never removes one. The order is capture order. Memory grows
 * to its working size and stays. One owner at a time. */
#ifndef PACKET_VECTOR_H
#define PACKET_VECTOR_H

#include "packet/packet.h"

struct packet_vector {
    struct packet **packet;
    unsigned count, cap;
    uint64_t now_us;            /* time of the newest packet, or wall time; monotone */
    uint64_t order_at;          /* no later vector has anything before this place, see */
    uint64_t order_sub;         /* sequencer.h; 0: there is no order */
    bool last;                  /* the capture has ended: nothing comes after this one */
    bool tick;                  /* may be empty: only time advances */
    /* Of a module that goes from packet to packet and may wait for other threads: the packet at
     * work, and how many are before it. While it waits these may leave; `done` is 0 then. */
    const struct packet *at_work;
    unsigned done;
};

#define VECTOR_FILL 64          /* how many packets a capture adds before it hands off */

void vector_grow(struct packet_vector *v, unsigned cap);        /* at load time */

bool vector_try_grow(struct packet_vector *v);

/* While packets flow. False: it is full and there is no memory for a larger one. */
static inline bool vector_has_space(struct packet_vector *v)
{
    return LIKELY(v->count < v->cap) || vector_try_grow(v);
}

/* False: it is full and there is no memory; not before VECTOR_FILL packets. */
static inline bool vector_push(struct packet_vector *v, struct packet *p)
{
    if (UNLIKELY(!vector_has_space(v)))
        return false;
    v->packet[v->count++] = p;
    return true;
}

/* Right after position `at`: inner packets are inspected after their outer one and before the next
 * captured one. */
bool vector_insert(struct packet_vector *v, unsigned at, struct packet *p);

#endif
