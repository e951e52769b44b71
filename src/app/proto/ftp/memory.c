/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/memory.c - counts the memory of transactions, and holds it against the memcap if
 * one is set.
 *
 * Only then do threads share a number: without a memcap no thread needs to know of others. */
#include "app/proto/ftp/ftp.h"

/* The limit may change at run time. All threads add first and check after, so that none needs a
 * lock. */
static bool take(struct app_memory *m, uint32_t size)
{
    uint64_t limit = __atomic_load_n(&m->limit, __ATOMIC_RELAXED);

    if (__atomic_add_fetch(&m->used, size, __ATOMIC_RELAXED) <= limit || limit == 0)
        return true;
    __atomic_sub_fetch(&m->used, size, __ATOMIC_RELAXED);
    return false;
}

bool ftp_memory_take(struct ftp_tx *tx, uint32_t size)
{
    const struct ftp_settings *s = tx->tx.flow->settings;
    struct ftp_thread *thread = tx->tx.flow->thread_data;

    if (s->memory->counted && !take(s->memory, size)) {
        counter_inc(thread->counters, thread->refused);
        return false;
    }
    tx->memory += size;
    counter_add(thread->counters, thread->used, size);
    return true;
}

void ftp_memory_release(struct ftp_tx *tx)
{
    const struct ftp_settings *s = tx->tx.flow->settings;
    struct ftp_thread *thread = tx->tx.flow->thread_data;

    if (s->memory->counted)
        __atomic_sub_fetch(&s->memory->used, tx->memory, __ATOMIC_RELAXED);
    counter_sub(thread->counters, thread->used, tx->memory);
    tx->memory = 0;
}
