/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/traffic_memory.h"
#include "base/test.h"
#include "detect/tests/rules_fixture.h"
#include "detect/state/dataset_rows.h"

#include <string.h>

static struct slice of(const char *text)
{
    return (struct slice){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

TEST(dataset_rows_are_chosen_by_lookup3)
{
    static const uint8_t v4[] = { 10, 1, 2, 3 };
    uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [13] = 1, [14] = 2, [15] = 3 };
    const struct slice plain = { v4, sizeof(v4) }, wide = { mapped, sizeof(mapped) };

    /* As its author published it. */
    CHECK_INT(dataset_row(DATASET_STRING, of("Four score and seven years ago"), UINT32_MAX),
              0x17770551);
    CHECK_INT(dataset_row(DATASET_STRING, of(""), UINT32_MAX), 0xdeadbeef);
    CHECK_INT(dataset_row(DATASET_IP, wide, UINT32_MAX), dataset_row(DATASET_IP, plain,
                                                                     UINT32_MAX));
    CHECK(dataset_row(DATASET_IPV4, plain, UINT32_MAX) !=
          dataset_row(DATASET_IP, plain, UINT32_MAX));
}

TEST(dataset_memcap_counts_rows_elements_and_strings)
{
    struct dataset_table *table = dataset_table_new(NULL, NULL);
    struct dataset_request r = { .name = "a", .type = DATASET_STRING, .rows = 1 };
    struct err err = { 0 };
    struct dataset *set;
    char name[8];

    r.memcap = dataset_empty_size(DATASET_STRING, 1) - 1;
    CHECK(dataset_get(table, &r, &err) == NULL);
    CHECK(strstr(err.text, "memcap") != NULL);
    r.memcap = dataset_empty_size(DATASET_STRING, 1) + 3;
    set = dataset_get(table, &r, &err);
    CHECK(set != NULL);
    if (set == NULL)
        return;
    CHECK(dataset_add(set, of("abc")));
    CHECK(!dataset_add(set, of("d")));
    CHECK(dataset_remove(set, of("abc")));
    CHECK(dataset_add(set, of("d")));

    /* Beyond those set aside an address takes an element of its own. */
    r = (struct dataset_request){ .name = "b", .type = DATASET_IPV4, .rows = 1 };
    r.memcap = dataset_empty_size(DATASET_IPV4, 1) + dataset_element_size(DATASET_IPV4);
    set = dataset_get(table, &r, &err);
    CHECK(set != NULL);
    if (set == NULL)
        return;
    for (uint32_t i = 0; i <= DATASET_SET_ASIDE; i++) {
        memcpy(name, &i, 4);
        CHECK(dataset_add(set, (struct slice){ (const uint8_t *)name, 4 }));
    }
    CHECK(!dataset_add(set, of("last")));
    r = (struct dataset_request){ .name = "c", .type = DATASET_IPV4, .rows = 65537 };
    CHECK(dataset_get(table, &r, &err) == NULL);
    CHECK(strstr(err.text, "single-hashsize") != NULL);
    dataset_table_free(table);
}

TEST(dataset_match_subdomain_of_rules)
{
    static const struct { const char *options, *error; } rows[] = {
        { "dns.query; dataset:isset,s1,type string,match subdomain;", NULL },
        { "dns.query; dataset:isnotset,s1, type string, match subdomain;", NULL },
        { "dns.query; dataset:set,s1,type string,match subdomain;",
          "dataset: \"match subdomain\" goes only with isset and isnotset" },
        { "dns.query; dataset:isset,s2,type md5,match subdomain;",
          "dataset: \"match subdomain\" goes only with type string" },
        { "dns.query; dataset:isset,s1,match subdomain;",
          "dataset: \"match subdomain\" goes only with type string" },
        { "dns.query; dataset:isset,s1,type string,match domain;",
          "dataset: unknown option \"match\"" },
        { "dns.query; datarep:s3,>,1,type string,match subdomain;",
          "datarep: \"match subdomain\" goes only with isset and isnotset" },
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rule *r = rules_fixture_options(&f, rows[i].options);

        CHECK((r != NULL) == (rows[i].error == NULL));
        if (rows[i].error != NULL)
            CHECK_STRING(f.err.text, rows[i].error);
    }
    rules_fixture_close(&f);
}

/* What rules add counts for the process, and may be refused; what is then gone comes back. */
TEST(dataset_adds_below_the_limit_of_the_process)
{
    struct dataset_table *table = dataset_table_new(NULL, NULL);
    struct dataset_request r = { .name = "a", .type = DATASET_STRING, .rows = 1 };
    struct err err = { 0 };
    struct dataset *set;

    r.memcap = dataset_empty_size(DATASET_STRING, 1) + 3;
    set = dataset_get(table, &r, &err);
    CHECK(set != NULL);
    if (set == NULL)
        return;
    alloc_failures_set((struct alloc_failures){ .every = 1 });
    CHECK(!dataset_add(set, of("abc")));
    alloc_failures_set((struct alloc_failures){ 0 });
    CHECK(dataset_add(set, of("abc")));
    CHECK(dataset_has(set, of("abc"), NULL));
    dataset_table_free(table);
}
