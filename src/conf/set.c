/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/set.c - `--set path=value`: sets one value at any depth, and creates the path if it
 * does not exist. The command line wins over every file, so a setting is remembered and
 * applied again after each load. So the order of options does not matter, and a path that
 * names list items by name is looked up in the final list. */
#include "conf/conf_private.h"

#include <stdlib.h>
#include <string.h>

/* The position of such values in messages. */
static const struct where set_location = { .file = "--set" };

/* Numbers name items of lists. */
static bool is_number(struct text part)
{
    uint64_t n;

    return part.n > 0 && part.p[0] >= '0' && part.p[0] <= '9' && text_to_u64(part, UINT32_MAX, &n);
}

/* `- alert` in a list is short for `- alert:` without settings; here it gets some. */
static void scalar_item_to_map(struct conf *conf, struct conf_node *item)
{
    struct text name = text_of(item->value);
    struct conf_node *body = conf_node_new(conf, name, item->at);

    conf_node_clear(item);
    item->kind = CONF_MAP;
    conf_node_append(item, body);
}

static bool is_list_item(const struct conf_node *node)
{
    return node->parent != NULL && node->parent->kind == CONF_LIST;
}

/* Makes `node` a list or a section, because something is to be below it. A value that was
 * there is lost: the command line wins. */
static void open_section(struct conf *conf, struct conf_node *node, struct text part)
{
    if (node->kind == CONF_LIST || node->kind == CONF_MAP)
        return;
    if (node->kind == CONF_SCALAR && is_list_item(node) && text_equal(part, node->value)) {
        scalar_item_to_map(conf, node);
        return;
    }
    conf_node_clear(node);
    node->kind = is_number(part) ? CONF_LIST : CONF_MAP;
}

/* The item of that name; a new one when there is none. */
static struct conf_node *named_item(struct conf *conf, struct conf_node *list, struct text name,
                                    struct where at)
{
    struct conf_node *item;

    for (item = list->child; item != NULL; item = item->next) {
        if (!text_equal(name, conf_item_name(item)))
            continue;
        if (item->kind == CONF_SCALAR)
            scalar_item_to_map(conf, item);
        return item->child;
    }
    item = conf_node_add_item(conf, list, at);
    item->kind = CONF_MAP;
    return conf_node_make(conf, item, name, at);
}

/* One part of the path: an item of a list, or a key. */
static struct conf_node *make_step(struct conf *conf, struct conf_node *node, struct text part,
                                   struct where at)
{
    open_section(conf, node, part);
    part = conf_key(conf, text_of(node->name), part, at);
    if (node->kind == CONF_LIST && !is_number(part))
        return named_item(conf, node, part, at);
    return conf_node_make(conf, node, part, at);
}

/* True if no part is empty, and the path is not deeper than files may be. */
static bool is_path(struct text path)
{
    struct text part;

    if (path.n == 0 || path.p[path.n - 1] == '.')
        return false;
    for (unsigned depth = 0; text_split(&path, '.', &part); depth++)
        if (part.n == 0 || depth == CONF_DEPTH_MAX)
            return false;
    return true;
}

/* NULL: it is no path. Existing nodes on the way are kept. */
struct conf_node *conf_make_path(struct conf *conf, struct conf_node *from, struct text path,
                                 struct where at)
{
    struct text part;
    struct conf_node *node = from;

    if (!is_path(path))
        return NULL;
    while (text_split(&path, '.', &part))
        node = make_step(conf, node, part, at);
    return node;
}

/* is_final: the value comes from --set; its location shows that too. */
static void apply(struct conf *conf, const struct conf_override *o)
{
    struct conf_node *node = conf_make_path(conf, conf->root, text_of(o->path), set_location);

    conf_node_set_text(conf, node, text_of(o->value));
    node->is_final = true;
    node->at = node->key_at = set_location;
}

void conf_apply_overrides(struct conf *conf)
{
    for (size_t i = 0; i < conf->overrides.count; i++)
        apply(conf, &conf->overrides.at[i]);
}

/* Replaces underscores here already, so that applying the setting again repeats no
 * warning. */
static const char *spell_path(struct conf *conf, struct text path)
{
    char *spelled = arena_zalloc(&conf->arena, path.n + 1);
    struct text part, group = { 0 };
    char *end = spelled;

    while (text_split(&path, '.', &part)) {
        struct text key = conf_key(conf, group, part, set_location);

        if (end != spelled)
            *end++ = '.';
        memcpy(end, key.p, key.n);
        end += key.n;
        group = part;
    }
    return spelled;
}

/* The program itself sets a value. -1: the path is invalid. */
int conf_set(struct conf *conf, const char *path, const char *value)
{
    struct conf_override o;

    if (!is_path(text_of(path)))
        return -1;
    o.path = spell_path(conf, text_of(path));
    o.value = arena_text(&conf->arena, text_of(value));
    apply(conf, &o);
    ARRAY_PUSH(&conf->overrides, o);
    return 0;
}

/* Sets a value from the command line; only the first '=' separates. */
int conf_set_argument(struct conf *conf, const char *path_equals_value, struct err *err)
{
    const char *equals = strchr(path_equals_value, '=');
    struct text path;
    char *copy;
    int status;

    if (equals == NULL)
        return err_at(err, set_location, "expected key=value, got \"%s\"", path_equals_value);
    path = text_trim((struct text){ path_equals_value, (size_t)(equals - path_equals_value) });
    copy = text_dup(path);
    status = conf_set(conf, copy, text_trim(text_of(equals + 1)).p);
    free(copy);
    if (status < 0)
        return err_at(err, set_location,
                      "expected a key such as stream.memcap before the =, got \"%s\"",
                      path_equals_value);
    return 0;
}
