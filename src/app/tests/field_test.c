/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tests/field_test.c - members of a transaction that keywords show without a function. */
#include "app/rules.h"
#include "base/test.h"

struct sample_tx {
    struct app_tx tx;
    enum direction sender;
    bool has_small;
    uint8_t small;
    uint16_t middle;
    struct { uint32_t large; struct slice text; } ds[2];
};

static bool number(struct sample_tx *s, struct app_field field, enum direction d, uint64_t *out)
{
    const struct app_integer keyword = { .field = field };

    return app_integer_get(&keyword, &s->tx, d, 0, out);
}

static bool text(struct sample_tx *s, struct app_field field, enum direction d, struct slice *out)
{
    const struct app_buffer keyword = { .field = field };

    return app_buffer_get(&keyword, &s->tx, d, 0, out);
}

TEST(app_field_reads_numbers_of_each_size)
{
    struct sample_tx s = { .small = 0xfe, .middle = 0xfedc };
    const struct app_field large = APP_FIELD_BY_DIRECTION(sample_tx, ds, large, ALWAYS);
    uint64_t n = 0;

    s.ds[TO_SERVER].large = 1;
    s.ds[TO_CLIENT].large = 0xfedcba98;
    CHECK(number(&s, (struct app_field)APP_FIELD(sample_tx, small, ALWAYS), TO_SERVER, &n));
    CHECK_INT(n, 0xfe);
    CHECK(number(&s, (struct app_field)APP_FIELD(sample_tx, middle, ALWAYS), TO_SERVER, &n));
    CHECK_INT(n, 0xfedc);
    CHECK(number(&s, large, TO_SERVER, &n));
    CHECK_INT(n, 1);
    CHECK(number(&s, large, TO_CLIENT, &n));
    CHECK_INT(n, 0xfedcba98);
}

TEST(app_field_is_absent_as_declared)
{
    struct sample_tx s = { .sender = TO_CLIENT, .small = 0, .middle = 7 };
    const struct app_field known = APP_FIELD(sample_tx, small, KNOWN);
    const struct app_field with = APP_FIELD_WITH(sample_tx, small, has_small);
    const struct app_field from = APP_FIELD_FROM(sample_tx, middle, ALWAYS, sender);
    uint64_t n = 0;

    CHECK(!number(&s, known, TO_SERVER, &n));
    CHECK(!number(&s, with, TO_SERVER, &n));
    s.has_small = true;
    CHECK(number(&s, with, TO_SERVER, &n));
    CHECK(!number(&s, from, TO_SERVER, &n));
    CHECK(number(&s, from, TO_CLIENT, &n));
    CHECK_INT(n, 7);
}

/* An empty text is known, but has no bytes. */
TEST(app_field_tells_empty_from_unknown)
{
    struct sample_tx s = { .small = 0 };
    const struct app_field known = APP_FIELD_BY_DIRECTION(sample_tx, ds, text, KNOWN);
    const struct app_field filled = APP_FIELD_BY_DIRECTION(sample_tx, ds, text, FILLED);
    const struct app_buffer keyword = { .field = known };
    struct slice out;

    CHECK(!text(&s, known, TO_SERVER, &out));
    s.ds[TO_SERVER].text = (struct slice){ (const uint8_t *)"", 0 };
    CHECK(text(&s, known, TO_SERVER, &out));
    CHECK(!text(&s, filled, TO_SERVER, &out));
    s.ds[TO_SERVER].text.len = 1;
    CHECK(text(&s, filled, TO_SERVER, &out));
    CHECK(!text(&s, filled, TO_CLIENT, &out));
    CHECK(!app_buffer_get(&keyword, &s.tx, TO_SERVER, 1, &out));
}
