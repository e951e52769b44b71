/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/metadata.c - free key and value pairs, for alerts and for tools. */
#include "detect/keyword.h"

#include <string.h>

static void add_pair(struct rule_parser *p, struct text key, struct text value)
{
    struct rule *rule = p->rule;
    struct rule_pair *list;

    list = arena_alloc(p->arena, (rule->metadata_count + 1) * sizeof(*list));
    if (rule->metadata_count > 0)
        memcpy(list, rule->metadata, rule->metadata_count * sizeof(*list));
    list[rule->metadata_count++] =
        (struct rule_pair){ arena_text(p->arena, key), arena_text(p->arena, value) };
    rule->metadata = list;
}

/* A key without a value says nothing and is left out. */
static int metadata_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct text rest = in, pair;

    while (text_split(&rest, ',', &pair)) {
        struct text key = { pair.p, 0 };

        while (key.n < pair.n && pair.p[key.n] != ' ' && pair.p[key.n] != '\t')
            key.n++;
        pair = text_trim(text_from(pair, key.n));
        if (key.n > 0 && pair.n > 0)
            add_pair(p, key, pair);
    }
    return 0;
}

const struct keyword_ops keyword_metadata = {
    .name = "metadata",
    .doc = "key and value pairs, copied to alerts when asked for",
    .point = POINT_NONE,
    .parse = metadata_parse,
};
