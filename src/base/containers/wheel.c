/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/wheel.c - a hierarchical timer wheel. One thread.
 *
 * A timer is on the level of the highest group of six bits in which its time differs from now, in
 * the slot of that group's value. So all slots of a level are in the future, and the first occupied
 * slot of the lowest occupied level is the next one. Time may jump to its start. There its timers
 * fire, or move to lower levels. */
#include "base/containers/wheel.h"

#define BITS 6

static void list_init(struct wheel_timer *head)
{
    head->next = head->prev = head;
}

static void list_add_tail(struct wheel_timer *head, struct wheel_timer *timer)
{
    timer->prev = head->prev;
    timer->next = head;
    head->prev->next = timer;
    head->prev = timer;
}

/* Moves all of `from` to the end of `to`. */
static void list_splice(struct wheel_timer *to, struct wheel_timer *from)
{
    if (from->next == from)
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    list_init(from);
}

void wheel_init(struct wheel *w, uint64_t now)
{
    w->now = now;
    list_init(&w->pending);
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        w->occupied[level] = 0;
        for (unsigned i = 0; i < WHEEL_SLOTS; i++)
            list_init(&w->slot[level][i]);
    }
}

/* Also moves a timer that is in the wheel. One whose time is past fires at the next
 * wheel_advance(). */
void wheel_add(struct wheel *w, struct wheel_timer *timer, uint64_t expires)
{
    unsigned level, slot;

    wheel_del(timer);
    timer->expires = expires;
    if (expires <= w->now) {
        list_add_tail(&w->pending, timer);
        return;
    }
    level = (unsigned)(63 - __builtin_clzll(expires ^ w->now)) / BITS;
    slot = expires >> (level * BITS) & (WHEEL_SLOTS - 1);
    w->occupied[level] |= UINT64_C(1) << slot;
    list_add_tail(&w->slot[level][slot], timer);
}

/* The slot's bit stays set: to see whether this was the last timer would need the slot. An empty
 * slot costs one step later. */
void wheel_del(struct wheel_timer *timer)
{
    if (timer->next == NULL)
        return;
    timer->next->prev = timer->prev;
    timer->prev->next = timer->next;
    timer->next = timer->prev = NULL;
}

/* The next occupied slot and the time at which it starts; false if there is none. */
static bool next_slot(const struct wheel *w, unsigned *level, unsigned *slot, uint64_t *start)
{
    for (unsigned l = 0; l < WHEEL_LEVELS; l++) {
        uint64_t above;

        if (w->occupied[l] == 0)
            continue;
        *level = l;
        *slot = (unsigned)__builtin_ctzll(w->occupied[l]);
        above = l + 1 < WHEEL_LEVELS ? w->now >> ((l + 1) * BITS) << ((l + 1) * BITS) : 0;
        *start = above | (uint64_t)*slot << (l * BITS);
        return true;
    }
    return false;
}

uint64_t wheel_next(const struct wheel *w)
{
    unsigned level, slot;
    uint64_t start;

    if (w->pending.next != &w->pending)
        return w->now;
    return next_slot(w, &level, &slot, &start) ? start : UINT64_MAX;
}

/* Fires pending timers or moves them down; false when the budget is used up. */
static bool handle_pending(struct wheel *w, wheel_fire *fire, void *arg, unsigned *budget)
{
    while (w->pending.next != &w->pending) {
        struct wheel_timer *timer = w->pending.next;

        if (*budget == 0)
            return false;
        --*budget;
        if (timer->expires > w->now) {
            wheel_add(w, timer, timer->expires);
            continue;
        }
        wheel_del(timer);
        fire(timer, arg);
    }
    return true;
}

/* Lower levels are nearer, and so are lower slots of a level. */
void wheel_restart(struct wheel *w, wheel_fire *fire, void *arg)
{
    struct wheel_timer all;

    list_init(&all);
    list_splice(&all, &w->pending);
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        for (unsigned slot = 0; slot < WHEEL_SLOTS; slot++)
            list_splice(&all, &w->slot[level][slot]);
        w->occupied[level] = 0;
    }
    while (all.next != &all) {
        struct wheel_timer *timer = all.next;

        wheel_del(timer);
        fire(timer, arg);
    }
}

/* max_per_call bounds the work; false: call again, with the same time. fire() may add and remove
 * timers, since each one leaves the list before it fires. */
bool wheel_advance(struct wheel *w, uint64_t now, wheel_fire *fire, void *arg,
                   unsigned max_per_call)
{
    unsigned budget = max_per_call > 0 ? max_per_call : UINT32_MAX;
    unsigned level, slot;
    uint64_t start;

    for (;;) {
        if (!handle_pending(w, fire, arg, &budget))
            return false;
        if (now <= w->now)
            return true;
        if (!next_slot(w, &level, &slot, &start) || start > now) {
            w->now = now;
            return true;
        }
        w->now = start;
        w->occupied[level] &= ~(UINT64_C(1) << slot);
        list_splice(&w->pending, &w->slot[level][slot]);
    }
}
