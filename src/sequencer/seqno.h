/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/seqno.h - watermarks: positions (packet/seqno.h) up to which a thread is done. */
#ifndef SEQUENCER_SEQNO_H
#define SEQUENCER_SEQNO_H

#include "packet/seqno.h"

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

#endif
