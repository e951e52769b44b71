/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/stores/file_store.c - `file-store` version 2: the content of files on disk, each once,
 * named by the SHA-256 of the content.
 *
 * A growing file is written to tmp/ and renamed when it ends, because its name is known only then.
 * The content comes from the window that app/ keeps (APP_FILE_STORE); `written` is the number of
 * bytes on disk. A file that already exists only gets a new time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/core/file.h"
#include "app/proto.h"
#include "base/array.h"
#include "base/memory/lib_memory.h"
#include "base/report/counters.h"
#include "base/report/json.h"
#include "base/report/log.h"
#include "base/system/directories.h"
#include "output/eve/eve.h"
#include "output/output_private.h"

/* One for the run; all inspecting threads use it, so what changes is atomic. */
struct file_store_logger {
    char *dir;
    bool fileinfo;
    uint32_t max_open;
    uint32_t open;                  /* atomic: files being written by all threads */
    uint32_t sequence;              /* atomic: names in tmp/ */
    bool failure_logged;
    uint64_t expansion;             /* bytes stored by byte of a flow's packets; 0: no limit */
    counter_id count_cut, count_errors, count_max_hit, count_open;
    struct eve eve;                 /* form of the .json records of files */
    struct sink no_sink;            /* named by these records, which go to separate files */
};

/* Hangs off output_file.store while the file is being written. */
struct file_store {
    struct counters *counters;      /* of the thread that has the flow */
    struct file_store_logger *logger;
    int fd;
    char path[512];                 /* in tmp/ */
};

/* Counts each failure, logs the first. The flow goes on: only the copy is lost. */
static void store_failed(struct file_store_logger *s, struct render *r, const char *what,
                         const char *path)
{
    counter_inc(r->counters, s->count_errors);
    if (__atomic_exchange_n(&s->failure_logged, true, __ATOMIC_RELAXED))
        return;
    log_warning("file-store", "%s %s: %s; further failures are counted in file_store.fs_errors",
                what, path, strerror(errno));
}

/* --- directories -------------------------------------------------------------------------- */

static int make_dir(const char *path, struct err *err)
{
    if (directory_make(path, 0750) < 0)
        return err_set(err, "cannot make the directory %s: %s", path, strerror(errno));
    return 0;
}

/* DIR, DIR/tmp and DIR/00 to DIR/ff, which is the layout of Suricata's version 2: no
 * directory gets too many files. */
static int make_dirs(const char *dir, struct err *err)
{
    char path[512];

    if (directories_make(dir, 0750) < 0)
        return err_set(err, "cannot make the directories of %s: %s", dir, strerror(errno));
    if (make_dir(dir, err) < 0)
        return -1;
    snprintf(path, sizeof(path), "%s/tmp", dir);
    if (make_dir(path, err) < 0)
        return -1;
    for (unsigned i = 0; i < 256; i++) {
        snprintf(path, sizeof(path), "%s/%02x", dir, i);
        if (make_dir(path, err) < 0)
            return -1;
    }
    return 0;
}

/* --- how much ----------------------------------------------------------------------------- */

/* Packed bodies may be a thousand times what was sent. Small files are stored whatever was sent. */
#define STORED_FREE (4u << 10)                  /* bytes by flow */

/* Of the flow's bytes at the time: the same in all run modes. */
static bool fits_expansion(const struct file_store_logger *s, const struct packet *p,
                           const struct app_file *file, uint64_t more)
{
    uint64_t most = s->expansion * (p->flow->bytes[0] + p->flow->bytes[1]) + STORED_FREE;
    struct app_ext *ext;

    if (s->expansion == 0 || more == 0)
        return true;
    ext = app_ext_make(file->tx->flow);
    if (ext == NULL)
        return false;
    ext->stored_bytes += more;
    return ext->stored_bytes <= most;
}

/* A file takes the system 10 us and a block, whatever its size. An exchange of HTTP has more bytes
 * than one file needs. */
#define FILES_FREE 16                           /* by flow */
#define BYTES_BY_FILE 256

static bool may_open(const struct packet *p, const struct app_file *file)
{
    const uint64_t bytes = p->flow->bytes[0] + p->flow->bytes[1];
    struct app_ext *ext = app_ext_make(file->tx->flow);

    return ext != NULL && ext->stored_files++ < FILES_FREE + bytes / BYTES_BY_FILE;
}

/* log-limit holds for files, too. */
static bool may_store(const struct file_store_logger *s, struct render *r, const struct packet *p,
                      const struct app_file *file)
{
    uint64_t more = file->window_start + file->window.len - MAX(file->written, file->window_start);

    if (!fits_expansion(s, p, file, more))
        return false;
    if (output_file(file)->store == NULL)
        return may_open(p, file) && log_limit_take_file(r, p, more);
    if (LIKELY(more == 0 || log_limit_take(r, p, more)))
        return true;
    log_limit_count(r, p, LEFT_OUT_OTHER, NULL);
    return false;
}

/* --- one file ----------------------------------------------------------------------------- */

/* Closes the file and corrects the two counts of open files. fd -1: done already. */
static void store_shut(struct file_store *store)
{
    if (store->fd < 0)
        return;
    close(store->fd);
    store->fd = -1;
    __atomic_sub_fetch(&store->logger->open, 1, __ATOMIC_RELAXED);
    counter_sub(store->counters, store->logger->count_open, 1);
}

/* If `max-open-files` are open, the file is opened for each write only. The name in tmp/
 * has the process id, since another engine may use the same directory. False: the file is
 * not stored. */
static bool store_open(struct file_store_logger *s, struct render *r, struct app_file *file)
{
    bool full = s->max_open > 0 && __atomic_load_n(&s->open, __ATOMIC_RELAXED) >= s->max_open;
    struct file_store *store = lib_calloc(1, sizeof(*store));

    if (store == NULL) {
        file->no_store = true;
        counter_inc(r->counters, s->count_errors);
        return false;
    }
    store->logger = s;
    store->counters = r->counters;
    snprintf(store->path, sizeof(store->path), "%s/tmp/%d.%u", s->dir, (int)getpid(),
             __atomic_add_fetch(&s->sequence, 1, __ATOMIC_RELAXED));
    store->fd = open(store->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (store->fd < 0) {
        store_failed(s, r, "cannot open", store->path);
        file->no_store = true;
        lib_free(store);
        return false;
    }
    output_file(file)->store = store;
    __atomic_add_fetch(&s->open, 1, __ATOMIC_RELAXED);
    counter_inc(r->counters, s->count_open);
    if (full) {
        counter_inc(r->counters, s->count_max_hit);
        store_shut(store);
    }
    return true;
}

/* app/ calls this when it frees a file (app_hooks.file_released): if it is still being stored,
 * the incomplete copy goes, too. Runs on the thread that owns the flow. */
void output_file_released(struct app_file *file)
{
    struct file_store *store = output_file(file)->store;

    if (store == NULL)
        return;
    store_shut(store);
    unlink(store->path);
    lib_free(store);
    output_file(file)->store = NULL;
}

/* Writes what the window holds past `written`. After a gap the window may begin later. */
static bool write_new(struct file_store_logger *s, struct render *r, struct app_file *file, int fd)
{
    uint64_t end = file->window_start + file->window.len;

    if (file->written < file->window_start)
        file->written = file->window_start;
    while (file->written < end) {
        const uint8_t *data = file->window.data + (file->written - file->window_start);
        ssize_t n = write(fd, data, end - file->written);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            store_failed(s, r, "cannot write", output_file(file)->store->path);
            return false;
        }
        file->written += (uint64_t)n;
    }
    return true;
}

/* Without new data opens no file. Otherwise writes to the open file or, over the limit, opens it
 * for this write. */
static bool store_write(struct file_store_logger *s, struct render *r, struct app_file *file)
{
    struct file_store *store = output_file(file)->store;
    bool ok;
    int fd;

    if (store->fd >= 0 || file->written == file->window_start + file->window.len)
        return store->fd < 0 || write_new(s, r, file, store->fd);
    fd = open(store->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) {
        store_failed(s, r, "cannot open", store->path);
        return false;
    }
    ok = write_new(s, r, file, fd);
    close(fd);
    return ok;
}

/* 64 digits and a 0. */
static void hex_name(const uint8_t sha256[32], char out[65])
{
    for (unsigned i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", sha256[i]);
}

/* The name has the time and the file's number in the flow. Suricata's numbers are those of the
 * thread. Here another flow may have used the name within this second: then the flow's id is added,
 * so that no record overwrites another. */
static FILE *open_fileinfo(const struct packet *p, const struct app_file *file, const char *final,
                           char *path, size_t size)
{
    unsigned long long second = p->time_us / 1000000, number = file->id;
    FILE *f;

    snprintf(path, size, "%s.%llu.%llu.json", final, second, number);
    f = fopen(path, "wx");
    if (f != NULL || errno != EEXIST)
        return f;
    snprintf(path, size, "%s.%llu.%llu.%llu.json", final, second, number,
             (unsigned long long)p->flow->id);
    return fopen(path, "w");
}

struct fileinfo { const char *final; struct slice record; };

static void write_fileinfo(struct file_store_logger *s, struct render *r, const struct packet *p,
                           const struct app_file *file, const struct fileinfo *info)
{
    char path[640];
    FILE *f = open_fileinfo(p, file, info->final, path, sizeof(path));

    if (f == NULL) {
        store_failed(s, r, "cannot open", path);
        return;
    }
    fwrite(info->record.data, 1, info->record.len, f);
    fclose(f);
}

/* `write-fileinfo`: writes EVE's fileinfo record next to the file. One copy may have several such
 * records. */
static void store_fileinfo(struct file_store_logger *s, struct render *r, struct packet *p,
                           struct app_file *file, const char *final)
{
    struct render render = { .conf = r->conf, .counters = r->counters };
    struct buf out = { 0 };
    struct slice record;
    struct json j;

    render.out = &out;
    eve_begin(&render, &s->eve, &j, p,
              (struct eve_head){ file->direction == TO_SERVER ? EVE_TO_SERVER : EVE_TO_CLIENT,
                                 "fileinfo", EVE_NO_TX });
    eve_tx_metadata(&j, file->tx);
    json_string(&j, "app_proto", app_proto_name(p->flow->app_proto));
    json_object(&j, "fileinfo");
    eve_file(&j, file, true);
    json_object_end(&j);
    eve_end(&render, &s->eve, &j, p);
    record = record_slice(&render);
    if (log_limit_take_file(r, p, record.len))
        write_fileinfo(s, r, p, file, &(struct fileinfo){ final, record });
    buf_fini(&out);
}

/* The file has ended. Without a SHA-256, as after a gap, it has no name, and the copy is
 * removed. Two threads may store the same content: rename() replaces one file by its
 * equal. */
static void store_close(struct file_store_logger *s, struct render *r, struct packet *p,
                        struct app_file *file)
{
    struct file_store *store = output_file(file)->store;
    char name[65], final[600];
    struct stat st;

    if (file->sha256 == NULL) {
        output_file_released(file);
        file->no_store = true;
        return;
    }
    hex_name(file->sha256, name);
    snprintf(final, sizeof(final), "%s/%.2s/%s", s->dir, name, name);
    store_shut(store);
    if (stat(final, &st) == 0) {
        unlink(store->path);
        (void)utimensat(AT_FDCWD, final, NULL, 0);
    } else if (rename(store->path, final) < 0) {
        store_failed(s, r, "cannot move to", final);
        unlink(store->path);
    }
    lib_free(store);
    output_file(file)->store = NULL;
    file->stored = true;
    if (s->fileinfo)
        store_fileinfo(s, r, p, file, final);
}

/* Called for each file on each packet of the flow. store_requested: by a rule with
 * filestore, or by force-filestore. */
static void store_file(struct file_store_logger *s, struct render *r, struct packet *p,
                       struct app_file *file)
{
    if (!file->store_requested || file->no_store || file->stored)
        return;
    app_file_unpack(file);
    if (UNLIKELY(!may_store(s, r, p, file))) {
        counter_inc(r->counters, s->count_cut);
        if (output_file(file)->store != NULL)
            output_file_released(file);
        file->no_store = true;
        return;
    }
    if (output_file(file)->store == NULL && !store_open(s, r, file))
        return;
    if (!store_write(s, r, file)) {
        output_file_released(file);
        file->no_store = true;
        return;
    }
    if (app_file_due(file, r->inspection))
        store_close(s, r, p, file);
}

static void file_store_tx(struct render *r, void *self, struct packet *p, struct app_tx *tx)
{
    for (unsigned d = 0; d < 2; d++)
        for (struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            store_file(self, r, p, file);
}

/* --- settings ----------------------------------------------------------------------------- */

static void file_store_close(void *self)
{
    struct file_store_logger *s = self;

    free(s->dir);
    free(s);
}

/* Gives the same warning as Suricata: a depth for stored files below that of reassembly has no
 * effect. */
static void check_depth(const struct conf_node *node, const struct conf_node *root)
{
    uint64_t depth = conf_size(root, "stream.reassembly.depth", 0), own;

    if (strcmp(conf_string(node, "stream-depth", "no"), "no") == 0)
        return;
    own = conf_size(node, "stream-depth", 0);
    if (own != 0 && own <= depth)
        log_warning("file-store", "file-store.stream-depth value %llu has no effect since it's "
                    "less than stream.reassembly.depth value.", (unsigned long long)own);
}

/* Version 1 is gone, as in Suricata. Directories are made now, so that a missing
 * permission is an error of the start. */
static void *file_store_open(const struct output_request *request, struct output_conf *conf,
                             const struct conf_node *node, struct err *err)
{
    uint64_t version = conf_u64(node, "version", 2);
    struct file_store_logger *s;

    if (version != 2) {
        err_set(err, "version %llu is not there any more; it is 2", (unsigned long long)version);
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    s->dir = output_path(request, conf_string(node, "dir", "filestore"));
    s->fileinfo = conf_bool(node, "write-fileinfo", false);
    s->max_open = (uint32_t)conf_u64(node, "max-open-files", 0);
    s->expansion = conf_u64(node, "max-expansion", 0);
    s->count_cut = counter_register_own("file_store.expansion_cut", COUNTER_SUM);
    s->count_errors = counter_register("file_store.fs_errors", COUNTER_SUM);
    s->count_max_hit = counter_register("file_store.open_files_max_hit", COUNTER_SUM);
    s->count_open = counter_register("file_store.open_files", COUNTER_GAUGE);
    s->eve = (struct eve){ .sink = &s->no_sink, .request = &conf->request, .prefix = "",
                           .sensor_id = -1 };
    if (make_dirs(s->dir, err) < 0) {
        file_store_close(s);
        return NULL;
    }
    app_require_files(request->app, APP_FILE_STORE | APP_FILE_SHA256 |
                   (conf_bool(node, "force-filestore", false) ? APP_FILE_STORE_ALL : 0));
    check_depth(node, request->conf);
    if (conf_bool(node, "force-magic", false))
        app_require_files(request->app, APP_FILE_MAGIC);
    CONF_EACH (item, conf_find(node, "force-hash")) {
        if (!app_require_file_hash(request->app, item->value))
            err_set(err, "force-hash: \"%s\" is not md5, sha1 or sha256", item->value);
    }
    return s;
}

const struct logger_ops logger_file_store = {
    .name = "file-store",
    .doc = "contents of files, by their SHA-256",
    .early = true,
    .open = file_store_open,
    .close = file_store_close,
    .tx = file_store_tx,
};
