/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/file/filename.c - filename, fileext, filemagic: older keywords for a
 * content, in any case, in the buffers file.name and file.magic. */
#include "detect/rule/program.h"

#include <string.h>

/* Appends a content to the buffer's list, whatever the current buffer is, which ends unless it is
 * the same. */
static int file_content(struct rule_parser *p, struct text buffer, uint8_t *bytes, uint16_t len,
                        uint32_t flags)
{
    const struct buffer *b = buffer_find(p->ruleset, buffer);
    struct rule_list *before = p->current, *list;
    struct rule_op *op;

    if (b == NULL)
        return rule_error(p, "%s: no protocol with files is available", p->keyword->name);
    p->current = list = rule_buffer_list_again(p, b);
    op = list != NULL ? op_append(p, OP_CONTENT, false) : NULL;
    p->current = before;
    rule_end_buffer(p, list);
    if (op == NULL)
        return -1;
    op->content = (struct content_op){ .bytes = bytes, .written = bytes, .len = len };
    op->flags |= flags;
    content_set_nocase(p, &op->content, &op->flags);
    return 0;
}

static int filename_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    uint8_t *bytes;
    uint16_t len;

    if (content_bytes_parse(p, in, p->keyword->name, &bytes, &len) < 0)
        return -1;
    return file_content(p, TEXT_LITERAL("file.name"), bytes, len, 0);
}

const struct keyword_ops keyword_filename = {
    .name = "filename",
    .doc = "text in the name of a file",
    .syntax = "[!]\"<text>\"",
    .point = POINT_BUFFER,
    .negatable = true,
    .quotes = true,
    .parse = filename_parse,
};

/* The name ends with a dot and the text: fileext:"exe" does not match "testexe". */
static int fileext_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    uint8_t *bytes, *dotted;
    uint16_t len;

    if (content_bytes_parse(p, in, p->keyword->name, &bytes, &len) < 0)
        return -1;
    if (len == UINT16_MAX)
        return rule_error(p, "fileext: the extension is too long");
    dotted = arena_alloc(p->scratch, len + 1u);
    dotted[0] = '.';
    memcpy(dotted + 1, bytes, len);
    return file_content(p, TEXT_LITERAL("file.name"), dotted, (uint16_t)(len + 1), OP_ENDSWITH);
}

const struct keyword_ops keyword_fileext = {
    .name = "fileext",
    .doc = "extension of the name of a file",
    .syntax = "[!]\"<extension>\"",
    .point = POINT_BUFFER,
    .negatable = true,
    .quotes = true,
    .parse = fileext_parse,
};

static int filemagic_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    uint8_t *bytes;
    uint16_t len;

    if (content_bytes_parse(p, in, p->keyword->name, &bytes, &len) < 0)
        return -1;
    p->wants_files = p->keyword;
    p->wants_files_at = p->at;
    return file_content(p, TEXT_LITERAL("file.magic"), bytes, len, 0);
}

const struct keyword_ops keyword_filemagic = {
    .name = "filemagic",
    .doc = "text in what libmagic says of a file",
    .syntax = "[!]\"<text>\"",
    .point = POINT_BUFFER,
    .negatable = true,
    .quotes = true,
    .quotes_required = true,
    .parse = filemagic_parse,
};
