/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mutate.h"

#include "base/array.h"

#include <string.h>

#define CHUNKS_MAX 256
#define CHUNK_HEADER 3u                 /* control, length of two bytes */

/* Of libFuzzer, or of replay_main.c. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* --- editing ---------------------------------------------------------------------------------- */

/* xorshift: the same seed has to give the same mutation. */
uint32_t edit_random(struct edit *e, uint32_t below)
{
    e->state ^= e->state << 13;
    e->state ^= e->state >> 17;
    e->state ^= e->state << 5;
    return below > 0 ? e->state % below : 0;
}

bool edit_chance(struct edit *e, uint32_t one_in)
{
    return edit_random(e, one_in) == 0;
}

void edit_within(struct edit *e, size_t at, unsigned width)
{
    if (e->depth >= EDIT_DEPTH)
        return;
    e->length[e->depth].at = at;
    e->length[e->depth++].width = width;
}

uint64_t edit_number(const struct edit *e, size_t at, unsigned width)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < width && at + i < e->len; i++)
        value = value << 8 | e->data[at + i];
    return value;
}

void edit_set(struct edit *e, size_t at, unsigned width, uint64_t value)
{
    for (unsigned i = width; i-- > 0; value >>= 8)
        if (at + i < e->len)
            e->data[at + i] = (uint8_t)value;
}

static void correct_lengths(struct edit *e, int64_t grown)
{
    for (unsigned i = 0; i < e->depth; i++) {
        size_t at = e->length[i].at;
        unsigned width = e->length[i].width;

        edit_set(e, at, width, edit_number(e, at, width) + (uint64_t)grown);
    }
}

bool edit_replace(struct edit *e, size_t at, size_t old, const uint8_t *bytes, size_t len)
{
    if (at > e->len || old > e->len - at || e->len - old + len > e->max)
        return false;
    memmove(e->data + at + len, e->data + at + old, e->len - at - old);
    if (len > 0)
        memcpy(e->data + at, bytes, len);
    e->len = e->len - old + len;
    if (len != old && !edit_chance(e, 16))
        correct_lengths(e, (int64_t)len - (int64_t)old);
    return true;
}

bool edit_repeat(struct edit *e, size_t at, size_t len)
{
    uint8_t part[EDIT_PART_MAX];

    if (at > e->len || len > e->len - at || len > sizeof(part))
        return false;
    memcpy(part, e->data + at, len);
    return edit_replace(e, at, 0, part, len);
}

void edit_bytes(struct edit *e, size_t at, size_t len)
{
    uint8_t part[EDIT_PART_MAX];
    size_t room, changed;

    if (at > e->len || len > e->len - at || len > sizeof(part) / 2)
        return;
    memcpy(part, e->data + at, len);
    room = MIN(sizeof(part), len + MIN((size_t)32, e->max - e->len));
    changed = room > 0 ? LLVMFuzzerMutate(part, len, room) : 0;
    edit_replace(e, at, len, part, changed);
}

void edit_part(struct edit *e, size_t at, size_t len)
{
    switch (edit_random(e, 6)) {
    case 0: edit_repeat(e, at, len); break;
    case 1: edit_replace(e, at, len, NULL, 0); break;
    default: edit_bytes(e, at, len);
    }
}

/* --- inputs of fuzz_app.c --------------------------------------------------------------------- */

struct chunk { size_t at, len; };       /* of the data; the header stands before it */

static unsigned find_chunks(const struct edit *e, struct chunk *list)
{
    unsigned count = 0;
    size_t at = 1;

    while (at + CHUNK_HEADER < e->len && count < CHUNKS_MAX) {
        bool is_gap = (e->data[at] & 0x0e) == 0x0e;
        size_t len = is_gap ? 0 : (size_t)edit_number(e, at + 1, 2);

        at += CHUNK_HEADER;
        len = MIN(len, e->len - at);
        list[count++] = (struct chunk){ at, len };
        at += len;
    }
    return count;
}

/* Two chunks in place of one: what parsers keep between calls. */
static void split(struct edit *e, struct chunk c)
{
    uint8_t header[CHUNK_HEADER];
    size_t first = edit_random(e, (uint32_t)c.len + 1), rest = c.len - first;

    header[0] = e->data[c.at - CHUNK_HEADER];
    header[1] = (uint8_t)(rest >> 8);
    header[2] = (uint8_t)rest;
    if (edit_replace(e, c.at + first, 0, header, sizeof(header)))
        edit_set(e, c.at - 2, 2, first);
}

static void mutate_order(struct edit *e, const struct chunk *list, unsigned count)
{
    struct chunk c = list[edit_random(e, count)];
    size_t from = c.at - CHUNK_HEADER, len = c.len + CHUNK_HEADER;

    switch (edit_random(e, 6)) {
    case 0: edit_repeat(e, from, len); break;
    case 1: edit_replace(e, from, len, NULL, 0); break;
    case 2: e->data[from] ^= 1; break;  /* the other direction */
    case 3: e->data[from] ^= 0x0e; break;
    default: split(e, c);
    }
}

static void mutate_content(struct edit *e, const struct chunk *list, unsigned count)
{
    struct chunk c = list[edit_random(e, count)];

    if (c.len == 0)
        return;
    edit_within(e, c.at - 2, 2);
    mutate_chunk(e, c.at, c.len, e->data[c.at - CHUNK_HEADER]);
    e->depth = 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct edit e = { .data = data, .len = size, .max = max_size, .state = seed * 2654435761u + 1 };
    struct chunk list[CHUNKS_MAX];
    unsigned count, rounds;

    if (e.state == 0)
        e.state = 1;
    if (size == 0 || edit_chance(&e, 3))
        return LLVMFuzzerMutate(data, size, max_size);
    rounds = 1 + edit_random(&e, 3);
    for (unsigned i = 0; i < rounds; i++) {
        count = find_chunks(&e, list);
        if (count == 0)
            return LLVMFuzzerMutate(data, e.len, max_size);
        if (edit_chance(&e, 5))
            mutate_order(&e, list, count);
        else
            mutate_content(&e, list, count);
    }
    return e.len > 0 ? e.len : LLVMFuzzerMutate(data, size, max_size);
}
