/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_dataset.c - files of datasets. The first byte chooses the type of the values and the
 * kind of the file: lines, lines with reputations, JSON in lines or in an array. */
#include "base/memory/buf.h"
#include "detect/state/dataset.h"
#include "memory_file.h"
#include "quiet.h"

#include <stddef.h>

int fuzz_input(const uint8_t *data, size_t size);

static const struct dataset_json json[] = {
    { .lines = true, .value_key = "v" },
    { .value_key = "a.v", .remove_key = true },
    { .array_key = "data.items", .value_key = "v", .remove_key = true },
};

static void use(struct dataset *set)
{
    static const uint8_t values[][16] = { "abc", { 10, 1, 1, 1 }, { 0 } };
    static const uint32_t lengths[] = { 3, 4, 16, 32 };
    struct buf out = { 0 };
    uint16_t number;

    for (unsigned i = 0; i < 3; i++) {
        struct slice value = { values[i], lengths[i] };

        (void)dataset_has(set, value, &number);
        if (dataset_takes_json(set))
            (void)dataset_get_json(set, value, &out);
        (void)dataset_add(set, value);
        (void)dataset_remove(set, value);
    }
    dataset_clear(set);
    buf_fini(&out);
}

int fuzz_input(const uint8_t *data, size_t size)
{
    struct dataset_request request = { .name = "a", .rows = 16, .memcap = 1u << 20 };
    struct dataset_table *table;
    struct dataset *set;
    struct err err;
    unsigned kind;

    if (size < 1)
        return 0;
    quiet();
    kind = data[0] >> 4;
    request.type = (enum dataset_type)(DATASET_STRING + data[0] % DATASET_IP);
    request.load = memory_file(0, data + 1, size - 1);
    request.with_value = kind == 1;
    request.json = kind >= 2 && kind < 5 ? &json[kind - 2] : NULL;
    table = dataset_table_new(NULL, NULL);
    set = dataset_get(table, &request, &err);
    if (set != NULL)
        use(set);
    dataset_table_free(table);
    return 0;
}
