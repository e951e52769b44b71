/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/variables.c - the values of the variables in a rule's header: a wrong $HOME_NET is
 * the commonest reason why rules do not fire. */
#include "detect/explain/notes.h"

#include "conf/conf.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MOST 5            /* of variables in variables */
#define VALUE_MOST 300          /* bytes that are shown */

struct expansion {
    const struct conf_node *root;
    const char *group;          /* "vars.port-groups" */
    struct buf *out;
    unsigned depth;
};

static size_t name_length(const char *p)
{
    size_t n = 0;

    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

/* NULL: there is no such variable. */
static const char *value_of(const struct expansion *x, const char *name, size_t len)
{
    char path[200];
    int n = snprintf(path, sizeof(path), "%s.%.*s", x->group, (int)len, name);

    return len == 0 || n < 0 || (size_t)n >= sizeof(path) ? NULL
                                                          : conf_string(x->root, path, NULL);
}

/* A variable may hold others, and itself by mistake. */
static void expand(struct expansion *x, const char *text)
{
    for (const char *p = text; *p != '\0' && x->out->len < VALUE_MOST; p++) {
        size_t n = *p == '$' ? name_length(p + 1) : 0;
        const char *value = x->depth < DEPTH_MOST ? value_of(x, p + 1, n) : NULL;

        if (value == NULL) {
            buf_add_u8(x->out, (uint8_t)*p);
            continue;
        }
        x->depth++;
        expand(x, value);
        x->depth--;
        p += n;
    }
}

static const char *expanded(struct explain *e, const struct conf_node *conf,
                            const struct condition *c)
{
    bool is_port = c->part == PART_SRC_PORT || c->part == PART_DST_PORT;
    struct buf out = { 0 };
    struct expansion x = { conf, is_port ? "vars.port-groups" : "vars.address-groups", &out, 0 };
    const char *value = NULL;

    expand(&x, c->text);
    if (out.len >= VALUE_MOST)
        buf_add_string(&out, "...");
    if (!out.failed)
        value = arena_text(&e->arena, (struct text){ (const char *)out.data, out.len });
    buf_fini(&out);
    return value;
}

void variables_read(struct explain *e, const struct conf_node *conf)
{
    for (unsigned i = 0; i < e->wanted_count; i++)
        for (unsigned k = 0; k < e->wanted[i].count; k++) {
            struct condition *c = &e->wanted[i].condition[k];

            if (c->part >= PART_SRC && c->part <= PART_DST_PORT && strchr(c->text, '$') != NULL)
                c->value = expanded(e, conf, c);
        }
}
