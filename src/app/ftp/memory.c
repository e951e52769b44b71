/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/ftp/memory.c - memory of transactions, counted, and held against the memcap if one is set.
 *
 * Threads share the figure only then: without a memcap none of them needs to know of others. */
#include "app/ftp/ftp.h"

bool ftp_memory_take(struct ftp_tx *tx, uint32_t size)
{
    const struct ftp_settings *s = tx->tx.flow->settings;
    struct ftp_thread *thread = tx->tx.flow->thread_data;

    if (s->memcap != 0 &&
        __atomic_add_fetch(s->used, size, __ATOMIC_RELAXED) > s->memcap) {
        __atomic_sub_fetch(s->used, size, __ATOMIC_RELAXED);
        counter_inc(thread->counters, thread->refused);
        return false;
    }
    tx->memory += size;
    counter_add(thread->counters, thread->used, size);
    return true;
}

void ftp_memory_give(struct ftp_tx *tx)
{
    const struct ftp_settings *s = tx->tx.flow->settings;
    struct ftp_thread *thread = tx->tx.flow->thread_data;

    if (s->memcap != 0)
        __atomic_sub_fetch(s->used, tx->memory, __ATOMIC_RELAXED);
    counter_sub(thread->counters, thread->used, tx->memory);
    tx->memory = 0;
}
