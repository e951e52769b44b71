/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/file_type.c - file types of plugins as sinks of the engine. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "output/sink.h"
#include "plugins/private.h"

struct plugin_file_type {
    struct sink_ops ops;                /* first: open_registered() gets it */
    const struct ids_file_type *type;
};

/* The lock gives the plugin one call at a time: writers are many, and a signal rotates. */
struct plugin_sink {
    const struct ids_file_type *type;
    void *self;
    pthread_mutex_t lock;
};

static void *file_type_open(const struct sink_ops *ops, const struct conf_node *node,
                            const char *path, struct err *err)
{
    const struct ids_file_type *type = ((const struct plugin_file_type *)(const void *)ops)->type;
    struct ids_error *error = plugin_error_begin();
    struct plugin_sink *s;
    void *self = type->open(plugin_settings(node), path, error);

    plugin_error_end(error, err);
    if (self == NULL) {
        if (err->text[0] == '\0')
            err_set(err, "filetype %s: it cannot open %s", type->name, path);
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    s->type = type;
    s->self = self;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* A plugin that counts more lost records than it was given would make the sum of all wrong. */
static uint64_t file_type_write(void *self, const uint8_t *data, size_t len)
{
    struct plugin_sink *s = self;
    uint64_t lost, records = sink_records(data, len);

    pthread_mutex_lock(&s->lock);
    lost = s->type->write(s->self, data, len);
    pthread_mutex_unlock(&s->lock);
    return MIN(lost, records);
}

static void file_type_rotate(void *self)
{
    struct plugin_sink *s = self;

    if (s->type->rotate == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->type->rotate(s->self);
    pthread_mutex_unlock(&s->lock);
}

static void file_type_close(void *self)
{
    struct plugin_sink *s = self;

    if (s->type->close != NULL)
        s->type->close(s->self);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int plugin_add_file_type(struct ids_engine *engine, const struct ids_file_type *type)
{
    struct plugin_file_type *new;

    if (type->name == NULL || type->open == NULL || type->write == NULL)
        return plugin_refuse(engine, "a file type needs a name, open and write");
    new = plugin_alloc(sizeof(*new));
    new->type = type;
    new->ops = (struct sink_ops){
        .name = type->name,
        .is_slow = true,
        .open_registered = file_type_open,
        .write = file_type_write,
        .rotate = file_type_rotate,
        .close = file_type_close,
    };
    return sink_register(&new->ops, &engine->error.err);
}
