/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/data_log.c - `tcp-data` and `http-body-data`: what TCP carries, or what
 * HTTP's bodies carry. `type: file` writes a dump of all into one file, `dir` the bytes
 * themselves into a file for each direction of a flow or body, `both` does both. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/report/log.h"
#include "base/system/directories.h"
#include "output/output_private.h"
#include "output/text.h"

/* Bytes of text: the size of Suricata's buffer for a record. */
#define CHUNK_DUMP_MAX 65535u           /* of one chunk, in the one file */

/* What a log of this kind writes, and where by default. */
struct data_kind {
    const char *dir;                    /* in the log directory */
    const char *filename;
    bool bodies;                        /* HTTP's; else what TCP carries */
};

static const struct data_kind tcp_data = { "tcp", "tcp-data.log", false };
static const struct data_kind body_data = { "http", "http-body-data.log", true };

/* One for the run. */
struct data_log {
    struct sink *sink;                  /* NULL: not into one file */
    char *dir;                          /* NULL: not into many */
    bool bodies;                        /* data_kind.bodies */
    bool failure_logged;                  /* atomic */
};

/* "CLIENT_PORT-SERVER_PORT-", whichever side the flow's key begins with. */
static void add_flow_name(struct buf *out, const struct flow *f)
{
    bool swapped = flow_is_swapped(f);

    text_address(out, swapped ? &f->key.dst : &f->key.src);
    buf_printf(out, "_%u-", swapped ? f->key.dst_port : f->key.src_port);
    text_address(out, swapped ? &f->key.src : &f->key.dst);
    buf_printf(out, "_%u-", swapped ? f->key.src_port : f->key.dst_port);
}

/* "ts": to the server, "tc": to the client. */
static const char *direction_word(const struct output_chunk *chunk)
{
    return chunk->direction == TO_SERVER ? "ts" : "tc";
}

static void dump_chunk(struct render *r, const struct data_log *log, const struct packet *p,
                       const struct output_chunk *chunk)
{
    size_t limit;

    record_begin(r, log->sink);
    limit = r->out->len + CHUNK_DUMP_MAX;
    add_flow_name(r->out, p->flow);
    buf_printf(r->out, "%s:\n", direction_word(chunk));
    /* A byte takes more than four characters. */
    text_dump(r->out, chunk->data.data, MIN(chunk->data.len, CHUNK_DUMP_MAX / 4));
    r->out->len = MIN(r->out->len, limit);
    record_end_line(r, p);
}

/* False with errno set: the disk is full or the file cannot grow. */
static bool write_all(int fd, struct slice data)
{
    while (data.len > 0) {
        ssize_t n = write(fd, data.data, data.len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data.data += n;
        data.len -= (uint32_t)n;
    }
    return true;
}

/* Opens the file for each chunk: a flow may live for hours, and there are more flows than
 * descriptors. The first chunk empties a file that an earlier run has left. */
static void save_chunk(struct render *r, struct data_log *log, const struct flow *f,
                       const struct output_chunk *chunk)
{
    struct buf *path = &r->scratch;
    bool done;
    int fd;

    buf_clear(path);
    buf_add_string(path, log->dir);
    buf_add_u8(path, '/');
    add_flow_name(path, f);
    if (chunk->tx != NULL)
        buf_printf(path, "%llu", (unsigned long long)chunk->tx->id);
    buf_printf(path, "-%s.data", direction_word(chunk));
    buf_add_u8(path, 0);
    fd = open((const char *)path->data,
              O_WRONLY | O_CREAT | O_CLOEXEC | (chunk->open ? O_TRUNC : O_APPEND), 0640);
    done = fd >= 0 && write_all(fd, chunk->data);
    if (!done && !__atomic_exchange_n(&log->failure_logged, true, __ATOMIC_RELAXED))
        log_error("output", "cannot write to %s: %s; this is said once", (const char *)path->data,
                  strerror(errno));
    if (fd >= 0)
        close(fd);
}

/* A file that lacks a chunk ends in another place than the data: the record left_out says so. */
static bool may_save(struct render *r, const struct packet *p, const struct output_chunk *chunk)
{
    if (chunk->open)
        return log_limit_take_file(r, p, chunk->data.len);
    if (LIKELY(log_limit_take(r, p, chunk->data.len)))
        return true;
    log_limit_count(r, p, LEFT_OUT_OTHER, NULL);
    return false;
}

/* Runs on the inspecting thread. The end of a direction is a chunk without data: nothing
 * to write. */
static void data_stream(struct render *r, void *self, struct packet *p,
                        const struct output_chunk *chunk)
{
    struct data_log *log = self;

    if (chunk->data.len == 0 || (chunk->tx != NULL) != log->bodies)
        return;
    if (log->dir != NULL && may_save(r, p, chunk))
        save_chunk(r, log, p->flow, chunk);
    if (log->sink != NULL)
        dump_chunk(r, log, p, chunk);
}

/* --- settings ----------------------------------------------------------------------------- */

static void data_close(void *self)
{
    struct data_log *log = self;

    free(log->dir);
    free(log);
}

static int open_dir(struct data_log *log, const struct output_request *request, const char *name,
                    struct err *err)
{
    log->dir = output_path(request, name);
    if (directory_make(log->dir, 0700) < 0)
        return err_at(err, NO_LOCATION, "cannot make %s: %s", log->dir, strerror(errno));
    return 0;
}

static struct data_log *data_open(const struct output_request *request, struct output_conf *conf,
                                  const struct conf_node *node, const struct data_kind *kind,
                                  struct err *err)
{
    struct data_log *log = xcalloc(1, sizeof(*log));
    const char *type = conf_string(node, "type", "file");
    bool both = strcmp(type, "both") == 0;

    log->bodies = kind->bodies;
    if (!both && strcmp(type, "file") != 0 && strcmp(type, "dir") != 0) {
        err_set(err, "type \"%s\" is not file, dir or both", type);
        goto failed;
    }
    if ((both || strcmp(type, "dir") == 0) && open_dir(log, request, kind->dir, err) < 0)
        goto failed;
    if (both || strcmp(type, "file") == 0) {
        log->sink = sink_open(request, conf, node, kind->filename, err);
        if (log->sink == NULL)
            goto failed;
    }
    return log;

failed:
    data_close(log);
    return NULL;
}

static void *tcp_data_open(const struct output_request *request, struct output_conf *conf,
                           const struct conf_node *node, struct err *err)
{
    return data_open(request, conf, node, &tcp_data, err);
}

/* Bodies are kept only if an output requires them. */
static void *body_data_open(const struct output_request *request, struct output_conf *conf,
                            const struct conf_node *node, struct err *err)
{
    struct data_log *log = data_open(request, conf, node, &body_data, err);

    if (log != NULL)
        output_require_bodies(request->app);
    return log;
}

const struct logger_ops logger_tcp_data = {
    .name = "tcp-data",
    .doc = "what TCP carries, in order",
    .open = tcp_data_open,
    .close = data_close,
    .stream = data_stream,
};

const struct logger_ops logger_http_body_data = {
    .name = "http-body-data",
    .doc = "bodies of HTTP, unpacked",
    .open = body_data_open,
    .close = data_close,
    .stream = data_stream,
};
