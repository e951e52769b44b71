/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tests/values_test.c - values of a list, asked for one by one. */
#include "app/core/thread.h"
#include "base/test.h"

#define VALUES 2000

struct sample_value {
    unsigned number;
    struct sample_value *next;
};

static unsigned looked_at;

static bool is_odd(const void *item, const void *arg UNUSED)
{
    looked_at++;
    return ((const struct sample_value *)item)->number % 2 == 1;
}

struct sample {
    struct app_thread thread;
    struct app_flow flow;
    struct app_tx tx;
    struct sample_value value[VALUES];
};

static void sample_init(struct sample *s, unsigned count)
{
    *s = (struct sample){ .flow.thread = &s->thread, .tx.flow = &s->flow };
    arena_init(&s->tx.arena, 1024, 0);
    for (unsigned i = 0; i < count; i++) {
        s->value[i].number = i;
        if (i > 0)
            s->value[i - 1].next = &s->value[i];
    }
}

/* The number of the index-th odd value; 0: none. */
static unsigned odd(struct sample *s, unsigned index)
{
    static const char keyword;
    const struct app_values values = {
        .first = &s->value[0], .next = offsetof(struct sample_value, next), .fits = is_odd,
        .arg = &keyword,
    };
    const struct sample_value *v = app_value_at(&s->tx, &values, index);

    return v != NULL ? v->number : 0;
}

static const struct sample_value *any(struct sample *s, unsigned index)
{
    return APP_ITEM_AT(&s->tx, &s->value[0], sample_value, index);
}

/* Each is looked at once, and not all before it again; so also when another list is asked for by
 * turns, and when the list grows. */
TEST(app_values_one_by_one)
{
    static struct sample s;

    sample_init(&s, VALUES - 2);
    looked_at = 0;
    for (unsigned i = 0; i < VALUES / 2 - 1; i++) {
        CHECK_INT(odd(&s, i), 2 * i + 1);
        CHECK(any(&s, i) == &s.value[i]);
    }
    CHECK_INT(odd(&s, VALUES / 2 - 1), 0);
    s.value[VALUES - 3].next = &s.value[VALUES - 2];
    s.value[VALUES - 2].number = VALUES - 2;
    s.value[VALUES - 2].next = &s.value[VALUES - 1];
    s.value[VALUES - 1].number = VALUES - 1;
    CHECK_INT(odd(&s, VALUES / 2 - 1), VALUES - 1);
    CHECK(looked_at < VALUES + 1000);
    CHECK(any(&s, VALUES) == NULL);
    arena_fini(&s.tx.arena);
}

/* Rules begin again, and may ask for any one. */
TEST(app_values_in_any_order)
{
    static const unsigned order[] = { 0, 5, 5, 3, 40, 2, 900, 17, 16, 900, 0, 999, 15 };
    static struct sample s;

    sample_init(&s, VALUES);
    for (unsigned i = 0; i < ARRAY_LEN(order); i++)
        CHECK_INT(odd(&s, order[i]), 2 * order[i] + 1);
    arena_fini(&s.tx.arena);
}

/* A thread that has left its place finds nothing in a list without values. */
TEST(app_values_of_an_empty_list)
{
    static struct sample s;

    sample_init(&s, VALUES);
    CHECK(any(&s, 0) == &s.value[0]);
    s.thread.place.list = NULL;
    CHECK(APP_ITEM_AT(&s.tx, NULL, sample_value, 0) == NULL);
    arena_fini(&s.tx.arena);
}

static bool take_byte(struct bytes *list, struct slice *out)
{
    looked_at++;
    if (bytes_left(list) == 0)
        return false;
    *out = take_slice(list, 1);
    return true;
}

TEST(app_values_that_are_encoded)
{
    static uint8_t list[VALUES];
    static struct sample s;
    const struct app_encoded values = { .list = bytes_of(list, sizeof(list)), .take = take_byte };
    struct slice out;

    sample_init(&s, 0);
    looked_at = 0;
    for (unsigned i = 0; i < VALUES; i++) {
        CHECK(app_encoded_value_at(&s.tx, &values, i, &out));
        CHECK(out.data == list + i);
    }
    CHECK(!app_encoded_value_at(&s.tx, &values, VALUES, &out));
    CHECK(looked_at < 3 * VALUES);
    CHECK(app_encoded_value_at(&s.tx, &values, 7, &out) && out.data == list + 7);
    arena_fini(&s.tx.arena);
}
