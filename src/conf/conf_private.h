/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/conf_private.h - building the tree; for conf/ alone.
 *
 * Everything lives in the configuration's arena and dies with it: a value that is replaced is
 * only unlinked, so that places and texts handed out stay good. */
#ifndef CONF_CONF_PRIVATE_H
#define CONF_CONF_PRIVATE_H

#include "base/memory/arena.h"
#include "base/array.h"
#include "base/containers/map.h"
#include "conf/conf.h"

/* Nesting of sections, includes and aliases together. */
#define CONF_DEPTH_MAX 128
/* Aliases of aliases double with each line; a real configuration has some thousand nodes. */
#define CONF_NODES_MAX 1000000

/* What conf_node_new() makes: the public part and what only the builder needs. */
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
    ARRAY_OF(struct conf_override) overrides;   /* --set, to be repeated after each load */
    size_t nodes;
    struct conf_build_node *indexed;
};

struct conf_node *conf_node_new(struct conf *conf, struct text name, struct where at);
void conf_node_append(struct conf_node *parent, struct conf_node *child);
/* The child of exactly that name: a key, or a number in a list. */
struct conf_node *conf_node_child(const struct conf_node *parent, struct text name);
/* Found, else made. */
struct conf_node *conf_node_make(struct conf *conf, struct conf_node *parent, struct text name,
                                 struct where at);
/* Back to CONF_NULL without children. */
void conf_node_clear(struct conf_node *node);
void conf_node_set_text(struct conf *conf, struct conf_node *node, struct text value);
/* What a list calls its next item. */
struct conf_node *conf_node_add_item(struct conf *conf, struct conf_node *list, struct where at);

/* The key as the tree spells it: dashes for underscores, with a warning, unless the section it
 * stands in is a group of variables. */
struct text conf_key(struct conf *conf, struct text section, struct text key, struct where at);

/* Walks a dotted path, making what is missing. NULL: the path has an empty part. */
struct conf_node *conf_make_path(struct conf *conf, struct conf_node *from, struct text path,
                                 struct where at);
void conf_apply_overrides(struct conf *conf);

/* Steps one part down: key, number or name of a list item. */
const struct conf_node *conf_step(const struct conf_node *node, struct text part);

/* conf/vars.c: gives variables that are YAML lists their text. */
void conf_vars_normalize(struct conf *conf, struct conf_node *root);

/* conf/schema_keys.c: the known keys, as an outline; see there. */
extern const char *const conf_schema_outline[];
/* conf/schema_ignored.c: those of them that change nothing; ended by NULL. */
struct conf_ignored { const char *path, *why; };
extern const struct conf_ignored conf_ignored[];

#endif
