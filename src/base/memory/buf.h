/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/buf.h - a growable buffer of bytes that keeps its memory when cleared. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/base.h"
#include "base/text/bytes.h"

#include <string.h>

struct buf {
    uint8_t *data;
    size_t len, cap;
};

void buf_fini(struct buf *b);
void buf_grow(struct buf *b, size_t more);      /* room for `more` bytes behind len */

/* Called for ahead of time: where the next bytes go, and the two lines before. */
static inline void buf_prefetch_end(const struct buf *b)
{
    for (size_t i = 0; b->data != NULL && i < 3 && i * CACHE_LINE <= b->len; i++)
        PREFETCH(b->data + b->len - i * CACHE_LINE);
}

static inline void buf_clear(struct buf *b) { b->len = 0; }

static inline void buf_reserve(struct buf *b, size_t more)
{
    if (UNLIKELY(b->cap - b->len < more))
        buf_grow(b, more);
}

static inline void buf_add(struct buf *b, const void *data, size_t len)
{
    if (len == 0)
        return;
    buf_reserve(b, len);
    memcpy(b->data + b->len, data, len);
    b->len += len;
}

static inline void buf_add_u8(struct buf *b, uint8_t c)
{
    buf_reserve(b, 1);
    b->data[b->len++] = c;
}

#define BUF_LITERAL(b, s) buf_add((b), (s), sizeof(s) - 1)

void buf_add_string(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_drop_front(struct buf *b, size_t n);

static inline struct slice buf_slice(const struct buf *b)
{
    return (struct slice){ .data = b->data, .len = (uint32_t)b->len };
}

#endif
