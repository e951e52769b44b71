/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/values.h - the values of a keyword that a message can have many of. Rules ask for number 0,
 * 1, 2 and so on, and some ask again with each packet that brings more. A walk from the first one
 * each time would be quadratic in a number that the peer chooses, so the place where the last
 * request ended is kept: by the thread, and for far places by the transaction. */
#ifndef APP_VALUES_H
#define APP_VALUES_H

#include "app/tx.h"
#include "base/text/bytes.h"

/* Valid as long as the list only grows at its end, and until its transaction is freed. */
struct app_place {
    const void *list, *keyword;
    const void *item;           /* the value at `index`; NULL: the list's beginning */
    const void *last;           /* the last item that was looked at: none between fits */
    struct bytes rest;          /* of a list that is still encoded: from the value on */
    unsigned index;
    unsigned at;                /* of an array that has other items, too: where to look next */
};

/* The place kept for this list of this keyword, if it is not beyond `index`; else one at the
 * beginning. `list` is an address that no other list of the transaction has. */
struct app_place *app_place_of(struct app_tx *tx, const void *list, const void *keyword,
                               unsigned index);
/* Keeps a place with the transaction whose index is low, because the way to it was long. */
void app_place_keep(struct app_tx *tx, const struct app_place *place);

/* How many values of a list a test has compared, and how many of them matched. Kept with the
 * transaction: a test of a list that only grows compares each value once, however many packets
 * bring them. */
struct app_seen {
    unsigned count, hits;
};
/* `test` is an address that no other test has. many: a list of the transaction is known to be long.
 * NULL: none is, or there is no memory. */
struct app_seen *app_seen_of(struct app_tx *tx, enum direction direction, const void *test,
                             bool many);

/* Number `index` of the items that fit, from 0, in a list whose items have their pointer to the
 * next one at the offset `next`. NULL: there are fewer. */
struct app_values {
    const void *first;
    size_t next;
    bool (*fits)(const void *item, const void *arg);    /* NULL: all */
    const void *arg;            /* also tells lists of different keywords apart */
};
const void *app_value_at(struct app_tx *tx, const struct app_values *values, unsigned index);

/* All items of a list. */
#define APP_ITEM_AT(tx, list_first, type, index)                                              \
    app_value_at(tx, &(struct app_values){ .first = (list_first),                             \
                                           .next = offsetof(struct type, next) }, index)

/* Of a list that is still encoded. take() reads one value; false: the last one is behind it. */
struct app_encoded {
    struct bytes list;
    const void *keyword;
    bool (*take)(struct bytes *list, struct slice *out);
};
bool app_encoded_value_at(struct app_tx *tx, const struct app_encoded *values, unsigned index,
                          struct slice *out);

#endif
