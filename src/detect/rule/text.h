/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/text.h - rule files to rules as texts.
 *
 * One rule a line; a backslash at a line's end joins the next one to it; "#" begins a comment
 * line. Each rule remembers where its pieces stood, so that messages name the line and column
 * the user sees in an editor. */
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

/* Calls visit for each rule. The text lives in `texts`, the file's name in `arena`; the struct does
 * not outlive the call. -1 when the file cannot be read. */
int rule_file_read(const char *path, struct arena *arena, struct arena *texts,
                   void (*visit)(const struct rule_text *rule, void *arg), void *arg,
                   struct err *err);
/* The same for a text in memory. */
void rule_lines_read(struct text all, const char *file, struct arena *arena, struct arena *texts,
                     void (*visit)(const struct rule_text *rule, void *arg), void *arg);

/* The place of a character of the rule. */
struct where rule_text_at(const struct rule_text *rule, const char *p);

#endif
