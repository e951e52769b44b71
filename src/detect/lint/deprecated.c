/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/deprecated.c - forms that the engine still reads, and that have a better one. */
#include "detect/lint/private.h"

#include <string.h>

/* The buffer into which a modifier moved the content before it. */
static const char *buffer_of_modifier(const struct lint_rule *r, const struct lint_option *modifier)
{
    for (const struct lint_option *o = modifier; o-- > r->option;)
        if (o->role == LINT_OPERATION && o->op != NULL && o->op->list->buffer != NULL)
            return o->op->list->buffer->name;
    return NULL;
}

static bool is_modifier_of_buffer(const struct lint_option *o)
{
    return o->keyword != NULL && o->keyword->features != NULL &&
           strcmp(o->keyword->features, "content modifier") == 0;
}

/* True if the option has an older name of its buffer. */
static bool is_old_name(const struct lint_option *o)
{
    const struct keyword_ops *k = o->keyword;

    return o->role == LINT_BUFFER && k != NULL && k->alias != NULL &&
           text_equal_nocase(o->name, k->alias) && strchr(k->alias, '_') != NULL &&
           strchr(k->name, '.') != NULL;
}

/* "/.../U": flags that name a buffer stand behind the expression. */
static bool pcre_names_buffer(const struct lint_option *o)
{
    const char *slash = NULL;

    if (!text_equal(o->name, "pcre") || o->op == NULL || o->op->list->buffer == NULL)
        return false;
    for (size_t i = 0; i < o->value.n; i++)
        if (o->value.p[i] == '/')
            slash = o->value.p + i;
    for (const char *p = slash; p != NULL && p < o->value.p + o->value.n; p++)
        if (strchr("UIPQHDMCSYVW", *p) != NULL)
            return true;
    return false;
}

/* The first of its kind speaks for all of the rule. */
static bool is_first(const struct lint_rule *r, const struct lint_option *o)
{
    for (const struct lint_option *before = r->option; before < o; before++)
        if (before->name.n == o->name.n && memcmp(before->name.p, o->name.p, o->name.n) == 0 &&
            (!text_equal(o->name, "pcre") || (pcre_names_buffer(before) && before->op != NULL &&
             o->op != NULL && before->op->list->buffer == o->op->list->buffer)) &&
            (!text_equal(o->name, "fast_pattern") || text_equal(before->value, "only")))
            return false;
    return true;
}

static void check_option(struct lint *l, const struct lint_rule *r, const struct lint_option *o)
{
    const char *buffer;

    if (is_modifier_of_buffer(o)) {
        buffer = buffer_of_modifier(r, o);
        lint_find(r, lint_place(o), buffer == NULL ? "name the buffer before the content" :
                  arena_printf(&l->arena, "write %s; before the content", buffer),
                  "%.*s after a content is the old form of a buffer", TEXT(o->name));
    } else if (is_old_name(o)) {
        lint_find(r, lint_place(o), arena_printf(&l->arena, "write %s", o->keyword->name),
                  "%.*s is an old name of %s", TEXT(o->name), o->keyword->name);
    } else if (text_equal_nocase(o->name, "rawbytes")) {
        lint_find(r, lint_place(o), "leave it out", "rawbytes has no effect");
    } else if (text_equal_nocase(o->name, "uricontent")) {
        buffer = o->op != NULL && o->op->list->buffer != NULL ? o->op->list->buffer->name : NULL;
        lint_find(r, lint_place(o), buffer == NULL ? "write a buffer and content" :
                  arena_printf(&l->arena, "write %s; content", buffer),
                  "uricontent is the old form of a content of the URI");
    } else if (text_equal_nocase(o->name, "fast_pattern") && text_equal(o->value, "only")) {
        lint_find(r, lint_place(o), "write fast_pattern", "fast_pattern:only is an old form");
    } else if (pcre_names_buffer(o)) {
        lint_find(r, lint_place(o), arena_printf(&l->arena, "write %s; before the pcre, and "
                  "leave the flag out", o->op->list->buffer->name),
                  "a flag behind a pcre is the old form of a buffer");
    }
}

static void deprecated_check(struct lint *l, const struct lint_rule *r)
{
    for (unsigned i = 0; i < r->option_count; i++)
        if (is_first(r, &r->option[i]))
            check_option(l, r, &r->option[i]);
}

const struct lint_check lint_deprecated = {
    .name = "deprecated", .level = LINT_NOTE, .rule = deprecated_check,
};
