/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/traffic_memory.h"
#include "base/test.h"
#include "stream/blocks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALLOCATED = 200 };

struct allocated {
    uint8_t *data;
    unsigned block_class;
    uint8_t mark;
};

static bool is_intact(const struct allocated *h)
{
    uint32_t size = block_size(h->block_class);

    return h->data[0] == h->mark && memcmp(h->data, h->data + 1, size - 1) == 0;
}

/* Blocks of all sizes come and go: none reaches into another. */
TEST(blocks_never_overlap)
{
    struct blocks blocks = { 0 };
    struct allocated allocated[ALLOCATED] = { 0 };
    unsigned bad = 0, random = 7;

    for (unsigned i = 0; i < 5000; i++) {
        struct allocated *h = &allocated[(random = random * 1103515245 + 12345) / 65536 % ALLOCATED];

        if (h->data != NULL) {
            bad += !is_intact(h);
            block_put(&blocks, h->data, h->block_class);
        }
        /* first large ones, then all */
        h->block_class = i < 1000 ? 6 + i % 5 : i % BLOCK_CLASSES;
        h->mark = (uint8_t)i;
        h->data = block_get(&blocks, h->block_class);
        memset(h->data, h->mark, block_size(h->block_class));
    }
    for (unsigned i = 0; i < ALLOCATED; i++)
        bad += allocated[i].data != NULL && !is_intact(&allocated[i]);
    CHECK_INT(bad, 0);
    blocks_fini(&blocks);
}

TEST(blocks_sizes)
{
    unsigned bad = 0;

    for (unsigned c = 0; c < BLOCK_CLASS_MAX; c++) {
        bad += block_class_for(block_size(c)) != c;
        bad += block_class_for((uint64_t)block_size(c) + 1) != c + 1;
        bad += block_size(c + 1) <= block_size(c) || block_size(c) % 32 != 0;
    }
    CHECK_INT(bad, 0);
    CHECK(block_class_for((uint64_t)block_size(BLOCK_CLASS_MAX) + 1) > BLOCK_CLASS_MAX);
}

#define MANY 5000

/* All streams grow, size by size: what they leave behind serves the next sizes. */
TEST(blocks_of_one_size_serve_others_once_they_are_free)
{
    static void *data[2][MANY];
    struct blocks blocks = { 0 };
    unsigned regions = 0;

    for (unsigned c = 0; c < SLAB_CLASSES; c++) {
        for (unsigned i = 0; i < MANY; i++) {
            data[c & 1][i] = block_get(&blocks, c);
            CHECK(data[c & 1][i] != NULL);
        }
        for (unsigned i = 0; c > 0 && i < MANY; i++)
            block_put(&blocks, data[~c & 1][i], c - 1);
    }
    for (unsigned i = 0; i < MANY; i++)
        block_put(&blocks, data[~SLAB_CLASSES & 1][i], SLAB_CLASSES - 1);
    regions = blocks.region_count;
    for (unsigned c = 0; c < SLAB_CLASSES; c++) {
        for (unsigned i = 0; i < MANY; i++)
            data[0][i] = block_get(&blocks, c);
        for (unsigned i = 0; i < MANY; i++)
            block_put(&blocks, data[0][i], c);
    }
    CHECK_INT(blocks.region_count, regions);
    blocks_fini(&blocks);
}

/* Near the limit, free memory returns to the system, and comes back with what was asked for. A slab
 * keeps its first page, so pages of 16 KiB and more keep too much to leave the limit behind. */
static void burst(struct test *t, unsigned block_class, uint64_t bytes)
{
    unsigned count = (unsigned)(bytes / block_size(block_class)), bad = 0;
    uint8_t **data = calloc(count, sizeof(*data));
    uint64_t before = traffic_memory_used(), idle = traffic_memory_idle();
    bool returns = sysconf(_SC_PAGESIZE) == 4096;
    struct blocks blocks = { 0 };

    for (unsigned round = 0; round < 2; round++) {
        traffic_memory_set_limit(before + bytes / 10 * 12);
        for (unsigned i = 0; i < count; i++) {
            data[i] = block_get(&blocks, block_class);
            bad += data[i] == NULL;
            memset(data[i], (uint8_t)i, block_size(block_class));
        }
        CHECK(traffic_memory_is_scarce());
        for (unsigned i = 0; i < count; i++) {
            bad += data[i][0] != (uint8_t)i ||
                   memcmp(data[i], data[i] + 1, block_size(block_class) - 1) != 0;
            block_put(&blocks, data[i], block_class);
        }
        CHECK(!returns || !traffic_memory_is_scarce());
        CHECK(!returns || traffic_memory_pressure() == PRESSURE_NONE);
    }
    traffic_memory_set_limit(0);
    CHECK_INT(bad, 0);
    blocks_fini(&blocks);
    CHECK_INT(traffic_memory_idle(), idle);
    CHECK(traffic_memory_used() <= before + (1u << 20));
    free(data);
}

TEST(blocks_return_memory_near_the_limit)
{
    burst(t, 4, 32u << 20);
    burst(t, SLAB_CLASSES - 1, 32u << 20);
    burst(t, SLAB_CLASSES, 32u << 20);
    burst(t, BLOCK_CLASSES - 1, 32u << 20);
}
