/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/seqno.h - the time in positions of packets in a capture file.
 *
 * A position is packet.seqno, and packet.seqno_sub among the packets of one frame. It is the same
 * in every run mode, and its time never goes back, unlike the packets' own timestamps. 0: a live
 * capture, whose packets have no positions. */
#ifndef PACKET_SEQNO_H
#define PACKET_SEQNO_H

#include "packet/packet.h"

/* Time in a seqno: microseconds of packet time are its upper bits. Captured packets have even
 * numbers; flows that time out between two packets have odd ones. */
#define SEQNO_BITS 10
#define SEQNO_SHUTDOWN (UINT64_C(1) << 63)      /* above it: flows that end with the run */
#define SEQNO_END UINT64_MAX

static inline uint64_t seqno_time_us(uint64_t seqno) { return seqno >> SEQNO_BITS; }
/* The time by which what many packets share ages: the same in every run mode. */
static inline uint64_t packet_order_us(const struct packet *p)
{
    return LIKELY(p->seqno != 0) ? seqno_time_us(p->seqno) : p->time_us;
}
/* Before all packets of that time. */
static inline uint64_t seqno_before_us(uint64_t us) { return (us << SEQNO_BITS) - 1; }

/* Later times count as this one. */
#define SEQNO_TIME_MAX (UINT64_C(1) << 52)
/* No packet up to this position is later than the result, even if packet time goes back. */
static inline uint64_t seqno_latest_us(uint64_t seqno)
{
    uint64_t us = seqno_time_us(seqno) + 1;

    return us < SEQNO_TIME_MAX ? us : UINT64_MAX;
}

/* The next packet's position, after `last` and not before its time. */
static inline uint64_t seqno_next(uint64_t last, uint64_t time_us)
{
    uint64_t by_time = MIN(time_us, SEQNO_TIME_MAX) << SEQNO_BITS;

    return by_time > last ? by_time : last + 2;
}

#endif
