/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/pcap_files.c - the files of pcap-log.
 *
 * A thread_file is a series of files, of which one is open: the series of all threads (mode
 * normal), or that of one thread (multi). All of them share one sink and its lock. */
#include "config.h"

#include "base/memory/traffic_memory.h"
#include "output/pcap_files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif

#include "base/report/log.h"
#include "output/output_private.h"

/* Suricata's default for `limit`, and its minimum. */
#define LIMIT_DEFAULT (100u << 20)
#define LIMIT_MIN (4u << 20)
/* The classic format with microseconds, in the byte order of this machine, which readers detect by
 * this number (pcap-savefile(5)). */
#define MAGIC 0xa1b2c3d4u
/* struct pcap_record begins as the header of a packet on disk does; the thread's number
 * stays here. */
#define DISK_HEADER offsetof(struct pcap_record, thread)
#define WRITE_MAX (64u << 10)           /* to the compressor at once */

/* All under pcap_files.lock; freed with the sink. */
struct thread_file {
    unsigned number;
    int fd;                             /* -1: the next packet opens one */
    uint64_t size;                      /* bytes of the file on disk */
    ARRAY_OF(char *) names;             /* oldest first */
    void *squeezer;                     /* LZ4F_cctx *; NULL: not compressed */
};

struct pcap_files {
    pthread_mutex_t lock;               /* around all below, held for one write */
    char *prefix;                       /* directory and name */
    bool multi, micros, lz4, checksum;
    int level;
    uint64_t limit;
    unsigned max_files;
    uint32_t linktype;                  /* atomic */
    uint64_t start_us;                  /* atomic; of the first packet that was looked at */
    ARRAY_OF(struct thread_file *) thread_files;
    struct buf squeezed;
    bool failing;
};

/* The first thread sets it; for all others it is one load. */
void pcap_files_note(struct pcap_files *f, uint64_t time_us)
{
    uint64_t none = 0;

    if (UNLIKELY(__atomic_load_n(&f->start_us, __ATOMIC_RELAXED) == 0))
        __atomic_compare_exchange_n(&f->start_us, &none, time_us, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

/* A file has one link type in its header, the one known when it opens: the classic format
 * cannot mix link types. */
void pcap_files_set_linktype(struct pcap_files *f, int linktype)
{
    __atomic_store_n(&f->linktype, (uint32_t)linktype, __ATOMIC_RELAXED);
}

/* --- bytes ---------------------------------------------------------------------------------- */

/* Logs the first failure of a series only; the sink counts each lost record. After a
 * success the next failure is logged again. */
static bool write_all(struct pcap_files *f, struct thread_file *l, const void *data, size_t len)
{
    const uint8_t *at = data;

    while (len > 0) {
        ssize_t n = write(l->fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (!f->failing)
                log_error("pcap-log", "cannot write: %s", strerror(errno));
            f->failing = true;
            return false;
        }
        at += n;
        len -= (size_t)n;
        l->size += (uint64_t)n;
    }
    f->failing = false;
    return true;
}

#ifdef HAVE_LZ4
#define HAS_LZ4 true

/* From `lz4-level` and `lz4-checksum`. */
static LZ4F_preferences_t preferences(const struct pcap_files *f)
{
    return (LZ4F_preferences_t){ .compressionLevel = f->level,
                                 .frameInfo.contentChecksumFlag = f->checksum ?
                                     LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum };
}

/* Begins an LZ4 frame, which any lz4 tool can read. False also when memory is short; then
 * the packet counts as lost. */
static bool squeeze_begin(struct pcap_files *f, struct thread_file *l)
{
    LZ4F_preferences_t p = preferences(f);
    LZ4F_cctx *ctx = NULL;
    size_t n;

    if (LZ4F_isError(LZ4F_createCompressionContext(&ctx, LZ4F_VERSION)))
        return false;
    l->squeezer = ctx;
    if (!buf_reserve(&f->squeezed, LZ4F_HEADER_SIZE_MAX))
        return false;
    n = LZ4F_compressBegin(ctx, f->squeezed.data, f->squeezed.cap, &p);
    return !LZ4F_isError(n) && write_all(f, l, f->squeezed.data, n);
}

/* Compresses one part. LZ4 buffers input, so a part may write nothing yet. */
static bool squeeze(struct pcap_files *f, struct thread_file *l, const uint8_t *data, size_t len)
{
    LZ4F_preferences_t p = preferences(f);
    size_t n;

    if (!buf_reserve(&f->squeezed, LZ4F_compressBound(len, &p)))
        return false;
    n = LZ4F_compressUpdate(l->squeezer, f->squeezed.data, f->squeezed.cap, data, len, NULL);
    return !LZ4F_isError(n) && write_all(f, l, f->squeezed.data, n);
}

/* Ends the frame: without the end mark tools call the file damaged. */
static void squeeze_end(struct pcap_files *f, struct thread_file *l)
{
    LZ4F_preferences_t p = preferences(f);
    size_t n = 0;

    if (buf_reserve(&f->squeezed, LZ4F_compressBound(0, &p)))
        n = LZ4F_compressEnd(l->squeezer, f->squeezed.data, f->squeezed.cap, NULL);
    if (n > 0 && !LZ4F_isError(n))
        (void)write_all(f, l, f->squeezed.data, n);
    LZ4F_freeCompressionContext(l->squeezer);
    l->squeezer = NULL;
}
#else
#define HAS_LZ4 false

static bool squeeze_begin(struct pcap_files *f UNUSED, struct thread_file *l UNUSED)
{
    return false;
}

static bool squeeze(struct pcap_files *f UNUSED, struct thread_file *l UNUSED,
                    const uint8_t *data UNUSED, size_t len UNUSED)
{
    return false;
}

static void squeeze_end(struct pcap_files *f UNUSED, struct thread_file *l UNUSED)
{
}
#endif

/* Writes to the file, through the compressor if there is one. Parts of WRITE_MAX bound the output
 * buffer. */
static bool put(struct pcap_files *f, struct thread_file *l, const void *data, size_t len)
{
    const uint8_t *at = data;
    bool ok = true;

    if (l->squeezer == NULL)
        return write_all(f, l, data, len);
    for (size_t n; ok && len > 0; at += n, len -= n) {
        n = MIN(len, WRITE_MAX);
        ok = squeeze(f, l, at, n);
    }
    return ok;
}

/* --- files ---------------------------------------------------------------------------------- */

/* Keeps `max-files` of each series, the open one included. Only files of this run are
 * known: those of earlier runs stay. */
static void remove_oldest(struct pcap_files *f, struct thread_file *l)
{
    while (f->max_files > 0 && l->names.count > f->max_files) {
        if (unlink(l->names.at[0]) < 0 && errno != ENOENT)
            log_warning("pcap-log", "failed to remove log file %s: %s", l->names.at[0],
                        strerror(errno));
        free(l->names.at[0]);
        l->names.count--;
        memmove(l->names.at, l->names.at + 1, l->names.count * sizeof(l->names.at[0]));
    }
}

/* The next record opens another file. */
static void thread_file_close(struct pcap_files *f, struct thread_file *l)
{
    if (l->squeezer != NULL)
        squeeze_end(f, l);
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

/* `ts-format`: seconds, or seconds and microseconds. */
static void add_time(struct buf *name, const struct pcap_files *f, uint64_t time_us)
{
    buf_printf(name, "%u", (unsigned)(time_us / 1000000));
    if (f->micros)
        buf_printf(name, ".%u", (unsigned)(time_us % 1000000));
}

/* Mode multi has letters in the name: %n is the thread's number, %i its id, which is the
 * same here, and %t the time. Mode normal appends the time to the name. */
static void make_name(struct buf *name, const struct pcap_files *f, unsigned thread,
                      uint64_t time_us)
{
    for (const char *p = f->prefix; *p != '\0'; p++) {
        if (!f->multi || *p != '%' || p[1] == '\0' || strchr("nit", p[1]) == NULL) {
            buf_add_u8(name, (uint8_t)*p);
            continue;
        }
        if (*++p == 't')
            add_time(name, f, time_us);
        else
            buf_printf(name, "%u", thread);
    }
    if (!f->multi) {
        buf_add_u8(name, '.');
        add_time(name, f, time_us);
    }
    if (f->lz4)
        buf_add_string(name, ".lz4");
}

/* A file is named by the time at which it begins: the first by that of the first packet in
 * the capture, each later one by its own first packet. header: version 2.4, then time zone
 * and accuracy, which are always 0. */
static void name_add(struct thread_file *l, const char *name)
{
    char *copy = strdup(name);

    if (copy != NULL && ARRAY_HAS_SPACE(&l->names, 1))
        l->names.at[l->names.count++] = copy;
    else
        free(copy);
}

static bool next_file(struct pcap_files *f, struct thread_file *l, const struct pcap_record *first)
{
    uint32_t header[6] = { MAGIC, 4u << 16 | 2, 0, 0, PCAP_SNAPLEN,
                           __atomic_load_n(&f->linktype, __ATOMIC_RELAXED) };
    uint64_t start_us = l->names.count == 0
                            ? __atomic_load_n(&f->start_us, __ATOMIC_RELAXED)
                            : first->seconds * UINT64_C(1000000) + first->micros;
    struct buf name = { 0 };

    thread_file_close(f, l);
    make_name(&name, f, l->number, start_us);
    if (!buf_add_u8(&name, 0)) {
        buf_fini(&name);
        return false;
    }
    l->fd = open((char *)name.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (l->fd < 0) {
        if (!f->failing)
            log_error("pcap-log", "cannot open %s: %s", (char *)name.data, strerror(errno));
        f->failing = true;
        buf_fini(&name);
        return false;
    }
    /* A file of the same second has the same name, which is stored once. If the name cannot be
     * stored, the file is not removed later. */
    if (l->names.count == 0 || strcmp(l->names.at[l->names.count - 1], (char *)name.data) != 0)
        name_add(l, (char *)name.data);
    buf_fini(&name);
    l->size = 0;
    remove_oldest(f, l);
    return (!f->lz4 || squeeze_begin(f, l)) && put(f, l, header, sizeof(header));
}

/* There are as few as threads. The lock is held. */
static struct thread_file *thread_file_find(const struct pcap_files *f, unsigned number)
{
    for (size_t i = 0; i < f->thread_files.count; i++)
        if (f->thread_files.at[i]->number == number)
            return f->thread_files.at[i];
    return NULL;
}

/* For `capture_file` in alerts. Before the first packet is written there is no file, but
 * its name is known. Called on inspecting threads. */
void pcap_files_name(struct pcap_files *f, unsigned thread, uint64_t time_us, struct buf *name)
{
    const struct thread_file *l;

    if (!f->multi)
        thread = 0;
    pcap_files_note(f, time_us);
    pthread_mutex_lock(&f->lock);
    l = thread_file_find(f, thread);
    if (l != NULL && l->names.count > 0)
        buf_add_string(name, l->names.at[l->names.count - 1]);
    else
        make_name(name, f, thread, __atomic_load_n(&f->start_us, __ATOMIC_RELAXED));
    pthread_mutex_unlock(&f->lock);
}

/* Makes the series with its first packet. The lock is held. */
static struct thread_file *thread_file_of(struct pcap_files *f, unsigned number)
{
    struct thread_file *l;

    if (!f->multi)
        number = 0;
    l = thread_file_find(f, number);
    if (l != NULL)
        return l;
    l = ARRAY_HAS_SPACE(&f->thread_files, 1) ? calloc(1, sizeof(*l)) : NULL;
    if (l == NULL)
        return NULL;
    l->number = number;
    l->fd = -1;
    f->thread_files.at[f->thread_files.count++] = l;
    return l;
}

/* A packet is never split: a file may be smaller than `limit` by less than a packet.
 * Compressed files are measured on disk, where the compressor's output arrives late, so
 * they may be a little larger. */
static bool put_record(struct pcap_files *f, const struct pcap_record *h, const uint8_t *data)
{
    struct thread_file *l = thread_file_of(f, h->thread);

    if (l == NULL)
        return false;
    if ((l->fd < 0 || l->size + DISK_HEADER + h->len > f->limit) && !next_file(f, l, h))
        return false;
    return put(f, l, h, DISK_HEADER) && put(f, l, data, h->len);
}

/* --- the sink ------------------------------------------------------------------------------- */

/* Returns how many records are lost; an incomplete one at the end counts as one. Runs on
 * writing threads, which wait for each other at the lock. */
static uint64_t files_write(void *self, const uint8_t *data, size_t len)
{
    struct pcap_files *f = self;
    struct pcap_record h;
    uint64_t lost = 0;

    pthread_mutex_lock(&f->lock);
    while (len >= sizeof(h)) {
        memcpy(&h, data, sizeof(h));
        if (h.len > len - sizeof(h))
            break;
        lost += !put_record(f, &h, data + sizeof(h));
        data += sizeof(h) + h.len;
        len -= sizeof(h) + h.len;
    }
    pthread_mutex_unlock(&f->lock);
    return lost + (len != 0);
}

/* Any thread. The next packet opens another file. */
static void files_rotate(void *self)
{
    struct pcap_files *f = self;

    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->thread_files.count; i++)
        thread_file_close(f, f->thread_files.at[i]);
    pthread_mutex_unlock(&f->lock);
}

static void files_close(void *self)
{
    struct pcap_files *f = self;

    for (size_t i = 0; i < f->thread_files.count; i++) {
        struct thread_file *l = f->thread_files.at[i];

        thread_file_close(f, l);
        for (size_t k = 0; k < l->names.count; k++)
            free(l->names.at[k]);
        ARRAY_FREE(&l->names);
        free(l);
    }
    ARRAY_FREE(&f->thread_files);
    buf_fini(&f->squeezed);
    pthread_mutex_destroy(&f->lock);
    free(f->prefix);
    free(f);
}

static const struct sink_ops files_ops = {
    .name = "pcap",
    .write = files_write,
    .rotate = files_rotate,
    .close = files_close,
};

/* --- set-up --------------------------------------------------------------------------------- */

/* `sguil-base-dir` is what older configurations call `dir`. A name that is not absolute is
 * in the log directory. */
static char *prefix_of(const struct output_request *request, const struct conf_node *node)
{
    const char *dir = conf_string(node, "dir", conf_string(node, "sguil-base-dir", NULL));
    const char *name = conf_string(node, "filename", "pcaplog");
    struct buf path = { 0 };
    char *directory;

    if (dir == NULL)
        return output_path(request, name);
    directory = output_path(request, dir);
    buf_printf(&path, "%s/%s", directory, name);
    buf_add_u8(&path, 0);
    free(directory);
    return (char *)path.data;
}

/* In mode multi two threads must not write to the same file, so a letter is required.
 * Suricata knows the same three letters. */
static int check_name(const char *name, struct err *err)
{
    const char *p = strchr(name, '%');

    if (p == NULL)
        return err_at(err, NO_LOCATION, "mode multi wants a filename with %%n, %%i or %%t in it");
    for (; p != NULL; p = strchr(p + 2, '%'))
        if (p[1] == '\0' || strchr("nit", p[1]) == NULL)
            return err_at(err, NO_LOCATION, "filename \"%s\": %%n, %%i and %%t are known", name);
    return 0;
}

/* Suricata has removed its third mode, sguil. */
static int read_mode(struct pcap_files *f, const struct conf_node *node, struct err *err)
{
    const char *mode = conf_string(node, "mode", "normal");

    f->multi = strcasecmp(mode, "multi") == 0;
    if (!f->multi && strcasecmp(mode, "normal") != 0)
        return err_at(err, NO_LOCATION, "mode \"%s\" is not normal or multi", mode);
    return f->multi ? check_name(conf_string(node, "filename", "pcaplog"), err) : 0;
}

static int read_compression(struct pcap_files *f, const struct conf_node *node, struct err *err)
{
    const char *word = conf_string(node, "compression", "none");

    f->lz4 = strcmp(word, "lz4") == 0;
    f->checksum = conf_bool(node, "lz4-checksum", false);
    f->level = (int)MIN(conf_u64(node, "lz4-level", 0), 16);
    if (!f->lz4 && strcmp(word, "none") != 0)
        return err_at(err, NO_LOCATION, "compression \"%s\" is not none or lz4", word);
    if (f->lz4 && !HAS_LZ4)
        return err_at(err, NO_LOCATION, "this is a build without lz4");
    return 0;
}

/* Mistakes here prevent the start: the packets may be evidence. */
static int read_settings(struct pcap_files *f, const struct conf_node *node, struct err *err)
{
    const char *stamp = conf_string(node, "ts-format", "sec");

    f->limit = conf_size(node, "limit", LIMIT_DEFAULT);
    f->max_files = (unsigned)conf_u64(node, "max-files", 0);
    f->micros = strcmp(stamp, "usec") == 0;
    if (!f->micros && strcmp(stamp, "sec") != 0)
        return err_at(err, NO_LOCATION, "ts-format \"%s\" is not sec or usec", stamp);
    if (f->limit < LIMIT_MIN)
        return err_at(err, NO_LOCATION, "limit: at least %u bytes", LIMIT_MIN);
    if (read_mode(f, node, err) < 0)
        return -1;
    return read_compression(f, node, err);
}

/* Reports a missing directory at the start and not with the first packet. A directory with
 * % letters is known only with the packet. */
static int check_directory(const char *prefix, struct err *err)
{
    char *copy = xstrdup(prefix);
    const char *directory = dirname(copy);
    int status = 0;

    if (strchr(directory, '%') == NULL && access(directory, W_OK | X_OK) < 0)
        status = err_at(err, NO_LOCATION, "cannot write to directory %s: %s", directory,
                        strerror(errno));
    free(copy);
    return status;
}

struct pcap_files *pcap_files_open(const struct output_request *request,
                                   const struct conf_node *node, struct sink **sink,
                                   struct output_conf *conf, struct err *err)
{
    struct pcap_files *f = xcalloc(1, sizeof(*f));

    pthread_mutex_init(&f->lock, NULL);
    f->prefix = prefix_of(request, node);
    if (read_settings(f, node, err) < 0 || check_directory(f->prefix, err) < 0) {
        files_close(f);
        return NULL;
    }
    *sink = xcalloc(1, sizeof(**sink));
    **sink = (struct sink){ .id = (uint16_t)conf->sinks.count, .ops = &files_ops, .self = f };
    ARRAY_PUSH(&conf->sinks, *sink);
    ARRAY_PUSH(&conf->sink_paths, xstrdup(f->prefix));
    if (conf->pcap_files == NULL)
        conf->pcap_files = f;
    return f;
}
