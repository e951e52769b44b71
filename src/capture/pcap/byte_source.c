/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/byte_source.c - a window on the bytes of a file: a mapping, or a buffer that is
 * refilled from a descriptor, if needed through a decompressor.
 *
 * A file that one thread reads is copied in chunks into a buffer that stays in the CPU's cache.
 * That works while no packet uses the last chunk when the next one is read, and is faster than
 * mapping: the kernel copies a page faster than it maps one. Otherwise the file is mapped from
 * there on. */
#include "capture/pcap/byte_source.h"

#include "capture/pcap/decompress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a pipe or a compressed file that are read at once. */
#define RAW_SIZE (64u << 10)
#define RELEASE_STEP (2u << 20)         /* of a mapped file, released at once */
#define RELEASE_KEEP (64u << 20)
#define CHUNK_ALIGN 4096u
#define CHUNK_SIZE (512u << 10)         /* chunk of a file that is copied */

/* Belongs to the thread that reads. */
struct byte_source {
    int fd;
    const uint8_t *at, *end;            /* the window */
    uint64_t offset;                    /* of `at` */
    uint64_t raw_done, raw_total;

    uint8_t *map;                       /* NULL: it is a stream */
    size_t map_size;
    uint8_t *released, *release_at;     /* released up to here; the next release */

    uint8_t *buf;                       /* streams, and files that are copied */
    size_t buf_size;
    bool is_copied;                     /* a plain file, not mapped or not yet */
    bool may_move;                      /* no packet uses the skipped bytes */
    bool waits;                         /* for may_move, or for the writer of a pipe */
    bool polls;                         /* does not block in read(2) */
    uint8_t *raw;                       /* compressed bytes not yet used */
    size_t raw_at, raw_len;
    const struct decompress_ops *codec;
    void *codec_self;
    bool raw_finished;
    char error[128];
};

/* At its end a pipe is readable, too. */
static bool is_readable(const struct byte_source *s, int timeout_ms)
{
    struct pollfd p = { .fd = s->fd, .events = POLLIN };

    return poll(&p, 1, timeout_ms) != 0;
}

/* 0: nothing is there; unless the source waits, nothing will be. */
static size_t raw_read(struct byte_source *s, uint8_t *into, size_t size)
{
    ssize_t n;

    s->waits = s->polls && !is_readable(s, 0);
    if (s->waits)
        return 0;
    do {
        n = read(s->fd, into, size);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        snprintf(s->error, sizeof(s->error), "%s", strerror(errno));
    if (n <= 0) {
        s->raw_finished = true;
        return 0;
    }
    s->raw_done += (uint64_t)n;
    return (size_t)n;
}

/* The first bytes were read to detect the format; they come first. */
static size_t stream_read(struct byte_source *s, uint8_t *into, size_t size)
{
    size_t n = MIN(size, s->raw_len - s->raw_at);

    if (n == 0)
        return s->raw_finished ? 0 : raw_read(s, into, size);
    memcpy(into, s->raw + s->raw_at, n);
    s->raw_at += n;
    return n;
}

/* Decompresses until there is output. Returns 0 at the end and after an error, which leaves a
 * text. */
static size_t codec_read(struct byte_source *s, uint8_t *into, size_t size)
{
    for (;;) {
        struct decompress_step step = { .out = into, .out_len = size };

        if (s->raw_at == s->raw_len && !s->raw_finished) {
            s->raw_at = 0;
            s->raw_len = raw_read(s, s->raw, RAW_SIZE);
        }
        if (s->waits)                   /* without input xz takes it for the end */
            return 0;
        step.in = s->raw + s->raw_at;
        step.in_len = s->raw_len - s->raw_at;
        if (!s->codec->run(s->codec_self, &step)) {
            snprintf(s->error, sizeof(s->error), "broken %s data", s->codec->name);
            s->raw_finished = true;
            s->raw_at = s->raw_len;
            return step.out_produced;
        }
        s->raw_at += step.in_used;
        if (step.out_produced > 0)
            return step.out_produced;
        if (step.in_used == 0 && s->raw_finished)
            return 0;
    }
}

/* Moves the rest of the window to the front of the buffer, or to a larger buffer. */
static bool move_to_front(struct byte_source *s, size_t need)
{
    size_t have = (size_t)(s->end - s->at);

    if (need > s->buf_size) {
        uint8_t *bigger = malloc(need * 2);

        if (bigger == NULL) {
            snprintf(s->error, sizeof(s->error), "no memory for %zu bytes", need * 2);
            return false;
        }
        memcpy(bigger, s->at, have);
        free(s->buf);
        s->buf = bigger;
        s->buf_size = need * 2;
    } else if (have > 0) {
        memmove(s->buf, s->at, have);
    }
    s->at = s->buf;
    s->end = s->buf + have;
    return true;
}

/* Reads the next chunk of a file, at most up to the size it had when it was opened: a file that
 * grows while it is read ends there. Sets `waits` while packets use the buffer. */
static COLD bool refill_copied(struct byte_source *s, size_t need)
{
    uint64_t behind = s->raw_total - s->raw_done;

    s->waits = (size_t)(s->end - s->at) + behind >= need && !s->may_move;
    if ((size_t)(s->end - s->at) + behind < need || s->waits)
        return false;
    if (!move_to_front(s, need))
        return false;
    while ((size_t)(s->end - s->at) < need) {
        size_t space = s->buf_size - (size_t)(s->end - s->buf);
        size_t n = raw_read(s, s->buf + (s->end - s->buf), (size_t)MIN(space, behind));

        if (n == 0)
            return false;
        s->end += n;
        behind -= n;
    }
    return true;
}

/* Makes the window at least `need` bytes long, if the source has that much. */
static COLD bool refill(struct byte_source *s, size_t need)
{
    size_t have = (size_t)(s->end - s->at);

    if (s->map != NULL)
        return false;
    if (s->is_copied)
        return refill_copied(s, need);
    s->waits = false;
    if (!move_to_front(s, need))
        return false;
    while (have < need) {
        size_t n = s->codec != NULL ? codec_read(s, s->buf + have, s->buf_size - have)
                                    : stream_read(s, s->buf + have, s->buf_size - have);

        if (n == 0)
            break;
        have += n;
    }
    s->end = s->buf + have;
    return have >= need;
}

/* At least `need` bytes, or NULL. Pointers stay valid until the next peek of more; for mapped files
 * until they are released. */
const uint8_t *byte_source_peek(struct byte_source *s, size_t need)
{
    if (UNLIKELY((size_t)(s->end - s->at) < need) && !refill(s, need))
        return NULL;
    return s->at;
}

/* Releases pages that have been read, before `end`. Without that a large file would count as the
 * engine's memory. */
static COLD void release_before(struct byte_source *s, const uint8_t *end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *to = s->map + (size_t)(end - s->map) / page * page;

    if (to > s->released) {
        madvise(s->released, (size_t)(to - s->released), MADV_DONTNEED);
        s->released = to;
    }
}

void byte_source_skip(struct byte_source *s, size_t n)
{
    s->at += n;
    s->offset += n;
    s->may_move = false;
    /* Only packets in the newest RELEASE_KEEP bytes may be written to: MADV_DONTNEED would undo
     * their changes. A pool of the largest frames is smaller than that. */
    if (UNLIKELY(s->release_at != NULL && s->at >= s->release_at)) {
        release_before(s, s->at - RELEASE_KEEP);
        s->release_at = s->released + RELEASE_KEEP + RELEASE_STEP;
    }
}

/* No packet uses the skipped bytes: they may be overwritten or released. */
void byte_source_release(struct byte_source *s)
{
    s->may_move = true;
    byte_source_release_to(s, s->at);
}

void byte_source_release_to(struct byte_source *s, const uint8_t *end)
{
    if (s->map != NULL && end >= s->released + RELEASE_STEP && end <= s->at)
        release_before(s, end);
}

size_t byte_source_left(const struct byte_source *s)
{
    return (size_t)(s->end - s->at);
}

/* Private and writable: `replace` and checksum corrections write into frames. */
static uint8_t *map_new(int fd, size_t size)
{
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

    if (map == MAP_FAILED)
        return NULL;
    madvise(map, size, MADV_SEQUENTIAL);
    return map;
}

static bool map_file(struct byte_source *s, size_t size)
{
    uint8_t *map = map_new(s->fd, size);

    if (map == NULL)
        return false;
    s->map = map;
    s->map_size = size;
    s->released = s->map;
    s->at = s->map + s->offset;
    s->end = s->map + size;
    return true;
}

/* Maps the file from here on, because packets still use the buffer. The buffer stays until the
 * source is closed. */
bool byte_source_hold(struct byte_source *s, bool is_written)
{
    if (s->is_copied && map_file(s, (size_t)s->raw_total))
        s->is_copied = s->waits = false;
    if (is_written && s->map != NULL && s->release_at == NULL)
        s->release_at = s->released + RELEASE_KEEP + RELEASE_STEP;
    return s->map != NULL;
}

bool byte_source_waits(const struct byte_source *s)
{
    return s->waits;
}

void byte_source_poll(struct byte_source *s)
{
    struct stat st;

    s->polls = fstat(s->fd, &st) == 0 && !S_ISREG(st.st_mode);
}

bool byte_source_wait(const struct byte_source *s, int timeout_ms)
{
    return s->waits && s->polls && !is_readable(s, timeout_ms);
}

static bool copy_file(struct byte_source *s)
{
    s->buf = aligned_alloc(CHUNK_ALIGN, CHUNK_SIZE);
    if (s->buf == NULL)
        return false;
    (void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    s->buf_size = CHUNK_SIZE;
    s->at = s->end = s->buf;
    s->is_copied = s->may_move = true;
    return true;
}

/* A stream is a pipe, a FIFO or a compressed file. 8 bytes are enough for every magic number. */
static int open_stream(struct byte_source *s, size_t buffer_size, struct err *err,
                       const char *path)
{
    s->buf_size = MAX(buffer_size, (size_t)RAW_SIZE);
    s->raw = malloc(RAW_SIZE);
    s->buf = malloc(s->buf_size);
    if (s->raw == NULL || s->buf == NULL)
        return err_set(err, "%s: no memory to read it", path);
    s->at = s->end = s->buf;
    while (s->raw_len < 8 && !s->raw_finished)
        s->raw_len += raw_read(s, s->raw + s->raw_len, RAW_SIZE - s->raw_len);
    s->codec = decompress_find(s->raw, s->raw_len);
    if (s->codec != NULL) {
        s->codec_self = s->codec->open();
        if (s->codec_self == NULL)
            return err_set(err, "%s: no memory to unpack %s", path, s->codec->name);
    }
    return 0;
}

/* pread() leaves the position alone: a file that is not compressed is read from its start. */
static bool looks_packed(int fd)
{
    uint8_t start[8];
    ssize_t n = pread(fd, start, sizeof(start), 0);

    return n > 0 && decompress_find(start, (size_t)n) != NULL;
}

/* "-" is standard input. A regular file whose position is not 0 was opened by the shell and read in
 * part, so it is a stream. */
struct byte_source *byte_source_open(const char *path, size_t buffer_size, struct err *err)
{
    struct byte_source *s = calloc(1, sizeof(*s));
    struct stat st;

    if (s == NULL) {
        err_set(err, "%s: no memory to read it", path);
        return NULL;
    }
    s->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &st) < 0) {
        err_set(err, "%s: %s", path, strerror(errno));
        goto fail;
    }
    if (S_ISDIR(st.st_mode)) {
        err_set(err, "%s: is a directory", path);
        goto fail;
    }
    if (S_ISREG(st.st_mode))
        s->raw_total = (uint64_t)st.st_size;
    if (S_ISREG(st.st_mode) && st.st_size > 0 && lseek(s->fd, 0, SEEK_CUR) == 0 &&
        !looks_packed(s->fd)) {
        if (copy_file(s))
            return s;
        err_set(err, "%s: no memory to read it", path);
        goto fail;
    }
    if (open_stream(s, buffer_size, err, path) == 0)
        return s;

fail:
    byte_source_close(s);
    return NULL;
}

void byte_source_close(struct byte_source *s)
{
    if (s == NULL)
        return;
    if (s->map != NULL)
        munmap(s->map, s->map_size);
    if (s->codec_self != NULL)
        s->codec->close(s->codec_self);
    if (s->fd >= 0)
        close(s->fd);
    free(s->raw);
    free(s->buf);
    free(s);
}

/* Whether frames stay where they are, so that packets may point to them. */
bool byte_source_is_stable(const struct byte_source *s)
{
    return s->map != NULL || s->is_copied;
}

uint64_t byte_source_offset(const struct byte_source *s)
{
    return s->offset;
}

/* Bytes of the file that have been read; total 0 for pipes. */
void byte_source_progress(const struct byte_source *s, uint64_t *done, uint64_t *total)
{
    *done = byte_source_is_stable(s) ? s->offset : s->raw_done;
    *total = s->raw_total;
}

const char *byte_source_error(const struct byte_source *s)
{
    return s->error[0] != '\0' ? s->error : NULL;
}
