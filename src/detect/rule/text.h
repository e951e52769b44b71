/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/text.h - splits rule files into the texts of rules.
 *
 * A line has one rule. A backslash at a line's end joins the next line to it; "#" begins a comment
 * line. Each rule knows where its parts are in the file, so that messages have the line and column
 * that the user sees in an editor. */
#ifndef DETECT_RULE_TEXT_H
#define DETECT_RULE_TEXT_H

#include "base/memory/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/text/text.h"

/* From `offset` of the joined text on, characters come from line `line`, column `column` on. */
struct rule_part {
    size_t offset;
    unsigned line, column;
};

struct rule_text {
    struct text text;                   /* NUL-terminated */
    const char *file;
    ARRAY_OF(struct rule_part) part;
};

/* Receives each rule of a file. The struct rule_text is only valid during the call. */
struct rule_visitor {
    void (*visit)(const struct rule_text *rule, void *arg);
    void *arg;
    struct arena *names;        /* holds the file's name */
    struct arena *texts;        /* holds the rules' texts */
};

/* -1: the file cannot be read to its end. */
int rule_file_read(const char *path, const struct rule_visitor *visitor, struct err *err);
/* The same for a text in memory; `file` is its name in messages. */
void rule_lines_read(struct text all, const char *file, const struct rule_visitor *visitor);

/* Returns the location of a character of the rule. */
struct where rule_text_at(const struct rule_text *rule, const char *p);

#endif
