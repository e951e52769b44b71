/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/conf_private.h - builds the tree; only conf/ includes it.
 *
 * All nodes are in the configuration's arena. A replaced value is only unlinked, so locations
 * and texts that callers hold stay valid. */
#ifndef CONF_CONF_PRIVATE_H
#define CONF_CONF_PRIVATE_H

#include "base/memory/arena.h"
#include "base/array.h"
#include "base/containers/map.h"
#include "conf/conf.h"

/* Nesting of sections, includes and aliases together. */
#define CONF_DEPTH_MAX 128
/* Limits aliases of aliases, whose number doubles with each line. A real configuration has some
 * thousand nodes. */
#define CONF_NODES_MAX 1000000

/* A node with the members that only the builder needs. */
struct conf_build_node {
    struct conf_node node;      /* first */
    struct conf_node *last;     /* youngest child */
    struct conf *conf;
    size_t children;
    struct map index;           /* children by name, where these are many */
    bool is_indexed;            /* in the list of those with an index to free */
    struct conf_build_node *next_indexed;
};

struct conf_override {
    const char *path, *value;
};

struct conf {
    struct arena arena;
    struct conf_node *root;
    ARRAY_OF(struct conf_override) overrides;   /* --set, applied again after each load */
    size_t nodes;
    struct conf_build_node *indexed;
};

struct conf_node *conf_node_new(struct conf *conf, struct text name, struct where at);
void conf_node_append(struct conf_node *parent, struct conf_node *child);
/* Finds the child of exactly that name: a key, or a number in a list. */
struct conf_node *conf_node_child(const struct conf_node *parent, struct text name);
/* Finds or creates the child. */
struct conf_node *conf_node_make(struct conf *conf, struct conf_node *parent, struct text name,
                                 struct where at);
/* Makes the node CONF_NULL without children. */
void conf_node_clear(struct conf_node *node);
void conf_node_set_text(struct conf *conf, struct conf_node *node, struct text value);
/* Appends an item to a list, with the next number as its name. */
struct conf_node *conf_node_add_item(struct conf *conf, struct conf_node *list, struct where at);

/* Returns the key as the tree spells it: with dashes for underscores, and a warning, unless its
 * section is a group of variables. */
struct text conf_key(struct conf *conf, struct text section, struct text key, struct where at);

/* Walks a dotted path and creates missing nodes. NULL: the path has an empty part. */
struct conf_node *conf_make_path(struct conf *conf, struct conf_node *from, struct text path,
                                 struct where at);
void conf_apply_overrides(struct conf *conf);

/* Finds the child by one part of a path: key, number or name of a list item. */
const struct conf_node *conf_step(const struct conf_node *node, struct text part);

/* Converts variables that are YAML lists to text (conf/vars.c). */
void conf_vars_normalize(struct conf *conf, struct conf_node *root);

/* The known keys, as an outline (conf/schema_keys.c). */
extern const char *const conf_schema_outline[];
/* The known keys without effect (conf/schema_ignored.c); ended by NULL. */
struct conf_ignored { const char *path, *why; };
extern const struct conf_ignored conf_ignored[];

#endif
