/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tests/field_test.c - members of a transaction that keywords show without a function. */
#include "app/core/thread.h"
#include "app/rules.h"
#include "base/test.h"

#include <string.h>

struct sample_tx {
    struct app_tx tx;
    enum direction sender;
    bool has_small;
    uint8_t small;
    uint16_t middle;
    struct { uint32_t large; struct slice text; bool has_large; } ds[2];
    uint8_t digits[4];
    char word[8];
    struct sample_item { uint16_t code; struct slice name; struct sample_item *next; } items[2];
    struct sample_item *request, *response;
};

static const void *item_at(struct app_tx *tx, enum direction d, unsigned index)
{
    struct sample_tx *s = (struct sample_tx *)tx;

    return d == TO_CLIENT && index < ARRAY_LEN(s->items) ? &s->items[index] : NULL;
}

static const void *code_at(struct app_tx *tx, enum direction d, unsigned index)
{
    const struct sample_item *item = item_at(tx, d, index);

    return item != NULL ? &item->code : NULL;
}

static const struct app_path items_path = { .find = item_at };
static const struct app_path codes_path = { .find = code_at };

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

TEST(app_field_shows_an_array_of_bytes)
{
    struct sample_tx s = { .digits = { 1, 2, 3, 4 } };
    const struct app_field bytes = APP_FIELD(sample_tx, digits, ALWAYS);
    struct slice out = { 0 };

    CHECK(text(&s, bytes, TO_CLIENT, &out));
    CHECK_INT(out.len, 4);
    CHECK(out.data == s.digits);
}

TEST(app_field_shows_a_text_up_to_its_end)
{
    struct sample_tx s = { .word = "ab" };
    const struct app_field word = APP_FIELD(sample_tx, word, FILLED);
    struct slice out = { 0 };

    CHECK(text(&s, word, TO_SERVER, &out));
    CHECK_INT(out.len, 2);
    s.word[0] = '\0';
    CHECK(!text(&s, word, TO_SERVER, &out));
}

TEST(app_field_of_a_part_has_a_value_for_each_index)
{
    struct sample_tx s = { .items = { { 7, { (const uint8_t *)"a", 1 } }, { 8, { NULL, 0 } } } };
    const struct app_buffer name = { .field = APP_FIELD_PART(&items_path, sample_item, name, KNOWN) };
    const struct app_integer code = { .field = APP_FIELD_PART(&items_path, sample_item, code,
                                                              ALWAYS) };
    const struct app_integer value = { .field = APP_FIELD_VALUE(&codes_path, uint16_t, ALWAYS) };
    struct slice out;
    uint64_t n = 0;

    CHECK(app_buffer_get(&name, &s.tx, TO_CLIENT, 0, &out));
    CHECK_INT(out.len, 1);
    CHECK(!app_buffer_get(&name, &s.tx, TO_CLIENT, 1, &out));
    CHECK(app_integer_get(&code, &s.tx, TO_CLIENT, 1, &n));
    CHECK_INT(n, 8);
    CHECK(app_integer_get(&value, &s.tx, TO_CLIENT, 0, &n));
    CHECK_INT(n, 7);
    CHECK(!app_integer_get(&value, &s.tx, TO_CLIENT, 2, &n));
    CHECK(!app_integer_get(&code, &s.tx, TO_SERVER, 0, &n));
}

/* A flag of each direction decides about the member of that direction. */
TEST(app_field_has_a_flag_in_each_direction)
{
    struct sample_tx s = { .sender = TO_SERVER };
    const struct app_field large = APP_FIELD_BY_DIRECTION_WITH(sample_tx, ds, large, has_large);
    uint64_t n = 1;

    s.ds[TO_CLIENT].has_large = true;
    CHECK(!number(&s, large, TO_SERVER, &n));
    CHECK(number(&s, large, TO_CLIENT, &n));
    CHECK_INT(n, 0);
}

TEST(app_path_follows_a_pointer_of_each_direction)
{
    static const struct app_path path = { APP_PATH_POINTERS(sample_tx, request, response) };
    const struct app_field code = APP_FIELD_PART(&path, sample_item, code, ALWAYS);
    struct sample_tx s = { .items = { { .code = 7 }, { .code = 8 } } };
    uint64_t n = 0;

    CHECK(!number(&s, code, TO_SERVER, &n));
    s.request = &s.items[0];
    CHECK(number(&s, code, TO_SERVER, &n));
    CHECK_INT(n, 7);
    CHECK(!number(&s, code, TO_CLIENT, &n));
    s.response = &s.items[1];
    CHECK(number(&s, code, TO_CLIENT, &n));
    CHECK_INT(n, 8);
}

/* From the pointer to the list that begins in what it points to, and along that list. */
TEST(app_path_walks_a_list_of_one_sender)
{
    static const struct app_path path = { APP_PATH_POINTER(sample_tx, request),
                                          APP_PATH_LIST(sample_item, next, sample_item),
                                          APP_SENDER_AT(sample_tx, sender) };
    const struct app_integer code = { .field = APP_FIELD_PART(&path, sample_item, code, ALWAYS) };
    struct sample_item last = { .code = 9 };
    struct app_thread thread = { 0 };
    struct app_flow flow = { .thread = &thread };
    struct sample_tx s = { .tx.flow = &flow, .sender = TO_CLIENT,
                           .items = { { .code = 7 }, { .code = 8 } } };
    uint64_t n = 0;

    CHECK(!app_integer_get(&code, &s.tx, TO_CLIENT, 0, &n));
    s.request = &s.items[0];
    s.items[0].next = &s.items[1];
    s.items[1].next = &last;
    CHECK(app_integer_get(&code, &s.tx, TO_CLIENT, 0, &n));
    CHECK_INT(n, 8);
    CHECK(app_integer_get(&code, &s.tx, TO_CLIENT, 1, &n));
    CHECK_INT(n, 9);
    CHECK(!app_integer_get(&code, &s.tx, TO_CLIENT, 2, &n));
    CHECK(!app_integer_get(&code, &s.tx, TO_SERVER, 0, &n));
}

static bool find_name(struct app_tx *tx UNUSED, enum direction d, const struct app_key *key,
                      unsigned index, struct slice *out)
{
    *out = (struct slice){ (const uint8_t *)key->name[d], key->number };
    return index == 0;
}

TEST(app_buffer_hands_its_key_to_find)
{
    const struct app_buffer cookie = { .find = find_name, .key = { { "cookie", "set" }, 3 } };
    struct sample_tx s = { .sender = TO_SERVER };
    struct slice out = { 0 };

    CHECK(app_buffer_get(&cookie, &s.tx, TO_CLIENT, 0, &out));
    CHECK_INT(out.len, 3);
    CHECK(memcmp(out.data, "set", 3) == 0);
    CHECK(!app_buffer_get(&cookie, &s.tx, TO_CLIENT, 1, &out));
}
