/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/index.h"
#include "base/test.h"

struct thing { unsigned key, value; };

/* Bad on purpose: each value has a hundred keys. */
static uint64_t thing_hash(const void *item)
{
    return ((const struct thing *)item)->key / 100;
}

static bool thing_equal(const void *item, const void *other)
{
    return ((const struct thing *)item)->key == ((const struct thing *)other)->key;
}

TEST(index_finds_what_was_added)
{
    struct index x = { .hash = thing_hash, .equal = thing_equal };
    struct thing things[1000], like = { 0 }, other = { 500, 7 };
    unsigned count = 0;

    CHECK(index_find(&x, &like) == NULL);
    for (unsigned i = 0; i < 1000; i++) {
        things[i] = (struct thing){ i, i };
        CHECK(index_find(&x, &things[i]) == NULL);
        index_add(&x, &things[i]);
    }
    for (like.key = 0; like.key < 1000; like.key++)
        CHECK(index_find(&x, &like) != NULL && *index_find(&x, &like) == &things[like.key]);
    CHECK(index_find(&x, &like) == NULL);
    *index_find(&x, &other) = &other;
    CHECK_INT(((struct thing *)*index_find(&x, &things[500]))->value, 7);
    INDEX_EACH (&x, item)
        count++;
    CHECK_INT(count, 1000);
    index_fini(&x);
    CHECK(index_find(&x, &other) == NULL);
}
