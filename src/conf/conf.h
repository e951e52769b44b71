/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/conf.h - the configuration: YAML read into a tree in which each value knows its place.
 *
 * Suricata's schema. Read-only once loaded; any thread may read. Paths are dotted, list items by
 * number ("outputs.1.eve-log.types.0.alert") or by name ("outputs.eve-log.types.alert"): the name
 * of an item is its first key, or the item itself when it is a bare word. Underscores in keys
 * become dashes, with a warning, but for the names of address and port groups. */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include "base/err.h"
#include "base/text/text.h"

enum conf_kind { CONF_NULL, CONF_SCALAR, CONF_LIST, CONF_MAP };

struct conf_node {
    const char *name;           /* key in its map; index as text in a list; "" for the root */
    const char *value;          /* scalars; "" when empty, never NULL */
    enum conf_kind kind;
    bool quoted;                /* scalar written in quotes: "80" is text */
    bool is_final;              /* given by --set, which wins over every file */
    struct where at;            /* of the value; of the key where the value is a section */
    struct where key_at;        /* of the key; of the item in a list */
    struct conf_node *parent, *child, *next;     /* children in file order */
};

struct conf;

/* Set-up. Files are loaded in order, later values replace earlier ones; `include:` in both forms
 * (one file, list of files; at the top or inside a section) relative to the including file. */
struct conf *conf_new(void);
void conf_free(struct conf *conf);
int conf_load(struct conf *conf, const char *path, struct err *err);
int conf_load_string(struct conf *conf, const char *yaml, const char *name, struct err *err);
/* As conf_load(), but what the file holds goes below the section `section`, which is made when it
 * is missing: "multi-detect.1" for the file of a tenant. */
int conf_load_at(struct conf *conf, const char *section, const char *path, struct err *err);
/* --set: creates what is missing; "a.b.c=value" or a path and a value. Holds against files loaded
 * later, too. -1: the path has an empty part. */
int conf_set(struct conf *conf, const char *path, const char *value);
int conf_set_argument(struct conf *conf, const char *path_equals_value, struct err *err);

const struct conf_node *conf_root(const struct conf *conf);

/* Reading. `node` may be NULL (then all is absent), path NULL or "" is the node itself. A key
 * without a value is found, as CONF_NULL; the typed reads below take it for absent. */
const struct conf_node *conf_find(const struct conf_node *node, const char *path);
const char *conf_string(const struct conf_node *node, const char *path, const char *otherwise);

/* These log an error with the value's place when it is malformed, and give `otherwise`. */
bool conf_bool(const struct conf_node *node, const char *path, bool otherwise);
uint64_t conf_u64(const struct conf_node *node, const char *path, uint64_t otherwise);
uint64_t conf_u64_range(const struct conf_node *node, const char *path, uint64_t otherwise,
                        uint64_t min, uint64_t max);
int64_t conf_i64(const struct conf_node *node, const char *path, int64_t otherwise);
double conf_double(const struct conf_node *node, const char *path, double otherwise);
uint64_t conf_size(const struct conf_node *node, const char *path, uint64_t otherwise);
/* "30", "30s", "5m", "2h", "1d", "1w", "250ms" to milliseconds; a bare number is in seconds. */
uint64_t conf_duration_ms(const struct conf_node *node, const char *path, uint64_t otherwise);
/* The index of the value in a NULL-ended list of words, any case. */
int conf_choice(const struct conf_node *node, const char *path, const char *const *words,
                int otherwise);
/* The same; but another word ends the start, for it would mean another verdict or capture. */
int conf_choice_or_end(const struct conf_node *node, const char *path, const char *const *words,
                       int otherwise);

/* Logs what is wrong with a value, with its location; counted: -T then fails. */
void conf_error(const struct conf_node *node, const char *fmt, ...) PRINTF(2, 3);
void conf_warning(const struct conf_node *node, const char *fmt, ...) PRINTF(2, 3);
/* As conf_error(), where to go on with the default would be worse than not to begin. */
void conf_fatal(const struct conf_node *node, const char *fmt, ...) PRINTF(2, 3);

/* Ends the start for some values that Suricata refuses and nothing here reads. */
void conf_check_values(const struct conf_node *root);

#define CONF_EACH(child_, node)                                                             \
    for (const struct conf_node *child_ = (node) != NULL ? (node)->child : NULL;            \
         child_ != NULL; child_ = child_->next)

/* Of an item in a list such as `outputs`: its name, "" without one, and the section or the scalar
 * that stands under it. Items `fast` and `fast: {enabled: yes}` are both called "fast"; the body
 * of the first is the item itself. Never NULL. */
const char *conf_item_name(const struct conf_node *item);
const struct conf_node *conf_item_body(const struct conf_node *item);

/* In a list whose items are maps: the one whose `key` is `value`, else the one named `default`,
 * else NULL. For the per-interface lists. What an interface does not say is found, by conf_find()
 * and all that read values, where `default` says it. */
const struct conf_node *conf_item(const struct conf_node *list, const char *key,
                                  const char *value);

/* "outputs.1.eve-log.filename", into buf; returns buf. */
const char *conf_path(const struct conf_node *node, char *buf, size_t size);

/* --dump-config: "a.b = c" lines, without a newline; "(null)" for what is no scalar, and for a
 * list item that is a map the name of its first key. */
void conf_dump(const struct conf *conf, void (*line)(const char *text, void *arg), void *arg);

/* conf/schema.c: warns of each unknown key and names the most similar known one. `more`: keys that
 * modules above conf/ declare, in the form of schema_keys.c, ended by NULL; NULL: none. */
unsigned conf_check_keys(const struct conf *conf, const char *const *more);

#endif
