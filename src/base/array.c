/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/array.c - growing arrays, and allocation that never fails: for load time and control
 * threads. While packets flow, memory comes from pools and arenas, which can refuse. */
#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Packets flow, or have done so. */
static _Atomic bool waits, is_logged;

#define RETRY_NS 100000000

void out_of_memory_waits(void)
{
    waits = true;
}

COLD void out_of_memory(size_t size)
{
    struct timespec pause = { .tv_nsec = RETRY_NS };

    if (!waits) {
        fprintf(stderr, "Error: memory: cannot get %zu bytes\n", size);
        abort();
    }
    if (!is_logged)
        fprintf(stderr, "Error: memory: cannot get %zu bytes: waiting for them\n", size);
    is_logged = true;
    nanosleep(&pause, NULL);
}

void *xmalloc(size_t size)
{
    void *p;

    while ((p = malloc(size > 0 ? size : 1)) == NULL)
        out_of_memory(size);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p;

    while ((p = calloc(count > 0 ? count : 1, size > 0 ? size : 1)) == NULL)
        out_of_memory(count * size);
    return p;
}

void *xrealloc(void *old, size_t size)
{
    void *p;

    while ((p = realloc(old, size > 0 ? size : 1)) == NULL)
        out_of_memory(size);
    return p;
}

char *xstrdup(const char *s)
{
    size_t size = strlen(s) + 1;

    return memcpy(xmalloc(size), s, size);
}

void *xaligned_unset(size_t align, size_t size)
{
    void *p = NULL;

    while (posix_memalign(&p, MAX(align, sizeof(void *)), MAX(size, (size_t)1)) != 0)
        out_of_memory(size);
    return p;
}

/* Zeroed, like xcalloc(): structs with cache-line alignment are as common as others. */
void *xaligned(size_t align, size_t size)
{
    return memset(xaligned_unset(align, size), 0, size);
}

/* Grows by half, so that n pushes copy O(n) items. */
void *array_grow(void *at, size_t *cap, size_t need, size_t item_size)
{
    size_t bytes, requested = MAX(need, *cap + *cap / 2);

    requested = MAX(requested, (size_t)8);
    while (__builtin_mul_overflow(requested, item_size, &bytes))
        out_of_memory(SIZE_MAX);
    *cap = requested;
    return xrealloc(at, bytes);
}
