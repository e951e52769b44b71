/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/values.c - the place of a thread in a list of values, see app/values.h. */
#include "app/values.h"

#include "app/core/thread.h"
#include "app/session.h"

#include <string.h>

#define FEW 16                  /* values that are found sooner by a walk */
#define PLACES 4                /* of a transaction: keywords that have many values */

/* NULL is the list of no place: one that was left has it, and so has a list without values. */
static bool is_in(const struct app_place *place, const void *list, const void *keyword)
{
    return list != NULL && place->list == list && place->keyword == keyword;
}

/* The transaction's place in this list, or one that is free; the last one goes if all are used. */
static struct app_place *far_place(struct app_tx *tx, const void *list, const void *keyword)
{
    unsigned i = 0;

    while (i < PLACES - 1 && tx->places[i].list != NULL && !is_in(&tx->places[i], list, keyword))
        i++;
    return &tx->places[i];
}

struct app_place *app_place_of(struct app_tx *tx, const void *list, const void *keyword,
                               unsigned index)
{
    struct app_place *near = &tx->flow->thread->place, *far = NULL;

    if (index >= FEW && tx->places == NULL)
        tx->places = arena_zalloc(&tx->arena, PLACES * sizeof(*tx->places));
    if (index >= FEW && tx->places != NULL)
        far = far_place(tx, list, keyword);
    if (far != NULL && is_in(far, list, keyword) && far->index <= index)
        return far;
    if (!is_in(near, list, keyword) || near->index > index)
        *near = (struct app_place){ .list = list, .keyword = keyword };
    if (far == NULL)
        return near;
    *far = *near;
    return far;
}

static const void *after(const void *item, size_t next)
{
    const void *other;

    memcpy(&other, (const char *)item + next, sizeof(other));
    return other;
}

/* Beyond the last value the place stays at the last one. */
const void *app_value_at(struct app_tx *tx, const struct app_values *values, unsigned index)
{
    struct app_place *place = app_place_of(tx, values->first, values->arg, index);
    const void *item = place->item != NULL ? after(place->item, values->next) : values->first;

    if (place->item != NULL && place->index == index)
        return place->item;
    for (; item != NULL; item = after(item, values->next)) {
        if (values->fits != NULL && !values->fits(item, values->arg))
            continue;
        place->index += place->item != NULL;
        place->item = item;
        if (place->index == index)
            return item;
    }
    return NULL;
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
