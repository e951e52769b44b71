/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/vector.h - the batch in which packets travel: modules receive and return complete vectors.
 *
 * A module may append packets (inner packets, reassembled ones, flow ends) at the end, or right
 * after the packet that caused them. It never removes one. The order is capture order. The
 * memory grows to its working size and is kept. A vector has one owner at a time. */
#ifndef PACKET_VECTOR_H
#define PACKET_VECTOR_H

#include "packet/packet.h"

/* What a receive calls before and after it sleeps in the kernel, so that this time counts as
 * waiting and not as work. */
struct vector_sleeper {
    void (*sleeps)(void *self);
    void (*wakes)(void *self);
    void *self;
};

struct packet_vector {
    struct packet **packet;
    unsigned count, cap;
    uint64_t now_us;            /* time of the newest packet, or wall time; monotone */
    uint64_t seqno_at;          /* all later vectors are above this position, see */
    uint64_t seqno_sub;         /* sequencer.h; 0: there is no order */
    bool last;                  /* the capture has ended: nothing comes after this one */
    bool tick;                  /* may be empty: a vector that only advances time */
    bool waits;                 /* at a full ring its packets wait and are not dropped */
    /* For a module that processes packets one by one and may wait for other threads: the current
     * packet, and the number of packets before it. During a wait the module may hand these on;
     * `done` is 0 then. */
    const struct packet *at_work;
    unsigned done;
    const struct vector_sleeper *sleeper;       /* of the vector that receive fills; NULL: none */
};

static inline void vector_sleeps(const struct packet_vector *v)
{
    if (v->sleeper != NULL)
        v->sleeper->sleeps(v->sleeper->self);
}

static inline void vector_wakes(const struct packet_vector *v)
{
    if (v->sleeper != NULL)
        v->sleeper->wakes(v->sleeper->self);
}

#define VECTOR_FILL 64          /* number of packets that a capture adds before it hands the
                                 * vector off */

void vector_grow(struct packet_vector *v, unsigned cap);        /* at load time */

bool vector_try_grow(struct packet_vector *v);

/* Appends a packet while packets flow. False: the vector is full and there is no memory for a
 * larger one. */
static inline bool vector_has_space(struct packet_vector *v)
{
    return LIKELY(v->count < v->cap) || vector_try_grow(v);
}

/* Appends a packet. False: the vector is full and there is no memory; not before VECTOR_FILL
 * packets. */
static inline bool vector_push(struct packet_vector *v, struct packet *p)
{
    if (UNLIKELY(!vector_has_space(v)))
        return false;
    v->packet[v->count++] = p;
    return true;
}

/* Inserts right after position `at`: inner packets are inspected after their outer one and
 * before the next captured one. */
bool vector_insert(struct packet_vector *v, unsigned at, struct packet *p);

#endif
