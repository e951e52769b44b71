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
#define COUNT(name) + 1
#define REGISTERED_MAX 16
#define X(name) &sink_##name,
/* The list, and what is registered while plugins load; NULL ends it. */
static const struct sink_ops *sink_table[SINK_LIST(COUNT) + REGISTERED_MAX + 1] = { SINK_LIST(X) };
#undef X

/* "file" is another word for "regular". NULL: unknown. */
static const struct sink_ops *sink_of_filetype(const char *filetype)
{
    if (strcmp(filetype, "file") == 0)
        return &sink_file;
    for (unsigned i = 0; sink_table[i] != NULL; i++)
        if (strcmp(sink_table[i]->name, filetype) == 0)
            return sink_table[i];
    return NULL;
}

int sink_register(const struct sink_ops *ops, struct err *err)
{
    size_t count = 0;

    if (sink_of_filetype(ops->name) != NULL)
        return err_set(err, "there is a filetype \"%s\" already", ops->name);
    while (sink_table[count] != NULL)
        count++;
    if (count + 1 == ARRAY_LEN(sink_table))
        return err_set(err, "at most %d filetypes can be added", REGISTERED_MAX);
    sink_table[count] = ops;
    return 0;
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

/* Where records go: outputs whose targets are equal share a sink. */
struct sink_target {
    const struct sink_ops *ops;
    char *path;                                 /* heap */
};

/* The sink that is already open for this target. Two descriptors for one file would each
 * rotate it. */
static struct sink *find_open(const struct output_conf *conf, const struct sink_target *target)
{
    for (size_t i = 0; !target->ops->is_own && i < conf->sinks.count; i++)
        if (conf->sinks.at[i]->kind == target->ops &&
            strcmp(conf->sink_paths.at[i], target->path) == 0)
            return conf->sinks.at[i];
    return NULL;
}

/* What messages, metrics and the page call the sink: its path, or the place in the configuration of
 * one that writes to none. Takes path over. */
static char *name_of(const struct sink_ops *ops, const struct conf_node *node, char *path)
{
    struct buf name = { 0 };

    if (!ops->is_own || node == NULL)
        return path;
    free(path);
    buf_printf(&name, "%s (%s:%u)", ops->name, node->at.file, node->at.line);
    buf_add_u8(&name, 0);
    return (char *)name.data;
}

/* Takes the target's path over. */
static struct sink *open_target(const struct output_request *request, struct output_conf *conf,
                                const struct conf_node *node, struct sink_target target,
                                struct err *err)
{
    const struct sink_ops *ops = target.ops;
    void *self = ops->open_registered != NULL
                     ? ops->open_registered(ops, node, target.path, err)
                     : ops->open(request, node, target.path, err);
    struct queue_conf queue;
    struct sink *sink;

    if (self == NULL) {
        free(target.path);
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
    ARRAY_PUSH(&conf->sink_paths, name_of(ops, node, target.path));
    return sink;
}

/* An unknown filetype prevents the start: the user wants the records in a place that does
 * not exist. */
struct sink *sink_open_as(const struct output_request *request, struct output_conf *conf,
                          const struct conf_node *node, struct sink_default otherwise,
                          struct err *err)
{
    struct sink_target target = { .ops = sink_of_filetype(otherwise.filetype) };
    struct sink *sink;

    if (target.ops == NULL) {
        struct buf names = { 0 };

        sink_names(&names);
        err_set(err, "unknown filetype \"%s\": expected one of %s", otherwise.filetype,
                (const char *)names.data);
        buf_fini(&names);
        log_count_fatal();
        return NULL;
    }
    target.path = output_path(request, conf_string(node, "filename", otherwise.filename));
    sink = find_open(conf, &target);
    if (sink != NULL) {
        free(target.path);
        return sink;
    }
    return open_target(request, conf, node, target, err);
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
    struct sink_target target = { &sink_file, thread_path(path, 1) };
    struct sink *first = find_open(conf, &target);

    if (first != NULL) {
        free(target.path);
        return first;
    }
    first = open_target(request, conf, node, target, err);
    if (first == NULL)
        return NULL;
    first->thread_sink = xcalloc(THREAD_SINKS, sizeof(struct sink *));
    first->thread_sink[0] = first;
    for (unsigned i = 1; i < THREAD_SINKS; i++) {
        target = (struct sink_target){ &sink_file_later, thread_path(path, i + 1) };
        first->thread_sink[i] = open_target(request, conf, node, target, err);
    }
    first->thread_sinks = THREAD_SINKS;
    return first;
}

struct sink *sink_open(const struct output_request *request, struct output_conf *conf,
                       const struct conf_node *node, const char *otherwise, struct err *err)
{
    struct sink_default kind = { conf_string(node, "filetype", "regular"), otherwise };

    return sink_open_as(request, conf, node, kind, err);
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
    if (sink_of_filetype(filetype) != &sink_file) {
        conf_warning(conf_find(node, "threaded"), "%s does not write by thread: there is one "
                     "place for the records of all threads", filetype);
        return sink_open(request, conf, node, otherwise, err);
    }
    path = output_path(request, conf_string(node, "filename", otherwise));
    sink = open_thread_sinks(request, conf, node, path, err);
    free(path);
    return sink;
}
