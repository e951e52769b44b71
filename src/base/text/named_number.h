/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/named_number.h - tables of numbers and their names. */
#ifndef BASE_NAMED_NUMBER_H
#define BASE_NAMED_NUMBER_H

#include "base/base.h"

struct named_number {
    uint32_t number;
    const char *text;
};

/* `names` are ordered by number. NULL: the number has no name. */
static inline const char *named_number_find(const struct named_number *names, size_t count,
                                            uint32_t number)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (names[middle].number == number)
            return names[middle].text;
        if (names[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
#define NAMED_NUMBER(names, number) named_number_find(names, ARRAY_LEN(names), number)

#endif
