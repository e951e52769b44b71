/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of which there are many: an evaluation compares those that came after the last one. */
#include "app/values.h"
#include "base/test.h"
#include "detect/rule/keyword.h"

#define MOST 3000

struct numbers {
    uint64_t value[MOST + 1];
    unsigned count, reads;
    struct app_seen seen;
};

static bool number_at(void *arg, unsigned index, uint64_t *out)
{
    struct numbers *n = arg;

    n->reads++;
    if (index >= n->count)
        return false;
    *out = n->value[index];
    return true;
}

static struct app_seen *seen_of(void *arg, bool many)
{
    return !many ? NULL : &((struct numbers *)arg)->seen;
}

static bool has(struct numbers *n, enum index_mode mode, bool complete)
{
    const struct int_match seven = { .op = INT_EQ, .a = 7 };
    const struct index_match m = { .mode = (uint8_t)mode, .nth = -1,
                                   .number = { .op = INT_EQ, .a = mode == INDEX_COUNT ? MOST : 2 } };
    const struct index_values values = { .get = number_at, .seen = seen_of, .arg = n };

    return index_match_has(&m, &seven, complete, &values);
}

/* One number after the other arrives, and the rule is evaluated with each. */
static void grow(struct test *t, struct numbers *n, enum index_mode mode, uint64_t value)
{
    *n = (struct numbers){ 0 };
    while (n->count < MOST - 1) {
        n->value[n->count++] = value;
        CHECK(!has(n, mode, false));
    }
    CHECK(n->reads < 20 * MOST);
}

TEST(index_match_compares_new_numbers_only)
{
    static struct numbers n;

    grow(t, &n, INDEX_ANY, 1);
    n.value[n.count++] = 7;
    CHECK(has(&n, INDEX_ANY, false));
    CHECK(has(&n, INDEX_ANY, false));       /* it stays */

    grow(t, &n, INDEX_TIMES, 1);
    n.value[n.count++] = 7;
    CHECK(!has(&n, INDEX_TIMES, true));     /* two are expected */
    n.value[n.count++] = 7;
    CHECK(has(&n, INDEX_TIMES, true));
    CHECK(has(&n, INDEX_TIMES, true));

    grow(t, &n, INDEX_COUNT, 1);
    CHECK(!has(&n, INDEX_COUNT, true));
    n.count++;
    CHECK(has(&n, INDEX_COUNT, true));

    grow(t, &n, INDEX_NTH, 1);
    n.value[n.count++] = 7;
    CHECK(has(&n, INDEX_NTH, false));       /* the last one */
}

/* One that does not fit ends the search for good. */
TEST(index_match_all_numbers)
{
    static struct numbers n;

    while (n.count < MOST - 1) {
        n.value[n.count++] = 7;
        CHECK(has(&n, INDEX_ALL, false));
    }
    n.value[n.count++] = 1;
    CHECK(!has(&n, INDEX_ALL, false));
    CHECK(!has(&n, INDEX_ALL, true));
    CHECK(n.reads < 20 * MOST);
}
