/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz/text.c - numbers, sizes and lists as rules and settings write them; JSON strings. */
#include "base/array.h"
#include "base/report/json.h"
#include "base/text/text.h"

#include <stdlib.h>

int fuzz_input(const uint8_t *data, size_t size);

int fuzz_input(const uint8_t *data, size_t size)
{
    char *copy = text_dup((struct text){ (const char *)data, size });
    struct text rest = { copy, size }, part = { 0 };
    struct buf out = { 0 };
    struct json j;
    uint64_t u;
    int64_t i;
    double d;
    bool b;

    while (text_split(&rest, ',', &part)) {
        (void)text_to_u64(part, UINT64_MAX, &u);
        (void)text_to_i64(part, &i);
        (void)text_to_double(part, &d);
        (void)text_to_size(part, &u);
        (void)text_to_bool(part, &b);
        (void)text_distance(part, TEXT_LITERAL("distance"), 3);
    }
    json_init(&j, &out);
    json_bytes(&j, NULL, data, size);
    if (out.len < size + 2)
        abort();
    buf_fini(&out);
    free(copy);
    return 0;
}
