/* SPDX-License-Identifier: GPL-2.0-or-later */
/* domain and tld - the registrable domain of a name, and the public suffix at its end, by
 * the list of publicsuffix.org that the system has installed. Without that list the last
 * label is the suffix. */
#include "base/array.h"
#include "base/memory/buf.h"
#include "base/containers/map.h"
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"
#include "detect/transforms/list.h"

#include <stdio.h>
#include <stdlib.h>

/* Path of the list in Debian's package publicsuffix and in similar systems. Suricata has the list
 * built in (the crate psl), so its results may differ for new suffixes. */
#define SUFFIX_FILE "/usr/share/publicsuffix/public_suffix_list.dat"

/* The three forms of a line: "com", "*.ck" and "!www.ck". One name may have several. */
enum { SUFFIX_PLAIN = 1, SUFFIX_WILDCARD = 2, SUFFIX_EXCEPTION = 4 };

/* Each rule with one of the keywords loads its own copy. No name of the list is longer than the two
 * limits, so a longer end of a name needs no search. */
struct suffixes {
    struct map kinds;           /* name -> SUFFIX_* */
    uint32_t most_labels, most_bytes;
};
struct domain_arg { struct suffixes *list; };

static uint32_t label_count(struct text name)
{
    uint32_t n = 1;

    for (size_t i = 0; i < name.n; i++)
        n += name.p[i] == '.';
    return n;
}

/* The map's key is the name without its mark; the kinds of several lines are combined. */
static void suffix_add(struct suffixes *s, struct text line)
{
    uintptr_t kind = SUFFIX_PLAIN, known;

    if (text_starts(line, "*.")) {
        kind = SUFFIX_WILDCARD;
        line = text_from(line, 2);
    } else if (text_starts(line, "!")) {
        kind = SUFFIX_EXCEPTION;
        line = text_from(line, 1);
    }
    s->most_labels = MAX(s->most_labels, label_count(line));
    s->most_bytes = MAX(s->most_bytes, (uint32_t)line.n);
    known = (uintptr_t)map_get(&s->kinds, line.p, line.n);
    map_put(&s->kinds, line.p, line.n, (void *)(known | kind));
}

/* Never fails: without the file the map is empty, and suffix_start() falls back to the
 * last label. A line longer than the buffer would be split; the names of DNS have at most
 * 253 characters. */
static struct suffixes *suffixes_load(void)
{
    struct suffixes *s = xcalloc(1, sizeof(*s));
    FILE *f = fopen(SUFFIX_FILE, "r");
    char line[512];

    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        struct text t = text_trim(text_of(line));

        if (t.n > 0 && !text_starts(t, "//"))
            suffix_add(s, t);
    }
    if (f != NULL)
        fclose(f);
    return s;
}

/* The argument itself is in the ruleset's arena. */
static void domain_free(void *arg)
{
    struct domain_arg *a = arg;

    map_fini(&a->list->kinds);
    free(a->list);
}

static const struct keyword_ops domain_owner = { .name = "domain", .free_arg = domain_free };

/* Hands the list to the ruleset, which frees it through domain_owner with the rules. */
static int domain_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct domain_arg *a = arg;

    if (in.n > 0)
        return rule_error(p, "%s takes no argument", p->keyword->name);
    if (rule_bind(p) < 0)       /* the list may have changed */
        return -1;
    a->list = suffixes_load();
    rule_free_later(p, &domain_owner, a);
    return 0;
}

/* SUFFIX_* of the rest of the name from this label on; 0: the list has no such line. */
static uintptr_t kind_of(const struct suffixes *s, struct slice name, uint32_t from)
{
    return (uintptr_t)map_get(&s->kinds, name.data + from, name.len - from);
}

/* The label before the one that begins at `at`; 0 when that is the first. */
static uint32_t label_before(struct slice name, uint32_t at)
{
    uint32_t i = at > 0 ? at - 1 : 0;

    while (i > 0 && name.data[i - 1] != '.')
        i--;
    return i;
}

/* Returns where the suffix begins, by the algorithm of publicsuffix.org: the longest matching line
 * wins; an exception wins over all, and its suffix begins one label later. Walks the labels from
 * the right. A sender chooses how many there are, so the walk ends where the list's longest name
 * would begin. */
static uint32_t suffix_start(const struct suffixes *s, struct slice name)
{
    uint32_t best = label_before(name, name.len + 1), at = best, after = name.len;

    for (uint32_t n = 0; n < s->most_labels && name.len - at <= s->most_bytes; n++) {
        uintptr_t kind = kind_of(s, name, at);

        if (kind & SUFFIX_EXCEPTION)
            return after;
        if (kind & SUFFIX_PLAIN)
            best = MIN(best, at);
        if ((kind & SUFFIX_WILDCARD) && at > 0)
            best = MIN(best, label_before(name, at));
        if (at == 0)
            break;
        after = at;
        at = label_before(name, at);
    }
    return best;
}

/* False: the name has no registrable domain. Then both transforms return an empty buffer. A name
 * that begins with a dot has an empty label. */
static bool domain_split(struct slice name, const void *arg, uint32_t *domain, uint32_t *suffix)
{
    const struct domain_arg *a = arg;

    if (name.len == 0 || name.data[0] == '.')
        return false;
    *suffix = suffix_start(a->list, name);
    if (*suffix == 0)
        return false;           /* a suffix alone has no owner */
    *domain = label_before(name, *suffix);
    return true;
}

static void domain_apply(struct slice in, const void *arg, struct buf *out)
{
    uint32_t domain, suffix;

    if (domain_split(in, arg, &domain, &suffix))
        buf_add(out, in.data + domain, in.len - domain);
}

static void tld_apply(struct slice in, const void *arg, struct buf *out)
{
    uint32_t domain, suffix;

    if (domain_split(in, arg, &domain, &suffix))
        buf_add(out, in.data + suffix, in.len - suffix);
}

const struct transform_ops transform_domain = {
    .name = "domain",
    .doc = "modify buffer to extract the domain",
    .arg_size = sizeof(struct domain_arg),
    .parse = domain_parse,
    .apply = domain_apply,
};

const struct transform_ops transform_tld = {
    .name = "tld",
    .doc = "modify buffer to extract the tld",
    .arg_size = sizeof(struct domain_arg),
    .parse = domain_parse,
    .apply = tld_apply,
};
