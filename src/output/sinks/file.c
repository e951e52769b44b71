/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/file.c - records to a regular file.
 *
 * Opened for appending: the kernel then writes each hand-over at the end in one piece, so writers
 * need no lock between them. Rotation opens the name anew and swaps the descriptor under the same
 * number, so that a writer in the middle of a write() is never left without one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "output/sink.h"

struct file_sink {
    int fd;
    char *path;
    mode_t mode;
    bool failing, is_cut;   /* relaxed atomics: several threads write; is_cut: in mid-line */
};

static int file_open_path(const struct file_sink *f, bool append)
{
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (append ? 0 : O_TRUNC);
    int fd = open(f->path, flags, 0640);

    if (fd >= 0 && f->mode != 0)
        (void)fchmod(fd, f->mode);
    return fd;
}

static void *file_open(const struct output_request *request, const struct conf_node *node,
                       const char *path, struct err *err)
{
    struct file_sink *f = xcalloc(1, sizeof(*f));
    const char *mode = conf_string(node, "filemode", NULL);

    (void)request;
    f->path = xstrdup(path);
    f->mode = mode != NULL ? (mode_t)strtoul(mode, NULL, 8) : 0;
    f->fd = file_open_path(f, conf_bool(node, "append", true));
    if (f->fd < 0) {
        err_set(err, "cannot open %s: %s", path, strerror(errno));
        free(f->path);
        free(f);
        return NULL;
    }
    return f;
}

/* How much of it could be written. */
static size_t write_some(const struct file_sink *f, const uint8_t *data, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = write(f->fd, data + done, len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

static COLD bool file_write_failed(struct file_sink *f, bool is_cut)
{
    if (!__atomic_exchange_n(&f->failing, true, __ATOMIC_RELAXED))
        log_error("output", "cannot write to %s: %s", f->path, strerror(errno));
    if (is_cut)
        __atomic_store_n(&f->is_cut, true, __ATOMIC_RELAXED);
    return false;
}

/* A line that a full disk has cut is ended first, so that it spoils no other. */
static COLD bool file_write_again(struct file_sink *f)
{
    if (__atomic_exchange_n(&f->is_cut, false, __ATOMIC_RELAXED) &&
        write_some(f, (const uint8_t *)"\n", 1) == 0)
        return file_write_failed(f, true);
    return true;
}

static bool file_write(void *self, const uint8_t *data, size_t len)
{
    struct file_sink *f = self;
    bool failing = __atomic_load_n(&f->failing, __ATOMIC_RELAXED);
    size_t done;

    if (UNLIKELY(failing) && !file_write_again(f))
        return false;
    done = write_some(f, data, len);
    if (UNLIKELY(done < len))
        return file_write_failed(f, done > 0);
    if (UNLIKELY(failing))
        __atomic_store_n(&f->failing, false, __ATOMIC_RELAXED);
    return true;
}

static void file_rotate(void *self)
{
    struct file_sink *f = self;
    int fd = file_open_path(f, true);

    if (fd < 0) {
        log_error("output", "cannot open %s again: %s", f->path, strerror(errno));
        return;
    }
    (void)dup3(fd, f->fd, O_CLOEXEC);
    close(fd);
}

static void file_close(void *self)
{
    struct file_sink *f = self;

    close(f->fd);
    free(f->path);
    free(f);
}

const struct sink_ops sink_file = {
    .name = "regular",
    .open = file_open,
    .write = file_write,
    .rotate = file_rotate,
    .close = file_close,
};
