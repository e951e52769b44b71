/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/yaml.c - reads YAML files into the tree, from libyaml's events. A key that the tree
 * already has starts empty: a later file replaces whole sections and does not mix with
 * earlier ones. Included files are read in place, so keys after the `include` win over
 * included ones. Of tags only `!include` has a meaning. */
#include "conf/yaml_private.h"

#include "base/report/log.h"

#include <string.h>

/* libyaml counts from 0, messages from 1. */
static struct where mark_location(const struct yaml_file *f, yaml_mark_t mark)
{
    return (struct where){ f->name, (unsigned)mark.line + 1, (unsigned)mark.column + 1 };
}

/* -1 with the error set; *event is then safe to delete. */
static int next_event(struct yaml_file *f, yaml_event_t *event)
{
    if (yaml_parser_parse(&f->parser, event))
        return 0;
    memset(event, 0, sizeof(*event));
    return yaml_problem(f);
}

static struct text scalar_text(const yaml_event_t *event)
{
    return (struct text){ (const char *)event->data.scalar.value, event->data.scalar.length };
}

/* Without quotes: only then YAML gives words a meaning. */
static bool is_plain(const yaml_event_t *event)
{
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static bool is_plain_word(const yaml_event_t *event, const char *word)
{
    return event->type == YAML_SCALAR_EVENT && is_plain(event) &&
           text_equal(scalar_text(event), word);
}

/* The null values of YAML 1.1's core types. */
static bool is_null(const yaml_event_t *event)
{
    static const char *const words[] = { "", "~", "null", "Null", "NULL" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (is_plain_word(event, words[i]))
            return true;
    return false;
}

static const yaml_char_t *event_anchor(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:         return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT: return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:  return event->data.mapping_start.anchor;
    default:                        return NULL;
    }
}

/* "" without a tag. */
static const char *event_tag(const yaml_event_t *event)
{
    const yaml_char_t *tag = NULL;

    if (event->type == YAML_SCALAR_EVENT)
        tag = event->data.scalar.tag;
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        tag = event->data.sequence_start.tag;
    return tag != NULL ? (const char *)tag : "";
}

static int read_value(struct yaml_file *f, const yaml_event_t *event, struct conf_node *node);

/* Reads the next event, which must begin a value, into node. */
static int read_next_value(struct yaml_file *f, struct conf_node *node)
{
    yaml_event_t event;
    int status = next_event(f, &event);

    if (status == 0)
        status = read_value(f, &event, node);
    yaml_event_delete(&event);
    return status;
}

/* --- scalars --- */

/* "!foo" without quotes is a tag to YAML, which leaves an empty value: most often a
 * negated address. */
static int read_scalar(struct yaml_file *f, const yaml_event_t *event, struct conf_node *node)
{
    struct text value = scalar_text(event);
    const char *tag = event_tag(event);

    if (value.n > 0 && memchr(value.p, '\0', value.n) != NULL)
        return err_at(f->err, node->at, "a value cannot hold a NUL character");
    conf_node_clear(node);
    if (is_null(event)) {
        if (tag[0] == '!' && tag[1] != '\0')
            conf_warning(node, "%s without quotes is a tag to YAML, and the value is empty: "
                         "write \"%s\"", tag, tag);
        return 0;
    }
    conf_node_set_text(f->conf, node, value);
    node->quoted = !is_plain(event);
    return 0;
}

/* --- lists --- */

static int read_list(struct yaml_file *f, struct conf_node *node)
{
    yaml_event_t event;
    int status;

    conf_node_clear(node);
    node->kind = CONF_LIST;
    for (;;) {
        struct conf_node *item;

        if (next_event(f, &event) < 0)
            return -1;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            break;
        item = conf_node_add_item(f->conf, node, mark_location(f, event.start_mark));
        status = read_value(f, &event, item);
        yaml_event_delete(&event);
        if (status < 0)
            return -1;
    }
    yaml_event_delete(&event);
    return 0;
}

/* --- includes --- */

/* `include: a.yaml` or `include: [a.yaml, b.yaml]` reads into the section that contains
 * it. With the tag !include the value of a key is read from the file. */
static int read_include(struct yaml_file *f, const yaml_event_t *event, struct conf_node *into)
{
    struct where at = mark_location(f, event->start_mark);
    struct conf_node *names = conf_node_new(f->conf, TEXT_LITERAL("include"), at);

    if (event->type == YAML_SCALAR_EVENT) {
        if (is_null(event))
            return 0;
        return yaml_include(f, scalar_text(event), at, into);
    }
    if (event->type != YAML_SEQUENCE_START_EVENT)
        return err_at(f->err, at, "include: expected a file or a list of files");
    if (read_list(f, names) < 0)
        return -1;
    CONF_EACH(name, names) {
        if (name->kind != CONF_SCALAR)
            return err_at(f->err, name->at, "include: expected the name of a file");
        if (yaml_include(f, text_of(name->value), name->at, into) < 0)
            return -1;
    }
    return 0;
}

/* --- anchors, aliases, merge keys --- */

/* Aliases of aliases grow exponentially ("billion laughs"), so nodes and depth are
 * limited. */
static int check_copy(struct yaml_file *f, unsigned depth, struct where at)
{
    if (f->conf->nodes >= CONF_NODES_MAX)
        return err_at(f->err, at, "aliases blow the configuration up to more than %u values",
                      CONF_NODES_MAX);
    if (depth >= CONF_DEPTH_MAX)
        return err_at(f->err, at, "aliases nest deeper than %u sections and lists",
                      CONF_DEPTH_MAX);
    return 0;
}

/* Copies the children of `from` below `to`; existing children of `to` stay. */
static int copy_children(struct yaml_file *f, const struct conf_node *from, struct conf_node *to,
                         unsigned depth, struct where at)
{
    CONF_EACH(child, from) {
        struct text name = text_of(child->name);
        struct conf_node *copy;

        if (conf_node_child(to, name) != NULL)
            continue;
        if (check_copy(f, depth, at) < 0)
            return -1;
        copy = conf_node_new(f->conf, name, child->key_at);
        copy->at = child->at;
        copy->kind = child->kind;
        copy->value = child->value;
        copy->quoted = child->quoted;
        conf_node_append(to, copy);
        if (copy_children(f, child, copy, depth + 1, at) < 0)
            return -1;
    }
    return 0;
}

/* NULL with the error set: an alias must come after its anchor. */
static const struct conf_node *find_anchor(struct yaml_file *f, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct conf_node *found = map_get_string(&f->anchors, name);

    if (found == NULL)
        err_at(f->err, mark_location(f, event->start_mark),
               "*%s: no value above is marked with &%s", name, name);
    return found;
}

/* An alias inside its own section would copy without end. That happens when a section is
 * opened again: "a: &x 5", then "a.b: *x". */
static bool is_within(const struct conf_node *node, const struct conf_node *section)
{
    while (node != NULL && node != section)
        node = node->parent;
    return node != NULL;
}

/* A copy, because the two may be changed separately later. */
static int read_alias(struct yaml_file *f, const yaml_event_t *event, struct conf_node *node)
{
    const struct conf_node *from = find_anchor(f, event);

    if (from == NULL)
        return -1;
    if (is_within(node, from))
        return err_at(f->err, mark_location(f, event->start_mark),
                      "*%s is within the section that it repeats", event->data.alias.anchor);
    conf_node_clear(node);
    node->kind = from->kind;
    node->value = from->value;
    node->quoted = from->quoted;
    return copy_children(f, from, node, f->depth, node->at);
}

/* `<<: *defaults` and `<<: [*a, *b]`: the section takes keys from there that it does not
 * have itself. So this waits until the section is complete. */
static int merge_defaults(struct yaml_file *f, const struct conf_node *from, struct conf_node *node)
{
    if (from->kind == CONF_MAP)
        return copy_children(f, from, node, f->depth, from->at);
    if (from->kind != CONF_LIST)
        return err_at(f->err, from->at, "<<: expected a section or a list of sections to merge");
    CONF_EACH(item, from) {
        if (item->kind != CONF_MAP)
            return err_at(f->err, item->at, "<<: expected a section to merge");
        if (copy_children(f, item, node, f->depth, from->at) < 0)
            return -1;
    }
    return 0;
}

static void remember_anchor(struct yaml_file *f, const char *name, struct conf_node *node)
{
    if (name != NULL)
        map_put_string(&f->anchors, name, node);
}

/* --- sections --- */

/* An alias that is used as a key has the value of its anchor. */
static int key_text(struct yaml_file *f, const yaml_event_t *event, struct text *key)
{
    struct where at = mark_location(f, event->start_mark);

    if (event->type == YAML_ALIAS_EVENT) {
        const struct conf_node *from = find_anchor(f, event);

        if (from == NULL)
            return -1;
        *key = text_of(from->value);
    } else if (event->type == YAML_SCALAR_EVENT) {
        *key = scalar_text(event);
    } else {
        return err_at(f->err, at, "a key must be a word, found a list or a section");
    }
    if (key->n == 0)
        return err_at(f->err, at, "a key must not be empty");
    if (memchr(key->p, '\0', key->n) != NULL)
        return err_at(f->err, at, "a key cannot hold a NUL character");
    return 0;
}

/* Returns the empty node of a key. `since`: the line where the section starts in this
 * file. A key of the same file after that line was given twice, which is a warning. A key
 * from another file is being replaced, as it should be. */
static struct conf_node *section_key(struct yaml_file *f, struct conf_node *section,
                                     struct text key, struct where at, struct where since)
{
    struct conf_node *node;

    key = conf_key(f->conf, text_of(section->name), key, at);
    node = conf_node_child(section, key);
    if (node == NULL) {
        node = conf_node_new(f->conf, key, at);
        conf_node_append(section, node);
        return node;
    }
    if (node->key_at.file == f->name && node->key_at.line >= since.line)
        log_at(LOG_LEVEL_WARNING, "conf", at,
               "%.*s is in line %u already: only this one counts", TEXT(key),
               node->key_at.line);
    conf_node_clear(node);
    node->at = node->key_at = at;
    return node;
}

/* A key with dots is a path ("outputs.fast.enabled: yes"). */
static int read_key(struct yaml_file *f, const yaml_event_t *event, struct conf_node *section,
                    struct where since)
{
    struct where at = mark_location(f, event->start_mark);
    struct conf_node *node;
    struct text key;

    if (key_text(f, event, &key) < 0)
        return -1;
    if (memchr(key.p, '.', key.n) == NULL)
        node = section_key(f, section, key, at, since);
    else
        node = conf_make_path(f->conf, section, key, at);
    if (node == NULL)
        return err_at(f->err, at, "\"%.*s\" is no path of keys: it has an empty part or too many",
                      TEXT(key));
    return read_next_value(f, node);
}

/* `include` and `<<` are instructions; anything else is a key. */
static int read_entry(struct yaml_file *f, const yaml_event_t *key, struct conf_node *section,
                      struct where since, struct conf_node *defaults)
{
    yaml_event_t value;
    int status;

    if (is_plain_word(key, "<<"))
        return read_next_value(f, conf_node_add_item(f->conf, defaults,
                                                     mark_location(f, key->start_mark)));
    if (!is_plain_word(key, "include"))
        return read_key(f, key, section, since);
    status = next_event(f, &value);
    if (status == 0)
        status = read_include(f, &value, section);
    yaml_event_delete(&value);
    return status;
}

/* `defaults` collects the merge keys; it is not part of the tree. */
static int read_section(struct yaml_file *f, struct conf_node *node, struct where since)
{
    struct conf_node *defaults = conf_node_new(f->conf, TEXT_LITERAL("<<"), since);
    yaml_event_t event;

    node->kind = CONF_MAP;
    for (;;) {
        int status;

        if (next_event(f, &event) < 0)
            return -1;
        if (event.type == YAML_MAPPING_END_EVENT)
            break;
        status = read_entry(f, &event, node, since, defaults);
        yaml_event_delete(&event);
        if (status < 0)
            return -1;
    }
    yaml_event_delete(&event);
    CONF_EACH(from, defaults)
        if (merge_defaults(f, from, node) < 0)
            return -1;
    return 0;
}

/* --- any value --- */

static int read_value_of_kind(struct yaml_file *f, const yaml_event_t *event,
                              struct conf_node *node)
{
    if (strcmp(event_tag(event), "!include") == 0)
        return read_include(f, event, node);
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        node->at = mark_location(f, event->start_mark);
        return read_scalar(f, event, node);
    case YAML_SEQUENCE_START_EVENT:
        return read_list(f, node);
    case YAML_MAPPING_START_EVENT:
        return read_section(f, node, mark_location(f, event->start_mark));
    case YAML_ALIAS_EVENT:
        return read_alias(f, event, node);
    default:
        return err_at(f->err, mark_location(f, event->start_mark), "expected a value here");
    }
}

/* The anchor is remembered after the value, so it cannot refer to itself. */
static int read_value(struct yaml_file *f, const yaml_event_t *event, struct conf_node *node)
{
    int status;

    if (f->depth >= CONF_DEPTH_MAX)
        return err_at(f->err, mark_location(f, event->start_mark),
                      "nested deeper than %u sections and lists", CONF_DEPTH_MAX);
    f->depth++;
    status = read_value_of_kind(f, event, node);
    f->depth--;
    if (status == 0)
        remember_anchor(f, (const char *)event_anchor(event), node);
    return status;
}

/* --- a file --- */

/* Adds keys to a section, which may have some already. A list is only possible in an empty
 * section. */
static int read_document(struct yaml_file *f, const yaml_event_t *event, struct conf_node *into)
{
    struct where at = mark_location(f, event->start_mark);

    if (is_null(event))
        return 0;
    if (event->type == YAML_SCALAR_EVENT)
        return err_at(f->err, at, "expected lines like \"key: value\", found only \"%.*s\"",
                      (int)MIN(scalar_text(event).n, 60u), scalar_text(event).p);
    if (into->kind != CONF_NULL &&
        into->kind != (event->type == YAML_MAPPING_START_EVENT ? CONF_MAP : CONF_LIST))
        return err_at(f->err, at, "expected lines like \"key: value\", found a list");
    return read_value(f, event, into);
}

/* Several documents in one file are read one after another, into the same section. */
int yaml_read_file(struct yaml_file *f, struct conf_node *into)
{
    yaml_event_t event;
    bool is_end = false;

    while (!is_end) {
        int status = 0;

        if (next_event(f, &event) < 0)
            return -1;
        switch (event.type) {
        case YAML_STREAM_END_EVENT:
            is_end = true;
            break;
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            break;
        default:
            status = read_document(f, &event, into);
        }
        yaml_event_delete(&event);
        if (status < 0)
            return -1;
    }
    return 0;
}
