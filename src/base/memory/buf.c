/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/buf.c - a growable buffer of bytes. */
#include "base/memory/buf.h"

#include "base/memory/traffic_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_fini(struct buf *b)
{
    traffic_memory_release(b->cap);
    free(b->data);
    *b = (struct buf){ 0 };
}

/* Doubles, so that n added bytes copy O(n). */
COLD bool buf_grow(struct buf *b, size_t more)
{
    size_t need, cap;
    uint8_t *data;

    if (__builtin_add_overflow(b->len, more, &need))
        need = SIZE_MAX;
    cap = MAX(MAX(need, (size_t)b->cap * 2), (size_t)64);
    if (cap > UINT32_MAX || !traffic_memory_take(cap - b->cap)) {
        b->failed = true;
        return false;
    }
    data = realloc(b->data, cap);
    if (data == NULL) {
        traffic_memory_release(cap - b->cap);
        b->failed = true;
        return traffic_memory_out();
    }
    b->data = data;
    b->cap = (uint32_t)cap;
    return true;
}

void buf_add_string(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

/* Formats twice if the text does not fit the first time. */
void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;
    size_t space;
    int n;

    if (!buf_reserve(b, 32))
        return;
    space = b->cap - b->len;
    va_start(args, fmt);
    n = vsnprintf((char *)b->data + b->len, space, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n >= space) {
        if (!buf_reserve(b, (size_t)n + 1))
            return;
        va_start(args, fmt);
        vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, args);
        va_end(args);
    }
    b->len += (size_t)n;
}

/* Space that does not matter stays, so that a buffer which grows again is not copied each time. */
void buf_shrink(struct buf *b)
{
    uint32_t cap = (uint32_t)MAX(b->len, (size_t)64);
    uint8_t *data;

    if (b->cap <= cap || b->cap - cap <= b->cap / 4)
        return;
    data = realloc(b->data, cap);
    if (data == NULL)
        return;
    traffic_memory_release(b->cap - cap);
    b->data = data;
    b->cap = cap;
}

void buf_drop_front(struct buf *b, size_t n)
{
    n = MIN(n, b->len);
    if (n == 0)
        return;
    b->len -= n;
    memmove(b->data, b->data + n, b->len);
}
