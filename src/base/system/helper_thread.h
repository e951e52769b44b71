/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/helper_thread.h - a thread that works for a packet thread, such as one that sends:
 * its name, from the planner, and its statistics. */
#ifndef BASE_HELPER_THREAD_H
#define BASE_HELPER_THREAD_H

#include "base/base.h"
#include "base/system/clock.h"

#include <pthread.h>
#include <time.h>

struct helper_thread {
    const char *name;
    uint64_t jobs;                      /* jobs it received; the thread that sends them counts */
    uint64_t cpu_ns;                    /* CPU time in all; 0 while it runs */
    clockid_t clock;                    /* of its CPU time, while it runs */
    bool is_running;
};

static inline void helper_thread_begin(struct helper_thread *t)
{
    if (pthread_getcpuclockid(pthread_self(), &t->clock) == 0)
        __atomic_store_n(&t->is_running, true, __ATOMIC_RELEASE);
}

static inline void helper_thread_end(struct helper_thread *t)
{
    __atomic_store_n(&t->cpu_ns, clock_thread_cpu_ns(), __ATOMIC_RELEASE);
    __atomic_store_n(&t->is_running, false, __ATOMIC_RELEASE);
}

static inline uint64_t helper_thread_cpu_ns(const struct helper_thread *t)
{
    struct timespec now;

    if (__atomic_load_n(&t->is_running, __ATOMIC_ACQUIRE) && clock_gettime(t->clock, &now) == 0)
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return __atomic_load_n(&t->cpu_ns, __ATOMIC_ACQUIRE);
}

#endif
