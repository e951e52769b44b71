/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/sink.c - finds the sink that a configuration node names. Several outputs
 * that name the same target share one sink. */
#include "output/sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory/buf.h"
#include "base/report/log.h"
#include "output/list.h"
#include "output/output_private.h"
#include "output/sinks/queue.h"

#define X(name) extern const struct sink_ops sink_##name;
SINK_LIST(X)
#undef X
#define X(name) &sink_##name,
const struct sink_ops *const sink_table[] = { SINK_LIST(X) NULL };
#undef X

static const struct sink_ops *sink_find(const char *filetype)
{
    for (unsigned i = 0; sink_table[i] != NULL; i++)
        if (strcmp(sink_table[i]->name, filetype) == 0)
            return sink_table[i];
    return NULL;
}

/* The kinds of sinks, for the error message. */
static void sink_names(struct buf *out)
{
    for (unsigned i = 0; sink_table[i] != NULL; i++) {
        if (i > 0)
            BUF_LITERAL(out, ", ");
        buf_add_string(out, sink_table[i]->name);
    }
    buf_add_u8(out, 0);
}

#define THREAD_SINKS 128                        /* of threaded files; more threads share them */

/* The sink that is already open with this kind and path. Two descriptors for one file
 * would each rotate it. */
static struct sink *find_open(const struct output_conf *conf, const struct sink_ops *ops,
                              const char *path)
{
    for (size_t i = 0; !ops->is_own && i < conf->sinks.count; i++)
        if (conf->sinks.at[i]->kind == ops && strcmp(conf->sink_paths.at[i], path) == 0)
            return conf->sinks.at[i];
    return NULL;
}

/* Takes path over. */
static struct sink *open_at(const struct output_request *request, struct output_conf *conf,
                            const struct conf_node *node, const struct sink_ops *ops, char *path,
                            struct err *err)
{
    void *self = ops->open(request, node, path, err);
    struct queue_conf queue;
    struct sink *sink;

    if (self == NULL) {
        free(path);
        return NULL;
    }
    sink = xcalloc(1, sizeof(*sink));
    *sink = (struct sink){ .id = (uint16_t)conf->sinks.count, .kind = ops, .ops = ops,
                           .self = self };
    if (queue_conf_read(&queue, request, node, ops->is_slow)) {
        sink->ops = &sink_queue;
        sink->self = queue_new(&queue, ops, self);
    }
    ARRAY_PUSH(&conf->sinks, sink);
    ARRAY_PUSH(&conf->sink_paths, path);
    return sink;
}

/* "file" means "regular". An unknown filetype prevents the start, because records would go
 * nowhere. */
struct sink *sink_open_as(const struct output_request *request, struct output_conf *conf,
                          const struct conf_node *node, const char *filetype,
                          const char *otherwise, struct err *err)
{
    const struct sink_ops *ops = sink_find(strcmp(filetype, "file") == 0 ? "regular" : filetype);
    struct sink *sink;
    char *path;

    if (ops == NULL) {
        struct buf names = { 0 };

        sink_names(&names);
        err_set(err, "unknown filetype \"%s\": expected one of %s", filetype,
                (const char *)names.data);
        buf_fini(&names);
        log_count_fatal();
        return NULL;
    }
    path = output_path(request, conf_string(node, "filename", otherwise));
    sink = find_open(conf, ops, path);
    if (sink != NULL) {
        free(path);
        return sink;
    }
    return open_at(request, conf, node, ops, path, err);
}

/* "eve.json" of the second thread is eve.2.json. */
static char *thread_path(const char *path, unsigned number)
{
    const char *name = strrchr(path, '/'), *dot;
    struct buf out = { 0 };

    name = name != NULL ? name + 1 : path;
    dot = strrchr(name, '.');
    if (dot == NULL)
        dot = name + strlen(name);
    buf_printf(&out, "%.*s.%u%s", (int)(dot - path), path, number, dot);
    buf_add_u8(&out, 0);
    return (char *)out.data;
}

/* A file for each thread. The first is opened now, which shows mistakes in the path; the
 * others when their thread has a record. More threads than THREAD_SINKS share files. */
static struct sink *open_thread_sinks(const struct output_request *request,
                                      struct output_conf *conf, const struct conf_node *node,
                                      const char *path, struct err *err)
{
    char *first_path = thread_path(path, 1);
    struct sink *first = find_open(conf, &sink_file, first_path);

    if (first != NULL) {
        free(first_path);
        return first;
    }
    first = open_at(request, conf, node, &sink_file, first_path, err);
    if (first == NULL)
        return NULL;
    first->thread_sink = xcalloc(THREAD_SINKS, sizeof(struct sink *));
    first->thread_sink[0] = first;
    for (unsigned i = 1; i < THREAD_SINKS; i++)
        first->thread_sink[i] =
            open_at(request, conf, node, &sink_file_later, thread_path(path, i + 1), err);
    first->thread_sinks = THREAD_SINKS;
    return first;
}

struct sink *sink_open(const struct output_request *request, struct output_conf *conf,
                       const struct conf_node *node, const char *otherwise, struct err *err)
{
    return sink_open_as(request, conf, node, conf_string(node, "filetype", "regular"), otherwise,
                        err);
}

/* `threaded` with a socket, syslog or redis only causes a warning: all records go to one sink. */
struct sink *sink_open_threaded(const struct output_request *request, struct output_conf *conf,
                                const struct conf_node *node, const char *otherwise,
                                struct err *err)
{
    const char *filetype = conf_string(node, "filetype", "regular");
    struct sink *sink;
    char *path;

    if (!conf_bool(node, "threaded", false))
        return sink_open(request, conf, node, otherwise, err);
    if (sink_find(strcmp(filetype, "file") == 0 ? "regular" : filetype) != &sink_file) {
        conf_warning(conf_find(node, "threaded"), "%s does not write by thread: there is one "
                     "place for the records of all threads", filetype);
        return sink_open(request, conf, node, otherwise, err);
    }
    path = output_path(request, conf_string(node, "filename", otherwise));
    sink = open_thread_sinks(request, conf, node, path, err);
    free(path);
    return sink;
}
