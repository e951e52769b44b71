/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/metadata.c - renders a rule's metadata as JSON, once at load time for all
 * alerts. Many rules of a family have the same metadata, which are rendered once for them. */
#include "base/report/json.h"
#include "detect/rule/parser.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct pair { const char *key, *value; }; /* borrowed from the buffer that is cut up */
struct pairs { struct pair *at; size_t count, cap; };

/* Orders by key without case; of equal keys the later one first, as in Suricata's records. */
static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int c = strcasecmp(x->key, y->key);

    return c != 0 ? c : x->key < y->key ? 1 : -1;
}

/* Splits the text in place. A key without a value is left out, as in Suricata. */
static void take_pairs(char *text, size_t len, struct pairs *pairs)
{
    struct text rest = { text, len }, value;

    while (text_split(&rest, ',', &value)) {
        struct text key = { value.p, 0 };

        while (key.n < value.n && value.p[key.n] != ' ' && value.p[key.n] != '\t')
            key.n++;
        value = text_trim(text_from(value, key.n));
        if (key.n == 0 || value.n == 0)
            continue;
        text[key.p + key.n - text] = '\0';
        text[value.p + value.n - text] = '\0';
        ARRAY_PUSH(pairs, ((struct pair){ key.p, value.p }));
    }
}

/* Equal keys become one array. */
static void write_pairs(struct json *j, const struct pairs *pairs)
{
    const struct pair *at = pairs->at;

    json_object(j, NULL);
    for (size_t i = 0; i < pairs->count; i++) {
        if (i == 0 || strcasecmp(at[i].key, at[i - 1].key) != 0)
            json_array(j, at[i].key);
        json_string(j, NULL, at[i].value);
        if (i + 1 == pairs->count || strcasecmp(at[i].key, at[i + 1].key) != 0)
            json_array_end(j);
    }
    json_object_end(j);
}

/* `text` holds the arguments one after another, each ended by a NUL; it is cut up. */
static const char *render(struct buf *text, struct arena *arena)
{
    struct pairs pairs = { 0 };
    struct buf out = { 0 };
    const char *built = NULL;
    struct json j;

    for (size_t at = 0; at < text->len;) {
        char *argument = (char *)text->data + at;
        size_t len = strlen(argument);

        take_pairs(argument, len, &pairs);
        at += len + 1;
    }
    if (pairs.count > 0) {
        qsort(pairs.at, pairs.count, sizeof(pairs.at[0]), compare_pairs);
        json_init(&j, &out);
        write_pairs(&j, &pairs);
        built = arena_text(arena, (struct text){ (const char *)out.data, out.len });
    }
    ARRAY_FREE(&pairs);
    buf_fini(&out);
    return built;
}

/* NULL: the rule has none. The buffers belong to the builder, to be used again for the
 * next rule. */
const char *rule_metadata_render(struct rule_builder *b)
{
    struct buf *text = &b->metadata_text, *cut = &b->metadata_cut;
    const char *built;

    if (b->parser.metadata.count == 0)
        return NULL;
    buf_clear(text);
    for (size_t i = 0; i < b->parser.metadata.count; i++) {
        struct text argument = b->parser.metadata.at[i];

        buf_add(text, argument.p, argument.n);
        buf_add(text, "", 1);
    }
    built = map_get(&b->metadata_built, text->data, text->len);
    if (built != NULL)
        return built;
    buf_clear(cut);
    buf_add(cut, text->data, text->len);
    built = render(cut, &b->metadata);
    if (built != NULL)
        map_put(&b->metadata_built, text->data, text->len, (void *)(uintptr_t)built);
    return built;
}
