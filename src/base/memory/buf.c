/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/buf.c - a growable buffer of bytes. */
#include "base/memory/buf.h"

#include "base/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_fini(struct buf *b)
{
    free(b->data);
    *b = (struct buf){ 0 };
}

/* Doubles, so that n added bytes copy O(n). */
COLD void buf_grow(struct buf *b, size_t more)
{
    size_t need;

    if (__builtin_add_overflow(b->len, more, &need))
        need = SIZE_MAX;
    b->cap = MAX(MAX(need, b->cap * 2), (size_t)64);
    b->data = xrealloc(b->data, b->cap);
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

    buf_reserve(b, 32);
    space = b->cap - b->len;
    va_start(args, fmt);
    n = vsnprintf((char *)b->data + b->len, space, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n >= space) {
        buf_reserve(b, (size_t)n + 1);
        va_start(args, fmt);
        vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, args);
        va_end(args);
    }
    b->len += (size_t)n;
}

void buf_drop_front(struct buf *b, size_t n)
{
    n = MIN(n, b->len);
    if (n == 0)
        return;
    b->len -= n;
    memmove(b->data, b->data + n, b->len);
}
