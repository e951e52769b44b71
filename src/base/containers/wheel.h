/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/wheel.h - timers: adding, removing and firing one has constant cost for any
 * number of timers, and allocates nothing.
 *
 * The caller chooses the unit of time (ms, seconds); time never runs backwards. One thread may use
 * a wheel. A timer is a member of the struct that it times, which must not move or be freed while
 * the timer is queued. */
#ifndef BASE_WHEEL_H
#define BASE_WHEEL_H

#include "base/base.h"

struct wheel_timer {
    struct wheel_timer *next, *prev;    /* NULL: not queued */
    uint64_t expires;
};

/* 11 levels of 64 slots cover 64 bits, six bits per level. */
#define WHEEL_LEVELS 11
#define WHEEL_SLOTS 64

struct wheel {
    uint64_t now;
    struct wheel_timer pending;             /* removed from slots, not yet fired or queued again */
    uint64_t occupied[WHEEL_LEVELS];        /* a bit per slot; may be set for an empty one */
    struct wheel_timer slot[WHEEL_LEVELS][WHEEL_SLOTS];
};

void wheel_init(struct wheel *w, uint64_t now);

/* The timer must be all zero, removed by wheel_del(), or fired; a queued one is moved. An `expires`
 * in the past fires at the next wheel_advance(). */
void wheel_add(struct wheel *w, struct wheel_timer *timer, uint64_t expires);
void wheel_del(struct wheel_timer *timer);              /* no effect when not queued */

static inline bool wheel_is_queued(const struct wheel_timer *timer)
{
    return timer->next != NULL;
}

/* Fires the timers that expire up to `now`, in order of time. A timer is out of the wheel when
 * `fire` gets it; `fire` may add and delete any timer. Handles at most max_per_call timers (0: no
 * limit). False means that there is more to do and that wheel time has not reached `now` yet. */
typedef void wheel_fire(struct wheel_timer *timer, void *arg);
bool wheel_advance(struct wheel *w, uint64_t now, wheel_fire *fire, void *arg,
                   unsigned max_per_call);

/* Gives each timer another time: fire(timer) adds it again. In order of time as far as the wheel
 * has one, and of their adding: not in an order of addresses or hashes. */
void wheel_restart(struct wheel *w, wheel_fire *fire, void *arg);

/* No timer fires before this; UINT64_MAX without any. May be early, never late. */
uint64_t wheel_next(const struct wheel *w);

#endif
