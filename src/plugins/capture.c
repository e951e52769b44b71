/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/capture.c - captures of plugins as capture methods: one queue and one thread each. Frames
 * are copied, because the plugin's memory is its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "capture/capture.h"
#include "plugins/private.h"

#define FRAME_MAX 262144        /* bytes, as of libpcap; a longer frame is cut */

struct plugin_capture {
    struct capture_ops ops;     /* first: open_registered() gets it */
    const struct ids_capture *capture;
    enum datalink link;
};

/* The open source, and its only queue. Only the receiving thread writes, except `interrupted`. */
struct plugin_source {
    const struct plugin_capture *kind;
    void *self;
    struct capture_device device;
    struct packet_pool *pool;
    uint64_t packets;
    int interrupted;            /* atomic */
};

static void *source_open(const struct capture_ops *ops, const struct capture_request *request,
                         struct err *err)
{
    const struct plugin_capture *kind = (const struct plugin_capture *)(const void *)ops;
    struct plugin_source *s = xcalloc(1, sizeof(*s));
    struct ids_error *error;

    s->kind = kind;
    s->device.numa_node = -1;
    snprintf(s->device.name, sizeof(s->device.name), "%s", request->sources[0]);
    error = plugin_error_begin();
    s->self = kind->capture->open(plugin_settings(request->conf), request->sources[0], error);
    plugin_error_end(error, err);
    if (s->self != NULL)
        return s;
    if (err->text[0] == '\0')
        err_set(err, "capture %s: the plugin cannot open %s", ops->name, request->sources[0]);
    free(s);
    return NULL;
}

static void *source_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                               struct counters *counters UNUSED, struct err *err)
{
    struct plugin_source *s = capture;

    if (queue > 0) {
        err_set(err, "capture %s has one queue", s->kind->ops.name);
        return NULL;
    }
    s->pool = pool;
    return s;
}

/* False: no memory for the frame, which is lost. */
static bool add_frame(struct plugin_source *s, const struct ids_frame *frame, struct packet *p)
{
    uint32_t len = MIN(frame->len, FRAME_MAX);

    buf_clear(&p->frame);
    if ((frame->data == NULL && len > 0) || !buf_add(&p->frame, frame->data, len))
        return false;
    p->data = p->frame.data;
    p->len = len;
    p->wire_len = MAX(frame->wire_len, len);
    p->time_us = frame->time_us;
    p->number = s->kind->ops.live ? 0 : ++s->packets;
    p->datalink = (uint8_t)s->kind->link;
    p->source = PACKET_WIRE;
    p->device = &s->device;
    p->device_name = s->kind->ops.live ? s->device.name : NULL;
    return true;
}

/* A plugin that returns at once would spin. */
static enum capture_status idle(void)
{
    struct timespec pause = { .tv_nsec = 1000000 };

    nanosleep(&pause, NULL);
    return CAPTURE_IDLE;
}

static enum capture_status source_receive(void *queue, struct packet_vector *v)
{
    struct plugin_source *s = queue;
    struct ids_frame frame;
    enum ids_receive status = IDS_FRAME;
    struct packet *p;

    if (__atomic_load_n(&s->interrupted, __ATOMIC_RELAXED))
        return CAPTURE_END;
    while (v->count < VECTOR_FILL && packet_pool_left(s->pool) > 0) {
        frame = (struct ids_frame){ 0 };
        status = s->kind->capture->receive(s->self, &frame);
        if (status != IDS_FRAME)
            break;
        p = packet_pool_get(s->pool);
        if (p == NULL)
            break;
        if (!add_frame(s, &frame, p) || !vector_push(v, p))
            packet_release(p, PACKET_THREAD_OWNER);
    }
    if (v->count > 0)
        return CAPTURE_OK;
    switch (status) {
    case IDS_FRAME: case IDS_IDLE: return idle();
    case IDS_END: return CAPTURE_END;
    case IDS_FAILED: break;
    }
    return CAPTURE_FAILED;
}

static void source_interrupt(void *queue)
{
    struct plugin_source *s = queue;

    __atomic_store_n(&s->interrupted, 1, __ATOMIC_RELAXED);
}

static void source_queue_close(void *queue UNUSED)
{
}

static void source_close(void *capture)
{
    struct plugin_source *s = capture;

    if (s->kind->capture->close != NULL)
        s->kind->capture->close(s->self);
    free(s);
}

static unsigned one_queue(const struct conf_node *root UNUSED, const char *source UNUSED)
{
    return 1;
}

/* Not workers, where each thread reads. */
static const char *const run_modes[] = { "single", "autofp", "pipeline", NULL };

int plugin_add_capture(struct ids_engine *engine, const struct ids_capture *capture)
{
    struct plugin_capture *new;

    if (capture->name == NULL || capture->open == NULL || capture->receive == NULL)
        return plugin_refuse(engine, "a capture needs a name, open and receive");
    if (datalink_from_pcap(capture->link_type) == DATALINK_NONE)
        return plugin_refuse(engine, "capture %s: there is no decoder for link type %d",
                             capture->name, capture->link_type);
    new = plugin_alloc(sizeof(*new));
    new->capture = capture;
    new->link = datalink_from_pcap(capture->link_type);
    new->ops = (struct capture_ops){
        .name = capture->name,
        .label = "PLUGIN",
        .doc = capture->doc,
        .default_run_mode = "autofp",
        .run_modes = run_modes,
        .live = capture->live,
        .queues = one_queue,
        .open_registered = source_open,
        .queue_open = source_queue_open,
        .receive = source_receive,
        .interrupt = source_interrupt,
        .queue_close = source_queue_close,
        .close = source_close,
    };
    return capture_register(&new->ops, &engine->error.err);
}
