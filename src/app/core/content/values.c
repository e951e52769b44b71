/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/content/values.c - the place of a thread in a list of values, see app/values.h. */
#include "app/values.h"

#include "app/core/thread.h"
#include "app/session.h"

#include <string.h>

#define FEW 16                  /* values that are found sooner by a walk */
#define PLACES 8                /* of a transaction: keywords that have many values */

struct app_places {
    struct app_place place[PLACES];
    struct seen_list {
        struct seen_list *next;
        const void *test;
        enum direction direction;
        struct app_seen seen;
    } *seen;                    /* rules limit their number */
};

/* NULL is the list of no place: one that was left has it, and so has a list without values. */
static bool is_in(const struct app_place *place, const void *list, const void *keyword)
{
    return list != NULL && place->list == list && place->keyword == keyword;
}

/* The transaction's place in this list, or one that is free; the last one goes if all are used. */
static struct app_place *far_place(struct app_tx *tx, const void *list, const void *keyword)
{
    struct app_place *place = tx->places->place;
    unsigned i = 0;

    while (i < PLACES - 1 && place[i].list != NULL && !is_in(&place[i], list, keyword))
        i++;
    return &place[i];
}

static bool has_places(struct app_tx *tx)
{
    if (tx->places == NULL)
        tx->places = arena_zalloc(&tx->arena, sizeof(*tx->places));
    return tx->places != NULL;
}

/* One that is ahead of `index` stays: who walks there again from the beginning needs it then. */
struct app_place *app_place_of(struct app_tx *tx, const void *list, const void *keyword,
                               unsigned index)
{
    struct app_place *near = &tx->flow->thread->place, *far = NULL;

    if (tx->places != NULL || (index >= FEW && has_places(tx)))
        far = far_place(tx, list, keyword);
    if (far != NULL && is_in(far, list, keyword) && far->index <= index)
        return far;
    if (!is_in(near, list, keyword) || near->index > index)
        *near = (struct app_place){ .list = list, .keyword = keyword };
    if (index < FEW || far == NULL || is_in(far, list, keyword))
        return near;
    *far = *near;
    return far;
}

void app_place_keep(struct app_tx *tx, const struct app_place *place)
{
    struct app_place *far = has_places(tx) ? far_place(tx, place->list, place->keyword) : NULL;

    if (far != NULL && !is_in(far, place->list, place->keyword))
        *far = *place;
}

struct app_seen *app_seen_of(struct app_tx *tx, enum direction direction, const void *test,
                             bool many)
{
    struct seen_list *s = NULL;

    if (tx->places == NULL && (!many || !has_places(tx)))
        return NULL;
    for (s = tx->places->seen; s != NULL; s = s->next)
        if (s->test == test && s->direction == direction)
            return &s->seen;
    s = arena_zalloc(&tx->arena, sizeof(*s));
    if (s == NULL)
        return NULL;
    *s = (struct seen_list){ .next = tx->places->seen, .test = test, .direction = direction };
    tx->places->seen = s;
    return &s->seen;
}

static const void *after(const void *item, size_t next)
{
    const void *other;

    memcpy(&other, (const char *)item + next, sizeof(other));
    return other;
}

/* Beyond the last value the place stays at the last one, and the search at the end of the list. */
const void *app_value_at(struct app_tx *tx, const struct app_values *values, unsigned index)
{
    struct app_place *place = app_place_of(tx, values->first, values->arg, index);
    const void *item = place->last != NULL ? after(place->last, values->next) : values->first;
    unsigned walked = 0;

    if (place->item != NULL && place->index == index)
        return place->item;
    for (; item != NULL; item = after(item, values->next), walked++) {
        place->last = item;
        if (values->fits != NULL && !values->fits(item, values->arg))
            continue;
        place->index += place->item != NULL;
        place->item = item;
        if (place->index == index)
            break;
    }
    if (walked >= FEW)
        app_place_keep(tx, place);
    return item;
}

bool app_encoded_value_at(struct app_tx *tx, const struct app_encoded *values, unsigned index,
                          struct slice *out)
{
    const void *list = values->list.next;
    struct app_place *place = app_place_of(tx, list, values->keyword, index);
    struct bytes rest = place->item != NULL ? place->rest : values->list, here = rest;
    unsigned n = place->index;

    while (values->take(&rest, out)) {
        if (n++ == index) {
            place->item = list;
            place->rest = here;
            place->index = index;
            return true;
        }
        here = rest;
    }
    return false;
}
