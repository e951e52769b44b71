/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/conf.h - the configuration: YAML, read into a tree whose values have their file and line.
 *
 * The schema is Suricata's. Once loaded the tree is read-only; any thread may read it. Paths are
 * dotted. List items are named by number ("outputs.1.eve-log.types.0.alert") or by name
 * ("outputs.eve-log.types.alert"): the name of an item is its first key, or the item itself if
 * it is a bare word. Underscores in keys become dashes, with a warning; names of address and
 * port groups keep them. */
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

/* Set-up. Files are loaded in order, and later values replace earlier ones. `include:` has both
 * forms (one file or a list of files, at the top or inside a section); paths are relative to the
 * including file. */
struct conf *conf_new(void);
void conf_free(struct conf *conf);
int conf_load(struct conf *conf, const char *path, struct err *err);
int conf_load_string(struct conf *conf, const char *yaml, const char *name, struct err *err);
/* Like conf_load(), but adds the file below `section`, which is created if it is missing:
 * "multi-detect.1" for the file of a tenant. */
int conf_load_at(struct conf *conf, const char *section, const char *path, struct err *err);
/* --set: sets a value and creates missing sections, from "a.b.c=value" or from a path and a
 * value. The value also wins over files loaded later. -1: the path has an empty part. */
int conf_set(struct conf *conf, const char *path, const char *value);
int conf_set_argument(struct conf *conf, const char *path_equals_value, struct err *err);

const struct conf_node *conf_root(const struct conf *conf);

/* Reading. `node` may be NULL, which has no values; path NULL or "" is the node itself. A key
 * without a value is found, as CONF_NULL; the typed reads below treat it as absent. */
const struct conf_node *conf_find(const struct conf_node *node, const char *path);
const char *conf_string(const struct conf_node *node, const char *path, const char *otherwise);

/* These return `otherwise` if the value is absent. If it is malformed they also log it with its
 * location: a number as a warning, all else as an error, which makes -T fail. */
bool conf_bool(const struct conf_node *node, const char *path, bool otherwise);
uint64_t conf_u64(const struct conf_node *node, const char *path, uint64_t otherwise);
uint64_t conf_u64_range(const struct conf_node *node, const char *path, uint64_t otherwise,
                        uint64_t min, uint64_t max);
/* The same, but any other value ends the start, for settings with which Suricata does not start. */
uint64_t conf_u64_or_end(const struct conf_node *node, const char *path, uint64_t otherwise,
                         uint64_t min, uint64_t max);
/* The same, but a word is a warning, and the default is used: only a number outside the range ends
 * the start. */
uint64_t conf_u64_within(const struct conf_node *node, const char *path, uint64_t otherwise,
                         uint64_t min, uint64_t max);
int64_t conf_i64(const struct conf_node *node, const char *path, int64_t otherwise);
double conf_double(const struct conf_node *node, const char *path, double otherwise);
/* A size that cannot be read ends the start; with _or_default it is a warning. */
uint64_t conf_size(const struct conf_node *node, const char *path, uint64_t otherwise);
uint64_t conf_size_or_default(const struct conf_node *node, const char *path, uint64_t otherwise);
/* Reads "30", "30s", "5m", "2h", "1d", "1w" or "250ms" as milliseconds; a bare number is in
 * seconds. */
uint64_t conf_duration_ms(const struct conf_node *node, const char *path, uint64_t otherwise);
/* Returns the index of the value in a NULL-ended list of words, any case. */
int conf_choice(const struct conf_node *node, const char *path, const char *const *words,
                int otherwise);
/* The same, but any other word ends the start, because a default would mean another verdict or
 * capture. */
int conf_choice_or_end(const struct conf_node *node, const char *path, const char *const *words,
                       int otherwise);

/* Logs a problem of a value, with its location. Errors are counted, and make -T fail. */
void conf_error(const struct conf_node *node, const char *fmt, ...) PRINTF(2, 3);
void conf_warning(const struct conf_node *node, const char *fmt, ...) PRINTF(2, 3);
/* Like conf_error(), but ends the start, for values without a safe default. */
void conf_fatal(const struct conf_node *node, const char *fmt, ...) PRINTF(2, 3);

/* Ends the start for some values that Suricata rejects and that nothing here reads, and for the
 * search "hs" unless the build has libhs. */
void conf_check_values(const struct conf_node *root, bool has_hs);

#define CONF_EACH(child_, node)                                                             \
    for (const struct conf_node *child_ = (node) != NULL ? (node)->child : NULL;            \
         child_ != NULL; child_ = child_->next)

/* The name of an item in a list such as `outputs` ("" without one), and its body: the section or
 * scalar below the name. Items `fast` and `fast: {enabled: yes}` are both called "fast"; the
 * body of the first is the item itself. Never NULL. */
const char *conf_item_name(const struct conf_node *item);
const struct conf_node *conf_item_body(const struct conf_node *item);

/* Finds in a list of maps the item whose `key` is `value`, else the one named `default`, else
 * NULL. For lists of interfaces: conf_find() and the functions that read values look in
 * `default` for keys that an interface does not have. */
const struct conf_node *conf_item(const struct conf_node *list, const char *key,
                                  const char *value);

/* Writes the path of a node into buf, as "outputs.1.eve-log.filename"; returns buf. */
const char *conf_path(const struct conf_node *node, char *buf, size_t size);

/* --dump-config: passes "a.b = c" lines, without a newline. The value is "(null)" for nodes that
 * are not scalars; for a list item that is a map, the name of its first key. */
void conf_dump(const struct conf *conf, void (*line)(const char *text, void *arg), void *arg);

/* Warns of each unknown key and names the most similar known one (conf/schema.c). `more`: keys
 * that modules above conf/ declare, in the form of schema_keys.c, ended by NULL; NULL: none. */
unsigned conf_check_keys(const struct conf *conf, const char *const *more);

#endif
