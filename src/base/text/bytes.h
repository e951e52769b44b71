/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/bytes.h - the bounds-checked cursor with which every parser reads bytes from the
 * network.
 *
 * A read past the end returns zeros and sets `failed` for good: read all fields, then check once. A
 * cursor borrows the bytes. To look ahead, copy the struct and read from the copy. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "base/base.h"

#include <string.h>

struct bytes {
    const uint8_t *next, *end;
    bool failed;
};

/* Borrowed bytes, without a position. */
struct slice {
    const uint8_t *data;
    uint32_t len;
};

static inline struct bytes bytes_of(const void *data, size_t len)
{
    const uint8_t *p = data;

    return (struct bytes){ .next = p, .end = len > 0 ? p + len : p, .failed = false };
}

static inline struct bytes bytes_of_slice(struct slice s)
{
    return bytes_of(s.data, s.len);
}

static inline size_t bytes_left(const struct bytes *in)
{
    return (size_t)(in->end - in->next);
}

/* True when n more bytes can be read. Does not fail the cursor. */
static inline bool bytes_have(const struct bytes *in, size_t n)
{
    return !in->failed && bytes_left(in) >= n;
}

/* Returns the next n bytes; NULL sets failed. n = 0 returns a valid pointer unless failed
 * already. */
static inline const uint8_t *take_bytes(struct bytes *in, size_t n)
{
    const uint8_t *p = in->next;

    if (UNLIKELY(in->failed || bytes_left(in) < n)) {
        in->failed = true;
        return NULL;
    }
    in->next += n;
    return p;
}

static inline struct slice take_slice(struct bytes *in, size_t n)
{
    const uint8_t *p = take_bytes(in, n);

    return (struct slice){ .data = p, .len = p != NULL ? (uint32_t)n : 0 };
}

/* Returns a cursor over the next n bytes and skips them; failed when there are fewer. */
static inline struct bytes take_sub(struct bytes *in, size_t n)
{
    const uint8_t *p = take_bytes(in, n);

    if (p == NULL)
        return (struct bytes){ .next = NULL, .end = NULL, .failed = true };
    return bytes_of(p, n);
}

static inline void take_skip(struct bytes *in, size_t n)
{
    (void)take_bytes(in, n);
}

/* Takes all remaining bytes. */
static inline struct slice take_rest(struct bytes *in)
{
    return take_slice(in, in->failed ? 0 : bytes_left(in));
}

static inline uint8_t take_u8(struct bytes *in)
{
    const uint8_t *p = take_bytes(in, 1);

    return p != NULL ? p[0] : 0;
}

static inline uint16_t get_be16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static inline uint32_t get_be24(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}
static inline uint32_t get_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline uint64_t get_be64(const uint8_t *p)
{
    return (uint64_t)get_be32(p) << 32 | get_be32(p + 4);
}
static inline uint16_t get_le16(const uint8_t *p) { return (uint16_t)(p[1] << 8 | p[0]); }
static inline uint32_t get_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}
static inline uint64_t get_le64(const uint8_t *p)
{
    return (uint64_t)get_le32(p + 4) << 32 | get_le32(p);
}

#define TAKE_NUMBER(type, name, size, get)                \
    static inline type name(struct bytes *in)             \
    {                                                     \
        const uint8_t *p = take_bytes(in, size);          \
                                                          \
        return p != NULL ? get(p) : 0;                    \
    }
TAKE_NUMBER(uint16_t, take_be16, 2, get_be16)
TAKE_NUMBER(uint32_t, take_be24, 3, get_be24)
TAKE_NUMBER(uint32_t, take_be32, 4, get_be32)
TAKE_NUMBER(uint64_t, take_be64, 8, get_be64)
TAKE_NUMBER(uint16_t, take_le16, 2, get_le16)
TAKE_NUMBER(uint32_t, take_le32, 4, get_le32)
TAKE_NUMBER(uint64_t, take_le64, 8, get_le64)
#undef TAKE_NUMBER

/* Reads without moving; 0 when too short, which does not fail the cursor. */
static inline uint8_t peek_u8(const struct bytes *in)
{
    return bytes_have(in, 1) ? in->next[0] : 0;
}
static inline uint16_t peek_be16(const struct bytes *in)
{
    return bytes_have(in, 2) ? get_be16(in->next) : 0;
}

/* Takes the bytes before the first `stop`, and skips `stop`. Without one returns false and takes
 * nothing. */
static inline bool take_until(struct bytes *in, uint8_t stop, struct slice *out)
{
    const uint8_t *hit;

    if (in->failed || in->next == in->end)
        return false;
    hit = memchr(in->next, stop, bytes_left(in));
    if (hit == NULL)
        return false;
    *out = (struct slice){ .data = in->next, .len = (uint32_t)(hit - in->next) };
    in->next = hit + 1;
    return true;
}

/* Takes a line without its LF or CRLF. Without an LF returns false and takes nothing. */
static inline bool take_line(struct bytes *in, struct slice *out)
{
    if (!take_until(in, '\n', out))
        return false;
    if (out->len > 0 && out->data[out->len - 1] == '\r')
        out->len--;
    return true;
}

static inline void put_be16(uint8_t *at, uint32_t n)
{
    at[0] = (uint8_t)(n >> 8);
    at[1] = (uint8_t)n;
}

static inline void put_be32(uint8_t *at, uint32_t n)
{
    put_be16(at, n >> 16);
    put_be16(at + 2, n);
}

#endif
