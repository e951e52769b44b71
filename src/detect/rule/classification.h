/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/classification.h - classification.config and reference.config: the classes and
 * reference systems that rules name.
 *
 * Owned by the ruleset; changed at load time only. */
#ifndef DETECT_RULE_CLASSIFICATION_H
#define DETECT_RULE_CLASSIFICATION_H

#include "base/containers/map.h"
#include "base/text/text.h"
#include "conf/conf.h"
#include "base/memory/arena.h"

struct rule_class {
    const char *name, *text;
    uint32_t id;                /* from 1, in the file's order */
    int32_t priority;
    bool unknown;               /* a rule names it, but no file has it */
};

struct rule_names {
    struct arena *arena;        /* borrowed */
    struct map classes;         /* lower-case name to struct rule_class */
    struct map references;      /* lower-case system to URL prefix */
    uint32_t class_count;
    size_t file_classes, file_references;       /* without what rules have added */
};

/* Reads both files. Logs unreadable files and wrong lines, and uses the rest. */
struct rule_names *rule_names_load(struct arena *arena, const struct conf_node *root);
/* If both files are as before, refers to the names of `previous`, which rules of both sets then
 * have. False: something has changed. */
bool rule_names_continue(struct rule_names *names, const struct rule_names *previous);
/* Copies the files' names, so that following sets may have them. */
void rule_names_keep(struct rule_names *names, struct arena *arena);
void rule_names_fini(struct rule_names *names);

/* Parse one line each, for the loader and tests; -1 when it is wrong. */
int rule_class_line(struct rule_names *names, struct text line);
int rule_reference_line(struct rule_names *names, struct text line);

const struct rule_class *rule_class_find(const struct rule_names *names, struct text name);
/* Adds a class that no file has, so that it is reported once only. */
const struct rule_class *rule_class_add_unknown(struct rule_names *names, struct text name);
const char *rule_reference_prefix(const struct rule_names *names, struct text system);
void rule_reference_add(struct rule_names *names, struct text system, const char *prefix);

#endif
