/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/schema.c - warns of keys that nothing reads. It runs once after loading.
 *
 * Most such keys are misspelled or misplaced, and some of Suricata's have no meaning here. */
#include "conf/conf_private.h"

#include "base/report/log.h"

#include <stdio.h>
#include <string.h>

/* A known key. They form a tree, built from the outline in schema_keys.c. */
struct known {
    struct text name;
    const struct known *like;       /* "@name": a group whose keys it has too */
    const char *ignored;            /* why it has no effect; NULL: it is read */
    struct known *parent, *child, *last, *next;
};

/* Lives for one check, on the stack of conf_check_keys(). */
struct schema {
    struct arena arena;
    struct known root;              /* of the configuration */
    struct known groups;            /* lines that begin with "@" */
    unsigned unknown;
};

static struct known *known_child(const struct known *parent, struct text name)
{
    for (struct known *k = parent->child; k != NULL; k = k->next)
        if (k->name.n == name.n && memcmp(k->name.p, name.p, name.n) == 0)
            return k;
    return NULL;
}

/* Finds or creates the child. */
static struct known *known_make(struct schema *schema, struct known *parent, struct text name)
{
    struct known *known = known_child(parent, name);

    if (known != NULL)
        return known;
    known = arena_zalloc(&schema->arena, sizeof(*known));
    known->name = name;
    known->parent = parent;
    if (parent->child == NULL)
        parent->child = known;
    else
        parent->last->next = known;
    parent->last = known;
    return known;
}

/* Reads "key: a b @group": a key and the keys below it. */
static struct known *read_line(struct schema *schema, struct known *parent, struct text line)
{
    struct text name, word;
    struct known *known;

    text_split(&line, ':', &name);
    known = known_make(schema, name.p[0] == '@' ? &schema->groups : parent, name);
    line = text_trim(line);
    while (text_split(&line, ' ', &word)) {
        if (word.n > 0 && word.p[0] == '@')
            known->like = known_child(&schema->groups, word);
        else if (word.n > 0)
            known_make(schema, known, word);
    }
    return known;
}

/* Two spaces per level. The outline is a constant of this program, so it is not checked. */
static void read_outline(struct schema *schema, const char *const *outline)
{
    struct known *open[16] = { &schema->root };

    for (const char *const *line = outline; *line != NULL; line++) {
        size_t indent = strspn(*line, " ");
        size_t level = indent / 2;

        open[level + 1] = read_line(schema, open[level], text_of(*line + indent));
    }
}

static struct known *known_at(struct schema *schema, struct text path)
{
    struct known *known = path.p[0] == '@' ? &schema->groups : &schema->root;
    struct text name;

    while (known != NULL && text_split(&path, '.', &name))
        known = known_child(known, name);
    return known;
}

/* A path that is not in the outline is skipped; scripts/keys finds those. */
static void read_ignored(struct schema *schema)
{
    for (const struct conf_ignored *ignored = conf_ignored; ignored->path != NULL; ignored++) {
        struct known *known = known_at(schema, text_of(ignored->path));

        if (known != NULL)
            known->ignored = ignored->why;
    }
}

/* --- lookup --- */

static bool is_any(const struct known *known)
{
    return text_equal(known->name, "*") || text_equal(known->name, "**");
}

/* A key by its name wins over a group, and both over "*". */
static const struct known *lookup(const struct known *section, struct text name)
{
    const struct known *found = known_child(section, name);

    if (found == NULL && section->like != NULL)
        found = lookup(section->like, name);
    for (const struct known *k = section->child; found == NULL && k != NULL; k = k->next)
        if (is_any(k))
            found = k;
    return found;
}

/* "**" allows any key at any depth below it. */
static const struct known *below(const struct known *known)
{
    return text_equal(known->name, "**") ? known->parent : known;
}

/* --- suggestions --- */

/* The best suggestion so far, with its edit distance. */
struct guess {
    const struct known *known;
    unsigned distance;
};

/* Keys of the same section first: a typing error is likelier than a wrong section. */
static void guess_among(const struct known *section, struct text name, struct guess *guess)
{
    for (const struct known *k = section->child; k != NULL; k = k->next) {
        unsigned distance;

        if (is_any(k))
            continue;
        distance = text_distance(name, k->name, guess->distance);
        if (distance < guess->distance)
            *guess = (struct guess){ k, distance };
    }
    if (section->like != NULL)
        guess_among(section->like, name, guess);
}

/* The first section that has a key of this name. */
static const struct known *find_elsewhere(const struct known *section, struct text name)
{
    const struct known *found = known_child(section, name);

    for (const struct known *k = section->child; found == NULL && k != NULL; k = k->next)
        found = find_elsewhere(k, name);
    return found;
}

static size_t known_path(const struct known *known, char *buf, size_t size)
{
    size_t used = 0;

    if (known->parent == NULL) {
        buf[0] = '\0';
        return 0;
    }
    used = known_path(known->parent, buf, size);
    if (used < size)
        used += (size_t)snprintf(buf + used, size - used, "%s%.*s", used > 0 ? "." : "",
                                 TEXT(known->name));
    return used;
}

/* A suggestion may differ in half of the name's letters, and in three at most. */
static void report_unknown(struct schema *schema, const struct conf_node *node,
                        const struct known *section)
{
    struct text name = text_of(node->name);
    struct guess guess = { NULL, (unsigned)MIN(4u, name.n / 2 + 1) };
    const struct known *elsewhere;
    char path[256], there[256];

    schema->unknown++;
    conf_path(node, path, sizeof(path));
    guess_among(section, name, &guess);
    if (guess.known != NULL) {
        log_at(LOG_LEVEL_WARNING, "conf", node->key_at,
               "unknown key %s: did you mean \"%.*s\"?", path, TEXT(guess.known->name));
        return;
    }
    elsewhere = find_elsewhere(&schema->root, name);
    if (elsewhere != NULL) {
        known_path(elsewhere, there, sizeof(there));
        log_at(LOG_LEVEL_WARNING, "conf", node->key_at,
               "unknown key %s: nothing reads it here; did you mean %s?", path, there);
        return;
    }
    log_at(LOG_LEVEL_WARNING, "conf", node->key_at, "unknown key %s: nothing reads it", path);
}

/* Reported only with -v, because the file is correct for Suricata. */
static void report_ignored(const struct conf_node *node, const char *why)
{
    char path[256];

    log_at(LOG_LEVEL_INFO, "conf", node->key_at, "%s has no effect: %s",
           conf_path(node, path, sizeof(path)), why);
}

/* --- the check --- */

/* Lists are transparent: the keys of an item are those of the list. Keys at the top that
 * begin with "x-" are the user's own, for anchors. */
static void check(struct schema *schema, const struct conf_node *node,
                  const struct known *section)
{
    CONF_EACH(child, node) {
        const struct known *found;

        if (node->kind == CONF_LIST) {
            check(schema, child, section);
            continue;
        }
        found = lookup(section, text_of(child->name));
        if (found != NULL && found->ignored != NULL && child->kind != CONF_NULL)
            report_ignored(child, found->ignored);
        else if (found != NULL)
            check(schema, child, below(found));
        else if (section != &schema->root || strncmp(child->name, "x-", 2) != 0)
            report_unknown(schema, child, section);
    }
}

/* `more`: outlines of parsers, in the same form. Returns the number of unknown keys. */
unsigned conf_check_keys(const struct conf *conf, const char *const *more)
{
    struct schema schema = { 0 };

    arena_init(&schema.arena, 64 * 1024, 0);
    read_outline(&schema, conf_schema_outline);
    if (more != NULL)
        read_outline(&schema, more);
    read_ignored(&schema);
    check(&schema, conf->root, &schema.root);
    arena_fini(&schema.arena);
    return schema.unknown;
}
