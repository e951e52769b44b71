/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/receive.c - the first module: a capture's queue as a thread module. */
#include "base/array.h"
#include "base/system/clock.h"
#include "modules/context.h"
#include "modules/flow_partition.h"

#include <stdlib.h>

/* Interval between reads of the kernel's drop counts, in microseconds of packet time. */
#define STATS_US 1000000

struct receive_module {
    struct run_context *ctx;
    const struct capture_ops *ops;
    struct module_env env;
    struct partition_reader *reader;    /* NULL: all frames of the queue are this thread's */
    void *queue;
    uint64_t stats_us;
};

/* The queues of all threads are listed in the context, for verdicts. */
static void *receive_open(const struct module_env *env, struct err *err)
{
    struct run_context *ctx = env->context;
    struct receive_module *m;

    if (ctx->queue_count + 2 > RUN_QUEUES_MAX) {
        err_set(err, "at most %d threads can capture", RUN_QUEUES_MAX);
        return NULL;
    }
    m = xcalloc(1, sizeof(*m));
    m->ctx = ctx;
    m->ops = ctx->capture;
    m->env = *env;
    m->queue = m->ops->queue_open(ctx->capture_handle, env->thread, env->pool, env->counters, err);
    if (m->queue == NULL) {
        free(m);
        return NULL;
    }
    ctx->queues[ctx->queue_count++] = (struct run_queue){ env->pool, m->queue };
    m->reader = partition_join(env, m->queue, err);
    if (ctx->shares_file && m->reader == NULL) {
        m->ops->queue_close(m->queue);
        free(m);
        return NULL;
    }
    return m;
}

static void update_stats(struct receive_module *m, uint64_t now_us)
{
    if (m->ops->update_stats == NULL || now_us < m->stats_us + STATS_US)
        return;
    m->stats_us = now_us;
    m->ops->update_stats(m->queue);
}

/* Live time is the wall clock's, also without packets. The time of a file is that of its
 * packets. */
static void set_time(const struct receive_module *m, struct packet_vector *v)
{
    uint64_t last_us = v->count > 0 ? v->packet[v->count - 1]->time_us : 0;

    v->now_us = MAX(v->now_us, last_us);
    if (!m->ops->live && last_us != 0 && m->ctx->queue_count == 1)
        __atomic_store_n(&m->ctx->last_frame_us, last_us, __ATOMIC_RELAXED);
    if (v->count == 0 && m->ops->live)
        v->now_us = MAX(v->now_us, clock_wall_us());
}

static enum module_status receive_process(void *self, struct packet_vector *v)
{
    struct receive_module *m = self;
    enum capture_status status;

    status = m->reader != NULL ? partition_receive(m->reader, v) : m->ops->receive(m->queue, v);
    set_time(m, v);
    update_stats(m, v->now_us);
    v->waits = status == CAPTURE_LATE;
    switch (status) {
    case CAPTURE_OK:
    case CAPTURE_LATE: return MODULE_OK;
    case CAPTURE_IDLE: return MODULE_IDLE;
    case CAPTURE_CUT: return MODULE_CUT;
    case CAPTURE_END: return MODULE_END;
    case CAPTURE_FAILED: return MODULE_FAILED;
    }
    return MODULE_FAILED;
}

/* Called by any thread, while the module is open. */
static void receive_interrupt(void *self)
{
    struct receive_module *m = self;

    if (m->reader != NULL)
        partition_interrupt(m->reader);
    if (m->ops->interrupt != NULL)
        m->ops->interrupt(m->queue);
}

static int receive_hand_over(void *self, void *to, struct err *err)
{
    struct receive_module *m = self;

    if (m->ops->hand_over == NULL)
        return err_set(err, "%s: captures of this kind are not handed over", m->ops->name);
    return m->ops->hand_over(m->queue, to, m->env.thread, err);
}

static void receive_close(void *self)
{
    struct receive_module *m = self;

    if (m->ops->update_stats != NULL)
        m->ops->update_stats(m->queue);
    m->ops->queue_close(m->queue);
    partition_leave(m->reader);
    free(m);
}

const struct thread_module module_receive = {
    .name = "receive",
    .doc = "frames from a file, an interface or a queue",
    .makes_packets = true,
    .open = receive_open,
    .process = receive_process,
    .close = receive_close,
    .interrupt = receive_interrupt,
    .hand_over = receive_hand_over,
};
