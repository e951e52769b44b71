/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/text.c - splits rule files into the texts of single rules. */
#include "detect/rule/text.h"

#include "base/memory/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A position in a text, or in a file, which is read line by line: rule files are large, and old
 * and new rules are in memory beside it. */
struct line_reader {
    struct text rest;           /* without `f` */
    FILE *f;
    char *line_of_f;
    size_t size;
    unsigned line;              /* number of the line last taken */
};

/* False at the end. The text is valid until the next call. */
static bool next_of_file(struct line_reader *r, struct text *line)
{
    ssize_t n = getline(&r->line_of_f, &r->size, r->f);

    if (n <= 0)
        return false;
    line->p = r->line_of_f;
    line->n = (size_t)n - (r->line_of_f[n - 1] == '\n');
    return true;
}

static bool next_of_text(struct line_reader *r, struct text *line)
{
    const char *end;

    if (r->rest.n == 0)
        return false;
    end = memchr(r->rest.p, '\n', r->rest.n);
    line->p = r->rest.p;
    line->n = end != NULL ? (size_t)(end - r->rest.p) : r->rest.n;
    r->rest = text_from(r->rest, line->n + 1);
    return true;
}

/* Takes the next physical line without its end; lines may end with CR LF. */
static bool next_line(struct line_reader *r, struct text *line)
{
    if (!(r->f != NULL ? next_of_file(r, line) : next_of_text(r, line)))
        return false;
    if (line->n > 0 && line->p[line->n - 1] == '\r')
        line->n--;
    r->line++;
    return true;
}

/* Takes a backslash at the end off the line, with the white space after it. */
static bool cut_continuation(struct text *line)
{
    struct text t = text_trim(*line);

    if (t.n == 0 || t.p[t.n - 1] != '\\')
        return false;
    line->n = (size_t)(t.p - line->p) + t.n - 1;
    return true;
}

/* Remembers where the line begins in the joined text, for messages. */
static void add_part(struct rule_text *rule, struct buf *joined, struct text line,
                      unsigned number)
{
    struct rule_part part = { joined->len, number, 1 };

    ARRAY_PUSH(&rule->part, part);
    buf_add(joined, line.p, line.n);
}

/* Joins continued lines into one text. Most rules are one line. */
static void take_rule(struct line_reader *r, struct text line, struct arena *arena,
                      struct buf *joined, struct rule_text *rule)
{
    bool more = cut_continuation(&line);

    rule->part.count = 0;
    buf_clear(joined);
    add_part(rule, joined, line, r->line);
    while (more && next_line(r, &line)) {
        more = cut_continuation(&line);
        add_part(rule, joined, line, r->line);
    }
    rule->text = (struct text){ (const char *)joined->data, joined->len };
    rule->text.p = arena_text(arena, rule->text);
}

/* Empty lines and comments are skipped. The texts live in visitor->texts. */
static void read_lines(struct line_reader *r, const char *file,
                       const struct rule_visitor *visitor)
{
    struct rule_text rule = { .file = arena_text(visitor->names, text_of(file)) };
    struct buf joined = { 0 };
    struct text line;

    while (next_line(r, &line)) {
        struct text shown = text_trim(line);

        if (shown.n == 0 || shown.p[0] == '#')
            continue;
        take_rule(r, line, visitor->texts, &joined, &rule);
        visitor->visit(&rule, visitor->arg);
    }
    buf_fini(&joined);
    ARRAY_FREE(&rule.part);
}

void rule_lines_read(struct text all, const char *file, const struct rule_visitor *visitor)
{
    struct line_reader r = { .rest = all };

    read_lines(&r, file, visitor);
}

int rule_file_read(const char *path, const struct rule_visitor *visitor, struct err *err)
{
    struct line_reader r = { .f = fopen(path, "re") };
    int failed;

    if (r.f == NULL)
        return err_set(err, "opening rule file %s: %s", path, strerror(errno));
    errno = 0;
    read_lines(&r, path, visitor);
    failed = feof(r.f) ? 0 : errno != 0 ? errno : EIO;
    free(r.line_of_f);
    fclose(r.f);
    return failed ? err_set(err, "reading rule file %s: %s", path, strerror(failed)) : 0;
}

/* `p` must be inside the rule's text. */
struct where rule_text_at(const struct rule_text *rule, const char *p)
{
    size_t offset = (size_t)(p - rule->text.p), i = rule->part.count - 1;
    const struct rule_part *part;

    while (i > 0 && rule->part.at[i].offset > offset)
        i--;
    part = &rule->part.at[i];
    return (struct where){ rule->file, part->line,
                           part->column + (unsigned)(offset - part->offset) };
}
