/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/expressions.c - regular expressions, compiled once for all rules and reloads that have
 * them. Compiled code with its machine code takes more memory than all else of a rule. */
#include "match/expressions.h"

#include "base/array.h"
#include "base/containers/hash.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const void *item)
{
    return ((const struct expression *)item)->hash;
}

static bool is_same(const void *item, const void *other)
{
    const struct expression *x = item, *y = other;

    return x->hash == y->hash && x->options == y->options && x->text.n == y->text.n &&
           memcmp(x->text.p, y->text.p, x->text.n) == 0;
}

void expressions_init(struct expressions *all, const struct expressions *previous)
{
    *all = (struct expressions){ .by_text = { .hash = hash_of, .equal = is_same },
                                 .machine = pcre_machine_code_works() ? PCRE_WHEN_USED
                                                                      : PCRE_INTERPRETED,
                                 .previous = previous };
}

static struct expression *compile(const struct expressions *all, const struct expression *key,
                                  int *error, size_t *at)
{
    struct pcre_compiled compiled = pcre_work_compile(key->text, key->options, all->machine,
                                                      error, at);
    struct expression *e;
    char *text;

    if (compiled.code == NULL)
        return NULL;
    e = xmalloc(sizeof(*e) + key->text.n);
    text = (char *)(e + 1);
    *e = *key;
    e->text.p = memcpy(text, key->text.p, key->text.n);
    e->pcre = compiled;
    pcre_work_drop_code(&e->pcre);
    return e;
}

static void add(struct expressions *all, struct expression *e)
{
    __atomic_fetch_add(&e->refs, 1, __ATOMIC_RELAXED);
    index_add(&all->by_text, e);
}

static struct expression *find(const struct expressions *all, const struct expression *key)
{
    void **found = all != NULL ? index_find(&all->by_text, key) : NULL;

    return found != NULL ? *found : NULL;
}

const struct expression *expression_get(struct expressions *all, struct text re, uint32_t options,
                                        int *error, size_t *at)
{
    struct expression key = { .options = options, .text = re,
                              .hash = hash_mix(hash_bytes(re.p, re.n), options) };
    struct expression *e = find(all, &key);

    if (e != NULL)
        return e;
    e = find(all->previous, &key);
    if (e == NULL)
        e = compile(all, &key, error, at);
    if (e != NULL)
        add(all, e);
    return e;
}

static struct expression *expression_with(const struct pcre_compiled *compiled)
{
    return CONTAINER_OF((struct pcre_compiled *)(uintptr_t)compiled, struct expression, pcre);
}

const struct expression *expression_of(const struct pcre_compiled *compiled)
{
    return expression_with(compiled);
}

COLD void *expression_make_fast(const struct pcre_compiled *compiled)
{
    const struct expression *e = expression_with(compiled);

    return pcre_work_make_fast(compiled, e->text, e->options);
}

void *expression_counted(const struct pcre_compiled *compiled)
{
    const struct expression *e = expression_with(compiled);

    return pcre_work_make_counted(compiled, e->text, e->options);
}

void expression_keep(const struct pcre_compiled *compiled)
{
    expression_with(compiled)->stays = true;
}

void expressions_take_kept(struct expressions *all)
{
    if (all->previous == NULL)
        return;
    INDEX_EACH (&all->previous->by_text, item) {
        struct expression *e = *item;

        if (e->stays && find(all, e) == NULL)
            add(all, e);
        e->stays = false;
    }
}

void expressions_fini(struct expressions *all)
{
    INDEX_EACH (&all->by_text, item) {
        struct expression *e = *item;

        if (__atomic_sub_fetch(&e->refs, 1, __ATOMIC_ACQ_REL) > 0)
            continue;
        pcre_work_free(&e->pcre);
        free(e);
    }
    index_fini(&all->by_text);
}
