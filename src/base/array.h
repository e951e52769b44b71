/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/array.h - growable arrays, for load time and for data whose size becomes steady.
 *
 *     struct { struct rule **at; size_t count, cap; } rules = { 0 };
 *     ARRAY_PUSH(&rules, rule);
 *
 * ARRAY_PUSH and ARRAY_RESERVE end the process when memory runs out at load time. Once packets flow
 * they wait for memory instead, because a reload may wait. Arrays that traffic makes grow use
 * ARRAY_HAS_SPACE (base/memory/traffic_memory.h); scripts/aborts checks this. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include "base/base.h"

#define ARRAY_OF(type) struct { type *at; size_t count, cap; }

void *array_grow(void *at, size_t *cap, size_t need, size_t item_size);

#define ARRAY_RESERVE(a, need)                                                            \
    do {                                                                                  \
        if ((a)->cap < (size_t)(need))                                                    \
            (a)->at = array_grow((a)->at, &(a)->cap, (need), sizeof((a)->at[0]));         \
    } while (0)

#define ARRAY_PUSH(a, ...)                                                                \
    do {                                                                                  \
        ARRAY_RESERVE(a, (a)->count + 1);                                                 \
        (a)->at[(a)->count++] = (__VA_ARGS__);                                            \
    } while (0)

#define ARRAY_FREE(a)                                                                     \
    do {                                                                                  \
        free((a)->at);                                                                    \
        (a)->at = NULL;                                                                   \
        (a)->count = (a)->cap = 0;                                                        \
    } while (0)

/* While the process starts: ends it with a message. Later: sleeps a moment, and the caller tries
 * once more. */
COLD void out_of_memory(size_t size);
void out_of_memory_waits(void);         /* from now on: packets flow */

/* malloc and friends that never give NULL; for what is loaded. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *s);
void *xaligned(size_t align, size_t size);      /* all zero; align a power of two; for free() */
void *xaligned_unset(size_t align, size_t size);        /* not zero, nor touched */

#endif
