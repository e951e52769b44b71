/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/seqno.h - positions of packets in a capture file, and watermarks, which are positions
 * up to which a thread is done.
 *
 * A position is packet.seqno, and packet.seqno_sub among the packets of one frame. It is the same
 * in every run mode. 0: a live capture, whose packets have no positions. */
#ifndef SEQUENCER_SEQNO_H
#define SEQUENCER_SEQNO_H

#include "base/base.h"

/* A position: everything before it has been finished. One writer, any reader; it only
 * advances. A reader may see an older value. */
struct watermark {
    uint64_t at, sub;
};

static inline void watermark_set(struct watermark *m, uint64_t at, uint64_t sub)
{
    if (m->at != at) {
        __atomic_store_n(&m->sub, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&m->at, at, __ATOMIC_RELEASE);
    }
    if (m->sub != sub)
        __atomic_store_n(&m->sub, sub, __ATOMIC_RELEASE);
}

/* `sub` belongs to `at` when `at` was the same before and after the read; else 0 is a safe
 * value. */
static inline struct watermark watermark_get(const struct watermark *m)
{
    struct watermark out = { .at = __atomic_load_n(&m->at, __ATOMIC_ACQUIRE) };

    out.sub = __atomic_load_n(&m->sub, __ATOMIC_ACQUIRE);
    if (UNLIKELY(__atomic_load_n(&m->at, __ATOMIC_ACQUIRE) != out.at))
        out.sub = 0;
    return out;
}

static inline bool watermark_has_passed(struct watermark m, uint64_t at, uint64_t sub)
{
    return m.at > at || (m.at == at && m.sub >= sub);
}

/* Time in a seqno: microseconds of packet time are its upper bits. Captured packets have even
 * numbers; flows that time out between two packets have odd ones. */
#define SEQNO_BITS 10
#define SEQNO_SHUTDOWN (UINT64_C(1) << 63)      /* above it: flows that end with the run */
#define SEQNO_END UINT64_MAX

static inline uint64_t seqno_time_us(uint64_t seqno) { return seqno >> SEQNO_BITS; }
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
