/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/wheel.h - timers by the million: adding, removing and firing one costs the same
 * however many there are, and nothing is allocated.
 *
 * Time is a number of the caller's own unit (ms, seconds) that never runs backwards. One thread.
 * A timer sits inside the struct it times, which must not move or die while it is queued. */
#ifndef BASE_WHEEL_H
#define BASE_WHEEL_H

#include "base/base.h"

struct wheel_timer {
    struct wheel_timer *next, *prev;    /* NULL: not queued */
    uint64_t expires;
};

/* 11 levels of 64 slots: the whole range of 64 bits, six at a time. */
#define WHEEL_LEVELS 11
#define WHEEL_SLOTS 64

struct wheel {
    uint64_t now;
    struct wheel_timer pending;             /* taken out of slots, not yet fired or put back */
    uint64_t occupied[WHEEL_LEVELS];        /* a bit per slot; may be set for an empty one */
    struct wheel_timer slot[WHEEL_LEVELS][WHEEL_SLOTS];
};

void wheel_init(struct wheel *w, uint64_t now);

/* The timer must be all zero or have been through wheel_del() or fired; a queued one is moved.
 * An `expires` that has passed fires at the next wheel_advance(). */
void wheel_add(struct wheel *w, struct wheel_timer *timer, uint64_t expires);
void wheel_del(struct wheel_timer *timer);              /* fine when not queued */

static inline bool wheel_is_queued(const struct wheel_timer *timer)
{
    return timer->next != NULL;
}

/* Fires, in order of time, what expires up to `now`; each timer is out of the wheel when `fire`
 * sees it, and `fire` may add and delete any. Handles at most max_per_call timers (0: no bound):
 * false says that there is more to do, and that wheel time has not reached `now` yet. */
typedef void wheel_fire(struct wheel_timer *timer, void *arg);
bool wheel_advance(struct wheel *w, uint64_t now, wheel_fire *fire, void *arg,
                   unsigned max_per_call);

/* Gives each timer another time: fire(timer) adds it again. In order of time as far as the wheel
 * has one, and of their adding: not in an order of addresses or hashes. */
void wheel_restart(struct wheel *w, wheel_fire *fire, void *arg);

/* No timer fires before this; UINT64_MAX without any. May be early, never late. */
uint64_t wheel_next(const struct wheel *w);

#endif
