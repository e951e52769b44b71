/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/classification.h - the names that rules refer to: classes and reference systems.
 *
 * From classification.config and reference.config. Belongs to the ruleset; load time. */
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
    bool unknown;               /* named by a rule, but not in the file */
};

struct rule_names {
    struct arena *arena;        /* borrowed */
    struct map classes;         /* lower-case name to struct rule_class */
    struct map references;      /* lower-case system to URL prefix */
    uint32_t class_count;
};

/* Files that cannot be read and lines that are wrong are logged; the rest counts. */
struct rule_names *rule_names_load(struct arena *arena, const struct conf_node *root);
void rule_names_fini(struct rule_names *names);

/* Line by line, for tests and the loader; -1 when the line is wrong. */
int rule_class_line(struct rule_names *names, struct text line);
int rule_reference_line(struct rule_names *names, struct text line);

const struct rule_class *rule_class_find(const struct rule_names *names, struct text name);
/* Remembers a class that no file knows, so that it is complained of once. */
const struct rule_class *rule_class_add_unknown(struct rule_names *names, struct text name);
const char *rule_reference_prefix(const struct rule_names *names, struct text system);
void rule_reference_add(struct rule_names *names, struct text system, const char *prefix);

#endif
