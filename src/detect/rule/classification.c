/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/classification.c - the names that rules refer to: classes from
 * classification.config and reference systems from reference.config. Loaded once per
 * ruleset, into its arena. */
#include "detect/rule/classification.h"

#include "base/array.h"
#include "base/report/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 64 /* with the NUL */
#define CLASS_MODULE "classification-config"
#define REFERENCE_MODULE "reference-config"

/* Names do not depend on case, so keys are in lower case. */
static bool lower_name(struct text name, char out[NAME_MAX_LEN])
{
    if (name.n == 0 || name.n >= NAME_MAX_LEN)
        return false;
    for (size_t i = 0; i < name.n; i++)
        out[i] = (char)tolower((unsigned char)name.p[i]);
    out[name.n] = '\0';
    return true;
}

/* The characters that Suricata's expressions for these files allow. */
static bool is_name(struct text t)
{
    if (t.n == 0 || !isalpha((unsigned char)t.p[0]))
        return false;
    for (size_t i = 1; i < t.n; i++)
        if (!isalnum((unsigned char)t.p[i]) && t.p[i] != '-' && t.p[i] != '_')
            return false;
    return true;
}

/* Sets *rest to what follows "config KIND:"; false when the line begins otherwise. */
static bool after_head(struct text line, const char *kind, struct text *rest)
{
    line = text_trim(line);
    if (!text_starts(line, "config"))
        return false;
    line = text_trim(text_from(line, strlen("config")));
    if (!text_starts(line, kind))
        return false;
    line = text_trim(text_from(line, strlen(kind)));
    if (line.n == 0 || line.p[0] != ':')
        return false;
    *rest = text_trim(text_from(line, 1));
    return true;
}

/* The first definition of a class stays. NULL: the name is too long. */
static struct rule_class *add_class(struct rule_names *names, struct text name, const char *text,
                                    int32_t priority)
{
    char key[NAME_MAX_LEN];
    struct rule_class *c;

    if (!lower_name(name, key))
        return NULL;
    c = map_get_string(&names->classes, key);
    if (c != NULL)
        return c;
    c = arena_zalloc(names->arena, sizeof(*c));
    c->name = arena_text(names->arena, name);
    c->text = text;
    c->priority = priority;
    map_put_string(&names->classes, key, c);
    return c;
}

/* "config classification: NAME,description,priority". The last comma separates the
 * priority, so a description may contain commas. Ids count from 1 in the order of the
 * file. */
int rule_class_line(struct rule_names *names, struct text line)
{
    struct text rest, name, text, number;
    const char *comma;
    struct rule_class *c;
    uint64_t priority;

    if (!after_head(line, "classification", &rest) || !text_split(&rest, ',', &name) ||
        !is_name(name))
        return -1;
    comma = memrchr(rest.p, ',', rest.n);
    if (comma == NULL)
        return -1;
    text = text_trim((struct text){ rest.p, (size_t)(comma - rest.p) });
    number = text_trim(text_from(rest, (size_t)(comma - rest.p) + 1));
    if (text.n == 0 || !text_to_u64(number, INT32_MAX, &priority))
        return -1;
    c = add_class(names, name, arena_text(names->arena, text), (int32_t)priority);
    if (c == NULL)
        return -1;
    if (c->id == 0)
        c->id = ++names->class_count;
    return 0;
}

/* "config reference: SYSTEM PREFIX". The prefix is usually the start of a URL. As in Suricata, a
 * blank must stand between the first two words; "classification" needs none. */
int rule_reference_line(struct rule_names *names, struct text line)
{
    struct text rest, system;

    if (!after_head(line, "reference", &rest) || text_starts(text_trim(line), "configreference"))
        return -1;
    system = (struct text){ rest.p, 0 };
    while (system.n < rest.n && !isspace((unsigned char)rest.p[system.n]))
        system.n++;
    rest = text_trim(text_from(rest, system.n));
    if (!is_name(system) || system.n >= NAME_MAX_LEN || rest.n == 0)
        return -1;
    rule_reference_add(names, system, arena_text(names->arena, rest));
    return 0;
}

/* The first definition of a system stays. `prefix` must live as long as the names. */
void rule_reference_add(struct rule_names *names, struct text system, const char *prefix)
{
    char key[NAME_MAX_LEN];

    if (lower_name(system, key) && map_get_string(&names->references, key) == NULL)
        map_put_string(&names->references, key, (void *)prefix);
}

const struct rule_class *rule_class_find(const struct rule_names *names, struct text name)
{
    char key[NAME_MAX_LEN];

    return lower_name(name, key) ? map_get_string(&names->classes, key) : NULL;
}

/* A class that only rules name gets priority 3, Suricata's default. */
const struct rule_class *rule_class_add_unknown(struct rule_names *names, struct text name)
{
    struct rule_class *c = add_class(names, name, "Unknown Classtype", 3);

    if (c != NULL)
        c->unknown = true;
    return c;
}

const char *rule_reference_prefix(const struct rule_names *names, struct text system)
{
    char key[NAME_MAX_LEN];

    return lower_name(system, key) ? map_get_string(&names->references, key) : NULL;
}

/* --- files ------------------------------------------------------------------------------------ */

/* One of the two files: how to read a line, and the message about a wrong one. */
struct names_file {
    const char *module;         /* in log messages */
    const char *key;            /* in the configuration */
    const char *expected;
    int (*take)(struct rule_names *names, struct text line);
};

static const struct names_file class_file = {
    CLASS_MODULE, "classification-file",
    "Invalid Classtype in classification.config: "
    "expected \"config classification: name,description,priority\"",
    rule_class_line,
};
static const struct names_file reference_file = {
    REFERENCE_MODULE, "reference-config-file",
    "Invalid Reference Config in reference.config: expected \"config reference: system URL\"",
    rule_reference_line,
};

/* Takes each line that is not a comment; returns the number of wrong ones. A wrong line is
 * an error in the log, and the rest of the file still counts. */
static unsigned read_lines(FILE *f, const char *path, const struct names_file *kind,
                           struct rule_names *names)
{
    unsigned wrong = 0, number = 0;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    while ((n = getline(&line, &cap, f)) >= 0) {
        struct text t = text_trim((struct text){ line, (size_t)n });

        number++;
        if (t.n == 0 || t.p[0] == '#' || kind->take(names, t) == 0)
            continue;
        wrong++;
        log_at(LOG_LEVEL_ERROR, kind->module, (struct where){ path, number, 1 },
               "%s, found \"%.*s\"", kind->expected, (int)MIN(t.n, 100), t.p);
    }
    free(line);
    return wrong;
}

/* Rules load without the file, but -T fails when one that the configuration names is missing, as in
 * Suricata. There it also fails when the default one is. "/dev/null" says that there is none. */
static FILE *open_named(const struct conf_node *root, const char *path,
                        const struct names_file *kind)
{
    const struct conf_node *node = conf_find(root, kind->key);
    FILE *f;

    if (strcmp(path, "/dev/null") == 0)
        return NULL;
    f = fopen(path, "re");
    if (f == NULL && node != NULL)
        conf_error(node, "%s: could not open %s: %s", kind->key, path, strerror(errno));
    else if (f == NULL)
        log_warning(kind->module, "could not open %s: %s; see \"%s\" in the configuration", path,
                    strerror(errno), kind->key);
    return f;
}

/* `root` NULL: names without files, for tests. */
struct rule_names *rule_names_load(struct arena *arena, const struct conf_node *root)
{
    struct rule_names *names = arena_zalloc(arena, sizeof(*names));
    const char *path = conf_string(root, class_file.key, IDS_SYSCONFDIR
                                   "/classification.config");
    FILE *f = root != NULL ? open_named(root, path, &class_file) : NULL;

    names->arena = arena;
    if (f != NULL) {
        if (read_lines(f, path, &class_file, names) > 0)
            log_warning(CLASS_MODULE, "Error loading classification configuration from %s", path);
        fclose(f);
    }
    path = conf_string(root, reference_file.key, IDS_SYSCONFDIR "/reference.config");
    f = root != NULL ? open_named(root, path, &reference_file) : NULL;
    if (f != NULL) {
        read_lines(f, path, &reference_file, names);
        fclose(f);
    }
    names->file_classes = names->classes.count;
    names->file_references = names->references.count;
    return names;
}

/* NULL: `previous` has no such class, or only from a rule. */
static struct rule_class *same_class(const struct rule_names *previous,
                                     const struct map_entry *entry)
{
    struct rule_class *old = map_get(&previous->classes, entry->key, entry->key_len);
    const struct rule_class *c = entry->value;

    return old != NULL && !old->unknown && old->id == c->id && old->priority == c->priority &&
           strcmp(old->name, c->name) == 0 && strcmp(old->text, c->text) == 0 ? old : NULL;
}

static const char *same_reference(const struct rule_names *previous, const struct map_entry *entry)
{
    const char *old = map_get(&previous->references, entry->key, entry->key_len);

    return old != NULL && strcmp(old, entry->value) == 0 ? old : NULL;
}

bool rule_names_continue(struct rule_names *names, const struct rule_names *previous)
{
    if (names->file_classes != previous->file_classes ||
        names->file_references != previous->file_references)
        return false;
    MAP_EACH (&names->classes, entry)
        if (same_class(previous, entry) == NULL)
            return false;
    MAP_EACH (&names->references, entry)
        if (same_reference(previous, entry) == NULL)
            return false;
    MAP_EACH (&names->classes, entry)
        entry->value = same_class(previous, entry);
    MAP_EACH (&names->references, entry)
        entry->value = (void *)(uintptr_t)same_reference(previous, entry);
    return true;
}

void rule_names_keep(struct rule_names *names, struct arena *arena)
{
    MAP_EACH (&names->classes, entry) {
        struct rule_class *c = arena_copy(arena, entry->value, sizeof(*c));

        c->name = arena_text(arena, text_of(c->name));
        c->text = arena_text(arena, text_of(c->text));
        entry->value = c;
    }
    MAP_EACH (&names->references, entry)
        entry->value = arena_text(arena, text_of(entry->value));
}

void rule_names_fini(struct rule_names *names)
{
    if (names == NULL)
        return;
    map_fini(&names->classes);
    map_fini(&names->references);
}
