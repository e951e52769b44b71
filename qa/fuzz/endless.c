/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "endless.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most flows have stopped growing after the first part; the others go on until it is clear that
 * they stop, too. */
#define WARM_BYTES (5u << 18)
#define WARM_CHUNKS 3000u
#define MORE_BYTES (1u << 18)
#define MORE_CHUNKS 1000u
#define LONG_BYTES (192u << 20)
#define LONG_CHUNKS 120000u
#define STEADY (32u << 10)
#define GROWTHS 200u            /* in a row: 50 MB of input */
/* The framework gives a flow 64 MiB for its transactions, and as much for chunks of files that
 * wait for their turn; a buffer has at most twice what is in it. */
#define LIMIT (140u << 20)

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t allocated(void)
{
    struct mallinfo2 info;

    if (__sanitizer_get_current_allocated_bytes != NULL)
        return __sanitizer_get_current_allocated_bytes();
    info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

bool endless_is_enabled(void)
{
    static int is_enabled = -1;         /* asked with each input */

    if (is_enabled < 0)
        is_enabled = getenv("IDS_ENDLESS") != NULL;
    return is_enabled != 0;
}

void endless_add(struct endless *e, enum direction d, struct slice data)
{
    if (e->count < ENDLESS_CHUNKS_MAX && data.len > 0)
        e->chunk[e->count++] = (struct endless_chunk){ d, data };
}

struct course {
    const struct endless *e;
    struct replay replay;
    const struct endless_chunk *chunk;  /* those that go on */
    unsigned count;
    unsigned directions;                     /* of these: APP_TS, APP_TC */
    unsigned next;
    uint64_t bytes, chunks;
};

static void replay_one(struct course *c, const struct endless_chunk *chunk)
{
    c->replay.inspect = c->chunks < 100;
    replay_data(&c->replay, chunk->direction, chunk->data.data, chunk->data.len);
    c->bytes += chunk->data.len;
    c->chunks++;
}

/* False: nobody listens any more. */
static bool go_on(struct course *c, uint64_t bytes, uint64_t chunks)
{
    uint64_t to_bytes = c->bytes + bytes, to_chunks = c->chunks + chunks;

    while (c->bytes < to_bytes && c->chunks < to_chunks) {
        const struct endless_chunk *chunk = &c->chunk[c->next];

        if (c->replay.flow->app == NULL || c->replay.flow->app->stopped)
            return false;
        c->next = (c->next + 1) % c->count;
        if (c->directions & APP_DIRECTION_BIT(chunk->direction))
            replay_one(c, chunk);
    }
    return true;
}

static bool has_direction(const struct endless_chunk *chunk, unsigned count, unsigned directions)
{
    for (unsigned i = 0; i < count; i++)
        if (directions & APP_DIRECTION_BIT(chunk[i].direction))
            return true;
    return false;
}

static bool goes_on_growing(struct course *c)
{
    size_t before = allocated();

    return go_on(c, MORE_BYTES, MORE_CHUNKS) && allocated() > before + STEADY;
}

/* Limits that end half of what is open let memory grow until the next time. */
static bool grows_without_end(struct course *c)
{
    for (unsigned i = 0; i < GROWTHS; i++)
        if (!goes_on_growing(c))
            return false;
    return true;
}

static bool is_bounded(struct course *c, size_t before)
{
    if (!go_on(c, WARM_BYTES, WARM_CHUNKS) || !goes_on_growing(c))
        return true;
    return !go_on(c, LONG_BYTES, LONG_CHUNKS) ||
           (allocated() <= before + LIMIT && !grows_without_end(c));
}

static void run(const struct endless *e, unsigned prefix, const struct endless_chunk *chunk,
                unsigned count, unsigned directions)
{
    struct course c = { .e = e, .chunk = chunk, .count = count, .directions = directions };
    size_t before = allocated();

    if (!has_direction(chunk, count, directions))
        return;
    replay_begin(&c.replay, e->fixture, e->udp, 1);
    c.replay.quiet = c.replay.frames = true;
    replay_force(&c.replay, e->proto->id);
    for (unsigned i = 0; i < prefix; i++)
        replay_one(&c, &e->chunk[i]);
    if (!is_bounded(&c, before)) {
        fprintf(stderr, "endless: %s: %zu KiB more after %llu KiB in %llu chunks; behind %u of %u "
                "chunks %u of %u bytes have gone on, sides %u\n", e->proto->name,
                (allocated() - before) >> 10, (unsigned long long)c.bytes >> 10,
                (unsigned long long)c.chunks, prefix, e->count, count, chunk->data.len, directions);
        abort();
    }
    replay_end(&c.replay);
    replay_free(&c.replay);
}

/* Lines that do not end, lengths that do not, empty ones. */
static void run_fillers(const struct endless *e, unsigned prefix)
{
    static const struct { uint8_t byte; uint32_t len; } fillers[] = {
        { 'a', 1200 }, { '\n', 40 }, { 0, 400 }, { 0xff, 1200 } };
    uint8_t bytes[1200];

    for (unsigned i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++) {
        memset(bytes, fillers[i].byte, sizeof(bytes));
        for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
            struct endless_chunk chunk = { d, { bytes, fillers[i].len } };

            run(e, prefix, &chunk, 1, APP_BOTH);
        }
    }
}

void endless_check(const struct endless *e)
{
    for (unsigned i = 0; i < e->count; i++) {
        run(e, i, &e->chunk[i], 1, APP_BOTH);
        if (i == 0 || i == e->count / 2 || i + 1 == e->count)
            run_fillers(e, i + 1);
    }
    if (e->count < 2)
        return;
    for (unsigned directions = APP_TS; directions <= APP_BOTH; directions++)
        run(e, 0, e->chunk, e->count, directions);
}
