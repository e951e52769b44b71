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
    bool failing;           /* the last write failed: say so once, and when it ends */
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

static bool file_write(void *self, const uint8_t *data, size_t len)
{
    struct file_sink *f = self;

    while (len > 0) {
        ssize_t n = write(f->fd, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (!f->failing)
                log_error("output", "cannot write to %s: %s", f->path, strerror(errno));
            f->failing = true;
            return false;
        }
        data += n;
        len -= (size_t)n;
    }
    f->failing = false;
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
