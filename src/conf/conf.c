/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/conf.c - the tree of the configuration: its nodes, the ways down, and the paths and
 * positions for messages. The main thread builds it. Afterwards other threads read it, and
 * only the main thread changes it (conf_set). */
#include "conf/conf_private.h"

#include "base/memory/buf.h"
#include "base/report/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All nodes and texts live in its arena until conf_free(). */
struct conf *conf_new(void)
{
    struct conf *conf = xcalloc(1, sizeof(*conf));

    arena_init(&conf->arena, 64 * 1024, 0);
    conf->root = conf_node_new(conf, TEXT_LITERAL(""), (struct where){ 0 });
    conf->root->kind = CONF_MAP;
    return conf;
}

void conf_free(struct conf *conf)
{
    if (conf == NULL)
        return;
    for (struct conf_build_node *b = conf->indexed; b != NULL; b = b->next_indexed)
        map_fini(&b->index);
    ARRAY_FREE(&conf->overrides);
    arena_fini(&conf->arena);
    free(conf);
}

const struct conf_node *conf_root(const struct conf *conf)
{
    return conf->root;
}

struct conf_node *conf_node_new(struct conf *conf, struct text name, struct where at)
{
    struct conf_build_node *built = arena_zalloc(&conf->arena, sizeof(*built));

    conf->nodes++;
    built->conf = conf;
    built->node.name = arena_text(&conf->arena, name);
    built->node.value = "";
    built->node.at = built->node.key_at = at;
    return &built->node;
}

/* Sections with fewer keys are walked. */
#define INDEX_FROM 32

static struct conf_build_node *built_of(const struct conf_node *node)
{
    return CONTAINER_OF((struct conf_node *)(uintptr_t)node, struct conf_build_node, node);
}

/* Of children with the same name the first counts. */
static void index_add(struct conf_build_node *parent, struct conf_node *child)
{
    if (map_get_string(&parent->index, child->name) == NULL)
        map_put_string(&parent->index, child->name, child);
}

/* A file may have so many keys that a walk for each would take minutes. */
static COLD void index_make(struct conf_build_node *parent)
{
    for (struct conf_node *child = parent->node.child; child != NULL; child = child->next)
        index_add(parent, child);
    if (parent->is_indexed)
        return;
    parent->is_indexed = true;
    parent->next_indexed = parent->conf->indexed;
    parent->conf->indexed = parent;
}

/* The last child is remembered, so that long lists are built in linear time. */
void conf_node_append(struct conf_node *parent, struct conf_node *child)
{
    struct conf_build_node *built = built_of(parent);

    child->parent = parent;
    child->next = NULL;
    if (parent->child == NULL)
        parent->child = child;
    else
        built->last->next = child;
    built->last = child;
    if (++built->children == INDEX_FROM)
        index_make(built);
    else if (built->children > INDEX_FROM)
        index_add(built, child);
}

struct conf_node *conf_node_child(const struct conf_node *parent, struct text name)
{
    const struct conf_build_node *built = built_of(parent);

    if (built->children >= INDEX_FROM)
        return map_get(&built->index, name.p, name.n);
    for (struct conf_node *child = parent->child; child != NULL; child = child->next)
        if (text_equal(name, child->name))
            return child;
    return NULL;
}

struct conf_node *conf_node_make(struct conf *conf, struct conf_node *parent, struct text name,
                                 struct where at)
{
    struct conf_node *child = conf_node_child(parent, name);

    if (child == NULL) {
        child = conf_node_new(conf, name, at);
        conf_node_append(parent, child);
    }
    return child;
}

/* Old children stay in the arena, where others may still point to them. */
void conf_node_clear(struct conf_node *node)
{
    struct conf_build_node *built = built_of(node);

    node->kind = CONF_NULL;
    node->value = "";
    node->quoted = node->is_final = false;
    node->child = NULL;
    map_fini(&built->index);
    built->children = 0;
}

void conf_node_set_text(struct conf *conf, struct conf_node *node, struct text value)
{
    conf_node_clear(node);
    node->kind = CONF_SCALAR;
    node->value = arena_text(&conf->arena, value);
}

/* Items are named "0", "1" ..., so that a path can name them. The number follows the last
 * item's: an item may have been created by its number. */
struct conf_node *conf_node_add_item(struct conf *conf, struct conf_node *list, struct where at)
{
    struct conf_build_node *built = built_of(list);
    uint64_t number = 0;
    char name[24];
    struct conf_node *item;

    if (list->child != NULL && text_to_u64(text_of(built->last->name), UINT32_MAX, &number))
        number++;
    snprintf(name, sizeof(name), "%llu", (unsigned long long)number);
    item = conf_node_new(conf, text_of(name), at);
    conf_node_append(list, item);
    return item;
}

/* --- paths down the tree --- */

/* "- fast:" and "- fast" are both called "fast". */
const char *conf_item_name(const struct conf_node *item)
{
    if (item->kind == CONF_SCALAR)
        return item->value;
    return item->kind == CONF_MAP && item->child != NULL ? item->child->name : "";
}

/* The settings of "- fast:" are one level deeper. */
const struct conf_node *conf_item_body(const struct conf_node *item)
{
    return item->kind == CONF_MAP && item->child != NULL ? item->child : item;
}

/* An item of a list is found by its number or by its name ("outputs.fast"). */
const struct conf_node *conf_step(const struct conf_node *node, struct text part)
{
    const struct conf_node *child = conf_node_child(node, part);

    if (child != NULL || node->kind != CONF_LIST)
        return child;
    CONF_EACH(item, node)
        if (part.n > 0 && text_equal(part, conf_item_name(item)))
            return conf_item_body(item);
    return NULL;
}

/* The item "interface: default" holds the defaults of its list. */
static bool is_default_interface(const struct conf_node *item)
{
    const struct conf_node *name = conf_node_child(item, text_of("interface"));

    return name != NULL && name->kind == CONF_SCALAR && strcmp(name->value, "default") == 0;
}

/* Finds the value of a key that an interface in a list does not have: that of `default` in the
 * same list. */
static const struct conf_node *default_of(const struct conf_node *item, struct text key)
{
    if (item->parent == NULL || item->parent->kind != CONF_LIST ||
        conf_node_child(item, text_of("interface")) == NULL || is_default_interface(item))
        return NULL;
    CONF_EACH(other, item->parent)
        if (is_default_interface(other))
            return conf_node_child(other, key);
    return NULL;
}

/* Returns NULL if the path does not exist. `node` may be NULL, so that calls can be nested. */
const struct conf_node *conf_find(const struct conf_node *node, const char *path)
{
    struct text rest = text_of(path), part;

    while (node != NULL && text_split(&rest, '.', &part)) {
        const struct conf_node *child = conf_step(node, part);

        node = child != NULL ? child : default_of(node, part);
    }
    return node;
}

/* The item with key: value, otherwise the item whose value is "default". */
const struct conf_node *conf_item(const struct conf_node *list, const char *key,
                                  const char *value)
{
    const struct conf_node *fallback = NULL;

    CONF_EACH(item, list) {
        const char *found = conf_string(item, key, NULL);

        if (found == NULL)
            continue;
        if (strcmp(found, value) == 0)
            return item;
        if (fallback == NULL && strcmp(found, "default") == 0)
            fallback = item;
    }
    return fallback;
}

/* --- names and positions --- */

/* A path that is too long is cut: it is only for messages. */
static size_t path_add(const struct conf_node *node, char *buf, size_t size)
{
    size_t used = 0;

    if (node->parent == NULL)
        return 0;
    if (node->parent->parent != NULL) {
        used = path_add(node->parent, buf, size);
        if (used + 1 < size)
            buf[used++] = '.';
    }
    for (const char *p = node->name; *p != '\0' && used + 1 < size; p++)
        buf[used++] = *p;
    buf[used] = '\0';
    return used;
}

const char *conf_path(const struct conf_node *node, char *buf, size_t size)
{
    buf[0] = '\0';
    if (node != NULL)
        path_add(node, buf, size);
    return buf;
}

/* Messages begin with the key's path, so that one can find it. */
static void complain(enum log_level level, const struct conf_node *node, const char *fmt,
                     va_list args)
{
    char path[256], text[512];
    size_t used = 0;

    conf_path(node, path, sizeof(path));
    if (path[0] != '\0')
        used = (size_t)snprintf(text, sizeof(text), "%s: ", path);
    vsnprintf(text + used, sizeof(text) - used, fmt, args);
    log_at(level, "conf", node != NULL ? node->at : NO_LOCATION, "%s", text);
}

void conf_error(const struct conf_node *node, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    complain(LOG_LEVEL_ERROR, node, fmt, args);
    va_end(args);
}

/* Reading continues, so that one start shows all mistakes; the count ends the start afterwards. */
void conf_fatal(const struct conf_node *node, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    complain(LOG_LEVEL_ERROR, node, fmt, args);
    va_end(args);
    log_count_fatal();
}

void conf_warning(const struct conf_node *node, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    complain(LOG_LEVEL_WARNING, node, fmt, args);
    va_end(args);
}

/* Old files of Suricata have underscores in keys. Names of variables may contain them. */
struct text conf_key(struct conf *conf, struct text section, struct text key, struct where at)
{
    char *dashed;

    if (text_equal(section, "address-groups") || text_equal(section, "port-groups") ||
        key.n == 0 || memchr(key.p, '_', key.n) == NULL)
        return key;
    dashed = arena_text(&conf->arena, key);
    for (char *p = dashed; *p != '\0'; p++)
        if (*p == '_')
            *p = '-';
    log_at(LOG_LEVEL_WARNING, "conf", at, "%.*s is deprecated. Please use %s", TEXT(key), dashed);
    return text_of(dashed);
}

/* --- --dump-config --- */

/* One buffer for the path, one for the line; both grow as needed. */
struct dump {
    struct buf path;
    struct buf text;
    void (*line)(const char *text, void *arg);
    void *arg;
};

/* The form is that of Suricata's --dump-config. */
static void dump_children(struct dump *d, const struct conf_node *node)
{
    CONF_EACH(child, node) {
        size_t mark = d->path.len;
        const char *value = child->kind == CONF_SCALAR ? child->value : "(null)";

        if (node->kind == CONF_LIST && child->kind == CONF_MAP && child->child != NULL)
            value = child->child->name;
        if (mark > 0)
            buf_add_u8(&d->path, '.');
        buf_add_string(&d->path, child->name);

        buf_clear(&d->text);
        buf_add(&d->text, d->path.data, d->path.len);
        BUF_LITERAL(&d->text, " = ");
        buf_add_string(&d->text, value);
        buf_add_u8(&d->text, '\0');
        d->line((const char *)d->text.data, d->arg);

        dump_children(d, child);
        d->path.len = mark;
    }
}

void conf_dump(const struct conf *conf, void (*line)(const char *text, void *arg), void *arg)
{
    struct dump d = { .line = line, .arg = arg };

    dump_children(&d, conf->root);
    buf_fini(&d.path);
    buf_fini(&d.text);
}
