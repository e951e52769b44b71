/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/clock.h - time of the machine. Packet time is different: it comes with packets. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/base.h"

#include <time.h>

static inline uint64_t clock_read_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Monotonic; about 20 ns a call, no system call. */
static inline uint64_t clock_ns(void) { return clock_read_ns(CLOCK_MONOTONIC); }
/* Monotonic to the kernel's tick (1 to 4 ms), about 5 ns a call. */
static inline uint64_t clock_coarse_ns(void) { return clock_read_ns(CLOCK_MONOTONIC_COARSE); }
/* Since 1970. */
static inline uint64_t clock_wall_us(void) { return clock_read_ns(CLOCK_REALTIME) / 1000; }
static inline uint64_t clock_thread_cpu_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* clock_pause() is for a loop that polls memory which another CPU will write. clock_ticks() reads
 * the CPU's cycle counter. */
#if defined(__x86_64__)
static inline void clock_pause(void) { __builtin_ia32_pause(); }
static inline uint64_t clock_ticks(void) { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
static inline void clock_pause(void) { __asm__ volatile("yield" ::: "memory"); }
static inline uint64_t clock_ticks(void)
{
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
static inline void clock_pause(void) { }
static inline uint64_t clock_ticks(void) { return clock_ns(); }
#endif

/* A clock for time stamps at every vector. It reads the CPU's cycle counter where the kernel trusts
 * it as its own clock, else clock_ns(). Set up once at start, then read by all threads. It agrees
 * with clock_ns() to about 0.01 %, so use it only for durations. */
struct clock_fast {
    bool has_counter;
    uint64_t start_ticks, start_ns;
    uint64_t ns_per_tick;           /* 32.32 fixed point */
};
void clock_fast_init(struct clock_fast *c);     /* takes 10 ms */

static inline uint64_t clock_fast_ns(const struct clock_fast *c)
{
    if (!c->has_counter)
        return clock_ns();
    return c->start_ns +
           (uint64_t)((unsigned __int128)(clock_ticks() - c->start_ticks) * c->ns_per_tick >> 32);
}

#endif
