/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/buf.h - a growable buffer of bytes that keeps its memory when cleared.
 *
 * Holds up to 4 GiB. When memory is refused, `failed` is set until the buffer is cleared, and the
 * data are missing. A writer of records therefore checks `failed` once, at the end. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/base.h"
#include "base/text/bytes.h"

#include <string.h>

struct buf {
    uint8_t *data;
    size_t len;
    uint32_t cap;
    bool failed;
};

void buf_fini(struct buf *b);
bool buf_grow(struct buf *b, size_t more);      /* space for `more` bytes after len */

/* Prefetches the cache lines at and before the end, some time before bytes are appended. */
static inline void buf_prefetch_end(const struct buf *b)
{
    for (size_t i = 0; b->data != NULL && i < 3 && i * CACHE_LINE <= b->len; i++)
        PREFETCH(b->data + b->len - i * CACHE_LINE);
}

static inline void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
}

/* Truncates to `len` and clears `failed`. Returns true when nothing had failed. */
static inline bool buf_cut_failed(struct buf *b, size_t len)
{
    if (LIKELY(!b->failed))
        return true;
    b->len = len;
    b->failed = false;
    return false;
}

/* False: no space; sets b->failed. */
NODISCARD static inline bool buf_reserve(struct buf *b, size_t more)
{
    return LIKELY(b->cap - b->len >= more) || buf_grow(b, more);
}

/* Adds all of it or nothing. */
static inline bool buf_add(struct buf *b, const void *data, size_t len)
{
    if (len == 0)
        return true;
    if (UNLIKELY(!buf_reserve(b, len)))
        return false;
    memcpy(b->data + b->len, data, len);
    b->len += len;
    return true;
}

static inline bool buf_add_u8(struct buf *b, uint8_t c)
{
    if (UNLIKELY(!buf_reserve(b, 1)))
        return false;
    b->data[b->len++] = c;
    return true;
}

#define BUF_LITERAL(b, s) buf_add((b), (s), sizeof(s) - 1)

void buf_add_string(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_drop_front(struct buf *b, size_t n);
void buf_shrink(struct buf *b);         /* returns the space behind the data to the system */

static inline struct slice buf_slice(const struct buf *b)
{
    return (struct slice){ .data = b->data, .len = (uint32_t)b->len };
}

#endif
