/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/quic/assembly.c - joins the segments of a handshake, which come in any order. */
#include "app/proto/quic/quic.h"

#include "base/memory/lib_memory.h"

#include <string.h>

#define RANGES_AT_FIRST 2

/* Space for one more range. False: no memory. */
static bool has_space(struct quic_assembly *a)
{
    uint16_t cap = a->cap > 0 ? (uint16_t)(2 * a->cap) : RANGES_AT_FIRST;
    struct quic_range *range;

    if (LIKELY(a->count < a->cap))
        return true;
    range = lib_realloc(a->range, cap * sizeof(*range));
    if (range == NULL)
        return false;
    a->range = range;
    a->cap = cap;
    return true;
}

static void remove_range(struct quic_assembly *a, unsigned i)
{
    memmove(&a->range[i], &a->range[i + 1], (a->count - i - 1) * sizeof(a->range[0]));
    a->count--;
}

/* Merges the range with those that it overlaps or touches. Ranges are sorted and disjoint. False:
 * no memory, or QUIC_RANGES_MAX separate ranges, so that a hostile client cannot make the list
 * long. */
static bool add_range(struct quic_assembly *a, uint32_t from, uint32_t to)
{
    unsigned i = 0;

    while (i < a->count && a->range[i].to < from)
        i++;
    while (i < a->count && a->range[i].from <= to) {
        from = MIN(from, a->range[i].from);
        to = MAX(to, a->range[i].to);
        remove_range(a, i);
    }
    if (a->count == QUIC_RANGES_MAX || !has_space(a))
        return false;
    memmove(&a->range[i + 1], &a->range[i], (a->count - i) * sizeof(a->range[0]));
    a->range[i].from = from;
    a->range[i].to = to;
    a->count++;
    return true;
}

/* The maximum distance of a segment from the contiguous start; the buffer covers the gap. Segments
 * of a hello arrive in any order, but have a few thousand bytes together. */
#define GAP_MAX (8 * 1024)

static bool is_far_ahead(const struct quic_assembly *a, uint64_t offset)
{
    return offset > quic_assembly_front(a).len + GAP_MAX;
}

/* False: too far ahead, or more than QUIC_HANDSHAKE_MAX. A later copy of the same bytes overwrites
 * the first. */
bool quic_assembly_add(struct quic_assembly *a, uint64_t offset, struct slice segment)
{
    uint64_t end = offset + segment.len;

    if (segment.len == 0)
        return true;
    if (is_far_ahead(a, offset) || offset >= QUIC_HANDSHAKE_MAX || end >= QUIC_HANDSHAKE_MAX ||
        !buf_reserve(&a->data, end > a->data.len ? (size_t)end - a->data.len : 0) ||
        !add_range(a, (uint32_t)offset, (uint32_t)end))
        return false;
    if (end > a->data.len) {
        memset(a->data.data + a->data.len, 0, (size_t)end - a->data.len);
        a->data.len = (size_t)end;
    }
    memcpy(a->data.data + offset, segment.data, segment.len);
    return true;
}

/* The contiguous bytes from the start. */
struct slice quic_assembly_front(const struct quic_assembly *a)
{
    uint32_t len = a->count > 0 && a->range[0].from == 0 ? a->range[0].to : 0;

    return (struct slice){ .data = a->data.data, .len = len };
}

void quic_assembly_fini(struct quic_assembly *a)
{
    buf_fini(&a->data);
    lib_free(a->range);
    a->range = NULL;
    a->count = a->cap = 0;
}
