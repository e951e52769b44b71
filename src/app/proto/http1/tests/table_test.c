/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Header tables: what goes in comes out, by libhtp's rules. */
#include "app/proto/http1/table.h"
#include "base/test.h"

#include <stdio.h>
#include <string.h>

static int mark[40];
static bstr *names[512];
static unsigned name_count;

/* The name lives until free_names(). */
static void add(struct test *t, htp_table_t *table, const char *name, size_t len, int *element)
{
    bstr *key = bstr_dup_mem(name, len);

    names[name_count++] = key;
    CHECK_INT(http_table_add(table, key, element), HTP_OK);
}

static void free_names(void)
{
    while (name_count > 0)
        bstr_free(names[--name_count]);
}

TEST(http1_table_get)
{
    htp_table_t *table = http_table_create(32);
    bstr *key = NULL, *other = bstr_dup_c("HOST");

    CHECK(http_table_create(0) == NULL);
    CHECK(http_table_get_c(table, "host") == NULL);
    CHECK(http_table_get_index(table, 0, &key) == NULL);
    add(t, table, "Host", 4, &mark[0]);
    add(t, table, "X-\0Nul", 6, &mark[1]);
    add(t, table, "host", 4, &mark[2]);
    add(t, table, "Hosts", 5, &mark[3]);
    CHECK_INT(http_table_size(table), 4);
    CHECK(http_table_get_c(table, "hOST") == &mark[0]);
    CHECK(http_table_get_c(table, "hosts") == &mark[3]);
    CHECK(http_table_get_c(table, "hos") == NULL);
    CHECK(http_table_get_c(table, "x-nul") == &mark[1]);
    CHECK(http_table_get_mem(table, "x-nul", 5) == NULL);
    CHECK(http_table_get_mem(table, "x-\0nul", 6) == &mark[1]);
    CHECK(http_table_get(table, other) == &mark[0]);
    CHECK(http_table_get_index(table, 2, &key) == &mark[2]);
    CHECK(key == names[2]);             /* not a copy */
    CHECK(http_table_get_c(NULL, "host") == NULL);
    CHECK_INT(http_table_size(NULL), 0);
    bstr_free(other);
    http_table_destroy(table);
    free_names();
}

TEST(http1_table_grows)
{
    htp_table_t *table = http_table_create(1);
    char name[16];

    for (unsigned i = 0; i < ARRAY_LEN(mark); i++) {
        int len = snprintf(name, sizeof(name), "n%u", i);

        add(t, table, name, (size_t)len, &mark[i]);
    }
    for (unsigned i = 0; i < ARRAY_LEN(mark); i++) {
        snprintf(name, sizeof(name), "N%u", i);
        CHECK(http_table_get_c(table, name) == &mark[i]);
        CHECK(http_table_get_index(table, i, NULL) == &mark[i]);
    }
    http_table_clear(table);
    CHECK_INT(http_table_size(table), 0);
    free_names();
    add(t, table, "again", 5, &mark[0]);
    CHECK(http_table_get_c(table, "again") == &mark[0]);
    free_names();                       /* before the table, as libhtp does */
    http_table_destroy(table);
}

/* A lookup asks for lengths first: those that share a bit, those that grow, and none after a
 * clearing. */
TEST(http1_table_lengths)
{
    static const char letters[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    htp_table_t *table = http_table_create(1);
    bstr *grown = bstr_alloc(8);

    add(t, table, letters, 69, &mark[0]);
    CHECK(http_table_get_mem(table, letters, 5) == NULL);
    CHECK(http_table_get_mem(table, letters, 69) == &mark[0]);
    add(t, table, "a\0aa", 4, &mark[1]);
    CHECK(http_table_get_c(table, "aaa") == &mark[1]);
    CHECK(http_table_get_mem(table, "a\0aa", 4) == &mark[1]);
    http_table_clear(table);
    CHECK(http_table_get_c(table, "aaa") == NULL);
    http_table_destroy(table);
    free_names();
    table = http_table_create(1);
    grown = bstr_add_c(grown, "key");
    CHECK_INT(http_table_addk(table, grown, &mark[2]), HTP_OK);
    CHECK(bstr_add_c_noex(grown, "s") == grown);
    CHECK(http_table_get_c(table, "keys") == &mark[2]);
    http_table_clear_ex(table);
    CHECK(http_table_get_c(table, "keys") == NULL);
    http_table_destroy(table);
    bstr_free(grown);
}

/* One way to own keys per table. */
TEST(http1_table_keys)
{
    htp_table_t *table = http_table_create(1);
    bstr *retained = bstr_dup_c("kept"), *given = bstr_dup_c("given");

    CHECK_INT(http_table_addk(table, retained, &mark[0]), HTP_OK);
    CHECK_INT(http_table_add(table, retained, &mark[0]), HTP_ERROR);
    CHECK_INT(http_table_addn(table, retained, &mark[0]), HTP_ERROR);
    http_table_destroy(table);
    CHECK(bstr_cmp_c(retained, "kept") == 0);
    bstr_free(retained);
    table = http_table_create(1);
    CHECK_INT(http_table_addn(table, given, &mark[0]), HTP_OK);
    CHECK_INT(http_table_addk(table, given, &mark[0]), HTP_ERROR);
    http_table_destroy(table);
    table = http_table_create(1);
    given = bstr_dup_c("given");
    CHECK_INT(http_table_addn(table, given, &mark[0]), HTP_OK);
    http_table_destroy_ex(table);
    CHECK(bstr_cmp_c(given, "given") == 0);
    bstr_free(given);
}

/* Long tables have an index: by case, length, NUL bytes and order it finds what the walk finds. */
TEST(http1_table_index)
{
    htp_table_t *table = http_table_create(1);
    static int element[400], first, second;
    char name[160] = { 0 };

    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < ARRAY_LEN(element); i++) {
            memset(name, 'a', sizeof(name) - 1);
            name[i % 150] = (char)('b' + i / 150);
            add(t, table, name, 150, &element[i]);
            if (i == 30)
                add(t, table, "Twice", 5, &first);
            if (i == 70)
                add(t, table, "tWICE", 5, &second);
        }
        add(t, table, "x-\0nul", 6, &second);
        for (unsigned i = 0; i < ARRAY_LEN(element); i++) {
            memset(name, 'A', sizeof(name) - 1);
            name[i % 150] = (char)('B' + i / 150);
            CHECK(http_table_get_mem(table, name, 150) == &element[i]);
            CHECK(http_table_get_mem(table, name, 149) == NULL);
            CHECK(http_table_get_c(table, name) == NULL);
            name[150] = 0;
            CHECK(http_table_get_c(table, name) == &element[i]);
        }
        CHECK(http_table_get_mem(table, "TWICE", 5) == &first);
        CHECK(http_table_get_c(table, "TWICE") == &first);
        CHECK(http_table_get_mem(table, "X-\0NUL", 6) == &second);
        CHECK(http_table_get_c(table, "x-nul") == &second);
        CHECK(http_table_get_mem(table, "other", 5) == NULL);
        http_table_clear(table);
        free_names();
        CHECK(http_table_get_mem(table, "twice", 5) == NULL);
    }
    http_table_destroy(table);
}

static struct slice text_slice(const char *text)
{
    return (struct slice){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

/* The headers of a table that was filled are those of its fields, and others can follow. */
TEST(http1_table_filled)
{
    static const char text[] = "Host: a\r\nUser-Agent: b c\r\nX:\r\n";
    const struct http_field fields[] = {
        { { (const uint8_t *)text, 4 }, { (const uint8_t *)text + 6, 1 } },
        { { (const uint8_t *)text + 9, 10 }, { (const uint8_t *)text + 21, 3 } },
        { { (const uint8_t *)text + 26, 1 }, { (const uint8_t *)text + 28, 0 } },
    };
    htp_table_t *table = http_table_create(32);
    bstr *key = NULL;
    const htp_header_t *h;

    CHECK(http_table_fill(table, fields, 3, text_slice(text)));
    CHECK_INT(http_table_size(table), 3);
    h = http_table_get_c(table, "USER-agent");
    CHECK_BYTES(bstr_ptr(h->name), bstr_len(h->name), "User-Agent", 10);
    CHECK_BYTES(bstr_ptr(h->value), bstr_len(h->value), "b c", 3);
    h = http_table_get_index(table, 2, &key);
    CHECK(key == h->name);
    CHECK_INT(bstr_len(h->value), 0);
    CHECK(http_table_get_c(table, "user_agent") == NULL);
    CHECK(http_table_get_c(table, "hosT") != NULL);
    add(t, table, "Later", 5, &mark[0]);
    CHECK(http_table_get_c(table, "host") != NULL);
    CHECK(http_table_get_c(table, "later") == &mark[0]);
    http_table_release(table);
    CHECK_INT(http_table_size(table), 1);
    CHECK(http_table_get_index(table, 0, NULL) == &mark[0]);
    http_table_release(table);
    http_table_destroy(table);
    free_names();
}

/* A name is found among many that share its length or its first letter, and in front of those that
 * were added later. */
TEST(http1_table_filled_to_the_brim)
{
    htp_table_t *table = http_table_create(32);
    struct http_field fields[HTTP_TABLE_FILL_MAX];
    char text[HTTP_TABLE_FILL_MAX * 8 + 1], other[8];

    for (unsigned i = 0; i < HTTP_TABLE_FILL_MAX; i++) {
        snprintf(text + i * 8, 9, "%c%02u-Name", "aHx"[i % 3], i);
        fields[i] = (struct http_field){ .name = { (uint8_t *)text + i * 8, 8 },
                                         .value = { (uint8_t *)text + i * 8 + 1, 2 } };
    }
    CHECK(http_table_fill(table, fields, HTTP_TABLE_FILL_MAX,
                          (struct slice){ (uint8_t *)text, HTTP_TABLE_FILL_MAX * 8 }));
    add(t, table, "h01-name", 8, &mark[0]);
    add(t, table, "h99-name", 8, &mark[1]);
    for (unsigned i = 0; i < HTTP_TABLE_FILL_MAX; i++) {
        memcpy(other, text + i * 8, 8);
        other[0] ^= 0x20;
        CHECK(http_table_get_mem(table, other, 8) == http_table_get_index(table, i, NULL));
    }
    CHECK(http_table_get_c(table, "H99-NAME") == &mark[1]);
    CHECK(http_table_get_c(table, "h98-name") == NULL);
    CHECK(http_table_get_mem(table, "h98-name", 8) == NULL);
    http_table_release(table);
    CHECK(http_table_get_c(table, "h01-name") == &mark[0]);
    CHECK(http_table_get_c(table, "h04-name") == NULL);
    http_table_destroy(table);
    free_names();
}

TEST(http1_table_filled_and_cleared)
{
    const struct slice name = text_slice("Host");
    const struct http_field field = { name, name };
    htp_table_t *table = http_table_create(32);

    CHECK(http_table_fill(table, &field, 1, name));
    http_table_clear_ex(table);
    CHECK(http_table_get_c(table, "host") == NULL);
    add(t, table, "Host", 4, &mark[0]);
    http_table_release(table);
    CHECK(http_table_get_c(table, "host") == &mark[0]);
    http_table_destroy(table);
    free_names();
    table = http_table_create(32);
    CHECK(http_table_fill(table, &field, 1, name));
    http_table_release(table);
    CHECK_INT(http_table_size(table), 0);
    http_table_destroy(table);
}

/* Two names are equal if they differ in the case of letters only, whatever their lengths. */
TEST(http1_table_compares_names)
{
    char name[32], other[32];

    for (size_t len = 1; len < 20; len++)
        for (unsigned c = 0; c < 256; c++)
            for (unsigned d = c & 0x5f; d < 256; d += 0x20) {
                htp_table_t *table = http_table_create(32);
                bool same = c == d || (((c ^ d) == 0x20) && ((c | 0x20) >= 'a') &&
                                       ((c | 0x20) <= 'z'));

                memset(name, 'n', len);
                memset(other, 'N', len);
                name[len / 2] = (char)c;
                other[len / 2] = (char)d;
                add(t, table, name, len, &mark[0]);
                CHECK((http_table_get_mem(table, other, len) != NULL) == same);
                http_table_destroy(table);
                free_names();
            }
}
