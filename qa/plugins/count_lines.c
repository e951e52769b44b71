/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count_lines.c - a plugin with an EVE file type: it writes each record behind its number.
 *
 *     outputs:
 *       - eve-log: {enabled: yes, filetype: count-lines, filename: numbered.json,
 *                  count-lines: {first: 100}} */
#include <ids/plugin.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const struct ids_api *ids;

struct counted {
    FILE *file;
    unsigned long number;
};

static void *count_open(const struct ids_settings *settings, const char *path,
                        struct ids_error *error)
{
    struct counted *c = calloc(1, sizeof(*c));

    if (c == NULL || (c->file = fopen(path, "w")) == NULL) {
        ids->fail(error, "%s: %s", path, strerror(errno));
        free(c);
        return NULL;
    }
    c->number = ids->number(settings, "count-lines.first", 1);
    return c;
}

static uint64_t count_write(void *self, const void *records, size_t len)
{
    struct counted *c = self;
    const char *at = records, *end = at + len, *line;
    uint64_t lost = 0;

    for (; at < end; at = line) {
        line = memchr(at, '\n', (size_t)(end - at));
        line = line != NULL ? line + 1 : end;
        lost += fprintf(c->file, "%lu %.*s", c->number++, (int)(line - at), at) < 0;
    }
    return lost;
}

static void count_close(void *self)
{
    struct counted *c = self;

    fclose(c->file);
    free(c);
}

static const struct ids_file_type count_lines = {
    .name = "count-lines",
    .open = count_open,
    .write = count_write,
    .close = count_close,
};

static int load(struct ids_engine *engine, const struct ids_api *api)
{
    ids = api;
    if (ids->add_key(engine, "outputs.eve-log.count-lines.first") < 0)
        return -1;
    return ids->add_file_type(engine, &count_lines);
}

IDS_PLUGIN("count-lines", "1.0", load);
