/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/list_keywords.c - --list-keywords: prints all keywords for people, or as
 * CSV for scripts in Suricata's columns. */
#include "base/memory/buf.h"
#include "detect/keywords/registry.h"

#include <stdio.h>

struct listing { /* where the lines go */
    void (*write)(const char *line, void *arg);
    void *arg;
};

static bool has_feature(struct text all, const char *target)
{
    struct text one;

    while (text_split(&all, ',', &one))
        if (text_equal(one, target))
            return true;
    return false;
}

/* Writes "No option" where it applies, then the keyword's own features, with `between` as
 * the separator. Suricata's CSV separates them with ':', its text with ','. */
static const char *features_of(const struct keyword_ops *k, char between, char *out, size_t size)
{
    struct text all = text_of(k->features != NULL ? k->features : ""), one;
    size_t at = 0;

    out[0] = '\0';
    if (k->argument == ARGUMENT_NONE && !has_feature(all, "No option"))
        at = (size_t)snprintf(out, size, "No option");
    while (all.n > 0 && text_split(&all, ',', &one) && at < size) {
        char separator[2] = { at > 0 ? between : '\0' };

        at += (size_t)snprintf(out + at, size - at, "%s%.*s", separator, TEXT(one));
    }
    return out[0] != '\0' ? out : "none";
}

static const char *doc_of(const struct keyword_ops *k)
{
    return k->doc != NULL ? k->doc : "";
}

static void print_name(const struct keyword_ops *k, void *arg)
{
    const struct listing *l = arg;
    char line[200];

    snprintf(line, sizeof(line), "- %s", k->name);
    l->write(line, l->arg);
}

/* The columns are those of Suricata's --list-keywords=csv; "Unset" means no protocol. The last
 * column points to our documentation. */
static void print_csv(const struct keyword_ops *k, void *arg)
{
    const struct listing *l = arg;
    const char *proto = keyword_declared_proto(k);
    char features[160], line[800];

    snprintf(line, sizeof(line), "%s;%s;%s;%s;doc/keywords.md#%s;", k->name, doc_of(k),
             proto != NULL ? proto : "Unset", features_of(k, ':', features, sizeof(features)),
             k->name);
    l->write(line, l->arg);
}

/* A line for each form of the argument. */
static void print_syntax(const struct keyword_ops *k, const char *indent, const struct listing *l)
{
    struct text forms = text_of(k->syntax != NULL ? k->syntax : ""), form;
    const char *title = "Syntax: ";
    char line[800];

    while (text_split(&forms, '\n', &form)) {
        snprintf(line, sizeof(line), "%s%s%s:%.*s", indent, title, k->name, TEXT(form));
        l->write(line, l->arg);
        title = "        ";
    }
}

static void print_names(const struct keyword_ops *k, const char *indent, const struct listing *l)
{
    const struct app_name *n = keyword_declared_names(k);
    const char *separator = "Names: ";
    struct buf line = { 0 };

    if (n == NULL)
        return;
    buf_add_string(&line, indent);
    for (; n->name != NULL; n++, separator = ", ")
        buf_printf(&line, "%s%s", separator, n->name);
    if (buf_add_u8(&line, '\0'))
        l->write((const char *)line.data, l->arg);
    buf_fini(&line);
}

static void print_body(const struct keyword_ops *k, const char *indent, const struct listing *l)
{
    char features[160], line[800];

    snprintf(line, sizeof(line), "%sDescription: %s", indent, doc_of(k));
    l->write(line, l->arg);
    print_syntax(k, indent, l);
    print_names(k, indent, l);
    if (k->alias != NULL) {
        snprintf(line, sizeof(line), "%sAlias: %s", indent, k->alias);
        l->write(line, l->arg);
    }
    snprintf(line, sizeof(line), "%sFeatures: %s", indent,
             features_of(k, ',', features, sizeof(features)));
    l->write(line, l->arg);
}

static void print_all(const struct keyword_ops *k, void *arg)
{
    const struct listing *l = arg;
    char line[200];

    snprintf(line, sizeof(line), "%s:", k->name);
    l->write(line, l->arg);
    print_body(k, "\t", l);
}

/* -1: there is no such keyword; the caller reports it. */
static int print_one(const char *name, const struct listing *l)
{
    const struct keyword_ops *k = keyword_find(text_of(name));
    char line[200];

    if (k == NULL)
        return -1;
    snprintf(line, sizeof(line), "= %s =", k->name);
    l->write(line, l->arg);
    print_body(k, "", l);
    return 0;
}

/* Runs without a configuration and without an engine, so it fills the registry itself. */
int keyword_list_print(const char *what, void (*write)(const char *line, void *arg), void *arg)
{
    struct listing l = { write, arg };
    struct text t = text_of(what);

    keyword_registry_init();
    if (text_equal(t, "csv")) {
        write("name;description;app layer;features;documentation", arg);
        keyword_each(print_csv, &l);
    } else if (text_equal(t, "all")) {
        keyword_each(print_all, &l);
    } else if (t.n == 0) {
        write("=====Supported keywords=====", arg);
        keyword_each(print_name, &l);
    } else {
        return print_one(what, &l);
    }
    return 0;
}
