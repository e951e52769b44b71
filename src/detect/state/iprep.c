/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/iprep.c - the reputation of IP addresses: a score per category, from files.
 * Read-only after loading. One map has single addresses, with scores for all categories.
 * Another has prefixes by their bits. A set of the lengths that occur lets a lookup try
 * only those. */
#include "detect/state/iprep.h"

#include "base/array.h"
#include "base/report/log.h"
#include "base/containers/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CATEGORIES 60 /* Suricata's SREP_MAX_CATS; 0 is unused */
#define SCORE_MAX 127 /* Suricata's SREP_MAX_VAL */

struct scores { int8_t of[CATEGORIES]; }; /* -1: none */

struct iprep {
    char *category[CATEGORIES];
    struct map hosts, prefixes;         /* struct prefix_key to struct scores */
    uint64_t lengths[2][3];             /* IPv4, IPv6: bit per prefix length that occurs */
};

/* Compared as bytes, so padding must be zero. */
struct prefix_key {
    uint8_t b[16];
    uint8_t version, length;
};

static unsigned bits_of(const struct ip *ip)
{
    return ip->version == 4 ? 32 : 128;
}

/* The address with the bits after `length` cleared. */
static struct prefix_key key_of(const struct ip *ip, unsigned length)
{
    struct prefix_key key;

    memset(&key, 0, sizeof(key));
    key.version = ip->version;
    key.length = (uint8_t)length;
    memcpy(key.b, ip->b, length / 8);
    if (length % 8 != 0)
        key.b[length / 8] = ip->b[length / 8] & (uint8_t)(0xff00u >> (length % 8));
    return key;
}

/* `none`: the score of the other categories. */
static void add_score(struct map *map, const struct prefix_key *key, int8_t none,
                      unsigned category, int8_t score)
{
    struct scores *s = map_get(map, key, sizeof(*key));

    if (s == NULL) {
        s = xmalloc(sizeof(*s));
        memset(s->of, none, sizeof(s->of));
        map_put(map, key, sizeof(*key), s);
    }
    s->of[category] = score;
}

/* --- files ------------------------------------------------------------------------------------ */

/* "NUMBER,NAME,DESCRIPTION"; a later line replaces an earlier one. */
static bool category_line(struct iprep *rep, struct text line)
{
    struct text rest = line, number, name;
    uint64_t n;

    if (!text_split(&rest, ',', &number) || !text_split(&rest, ',', &name) || name.n == 0 ||
        !text_to_u64(number, CATEGORIES - 1, &n) || n == 0)
        return false;
    free(rep->category[n]);
    rep->category[n] = text_dup(name);
    return true;
}

/* "ADDRESS[/PREFIX],CATEGORY,SCORE". */
static bool score_line(struct iprep *rep, struct text line)
{
    struct text rest = line, address, prefix, category, score;
    uint64_t c, s, length;
    struct ip ip;

    if (!text_split(&rest, ',', &address) || !text_split(&rest, ',', &category) ||
        !text_split(&rest, ',', &score))
        return false;
    if (text_equal(address, "ip"))      /* the heading of a table */
        return true;
    prefix = address;
    if (!text_to_u64(category, CATEGORIES - 1, &c) || !text_to_u64(score, SCORE_MAX, &s) ||
        !text_split(&prefix, '/', &address) || !ip_parse(address, &ip))
        return false;
    length = bits_of(&ip);
    if (prefix.p > address.p + address.n) {
        struct prefix_key key;

        if (!text_to_u64(text_trim(prefix), bits_of(&ip), &length))
            return false;
        key = key_of(&ip, (unsigned)length);
        rep->lengths[ip.version == 6][length / 64] |= UINT64_C(1) << (length % 64);
        add_score(&rep->prefixes, &key, -1, (unsigned)c, (int8_t)s);
    } else {
        struct prefix_key key = key_of(&ip, (unsigned)length);

        /* A listed address has score 0 in the other categories; a prefix has none there. */
        add_score(&rep->hosts, &key, 0, (unsigned)c, (int8_t)s);
    }
    return true;
}

/* Lists come from third parties: a wrong line is left out with a warning, as in Suricata, and the
 * rest of the file counts. -1: the file cannot be opened. */
static int read_file(struct iprep *rep, const char *path,
                     bool (*take)(struct iprep *rep, struct text line), const char *expected)
{
    FILE *f = fopen(path, "re");
    unsigned number = 0;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (f == NULL) {
        log_error("reputation", "opening ip rep file %s: %s", path, strerror(errno));
        return -1;
    }
    while ((n = getline(&line, &cap, f)) >= 0) {
        struct text rest = { line, (size_t)n }, t;

        number++;
        while (text_split(&rest, '\r', &t))        /* lines may end with CR alone */
            if (t.n > 0 && t.p[0] != '#' && !take(rep, t))
                log_at(LOG_LEVEL_WARNING, "reputation", (struct where){ path, number, 1 },
                       "bad line \"%.*s\": %s; it is left out",
                       (int)MIN(text_trim(t).n, (size_t)100), text_trim(t).p, expected);
    }
    free(line);
    fclose(f);
    return 0;
}

static void read_score_file(struct iprep *rep, const struct conf_node *root, const char *name)
{
    const char *dir = conf_string(root, "default-reputation-path", NULL);
    char path[4096];

    if (name == NULL || name[0] == '\0')
        return;
    if (name[0] == '/' || dir == NULL)
        snprintf(path, sizeof(path), "%s", name);
    else
        snprintf(path, sizeof(path), "%s/%s", dir, name);
    log_info("reputation", "Loading reputation file: %s", path);
    read_file(rep, path, score_line, "expected address[/prefix],category,score");
}

/* A list of files, or one file given by --set. */
static void read_scores(struct iprep *rep, const struct conf_node *root,
                        const struct conf_node *files)
{
    if (files->kind == CONF_SCALAR)
        read_score_file(rep, root, files->value);
    CONF_EACH(file, files)
        read_score_file(rep, root, file->value);
}

/* NULL: reputation is off. Rules with iprep are then errors, because no category exists. */
struct iprep *iprep_load(const struct conf_node *root)
{
    const struct conf_node *files = conf_find(root, "reputation-files");
    const char *categories = conf_string(root, "reputation-categories-file", NULL);
    struct iprep *rep;

    if (files == NULL && categories == NULL)
        return NULL;
    if (files == NULL || categories == NULL) {
        log_error("reputation", "\"%s\" is not set, so IP reputation is off",
                  files == NULL ? "reputation-files" : "reputation-categories-file");
        return NULL;
    }
    rep = xcalloc(1, sizeof(*rep));
    if (read_file(rep, categories, category_line, "expected number 1-59,name,description") < 0) {
        iprep_free(rep);
        return NULL;
    }
    read_scores(rep, root, files);
    return rep;
}

void iprep_free(struct iprep *rep)
{
    if (rep == NULL)
        return;
    for (unsigned i = 0; i < CATEGORIES; i++)
        free(rep->category[i]);
    MAP_EACH(&rep->hosts, e)
        free(e->value);
    MAP_EACH(&rep->prefixes, e)
        free(e->value);
    map_fini(&rep->hosts);
    map_fini(&rep->prefixes);
    free(rep);
}

/* --- lookup ----------------------------------------------------------------------------------- */

/* 0: there is no such category. */
unsigned iprep_category(const struct iprep *rep, struct text name)
{
    for (unsigned i = 1; rep != NULL && i < CATEGORIES; i++)
        if (rep->category[i] != NULL && text_equal_nocase(name, rep->category[i]))
            return i;
    return 0;
}

/* A single address wins over prefixes, a longer prefix over a shorter one. -1: no score.
 * At most 129 lookups, in practice one per length that occurs. */
int iprep_score(const struct iprep *rep, const struct ip *ip, unsigned category)
{
    const uint64_t *lengths = rep->lengths[ip->version == 6];
    struct prefix_key key = key_of(ip, bits_of(ip));
    const struct scores *s = map_get(&rep->hosts, &key, sizeof(key));

    if (s != NULL)
        return s->of[category];
    for (unsigned length = bits_of(ip) + 1; length-- > 0;) {
        if (!(lengths[length / 64] >> (length % 64) & 1))
            continue;
        key = key_of(ip, length);
        s = map_get(&rep->prefixes, &key, sizeof(key));
        if (s != NULL && s->of[category] >= 0)
            return s->of[category];
    }
    return -1;
}
