/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/file/filename.c - name, extension and type of files: filename, fileext,
 * filemagic. */
#include "detect/keywords/file/file_test.h"
#include "detect/program.h"

#include <string.h>
#include <strings.h>

/* A literal, found in any case. */
struct literal_arg {
    uint8_t *bytes;
    uint16_t len;
};

static bool has_at(const uint8_t *p, const struct literal_arg *a)
{
    return strncasecmp((const char *)p, (const char *)a->bytes, a->len) == 0;
}

static bool contains(const uint8_t *p, size_t n, const struct literal_arg *a)
{
    for (size_t i = 0; i + a->len <= n; i++)
        if (has_at(p + i, a))
            return true;
    return false;
}

static int literal_parse(struct rule_parser *p, struct text in, struct literal_arg *a)
{
    return content_bytes_parse(p, in, p->keyword->name, &a->bytes, &a->len);
}

static int name_has(struct app_file *file, const void *arg)
{
    return file->name.len == 0 ? -1 : contains(file->name.data, file->name.len, arg);
}

static int filename_parse(struct rule_parser *p, struct text in, void *arg)
{
    if (literal_parse(p, in, arg) < 0)
        return -1;
    file_test_add(p, name_has, arg, 0);
    return 0;
}

const struct keyword_ops keyword_filename = {
    .name = "filename",
    .doc = "text in the name of a file",
    .point = POINT_NONE,
    .negatable = true,
    .quotes = true,
    .arg_size = sizeof(struct literal_arg),
    .parse = filename_parse,
};

/* The name ends with a dot and the literal. */
static int extension_is(struct app_file *file, const void *arg)
{
    const struct literal_arg *a = arg;
    const uint8_t *end = file->name.data + file->name.len;

    if (file->name.len == 0)
        return -1;
    return file->name.len > a->len && end[-1 - (int)a->len] == '.' && has_at(end - a->len, a);
}

static int fileext_parse(struct rule_parser *p, struct text in, void *arg)
{
    if (literal_parse(p, in, arg) < 0)
        return -1;
    file_test_add(p, extension_is, arg, 0);
    return 0;
}

const struct keyword_ops keyword_fileext = {
    .name = "fileext",
    .doc = "extension of the name of a file",
    .point = POINT_NONE,
    .negatable = true,
    .quotes = true,
    .arg_size = sizeof(struct literal_arg),
    .parse = fileext_parse,
};

static int magic_has(struct app_file *file, const void *arg)
{
    const char *magic = app_file_magic(file);

    return magic == NULL ? -1 : contains((const uint8_t *)magic, strlen(magic), arg);
}

static int filemagic_parse(struct rule_parser *p, struct text in, void *arg)
{
    if (literal_parse(p, in, arg) < 0)
        return -1;
    file_test_add(p, magic_has, arg, APP_FILE_MAGIC);
    return 0;
}

const struct keyword_ops keyword_filemagic = {
    .name = "filemagic",
    .doc = "text in what libmagic says of a file",
    .point = POINT_NONE,
    .negatable = true,
    .quotes = true,
    .quotes_required = true,
    .arg_size = sizeof(struct literal_arg),
    .parse = filemagic_parse,
};
