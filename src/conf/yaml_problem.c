/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/yaml_problem.c - explains errors in a file, with a way to correct them.
 *
 * libyaml's messages are about tokens and contexts. Most mistakes are of a few kinds: tabs,
 * indentation, an open quotation or bracket, an extra colon. Each kind has a sentence here. */
#include "conf/yaml_private.h"

#include <string.h>

/* A row: libyaml's message, and ours. */
struct advice {
    const char *problem;    /* libyaml's */
    const char *message;       /* %u: the line where the section or quotation began */
};

static const struct advice advices[] = {
    { "mapping values are not allowed in this context",
      "a \":\" where no key can stand: check the indentation of this line, the \":\" of the line "
      "above, or put the value in quotes" },
    { "did not find expected key",
      "indentation differs from that of the section begun in line %u: its keys must all start "
      "in one column" },
    { "did not find expected '-' indicator",
      "indentation differs from that of the list begun in line %u: its items must all start "
      "in one column with \"- \"" },
    { "block sequence entries are not allowed in this context",
      "a list cannot start behind its key: put each \"- item\" on a line of its own" },
    { "could not find expected ':'",
      "line %u is a key without a \":\"" },
    { "found unexpected end of stream",
      "the quotation begun in line %u is never closed" },
    { "found unexpected document indicator",
      "the quotation begun in line %u is never closed" },
    { "did not find expected ',' or ']'",
      "the list begun in line %u lacks a \",\" or its \"]\"" },
    { "did not find expected ',' or '}'",
      "the section begun with \"{\" in line %u lacks a \",\" or its \"}\"" },
    { "did not find expected node content",
      "expected a value here" },
    { "did not find expected <document start>",
      "expected \"---\" or \"key: value\" here: check the indentation" },
    { "found character that cannot start any token",
      "a value cannot start with this character: put it in quotes" },
    { "found unknown escape character",
      "unknown escape behind a backslash: use '...' instead of \"...\", or two backslashes" },
    { "found incompatible YAML document",
      "expected %YAML 1.1 in the first line" },
};

/* The line and column of a byte offset: for encoding errors libyaml gives only the offset. */
static struct where offset_location(const struct yaml_file *f, size_t offset)
{
    struct where at = { f->name, 1, 1 };

    for (size_t i = 0; i < offset && i < f->len; i++) {
        at.column++;
        if (f->text[i] == '\n') {
            at.line++;
            at.column = 1;
        }
    }
    return at;
}

/* The column of a tab in the line's indentation, from 1; 0: there is none. */
static unsigned indenting_tab(const struct yaml_file *f, unsigned line)
{
    const char *p = f->text, *end = p + f->len;

    while (line > 1 && p < end) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));

        if (eol == NULL)
            return 0;
        p = eol + 1;
        line--;
    }
    for (const char *q = p; q < end && (*q == ' ' || *q == '\t'); q++)
        if (*q == '\t')
            return (unsigned)(q - p) + 1;
    return 0;
}

/* The text is not a format for printf(), so the number is inserted by hand. */
static int advise(struct yaml_file *f, struct where at, const struct advice *advice)
{
    const yaml_parser_t *parser = &f->parser;
    yaml_mark_t start = parser->context != NULL ? parser->context_mark : parser->problem_mark;
    const char *number = strstr(advice->message, "%u");

    if (number == NULL)
        return err_at(f->err, at, "%s", advice->message);
    return err_at(f->err, at, "%.*s%u%s", (int)(number - advice->message), advice->message,
                  (unsigned)start.line + 1, number + 2);
}

/* Returns -1 with the error set. A tab is checked first, because libyaml reports it as
 * something else. */
int yaml_problem(struct yaml_file *f)
{
    const yaml_parser_t *parser = &f->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    struct where at = { f->name, (unsigned)parser->problem_mark.line + 1,
                        (unsigned)parser->problem_mark.column + 1 };
    unsigned tab;

    if (parser->error == YAML_READER_ERROR)
        return err_at(f->err, offset_location(f, parser->problem_offset),
                      "%s: expected text in UTF-8", problem);
    tab = indenting_tab(f, at.line);
    if (tab != 0) {
        at.column = tab;
        return err_at(f->err, at, "indented with a tab: YAML allows spaces only, replace it");
    }
    for (size_t i = 0; i < ARRAY_LEN(advices); i++)
        if (strcmp(problem, advices[i].problem) == 0)
            return advise(f, at, &advices[i]);
    return err_at(f->err, at, "not YAML: %s", problem);
}
