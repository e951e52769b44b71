/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/text.h - rule files to rules as texts.
 *
 * One rule a line; a backslash at a line's end joins the next one to it; "#" begins a comment
 * line. Each rule remembers where its pieces are in the file, so that messages name the line and
 * column that the user sees in an editor. */
#ifndef DETECT_RULE_TEXT_H
#define DETECT_RULE_TEXT_H

#include "base/memory/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/text/text.h"

/* From `offset` of the joined text on, characters stand in `line` from `column` on. */
struct rule_part {
    size_t offset;
    unsigned line, column;
};

struct rule_text {
    struct text text;                   /* ended by a NUL */
    const char *file;
    ARRAY_OF(struct rule_part) part;
};

/* The caller of a read: gets each rule. The struct rule_text does not outlive the call. */
struct rule_visitor {
    void (*visit)(const struct rule_text *rule, void *arg);
    void *arg;
    struct arena *names;        /* the file's name is kept here */
    struct arena *texts;        /* ... and the rules' texts here */
};

/* -1: the file cannot be read. */
int rule_file_read(const char *path, const struct rule_visitor *visitor, struct err *err);
/* The same for a text in memory; `file` is its name in messages. */
void rule_lines_read(struct text all, const char *file, const struct rule_visitor *visitor);

/* The place of a character of the rule. */
struct where rule_text_at(const struct rule_text *rule, const char *p);

#endif
