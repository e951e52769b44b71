/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/load.c - finds and opens the files of a configuration, and keeps them in memory
 * while they are read. */
#include "conf/yaml_private.h"

#include "base/memory/buf.h"
#include "base/report/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX (64u << 20)       /* far above real files; limits endless ones such as
                                         * /dev/zero */

/* Anchors are valid within one file, as YAML defines it. */
static int read_text(struct yaml_file *f, struct conf_node *into)
{
    int status;

    if (!yaml_parser_initialize(&f->parser))
        return err_at(f->err, (struct where){ f->name, 0, 0 }, "no memory for the YAML parser");
    yaml_parser_set_input_string(&f->parser, (const unsigned char *)f->text, f->len);
    status = yaml_read_file(f, into);
    yaml_parser_delete(&f->parser);
    map_fini(&f->anchors);
    return status;
}

/* A file may be a pipe, so its size is not known in advance. */
static int read_all(int fd, struct buf *out)
{
    for (;;) {
        ssize_t n;

        if (!buf_reserve(out, 16 * 1024)) {
            errno = ENOMEM;
            return -1;
        }
        n = read(fd, out->data + out->len, out->cap - out->len);
        if (n == 0)
            return 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        out->len += (size_t)n;
        if (out->len > FILE_SIZE_MAX) {
            errno = EFBIG;
            return -1;
        }
    }
}

/* Reads the whole file into *text. `at`: the line that names the file, for the message
 * when it cannot be read. */
static int slurp(struct yaml_file *f, struct where at, struct buf *text)
{
    int fd = open(f->name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    int status = -1;

    if (fd < 0)
        return err_at(f->err, at, "cannot open %s: %s", f->name, strerror(errno));
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        err_at(f->err, at, "cannot read %s: it is a directory, expected a YAML file", f->name);
    else if (read_all(fd, text) < 0)
        err_at(f->err, at, "cannot read %s: %s", f->name, strerror(errno));
    else
        status = 0;
    f->device = st.st_dev;
    f->inode = st.st_ino;
    close(fd);
    return status;
}

/* A file that is being read already would include itself without end. Compared by inode,
 * because two names may be one file. */
static int check_loop(const struct yaml_file *f, struct where at)
{
    char chain[300];
    size_t used = (size_t)snprintf(chain, sizeof(chain), "%s", f->name);

    for (const struct yaml_file *g = f->from; g != NULL; g = g->from) {
        if (used < sizeof(chain))
            used += (size_t)snprintf(chain + used, sizeof(chain) - used, ", included by %s",
                                     g->name);
        if (g->inode == f->inode && g->device == f->device && f->inode != 0)
            return err_at(f->err, at, "a file cannot include itself: %s", chain);
    }
    return 0;
}

/* Frees the text after reading, because the tree has copies of all that it keeps. */
static int read_path(struct yaml_file *f, struct where at, struct conf_node *into)
{
    struct buf text = { 0 };
    int status = slurp(f, at, &text);

    if (status == 0)
        status = check_loop(f, at);
    if (status == 0) {
        f->text = text.data != NULL ? (const char *)text.data : "";
        f->len = text.len;
        status = read_text(f, into);
    }
    buf_fini(&text);
    return status;
}

/* --- includes --- */

/* Resolves `path` relative to the directory of the file `beside`. */
static const char *path_beside(struct conf *conf, const char *beside, struct text path)
{
    const char *slash = strrchr(beside, '/');

    if (path.p[0] == '/' || slash == NULL)
        return arena_text(&conf->arena, path);
    return arena_printf(&conf->arena, "%.*s%.*s", (int)(slash - beside + 1), beside, TEXT(path));
}

/* Looks next to the including file first, then next to the first file of all, where
 * Suricata looks. */
static const char *find_include(const struct yaml_file *from, struct text path)
{
    const char *near = path_beside(from->conf, from->name, path);
    const struct yaml_file *first = from;
    const char *far;

    while (first->from != NULL)
        first = first->from;
    if (first == from || access(near, F_OK) == 0)
        return near;
    far = path_beside(from->conf, first->name, path);
    return access(far, F_OK) == 0 ? far : near;
}

/* The depth counts includes and nesting together, so that neither can exhaust the stack. */
int yaml_include(struct yaml_file *from, struct text path, struct where at,
                 struct conf_node *into)
{
    struct yaml_file f = { .conf = from->conf, .err = from->err, .from = from,
                           .depth = from->depth + 1 };

    if (path.n == 0)
        return err_at(f.err, at, "include: expected the name of a file");
    if (f.depth >= CONF_DEPTH_MAX)
        return err_at(f.err, at, "nested deeper than %u sections, lists and includes",
                      CONF_DEPTH_MAX);
    f.name = find_include(from, path);
    log_at(LOG_LEVEL_CONFIG, "conf", at, "including %s", f.name);
    return read_path(&f, at, into);
}

/* --- the first file --- */

/* After each file: the command line overrides it, and variables get their text. */
static void conf_finalize(struct conf *conf, struct conf_node *into)
{
    conf_apply_overrides(conf);
    conf_vars_normalize(conf, conf->root);
    if (into != conf->root)
        conf_vars_normalize(conf, into);
}

static int load_into(struct conf *conf, const char *path, struct conf_node *into, struct err *err)
{
    struct yaml_file f = { .conf = conf, .err = err };

    f.name = arena_text(&conf->arena, text_of(path));
    if (read_path(&f, NO_LOCATION, into) < 0)
        return -1;
    conf_finalize(conf, into);
    return 0;
}

/* Several files may be loaded one after another; later ones replace sections of earlier
 * ones. */
int conf_load(struct conf *conf, const char *path, struct err *err)
{
    return load_into(conf, path, conf->root, err);
}

/* Reads a file as the contents of one section. */
int conf_load_at(struct conf *conf, const char *section, const char *path, struct err *err)
{
    struct conf_node *into = conf_make_path(conf, conf->root, text_of(section), NO_LOCATION);

    if (into == NULL)
        return err_set(err, "\"%s\" is no path of keys", section);
    if (into->kind == CONF_SCALAR)
        conf_node_clear(into);
    return load_into(conf, path, into, err);
}

/* For tests and fuzzing; `name` appears in messages. */
int conf_load_string(struct conf *conf, const char *yaml, const char *name, struct err *err)
{
    struct yaml_file f = { .conf = conf, .err = err, .text = yaml, .len = strlen(yaml) };

    f.name = arena_text(&conf->arena, text_of(name));
    if (read_text(&f, conf->root) < 0)
        return -1;
    conf_finalize(conf, conf->root);
    return 0;
}
