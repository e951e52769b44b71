/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/verdict.c - IPS mode: each frame gets exactly one verdict, through the queue by which it
 * came.
 *
 * A frame with inner packets gets its verdict when all of them have passed here, on whatever
 * threads. The last one decides, and one drop among them drops the frame. */
#include "base/array.h"
#include "capture/transmit/raw_send.h"
#include "modules/context.h"
#include "packet/checksum.h"
#include "packet/reject.h"

#include <stdio.h>
#include <stdlib.h>

/* One thread's way to give verdicts on a queue. */
struct verdict_tx {
    void *handle;                         /* touched: it had a packet in this vector */
    bool is_open, touched;              /* touched: it had a packet in this vector */
};

struct verdict_module {
    const struct run_context *ctx;
    struct counters *counters;
    const struct packet_pool *own_pool; /* NULL: this thread has no receive module */
    counter_id accepted, blocked, rejected, replaced, reason[DROP_REASON_COUNT];
    counter_id reject_failed;
    bool firewall;                      /* counts as if it came before the other rules */
    counter_id fw_accepted, fw_blocked, fw_rejected;
    struct verdict_tx *tx;         /* by queue */
    unsigned last;                      /* queue of the last packet */
    struct raw_sender *sender;          /* NULL: offline */
    struct helper_thread *send_thread;    /* NULL: this thread sends by itself */
};

static bool is_firewall_reason(unsigned reason)
{
    return reason >= DROP_FW_RULES;
}

static void register_counters(struct verdict_module *m)
{
    m->accepted = counter_register("ips.accepted", COUNTER_SUM);
    m->blocked = counter_register("ips.blocked", COUNTER_SUM);
    m->rejected = counter_register("ips.rejected", COUNTER_SUM);
    m->replaced = counter_register("ips.replaced", COUNTER_SUM);
    m->firewall = conf_bool(m->ctx->conf, "firewall.enabled", false);
    if (m->firewall) {
        m->fw_accepted = counter_register("firewall.accepted", COUNTER_SUM);
        m->fw_blocked = counter_register("firewall.blocked", COUNTER_SUM);
        m->fw_rejected = counter_register("firewall.rejected", COUNTER_SUM);
    }
    for (unsigned i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++) {
        bool fw = is_firewall_reason(i);
        char name[96];

        if (fw && !m->firewall)
            continue;
        snprintf(name, sizeof(name), "%s.drop_reason.%s", fw ? "firewall" : "ips",
                 drop_reason_key((enum drop_reason)i));
        m->reason[i] = counter_register(name, COUNTER_SUM);
    }
}

/* The capture learns whether verdicts come in capture order: only on the receiving thread. */
static COLD void open_tx(struct verdict_module *m, unsigned queue)
{
    const struct run_queue *q = &m->ctx->queues[queue];
    const struct capture_ops *ops = m->ctx->capture;
    struct verdict_tx *tx = &m->tx[queue];

    tx->is_open = true;
    if (m->ctx->gives_verdict)
        tx->handle = ops->tx_open == NULL
                         ? q->queue
                         : ops->tx_open(q->queue, m->counters, q->pool == m->own_pool,
                                          m->send_thread);
}

/* If this thread also receives, opens the transmit side before the first packet. */
static void open_own_tx(struct verdict_module *m)
{
    for (unsigned i = 0; i < m->ctx->queue_count && m->own_pool != NULL; i++)
        if (m->ctx->queues[i].pool == m->own_pool)
            open_tx(m, i);
}

/* The tx of the queue by which the frame came; NULL if it came by none. */
static struct verdict_tx *tx_of(struct verdict_module *m, const struct packet *p)
{
    const struct run_context *ctx = m->ctx;

    if (ctx->queues[m->last].pool != p->pool) {
        unsigned i = 0;

        while (i < ctx->queue_count && ctx->queues[i].pool != p->pool)
            i++;
        if (i == ctx->queue_count)
            return NULL;
        m->last = i;
    }
    if (UNLIKELY(!m->tx[m->last].is_open))
        open_tx(m, m->last);
    return &m->tx[m->last];
}

static void *verdict_open(const struct module_env *env, struct err *err)
{
    struct verdict_module *m = xcalloc(1, sizeof(*m));

    (void)err;
    m->ctx = env->context;
    m->counters = env->counters;
    m->own_pool = env->pool;
    m->send_thread = env->sender;
    m->tx = xcalloc(RUN_QUEUES_MAX, sizeof(m->tx[0]));
    if (m->ctx->is_inline)
        register_counters(m);
    if (!m->ctx->offline) {
        m->reject_failed = counter_register_own("ips.reject_failed", COUNTER_SUM);
        m->sender = raw_sender_new();
    }
    open_own_tx(m);
    return m;
}

/* Packets that the firewall stopped did not reach the other rules; all others it accepted. */
static bool count_firewall(struct verdict_module *m, const struct packet *p)
{
    bool stopped = (p->action & ACTION_DROP) && is_firewall_reason(p->drop_reason);

    counter_inc(m->counters, !stopped ? m->fw_accepted
                             : p->action & ACTION_REJECT ? m->fw_rejected : m->fw_blocked);
    if (stopped)
        counter_inc(m->counters, m->reason[p->drop_reason]);
    return !stopped;
}

static void count(struct verdict_module *m, const struct packet *p)
{
    if (m->firewall && !count_firewall(m, p))
        return;
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

/* Sends the verdict. Modified packets (`replace`) get new checksums first. */
static void carry_out(struct verdict_module *m, struct packet *p)
{
    struct verdict_tx *tx;

    if (m->ctx->is_inline)
        count(m, p);
    if (m->ctx->capture->verdict == NULL || (tx = tx_of(m, p)) == NULL || tx->handle == NULL)
        return;
    if (UNLIKELY((p->flags & PACKET_MODIFIED) != 0))
        packet_fix_checksums(p);
    m->ctx->capture->verdict(tx->handle, p);
    tx->touched = true;
}

static void send_reject(struct verdict_module *m, const struct capture_path *path,
                        const struct packet *p, bool to_src)
{
    int if_index = to_src ? path->if_index : path->peer_index, status;
    uint8_t bytes[REJECT_SIZE_MAX];
    size_t len = reject_build(p, to_src, if_index > 0, bytes);

    if (len == 0)
        return;
    status = if_index > 0 ? raw_send_frame(m->sender, if_index, bytes, len)
                          : raw_send_ip(m->sender, bytes, len, path->mark);
    if (status < 0)
        counter_inc(m->counters, m->reject_failed);
}

/* Suricata's reject options may force the route or the interface. */
static void reject_path(const struct verdict_module *m, const struct packet *root,
                        struct capture_path *out)
{
    const struct run_context *ctx = m->ctx;

    *out = (struct capture_path){ 0 };
    if (ctx->capture->reject_path != NULL)
        ctx->capture->reject_path(ctx->queues[m->last].queue, root, out);
    if (ctx->rejects_by_route)
        out->if_index = out->peer_index = 0;
    if (ctx->reject_if_index > 0)
        out->if_index = out->peer_index = ctx->reject_if_index;
}

/* A packet from a tunnel is not rejected: the answer would have to go into the tunnel. */
static COLD void reject(struct verdict_module *m, const struct packet *p)
{
    const struct packet *root = p->root != NULL ? p->root : p;
    struct capture_path path;

    if ((p->flags & (PACKET_PSEUDO | PACKET_TUNNEL)) != 0 || tx_of(m, root) == NULL)
        return;
    reject_path(m, root, &path);
    if (p->action & ACTION_REJECT_SRC)
        send_reject(m, &path, p, true);
    if (p->action & ACTION_REJECT_DST)
        send_reject(m, &path, p, false);
}

/* True if p completes its frame, so that the verdict is due. acq_rel: the last packet sees the
 * drops of all others. */
static bool last_of_frame(struct packet *root, const struct packet *p)
{
    if (root == p && root->inner_count == 0)
        return true;
    if (root != p && (p->action & ACTION_DROP) != 0)
        __atomic_store_n(&root->tunnel_verdict, true, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&root->verdict_count, 1, __ATOMIC_ACQ_REL) != root->inner_count + 1)
        return false;
    if (__atomic_load_n(&root->tunnel_verdict, __ATOMIC_RELAXED))
        packet_drop(root, DROP_TUNNEL);
    return true;
}

static void flush_ports(struct verdict_module *m)
{
    for (unsigned i = 0; i < m->ctx->queue_count && m->ctx->capture->tx_flush != NULL; i++)
        if (m->tx[i].touched) {
            m->ctx->capture->tx_flush(m->tx[i].handle);
            m->tx[i].touched = false;
        }
}

/* Rejects go out even in IDS mode; verdicts only where the capture takes them. */
static enum module_status verdict_process(void *self, struct packet_vector *v)
{
    struct verdict_module *m = self;

    if (m->sender != NULL)
        for (unsigned i = 0; i < v->count; i++)
            if (UNLIKELY((v->packet[i]->action & ACTION_REJECT) != 0))
                reject(m, v->packet[i]);
    if (!m->ctx->gives_verdict)
        return MODULE_OK;
    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i], *root = p->root != NULL ? p->root : p;

        if ((root->flags & PACKET_PSEUDO) == 0 && last_of_frame(root, p))
            carry_out(m, root);
    }
    flush_ports(m);
    return MODULE_OK;
}

static void verdict_close(void *self)
{
    struct verdict_module *m = self;

    for (unsigned i = 0; i < RUN_QUEUES_MAX; i++)
        if (m->tx[i].handle != NULL && m->ctx->capture->tx_close != NULL)
            m->ctx->capture->tx_close(m->tx[i].handle);
    raw_sender_free(m->sender);
    free(m->tx);
    free(m);
}

const struct thread_module module_verdict = {
    .name = "verdict",
    .doc = "inline: accepts, drops or changes each frame, once",
    .open = verdict_open,
    .process = verdict_process,
    .close = verdict_close,
};
