/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/verdict.c - inline: each frame gets its one verdict, by the queue it came from.
 *
 * A frame with packets inside is judged when all of them have passed here, whichever threads they
 * went through: the last one to come decides, and one drop among them drops the frame. */
#include "base/array.h"
#include "modules/context.h"

#include <stdio.h>
#include <stdlib.h>

struct verdict_module {
    const struct run_context *ctx;
    struct counters *counters;
    counter_id accepted, blocked, rejected, replaced, reason[DROP_REASON_COUNT];
    bool *touched;                      /* queues that had a packet in this vector */
};

static void register_counters(struct verdict_module *m)
{
    m->accepted = counter_register("ips.accepted", COUNTER_SUM);
    m->blocked = counter_register("ips.blocked", COUNTER_SUM);
    m->rejected = counter_register("ips.rejected", COUNTER_SUM);
    m->replaced = counter_register("ips.replaced", COUNTER_SUM);
    for (unsigned i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++) {
        char name[96];

        snprintf(name, sizeof(name), "ips.drop_reason.%s", drop_reason_key((enum drop_reason)i));
        m->reason[i] = counter_register(name, COUNTER_SUM);
    }
}

static void *verdict_open(const struct module_env *env, struct err *err)
{
    struct verdict_module *m = xcalloc(1, sizeof(*m));

    (void)err;
    m->ctx = env->context;
    m->counters = env->counters;
    m->touched = xcalloc(RUN_QUEUES_MAX, sizeof(m->touched[0]));
    if (m->ctx->is_inline)
        register_counters(m);
    return m;
}

static void count(struct verdict_module *m, const struct packet *p)
{
    if (p->action & ACTION_REJECT)
        counter_inc(m->counters, m->rejected);
    else if (p->action & ACTION_DROP)
        counter_inc(m->counters, m->blocked);
    else if (p->flags & PACKET_MODIFIED)
        counter_inc(m->counters, m->replaced);
    else
        counter_inc(m->counters, m->accepted);
    if ((p->action & ACTION_DROP) != 0 && p->drop_reason != DROP_NONE)
        counter_inc(m->counters, m->reason[p->drop_reason]);
}

static void carry_out(struct verdict_module *m, struct packet *p)
{
    const struct run_context *ctx = m->ctx;

    count(m, p);
    if (ctx->capture->verdict == NULL)
        return;
    for (unsigned i = 0; i < ctx->queue_count; i++)
        if (ctx->queues[i].pool == p->home) {
            ctx->capture->verdict(ctx->queues[i].queue, p);
            m->touched[i] = true;
            return;
        }
}

/* True when p is a frame whose verdict is now due. */
static bool last_of_frame(struct packet *root, const struct packet *p)
{
    if (root == p && root->inner_count == 0)
        return true;
    if (root != p && (p->action & ACTION_DROP) != 0)
        __atomic_store_n(&root->tunnel_verdict, true, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&root->judged, 1, __ATOMIC_ACQ_REL) != root->inner_count + 1)
        return false;
    if (__atomic_load_n(&root->tunnel_verdict, __ATOMIC_RELAXED))
        packet_drop(root, DROP_TUNNEL);
    return true;
}

static enum module_status verdict_process(void *self, struct packet_vector *v)
{
    struct verdict_module *m = self;
    const struct run_context *ctx = m->ctx;

    if (!ctx->is_inline)
        return MODULE_OK;
    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i], *root = p->root != NULL ? p->root : p;

        if ((root->flags & PACKET_PSEUDO) == 0 && last_of_frame(root, p))
            carry_out(m, root);
    }
    for (unsigned i = 0; i < ctx->queue_count && ctx->capture->verdict_flush != NULL; i++)
        if (m->touched[i]) {
            ctx->capture->verdict_flush(ctx->queues[i].queue);
            m->touched[i] = false;
        }
    return MODULE_OK;
}

static void verdict_close(void *self)
{
    struct verdict_module *m = self;

    free(m->touched);
    free(m);
}

const struct thread_module module_verdict = {
    .name = "verdict",
    .doc = "inline: accepts, drops or changes each frame, once",
    .open = verdict_open,
    .process = verdict_process,
    .close = verdict_close,
};
