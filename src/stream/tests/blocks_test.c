/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test.h"
#include "stream/blocks.h"

#include <stdlib.h>
#include <string.h>

enum { HELD = 200 };

struct held {
    uint8_t *data;
    unsigned block_class;
    uint8_t mark;
};

static bool is_whole(const struct held *h)
{
    uint32_t size = block_size(h->block_class);

    return h->data[0] == h->mark && memcmp(h->data, h->data + 1, size - 1) == 0;
}

/* Blocks of all sizes come and go, some as halves of others: none reaches into another. */
TEST(blocks_never_overlap)
{
    struct blocks blocks = { 0 };
    struct held held[HELD] = { 0 };
    unsigned bad = 0, random = 7;

    for (unsigned i = 0; i < 5000; i++) {
        struct held *h = &held[(random = random * 1103515245 + 12345) / 65536 % HELD];

        if (h->data != NULL) {
            bad += !is_whole(h);
            block_put(&blocks, h->data, h->block_class);
        }
        /* first large ones, then small ones that are cut from them */
        h->block_class = i < 1000 ? 6 + i % 5 : i % BLOCK_CLASSES;
        h->mark = (uint8_t)i;
        h->data = block_get(&blocks, h->block_class);
        memset(h->data, h->mark, block_size(h->block_class));
    }
    for (unsigned i = 0; i < HELD; i++)
        bad += held[i].data != NULL && !is_whole(&held[i]);
    CHECK_INT(bad, 0);
    blocks_fini(&blocks);
}

TEST(blocks_sizes)
{
    unsigned bad = 0;

    for (unsigned c = 0; c < BLOCK_CLASS_MAX; c++) {
        bad += block_class_for(block_size(c)) != c;
        bad += block_class_for((uint64_t)block_size(c) + 1) != c + 1;
        bad += block_size(c + 1) <= block_size(c) || block_size(c) % CACHE_LINE != 0;
    }
    CHECK_INT(bad, 0);
    CHECK(block_class_for((uint64_t)block_size(BLOCK_CLASS_MAX) + 1) > BLOCK_CLASS_MAX);
}

TEST(blocks_small_ones_are_cut_from_free_large_ones)
{
    struct blocks blocks = { 0 };
    const unsigned last = BLOCK_CLASSES - 1, fit = block_size(last) / block_size(0);
    uint8_t *large = block_get(&blocks, last), *small;
    unsigned slabs = blocks.slab_count, inside = 0;

    block_put(&blocks, large, last);
    for (unsigned i = 0; i < fit; i++) {
        small = block_get(&blocks, 0);
        inside += small >= large && small < large + block_size(last);
    }
    CHECK_INT(inside, fit);
    CHECK_INT(blocks.slab_count, slabs);
    blocks_fini(&blocks);
}
