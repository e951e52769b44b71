/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/registry.c - all rule keywords by name, and the buffers of packets.
 * keyword_registry_init() of detect/keywords and plugins fill the registry before the first rule is
 * read; it is read-only afterwards. */
#include "detect/rule/registry.h"

#include "base/array.h"
#include "base/containers/map.h"

#include <ctype.h>
#include <string.h>

/* by_name: names and aliases in lower case. in_order: each keyword once, as
 * --list-keywords shows them. One per process; what it points to is never freed. */
static struct {
    struct map by_name;
    ARRAY_OF(const struct keyword_ops *) in_order;
    ARRAY_OF(const struct packet_buffer *) buffers;
} registry;

#define KEYWORD_NAME_MAX 64     /* with the NUL */

/* Keywords do not depend on case. False: no keyword has such a length, so the lookup can
 * stop. */
static bool lower_name(struct text name, char out[KEYWORD_NAME_MAX])
{
    if (name.n == 0 || name.n >= KEYWORD_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.n; i++)
        out[i] = (char)tolower((unsigned char)name.p[i]);
    out[name.n] = '\0';
    return true;
}

/* The first keyword of a name wins, so a file in keywords/ overrides a declared one. */
static void add_name(const char *name, const struct keyword_ops *k)
{
    char key[KEYWORD_NAME_MAX];

    if (name != NULL && lower_name(text_of(name), key) &&
        map_get_string(&registry.by_name, key) == NULL)
        map_put_string(&registry.by_name, key, (void *)k);
}

void keyword_register(const struct keyword_ops *k)
{
    ARRAY_PUSH(&registry.in_order, k);
    add_name(k->name, k);
    add_name(k->alias, k);
}

const struct keyword_ops *keyword_find(struct text name)
{
    char key[KEYWORD_NAME_MAX];

    return lower_name(name, key) ? map_get_string(&registry.by_name, key) : NULL;
}

void keyword_each(void (*visit)(const struct keyword_ops *k, void *arg), void *arg)
{
    for (size_t i = 0; i < registry.in_order.count; i++)
        visit(registry.in_order.at[i], arg);
}

bool keyword_registry_is_empty(void)
{
    return registry.in_order.count == 0;
}

/* --- buffers of packets ------------------------------------------------------------------- */

void packet_buffer_add(const struct packet_buffer *b)
{
    ARRAY_PUSH(&registry.buffers, b);
}

const struct packet_buffer *packet_buffer_at(unsigned i)
{
    return i < registry.buffers.count ? registry.buffers.at[i] : NULL;
}
