/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/metadata.c - a rule's metadata as JSON, made once at load time for all alerts. */
#include "base/json.h"
#include "detect/rule/parser.h"

#include <stdlib.h>
#include <strings.h>

/* By key; of one key the later first, as consumers of EVE know it. */
static int compare_pairs(const void *a, const void *b)
{
    const struct rule_pair *x = *(const struct rule_pair *const *)a;
    const struct rule_pair *y = *(const struct rule_pair *const *)b;
    int c = strcasecmp(x->key, y->key);

    return c != 0 ? c : x < y ? 1 : -1;
}

const char *rule_metadata_render(const struct rule *rule, struct arena *arena)
{
    const struct rule_pair *sorted[rule->metadata_count + 1];
    unsigned n = rule->metadata_count;
    struct buf out = { 0 };
    struct json j;
    const char *text;

    if (n == 0)
        return NULL;
    for (unsigned i = 0; i < n; i++)
        sorted[i] = &rule->metadata[i];
    qsort(sorted, n, sizeof(sorted[0]), compare_pairs);
    json_init(&j, &out);
    json_object(&j, NULL);
    for (unsigned i = 0; i < n; i++) {
        bool opens = i == 0 || strcasecmp(sorted[i]->key, sorted[i - 1]->key) != 0;
        bool closes = i + 1 == n || strcasecmp(sorted[i]->key, sorted[i + 1]->key) != 0;

        if (opens)
            json_array(&j, sorted[i]->key);
        json_string(&j, NULL, sorted[i]->value);
        if (closes)
            json_array_end(&j);
    }
    json_object_end(&j);
    text = arena_text(arena, (struct text){ (const char *)out.data, out.len });
    buf_fini(&out);
    return text;
}
