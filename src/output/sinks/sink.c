/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/sink.c - finds the sink a configuration node asks for; the same target is opened
 * once, however many outputs name it. */
#include "output/sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/log.h"
#include "output/list.h"
#include "output/output_private.h"

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

/* "name": the kinds there are, for the error message. */
static void sink_names(struct buf *out)
{
    for (unsigned i = 0; sink_table[i] != NULL; i++) {
        if (i > 0)
            BUF_LITERAL(out, ", ");
        buf_add_string(out, sink_table[i]->name);
    }
    buf_add_u8(out, 0);
}

/* All threads write to one place: nothing else is needed to be fast, and order is kept. */
static void check_threaded(const struct conf_node *node, const char *filetype)
{
    if (!conf_bool(node, "threaded", false))
        return;
    conf_warning(conf_find(node, "threaded"), "%s does not write by thread: there is one place "
                 "for the records of all threads", filetype);
}

struct sink *sink_open(const struct output_request *request, struct output_conf *conf,
                       const struct conf_node *node, const char *otherwise, struct err *err)
{
    const char *filetype = conf_string(node, "filetype", "regular");

    check_threaded(node, filetype);
    return sink_open_as(request, conf, node, filetype, otherwise, err);
}

struct sink *sink_open_as(const struct output_request *request, struct output_conf *conf,
                          const struct conf_node *node, const char *filetype,
                          const char *otherwise, struct err *err)
{
    const struct sink_ops *ops = sink_find(strcmp(filetype, "file") == 0 ? "regular" : filetype);
    struct sink *sink;
    char *path;
    void *self;

    if (ops == NULL) {
        struct buf names = { 0 };

        sink_names(&names);
        err_set(err, "filetype \"%s\" is not known here; there are %s", filetype,
                (const char *)names.data);
        buf_fini(&names);
        log_count_fatal();
        return NULL;
    }
    path = output_path(request, conf_string(node, "filename", otherwise));
    for (size_t i = 0; !ops->is_own && i < conf->sinks.count; i++) {
        if (conf->sinks.at[i]->ops == ops && strcmp(conf->sink_paths.at[i], path) == 0) {
            free(path);
            return conf->sinks.at[i];
        }
    }
    self = ops->open(request, node, path, err);
    if (self == NULL) {
        free(path);
        return NULL;
    }
    sink = xcalloc(1, sizeof(*sink));
    *sink = (struct sink){ .id = (uint16_t)conf->sinks.count, .ops = ops, .self = self };
    ARRAY_PUSH(&conf->sinks, sink);
    ARRAY_PUSH(&conf->sink_paths, path);
    return sink;
}
