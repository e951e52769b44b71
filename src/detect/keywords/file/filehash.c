/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/file/filehash.c - filemd5, filesha1, filesha256: looks files up by hash
 * in a list. The list has one hash per line in hexadecimal; the rest of the line is a
 * comment. */
#include "base/containers/map.h"
#include "detect/keywords/file/file_test.h"
#include "detect/rule/ruleset_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Index of the two tables below: bytes of a hash, and what parsers must compute. */
enum hash_kind { HASH_MD5, HASH_SHA1, HASH_SHA256 };
static const uint8_t hash_sizes[] = { [HASH_MD5] = 16, [HASH_SHA1] = 20, [HASH_SHA256] = 32 };
static const uint32_t hash_features[] = { [HASH_MD5] = APP_FILE_MD5, [HASH_SHA1] = APP_FILE_SHA1,
                                       [HASH_SHA256] = APP_FILE_SHA256 };

/* The map allocates outside the ruleset's arena; hash_free() frees it. Read-only after
 * loading. */
struct hash_arg {
    struct map hashes;
    uint8_t kind;
};

/* -1 until the file is complete. A truncated file has a hash that means nothing, so it is
 * -1 too, and a negated list does not match it. */
static int hash_listed(struct app_file *file, const void *arg)
{
    const struct hash_arg *a = arg;
    const uint8_t *hash;

    switch ((enum hash_kind)a->kind) {
    case HASH_MD5: hash = file->md5; break;
    case HASH_SHA1: hash = file->sha1; break;
    default: hash = file->sha256; break;
    }
    if (file->state != FILE_CLOSED || hash == NULL)
        return -1;
    return map_get(&a->hashes, hash, hash_sizes[a->kind]) != NULL;
}

/* -1: not a hexadecimal digit. */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* -1: too short or too long; 0: the line has no hash; 1: `out` is filled. Counting goes on
 * past the size, so that a SHA-256 in a list of MD5 is an error instead of a wrong hash. */
static int hash_of_line(const char *line, size_t size, uint8_t out[32])
{
    size_t digits = 0;

    while (hex_digit(line[digits]) >= 0) {
        if (digits < size * 2) {
            uint8_t digit = (uint8_t)hex_digit(line[digits]);

            out[digits / 2] = digits % 2 == 0 ? (uint8_t)(digit << 4) : out[digits / 2] | digit;
        }
        digits++;
    }
    return digits == 0 ? 0 : digits == size * 2 ? 1 : -1;
}

/* Looks in default-rule-path first, then in the directory of the rule file. */
static FILE *open_list(struct rule_parser *p, struct text name, char *path, size_t size)
{
    const char *dir = conf_string(p->request->conf, "default-rule-path", NULL);
    const char *slash = p->at.file != NULL ? strrchr(p->at.file, '/') : NULL;
    FILE *f;

    if (name.n > 0 && (name.p[0] == '/' || dir == NULL))
        snprintf(path, size, "%.*s", TEXT(name));
    else
        snprintf(path, size, "%s/%.*s", dir, TEXT(name));
    f = fopen(path, "re");
    if (f != NULL || slash == NULL)
        return f;
    snprintf(path, size, "%.*s/%.*s", (int)(slash - p->at.file), p->at.file, TEXT(name));
    return fopen(path, "re");
}

/* A list with one wrong line is rejected entirely, because a partial list would give a false sense
 * of security. */
static int read_list(struct rule_parser *p, FILE *f, const char *path, struct hash_arg *a)
{
    unsigned number = 0;
    char *line = NULL;
    size_t cap = 0;
    int r = 0;

    while (r >= 0 && getline(&line, &cap, f) >= 0) {
        uint8_t hash[32];

        number++;
        r = hash_of_line(line, hash_sizes[a->kind], hash);
        if (r > 0)
            map_put(&a->hashes, hash, hash_sizes[a->kind], a);
    }
    free(line);
    if (r >= 0)
        return 0;
    map_fini(&a->hashes);
    return rule_error(p, "%s: %s:%u: expected %u hexadecimal digits", p->keyword->name, path,
                      number, hash_sizes[a->kind] * 2u);
}

/* Reads the list into memory when the rule is loaded; a reload reads it again. */
static int hash_parse(struct rule_parser *p, struct text in, void *arg, enum hash_kind kind)
{
    struct hash_arg *a = arg;
    char path[4096];
    FILE *f;
    int r;

    if (rule_bind(p) < 0)
        return -1;
    f = open_list(p, in, path, sizeof(path));
    if (f == NULL)
        return rule_error(p, "%s: opening hash file %s: %s", p->keyword->name, path,
                          strerror(errno));
    a->kind = (uint8_t)kind;
    r = read_list(p, f, path, a);
    fclose(f);
    return r < 0 ? r : file_test_add(p, hash_listed, a, hash_features[kind]);
}

static void hash_free(void *arg)
{
    struct hash_arg *a = arg;

    map_fini(&a->hashes);
}

static int md5_parse(struct rule_parser *p, struct text in, void *arg)
{
    return hash_parse(p, in, arg, HASH_MD5);
}

static int sha1_parse(struct rule_parser *p, struct text in, void *arg)
{
    return hash_parse(p, in, arg, HASH_SHA1);
}

static int sha256_parse(struct rule_parser *p, struct text in, void *arg)
{
    return hash_parse(p, in, arg, HASH_SHA256);
}

/* A negated keyword matches complete files that the list does not have. */
#define HASH_KEYWORD(symbol, parser)                    \
    const struct keyword_ops keyword_##symbol = {       \
        .name = #symbol,                                \
        .doc = "hash of a file is in a list",           \
        .syntax = "[!]<file>",                          \
        .point = POINT_NONE,                            \
        .negatable = true,                              \
        .quotes = true,                                 \
        .arg_size = sizeof(struct hash_arg),            \
        .parse = parser,                                \
        .free_arg = hash_free,                          \
    }

HASH_KEYWORD(filemd5, md5_parse);
HASH_KEYWORD(filesha1, sha1_parse);
HASH_KEYWORD(filesha256, sha256_parse);
