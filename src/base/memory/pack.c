/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pack.c - bytes as runs of literals and references back.
 *
 * A run begins with its length in one byte. Below COPY_BIT so many bytes and one more follow. With
 * it, the run repeats what is `distance` bytes back, which follows in two bytes; from LEN_MORE on
 * the length goes on in bytes of 7 bits, the lowest first. */
#include "base/memory/pack.h"

#include "base/text/bytes.h"

#include <string.h>

#define COPY_BIT 0x80u
#define LITERALS_MOST 128u
#define COPY_LEAST 4u                   /* a shorter one saves nothing */
#define LEN_MORE 0x7fu
#define DISTANCE_MOST 0xffffu
#define TABLE_BITS 10u                  /* positions of the last four bytes with each hash */
#define MISSES_SHIFT 4u                 /* after 16 misses each step is one longer */

struct packer {
    const uint8_t *in;
    size_t len;
    uint8_t *out;
    size_t size, space;
    uint32_t at[1u << TABLE_BITS];
};

static uint32_t word_at(const uint8_t *p)
{
    uint32_t word;

    memcpy(&word, p, sizeof(word));
    return word;
}

static unsigned slot_of(uint32_t word)
{
    return (word * 2654435761u) >> (32 - TABLE_BITS);
}

static bool put(struct packer *p, uint8_t byte)
{
    if (p->size == p->space)
        return false;
    p->out[p->size++] = byte;
    return true;
}

static bool put_literals(struct packer *p, size_t from, size_t to)
{
    for (size_t n; from < to; from += n) {
        n = MIN(to - from, (size_t)LITERALS_MOST);
        if (p->space - p->size < n + 1)
            return false;
        p->out[p->size++] = (uint8_t)(n - 1);
        memcpy(p->out + p->size, p->in + from, n);
        p->size += n;
    }
    return true;
}

static bool put_copy(struct packer *p, size_t len, size_t distance)
{
    size_t more = len - COPY_LEAST;

    if (!put(p, (uint8_t)(COPY_BIT | MIN(more, (size_t)LEN_MORE))) ||
        !put(p, (uint8_t)distance) || !put(p, (uint8_t)(distance >> 8)))
        return false;
    if (more < LEN_MORE)
        return true;
    for (more -= LEN_MORE; more > 0x7f; more >>= 7)
        if (!put(p, (uint8_t)(0x80 | more)))
            return false;
    return put(p, (uint8_t)more);
}

static size_t equal_bytes(const struct packer *p, size_t from, size_t at)
{
    size_t n = COPY_LEAST;
    uint64_t a, b;

    for (; at + n + sizeof(a) <= p->len; n += sizeof(a)) {
        memcpy(&a, p->in + from + n, sizeof(a));
        memcpy(&b, p->in + at + n, sizeof(b));
        if (a != b)
            break;
    }
    while (at + n < p->len && p->in[from + n] == p->in[at + n])
        n++;
    return n;
}

size_t pack(const uint8_t *in, size_t len, uint8_t *out, size_t space)
{
    struct packer p = { .in = in, .len = len, .out = out, .space = space };
    size_t literals = 0, at = 1, misses = 0;

    if (len == 0 || len > PACK_MOST)
        return 0;
    while (at + COPY_LEAST <= len) {
        uint32_t word = word_at(in + at);
        uint32_t *slot = &p.at[slot_of(word)];
        size_t from = *slot, n;

        *slot = (uint32_t)at;
        if (at - from > DISTANCE_MOST || word_at(in + from) != word) {
            at += 1 + (misses++ >> MISSES_SHIFT);
            continue;
        }
        n = equal_bytes(&p, from, at);
        if (!put_literals(&p, literals, at) || !put_copy(&p, n, at - from))
            return 0;
        at += n;
        literals = at;
        misses = 0;
    }
    return put_literals(&p, literals, len) ? p.size : 0;
}

static size_t take_len(struct bytes *in, uint8_t first)
{
    size_t len = first & LEN_MORE;
    unsigned shift = 0;
    uint8_t byte = 0x80;

    if (len < LEN_MORE)
        return len + COPY_LEAST;
    for (; byte >= 0x80 && shift <= 14 + 7; shift += 7) {
        byte = take_u8(in);
        len += (size_t)(byte & 0x7f) << shift;
    }
    return len + COPY_LEAST;
}

/* The bytes may overlap: then the first of them repeat. */
static void repeat(uint8_t *to, size_t distance, size_t len)
{
    const uint8_t *from = to - distance;

    if (distance == 1) {
        memset(to, *from, len);
        return;
    }
    for (size_t n; len > 0; len -= n, to += n) {
        n = MIN(len, (size_t)(to - from));
        memcpy(to, from, n);
    }
}

bool unpack(const uint8_t *in, size_t size, uint8_t *out, size_t len)
{
    struct bytes bytes = bytes_of(in, size);
    size_t at = 0;

    while (bytes_have(&bytes, 1)) {
        uint8_t first = take_u8(&bytes);
        size_t distance = 0, n = (size_t)first + 1;

        if ((first & COPY_BIT) != 0) {
            distance = take_le16(&bytes);
            n = take_len(&bytes, first);
        }
        if (bytes.failed || n > len - at || distance > at ||
            ((first & COPY_BIT) != 0 ? distance == 0 : !bytes_have(&bytes, n)))
            return false;
        if (distance > 0) {
            repeat(out + at, distance, n);
        } else {
            memcpy(out + at, bytes.next, n);
            take_skip(&bytes, n);
        }
        at += n;
    }
    return at == len;
}
