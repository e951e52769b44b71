/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/clock.c - measures the cycle counter against the monotonic clock. */
#include "base/system/clock.h"

#include <stdio.h>
#include <string.h>

#define CALIBRATE_NS 10000000

/* The kernel checks what this needs: that the counter has the same speed in all power states, and
 * that all CPUs agree. If it uses another clock source, so do we. */
static bool kernel_trusts_counter(void)
{
    char name[32] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

    if (f == NULL)
        return false;
    if (fgets(name, sizeof(name), f) == NULL)
        name[0] = '\0';
    fclose(f);
    name[strcspn(name, "\n")] = '\0';
    return strcmp(name, "tsc") == 0 || strcmp(name, "arch_sys_counter") == 0;
}

/* Reads the clock and the counter at the same moment: the fastest of several tries. */
static void read_pair(uint64_t *ns, uint64_t *ticks)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 8; i++) {
        uint64_t before = clock_ticks(), now = clock_ns(), after = clock_ticks();

        if (after - before < best) {
            best = after - before;
            *ns = now;
            *ticks = before + best / 2;
        }
    }
}

/* ns_per_tick is a fixed-point number with 32 fractional bits. 10 ms of calibration give an error
 * of some parts per million, which is enough for accounting. */
void clock_fast_init(struct clock_fast *c)
{
    struct timespec pause = { .tv_nsec = CALIBRATE_NS };
    uint64_t ns = 0, ticks = 0;

    *c = (struct clock_fast){ .has_counter = kernel_trusts_counter() };
    if (!c->has_counter)
        return;
    read_pair(&c->start_ns, &c->start_ticks);
    nanosleep(&pause, NULL);
    read_pair(&ns, &ticks);
    if (ticks <= c->start_ticks || ns <= c->start_ns) {
        c->has_counter = false;
        return;
    }
    c->ns_per_tick = (uint64_t)(((unsigned __int128)(ns - c->start_ns) << 32) /
                                (ticks - c->start_ticks));
}
