/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/watch.c - watchers of plugins: they see packets, keep memory with flows, and add an
 * object to the records of these. */
#include "plugins/watch.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/memory/lib_memory.h"
#include "output/eve/eve.h"
#include "plugins/private.h"

#define WATCHERS_MAX 4
#define FLOW_ALIGN 16u

/* Filled while plugins load. The memory of a flow is one block with a part for each watcher. */
static struct {
    const struct ids_watcher *at[WATCHERS_MAX];
    size_t offset[WATCHERS_MAX];
    unsigned count;
    size_t size;
    pthread_mutex_t opening;    /* thread_open() of a library may not run twice at once */
} watchers = { .opening = PTHREAD_MUTEX_INITIALIZER };

struct plugin_watch {
    void *thread[WATCHERS_MAX];
};

static void *data_of(const struct flow *f, unsigned i)
{
    return (uint8_t *)f->ext->watched + watchers.offset[i];
}

static bool is_watched(const struct flow *f)
{
    return f->ext != NULL && f->ext->watched != NULL;
}

struct plugin_watch *plugin_watch_open(void)
{
    struct plugin_watch *w;

    if (watchers.count == 0)
        return NULL;
    w = xcalloc(1, sizeof(*w));
    pthread_mutex_lock(&watchers.opening);
    for (unsigned i = 0; i < watchers.count; i++)
        if (watchers.at[i]->thread_open != NULL)
            w->thread[i] = watchers.at[i]->thread_open();
    pthread_mutex_unlock(&watchers.opening);
    return w;
}

void plugin_watch_close(struct plugin_watch *w)
{
    if (w == NULL)
        return;
    pthread_mutex_lock(&watchers.opening);
    for (unsigned i = 0; i < watchers.count; i++)
        if (watchers.at[i]->thread_close != NULL)
            watchers.at[i]->thread_close(w->thread[i]);
    pthread_mutex_unlock(&watchers.opening);
    free(w);
}

/* A flow without memory for watchers is not watched. */
void plugin_watch_packet(struct plugin_watch *w, struct packet *p)
{
    struct flow *f = p->flow;

    if (f == NULL || (p->flags & (PACKET_PSEUDO | PACKET_NO_INSPECT)) ||
        flow_ext_make(f) == NULL)
        return;
    if (f->ext->watched == NULL)
        f->ext->watched = lib_calloc(1, watchers.size);
    for (unsigned i = 0; f->ext->watched != NULL && i < watchers.count; i++)
        watchers.at[i]->packet(w->thread[i], data_of(f, i), plugin_packet_handle(p));
}

void plugin_watch_flow_free(struct flow *f)
{
    if (LIKELY(!is_watched(f)))
        return;
    for (unsigned i = 0; i < watchers.count; i++)
        if (watchers.at[i]->flow_free != NULL)
            watchers.at[i]->flow_free(data_of(f, i));
    lib_free(f->ext->watched);
    f->ext->watched = NULL;
}

const void *plugin_watched(const struct ids_flow *flow, const struct ids_watcher *watcher)
{
    const struct flow *f = plugin_flow(flow);

    for (unsigned i = 0; f != NULL && is_watched(f) && i < watchers.count; i++)
        if (watchers.at[i] == watcher)
            return data_of(f, i);
    return NULL;
}

/* One object for each watcher, or none where it has nothing to say. */
static void flow_members(struct json *j, const struct flow *f)
{
    for (unsigned i = 0; is_watched(f) && i < watchers.count; i++) {
        struct json_mark mark = json_mark(j);
        struct ids_json json = { .to = j };
        bool any;

        if (watchers.at[i]->log == NULL)
            continue;
        json_object(j, watchers.at[i]->name);
        any = watchers.at[i]->log(data_of(f, i), &json);
        plugin_json_close(&json);
        if (any)
            json_object_end(j);
        else
            json_rewind(j, mark);
    }
}

int plugin_add_watcher(struct ids_engine *engine, const struct ids_watcher *watcher)
{
    if (watcher->packet == NULL || watcher->flow_size == 0)
        return plugin_refuse(engine, "a watcher needs packet and flow_size");
    if (plugin_check_name(engine, watcher->name) < 0)
        return -1;
    for (unsigned i = 0; i < watchers.count; i++)
        if (strcmp(watchers.at[i]->name, watcher->name) == 0)
            return plugin_refuse(engine, "there is a watcher \"%s\" already", watcher->name);
    if (watchers.count == WATCHERS_MAX)
        return plugin_refuse(engine, "at most %d watchers can be added", WATCHERS_MAX);
    watchers.at[watchers.count] = watcher;
    watchers.offset[watchers.count++] = watchers.size;
    watchers.size += (watcher->flow_size + FLOW_ALIGN - 1) / FLOW_ALIGN * FLOW_ALIGN;
    eve_set_flow_members(flow_members);
    return 0;
}
