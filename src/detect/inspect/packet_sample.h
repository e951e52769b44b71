/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/packet_sample.h - which packets of a thread are timed, so that the cost of rules
 * is known without asking for it.
 *
 * A timed packet stands for itself and those since the timed one before it: what its rules cost
 * counts that many times. So the sum is an estimate for all packets. The distances come from a
 * sequence that is the same in each run: a thread times the same packets again, and traffic with a
 * period of its own is met at changing points. The first distances are short, so that a small
 * capture shows costs as well. */
#ifndef DETECT_PACKET_SAMPLE_H
#define DETECT_PACKET_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* One packet in 128 on average: 64 to 191. The time of a rule takes two readings of the clock and a
 * few additions, which is as much as evaluating a small rule again. */
#define PACKET_SAMPLE_EVERY 128u

struct packet_sample {
    uint64_t next;              /* number of the next packet to time */
    uint32_t weight;            /* of this packet; 0: it is not timed */
    uint32_t distance;          /* between the timed one before and `next` */
    uint32_t random;
};

/* Numbers count from `now` + 1 on: that packet is timed. */
static inline void packet_sample_init(struct packet_sample *s, uint64_t now)
{
    *s = (struct packet_sample){ .next = now + 1, .distance = 1 };
}

/* The constants are those of Numerical Recipes. Their high bits are good enough here. */
static inline uint32_t packet_sample_distance(struct packet_sample *s)
{
    if (s->distance < PACKET_SAMPLE_EVERY / 2)
        return 2 * s->distance;
    s->random = s->random * 1664525u + 1013904223u;
    return PACKET_SAMPLE_EVERY / 2 + s->random / (UINT32_MAX / PACKET_SAMPLE_EVERY + 1);
}

/* Call it if number >= s->next: that is a packet to time, or the one after it. All distances but
 * the first are 2 or more, so two packets in a row are never timed. */
static inline void packet_sample_take(struct packet_sample *s, uint64_t number)
{
    if (number == s->next) {
        s->weight = s->distance;
        s->distance = packet_sample_distance(s);
        return;
    }
    s->weight = 0;
    s->next += s->distance;
}

#endif
