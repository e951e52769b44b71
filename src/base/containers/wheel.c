/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/containers/wheel.c - a hierarchical timer wheel.
 *
 * A timer lies on the level of the highest group of six bits in which it differs from now, in
 * the slot of that group's value. So of a level's slots all lie ahead of now, the first occupied
 * slot of the lowest occupied level is the next to come, and time may jump to where it begins.
 * There its timers are put back, onto lower levels, or fire. */
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

/* All of `from` behind the last of `to`. */
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

/* The slot's bit stays: to find out whether it was the last would need the slot. */
void wheel_del(struct wheel_timer *timer)
{
    if (timer->next == NULL)
        return;
    timer->next->prev = timer->prev;
    timer->prev->next = timer->next;
    timer->next = timer->prev = NULL;
}

/* The next slot to come and the time at which it begins; false when all are empty. */
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

/* Fires or puts back what is pending; false when the budget ran out. */
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
