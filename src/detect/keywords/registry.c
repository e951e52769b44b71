/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/registry.c - all rule keywords by name. There are four sources: the list
 * of files in keywords/, packet buffers, transforms, and what application protocols
 * declare. The loading thread fills the registry before it reads the first rule; it is
 * read-only afterwards. */
#include "detect/keywords/registry.h"

#include "base/array.h"
#include "base/containers/map.h"
#include "detect/rule/buffer.h"
#include "detect/keywords/list.h"

#include <ctype.h>
#include <string.h>

#define K(symbol) extern const struct keyword_ops keyword_##symbol;
KEYWORD_LIST(K)
#undef K

static const struct keyword_ops *const built_in[] = {
#define K(symbol) &keyword_##symbol,
    KEYWORD_LIST(K)
#undef K
    NULL
};

/* by_name: names and aliases in lower case. in_order: each keyword once, as
 * --list-keywords shows them. One per process; the ops it points to are never freed. */
static struct {
    struct map by_name;
    ARRAY_OF(const struct keyword_ops *) in_order;
    bool ready;
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

static void register_all(const struct keyword_ops *const *list)
{
    for (; *list != NULL; list++)
        keyword_register(*list);
}

/* The order is the precedence: files first, then tables, then protocols. Tests and
 * --list-keywords call it too, so it may run more than once. */
void keyword_registry_init(void)
{
    if (registry.ready)
        return;
    registry.ready = true;
    register_all(built_in);
    register_all(payload_keywords);
    register_all(packet_buffer_keywords());
    register_all(transform_keywords());
    keyword_declared_register();
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
