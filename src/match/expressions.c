/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/expressions.c - regular expressions, compiled once for all rules and reloads that have
 * them. Compiled code with its machine code takes more memory than all else of a rule. */
#include "match/expressions.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static struct expression *compile(struct text re, uint32_t options, int *error, size_t *at)
{
    struct pcre_compiled compiled = pcre_work_compile(re, options, error, at);
    struct expression *e;

    if (compiled.code == NULL)
        return NULL;
    e = xcalloc(1, sizeof(*e));
    e->pcre = compiled;
    return e;
}

const struct expression *expression_get(struct expressions *all, struct text re, uint32_t options,
                                        int *error, size_t *at)
{
    size_t len = sizeof(options) + re.n;
    uint8_t *key = xmalloc(len);
    struct expression *e;

    memcpy(key, &options, sizeof(options));
    memcpy(key + sizeof(options), re.p, re.n);
    e = map_get(&all->by_text, key, len);
    if (e == NULL) {
        e = all->previous != NULL ? map_get(&all->previous->by_text, key, len) : NULL;
        if (e == NULL)
            e = compile(re, options, error, at);
        if (e != NULL) {
            __atomic_fetch_add(&e->refs, 1, __ATOMIC_RELAXED);
            map_put(&all->by_text, key, len, e);
        }
    }
    free(key);
    return e;
}

void expression_keep(const struct pcre_compiled *compiled)
{
    struct expression *e = CONTAINER_OF((struct pcre_compiled *)(uintptr_t)compiled,
                                        struct expression, pcre);

    e->stays = true;
}

void expressions_take_kept(struct expressions *all)
{
    if (all->previous == NULL)
        return;
    MAP_EACH(&all->previous->by_text, entry) {
        struct expression *e = entry->value;

        if (!e->stays)
            continue;
        e->stays = false;
        if (map_get(&all->by_text, entry->key, entry->key_len) != NULL)
            continue;
        __atomic_fetch_add(&e->refs, 1, __ATOMIC_RELAXED);
        map_put(&all->by_text, entry->key, entry->key_len, e);
    }
}

void expressions_fini(struct expressions *all)
{
    MAP_EACH(&all->by_text, entry) {
        struct expression *e = entry->value;

        if (__atomic_sub_fetch(&e->refs, 1, __ATOMIC_ACQ_REL) > 0)
            continue;
        pcre_work_free(&e->pcre);
        free(e);
    }
    map_fini(&all->by_text);
}
