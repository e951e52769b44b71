/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/file.c - writes records to a regular file.
 *
 * The file is opened with O_APPEND: the kernel then appends each write() in one piece, so writers
 * need no lock. Rotation opens the name again and replaces the descriptor under the same number
 * (dup3), so a writer in the middle of a write() always has a valid one. A name may contain
 * strftime() conversions, which are replaced when the file is opened. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/system/directories.h"
#include "base/report/log.h"
#include "output/sink.h"

struct file_sink {
    int fd;                 /* -1: not opened yet; atomic */
    bool append;
    char *path;             /* with letters of strftime(), if there are any */
    mode_t mode;
    unsigned interval_s;    /* rotate-interval; 0: none */
    int64_t rotate_at;      /* Unix time; atomic: the first to come rotates */
    bool failing, is_cut;   /* relaxed atomics: several threads write; is_cut: in mid-line */
};

/* Relaxed: open_now() sets it once, and after that the number stays the same. */
static int fd_of(const struct file_sink *f)
{
    return __atomic_load_n(&f->fd, __ATOMIC_RELAXED);
}

/* Local time. False: the name does not fit, or strftime() makes an empty name of it. */
static bool path_now(const char *pattern, char *out, size_t size)
{
    time_t now = time(NULL);
    struct tm tm;

    if (strchr(pattern, '%') == NULL)
        return snprintf(out, size, "%s", pattern) < (int)size;
    localtime_r(&now, &tm);
    return strftime(out, size, pattern, &tm) > 0;
}

/* Makes missing directories of the path, too. A failed fchmod() is no error: the records
 * matter more than the mode of the file. */
static int file_open_path(const struct file_sink *f, bool append)
{
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (append ? 0 : O_TRUNC), fd;
    char path[4096];

    if (!path_now(f->path, path, sizeof(path))) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)directories_make(path, 0750);     /* that it failed shows in the next line */
    fd = open(path, flags, 0640);
    if (fd >= 0 && f->mode != 0)
        (void)fchmod(fd, f->mode);
    return fd;
}

/* "minute", "hour" and "day" rotate when one ends by local time; a duration counts from
 * now on. A word that is none of these prevents the start. */
static void read_interval(struct file_sink *f, const struct conf_node *node)
{
    static const struct { const char *name; unsigned s; } clocks[] = {
        { "minute", 60 }, { "hour", 3600 }, { "day", 86400 },
    };
    const char *text = conf_string(node, "rotate-interval", NULL);
    time_t now = time(NULL);
    struct tm tm;

    if (text == NULL)
        return;
    localtime_r(&now, &tm);
    for (unsigned i = 0; i < ARRAY_LEN(clocks); i++)
        if (strcmp(text, clocks[i].name) == 0) {
            unsigned s = (unsigned)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec);

            f->interval_s = clocks[i].s;
            f->rotate_at = (int64_t)now + f->interval_s - s % f->interval_s;
            return;
        }
    if (isdigit((unsigned char)text[0]))
        f->interval_s = (unsigned)(conf_duration_ms(node, "rotate-interval", 0) / 1000);
    f->rotate_at = (int64_t)now + f->interval_s;
    if (f->interval_s == 0)
        conf_fatal(conf_find(node, "rotate-interval"),
                   "expected minute, hour, day or a duration like 30s or 2h, got \"%s\"", text);
}

/* For `threaded: yes`: a thread that never writes makes no file. `filemode` is octal, as
 * for chmod. */
static void *file_open_later(const struct output_request *request UNUSED,
                             const struct conf_node *node, const char *path,
                             struct err *err UNUSED)
{
    struct file_sink *f = xcalloc(1, sizeof(*f));
    const char *mode = conf_string(node, "filemode", NULL);

    f->path = xstrdup(path);
    f->mode = mode != NULL ? (mode_t)strtoul(mode, NULL, 8) : 0;
    f->append = conf_bool(node, "append", true);
    f->fd = -1;
    read_interval(f, node);
    return f;
}

/* A path that cannot be opened is an error when the engine starts, not when it writes. */
static void *file_open(const struct output_request *request, const struct conf_node *node,
                       const char *path, struct err *err)
{
    struct file_sink *f = file_open_later(request, node, path, err);

    f->fd = file_open_path(f, f->append);
    if (f->fd >= 0)
        return f;
    err_set(err, "cannot open %s: %s", path, strerror(errno));
    free(f->path);
    free(f);
    return NULL;
}

/* Opens the file with the first record. Several threads may share the sink one after the
 * other or at once: the first sets fd, any other closes its own. */
static COLD bool open_now(struct file_sink *f)
{
    int none = -1, fd = file_open_path(f, f->append);

    if (fd >= 0 && !__atomic_compare_exchange_n(&f->fd, &none, fd, false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED))
        close(fd);
    return fd >= 0;
}

/* Returns the number of bytes written. errno is the reason if it is not all. */
static size_t write_some(const struct file_sink *f, const uint8_t *data, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = write(fd_of(f), data + done, len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* Logs the first failure of a series. Returns `lost`, so that callers can return the call. */
static COLD uint64_t file_write_failed(struct file_sink *f, bool is_cut, uint64_t lost)
{
    if (!__atomic_exchange_n(&f->failing, true, __ATOMIC_RELAXED))
        log_error("output", "cannot write to %s: %s", f->path, strerror(errno));
    if (is_cut)
        __atomic_store_n(&f->is_cut, true, __ATOMIC_RELAXED);
    return lost;
}

/* After a failure: if a full disk has cut a line, ends it first, so that it spoils no
 * other. False: not even that could be written. */
static COLD bool file_write_again(struct file_sink *f)
{
    if (__atomic_exchange_n(&f->is_cut, false, __ATOMIC_RELAXED) &&
        write_some(f, (const uint8_t *)"\n", 1) == 0) {
        (void)file_write_failed(f, true, 0);
        return false;
    }
    return true;
}

/* Any thread. If the new file cannot be opened, records continue to go to the old one.
 * append: true, because several rotations may give the same name. */
static void file_rotate(void *self)
{
    struct file_sink *f = self;
    int fd;

    if (fd_of(f) < 0)
        return;
    fd = file_open_path(f, true);
    if (fd < 0) {
        log_error("output", "cannot open %s again: %s", f->path, strerror(errno));
        return;
    }
    (void)dup3(fd, fd_of(f), O_CLOEXEC);
    close(fd);
}

/* The thread that moves rotate_at rotates; the others see that it is done. Intervals
 * without records are skipped. */
static COLD void rotate_in_time(struct file_sink *f, int64_t due, int64_t now)
{
    int64_t next = due + ((now - due) / f->interval_s + 1) * f->interval_s;

    if (__atomic_compare_exchange_n(&f->rotate_at, &due, next, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        file_rotate(f);
}

static void rotate_when_due(struct file_sink *f)
{
    int64_t due = __atomic_load_n(&f->rotate_at, __ATOMIC_RELAXED), now = (int64_t)time(NULL);

    if (UNLIKELY(now >= due))
        rotate_in_time(f, due, now);
}

/* Any writing thread, several at once. Blocks as long as the disk does. Returns lost
 * records. */
static uint64_t file_write(void *self, const uint8_t *data, size_t len)
{
    struct file_sink *f = self;
    bool failing = __atomic_load_n(&f->failing, __ATOMIC_RELAXED);
    size_t done;

    if (UNLIKELY(fd_of(f) < 0) && !open_now(f))
        return file_write_failed(f, false, sink_records(data, len));
    if (UNLIKELY(f->interval_s > 0))
        rotate_when_due(f);
    if (UNLIKELY(failing) && !file_write_again(f))
        return sink_records(data, len);
    done = write_some(f, data, len);
    if (UNLIKELY(done < len))
        return file_write_failed(f, done > 0 && data[done - 1] != '\n',
                                 sink_records(data + done, len - done));
    if (UNLIKELY(failing))
        __atomic_store_n(&f->failing, false, __ATOMIC_RELAXED);
    return 0;
}

/* Says where the records end. With --unix-socket captures may append to one file, one after the
 * other; who reads it knows by the sizes which records are of which capture. */
static void file_close(void *self)
{
    struct file_sink *f = self;

    if (f->fd >= 0) {
        log_info("output", "%s has %lld bytes", f->path, (long long)lseek(f->fd, 0, SEEK_END));
        close(f->fd);
    }
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

const struct sink_ops sink_file_later = {
    .name = "regular",
    .open = file_open_later,
    .write = file_write,
    .rotate = file_rotate,
    .close = file_close,
};
