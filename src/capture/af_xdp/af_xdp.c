/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_xdp/af_xdp.c - packets of network interfaces, before the kernel allocates its own
 * packet structures (Documentation/networking/af_xdp.rst); between two interfaces also in IPS mode.
 *
 * A thread reads one receive queue of an interface, or the same queue of both ports of a bridge. A
 * frame is used in place until its packet returns to the pool; inline it also leaves from there.
 * Only the receiving thread touches the rings. Other threads send their verdicts' frames through a
 * plain packet socket.
 *
 * An interface that is down is polled. One that is removed is another interface when it comes back:
 * the sockets are then opened again on the same memory. */
#include "config.h"

#ifdef HAVE_XDP
#include "capture/af_xdp/af_xdp.h"

#include <errno.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/array.h"
#include "base/system/clock.h"
#include "base/report/log.h"
#include "capture/device/bpf_filter.h"
#include "capture/transmit/frame_tx.h"
#include "packet/checksum.h"

/* As for AF_PACKET: how long a thread sleeps at most, and how often it checks its interfaces. */
#define WAIT_MS 100
#define HASTY_MS 2              /* the same while a process waits to take over */

/* An interface, or the two ports of a bridge. */
struct xdp_source {
    struct xdp_conf side[2];
    unsigned sides;
};

struct xdp_capture {
    struct xdp_source *sources;
    unsigned count;
    struct capture_handover *from;      /* sockets of another process; NULL: none */
};

/* State of one receive thread. No other thread writes it, except `interrupted`. */
struct xdp_queue {
    struct packet_pool *pool;
    struct counters *counters;
    counter_id packets, drops, errors, send_errors;
    struct xdp_conf *side[2];
    unsigned sides, number, index;      /* number: of its source; index: over all sources */
    struct capture_handover *from, *to; /* NULL: none; `to` is atomic */
    pthread_mutex_t lock;               /* taken to replace the sockets, and to give them away */
    struct bpf_filter *filter[2];       /* NULL: none */
    struct xdp_memory memory;
    struct xdp_sockets *sockets;        /* NULL: an interface is gone */
    bool is_started, down_logged;
    uint64_t looked_ns;                 /* when the interfaces were last looked at */
    int interrupted;                    /* atomic */
};

/* --- settings ----------------------------------------------------------------------------- */

static struct capture_section section_of(const struct conf_node *root)
{
    return (struct capture_section){ root, "af-xdp" };
}

static int xdp_sources(const struct conf_node *root, const char *const *given, size_t count,
                       struct capture_names *out, struct err *err)
{
    return bridge_sources(section_of(root), given, count, out, err);
}

static unsigned xdp_queues(const struct conf_node *root, const char *name)
{
    (void)root;
    return net_device_queues(name);
}

/* A receive queue belongs to one socket, so more threads than queues would get nothing. */
static unsigned xdp_threads_auto(const struct conf_node *root, const char *name, unsigned cpus,
                                 unsigned queues)
{
    (void)root;
    (void)name;
    return queues > 0 ? MIN(queues, cpus) : cpus;
}

static const char *xdp_peer(const struct conf_node *root, const char *source)
{
    return bridge_peer(section_of(root), source);
}

static bool xdp_is_inline(const struct conf_node *root, const char *const *sources, size_t count)
{
    return bridge_any(section_of(root), sources, count, BRIDGE_IPS);
}

static bool xdp_forwards(const struct conf_node *root, const char *const *sources, size_t count)
{
    return bridge_any(section_of(root), sources, count, BRIDGE_TAP);
}

static void xdp_close(void *capture)
{
    struct xdp_capture *c = capture;

    for (unsigned i = 0; i < c->count; i++)
        for (unsigned k = 0; k < c->sources[i].sides; k++)
            xdp_conf_fini(&c->sources[i].side[k]);
    free(c->sources);
    free(c);
}

/* A bridge shares one memory between its ports, so both directions must be configured. */
static int open_source(struct xdp_source *source, const struct capture_request *rq, unsigned i,
                       struct err *err)
{
    unsigned threads = rq->source_threads != NULL ? MAX(rq->source_threads[i], 1u) : 1;
    const char *name = rq->sources[i], *peer;

    source->side[0].threads = source->side[1].threads = threads;
    source->sides = 1;
    if (xdp_conf_read(&source->side[0], rq, name, err) < 0)
        return -1;
    bridge_copy_mode(section_of(rq->conf), name, &peer);
    if (source->side[0].bridge.copy == BRIDGE_NONE)
        return 0;
    if (peer == NULL || !bridge_are_pair(section_of(rq->conf), name, peer))
        return err_set(err, "af-xdp: a bridge needs both ways: %s with copy-iface: %s", peer, name);
    source->sides = 2;
    if (xdp_conf_read(&source->side[1], rq, peer, err) < 0)
        return -1;
    /* One memory, so one frame size. */
    source->side[0].frame_size = MAX(source->side[0].frame_size, source->side[1].frame_size);
    return 0;
}

static void *xdp_open(const struct capture_request *rq, struct err *err)
{
    struct xdp_capture *c = xcalloc(1, sizeof(*c));
    unsigned count = 0;

    while (rq->sources[count] != NULL)
        count++;
    c->sources = xcalloc(count + 1, sizeof(c->sources[0]));
    for (; c->count < count; c->count++)
        if (open_source(&c->sources[c->count], rq, c->count, err) < 0) {
            c->count++;
            xdp_close(c);
            return NULL;
        }
    return c;
}

/* --- queues ------------------------------------------------------------------------------- */

/* Runs on the receive thread when it collects its pool. */
static void packet_returned(struct packet *p, void *arg)
{
    struct xdp_queue *q = arg;
    uint8_t *frame = capture_slot(p)->holder;

    if (frame == NULL)
        return;
    capture_slot(p)->holder = NULL;
    xdp_frame_done(&q->memory, xdp_frame_of(&q->memory, frame), FRAME_WITH_PACKET);
}

/* Queues are numbered over all sources; returns the source and makes the number relative to it. */
static struct xdp_source *source_of(struct xdp_capture *c, unsigned *queue)
{
    unsigned i = 0;

    while (i + 1 < c->count && *queue >= c->sources[i].side[0].threads)
        *queue -= c->sources[i++].side[0].threads;
    return &c->sources[i];
}

static int open_filters(struct xdp_queue *q, struct err *err)
{
    for (unsigned i = 0; i < q->sides; i++) {
        if (q->side[i]->bpf_filter == NULL)
            continue;
        q->filter[i] = bpf_filter_new(q->side[i]->bpf_filter, err);
        if (q->filter[i] == NULL)
            return -1;
    }
    return 0;
}

static int open_sockets(struct xdp_queue *q, struct err *err)
{
    xdp_memory_reclaim(&q->memory);
    q->sockets = xdp_sockets_open(q->side, q->sides, q->number, &q->memory, err);
    return q->sockets != NULL ? 0 : -1;
}

/* Enough frames to fill the fill ring and the TX ring of each port, and for packets in flight. */
static int open_memory(struct xdp_queue *q, struct err *err)
{
    const struct xdp_conf *conf = q->side[0];

    return xdp_memory_open(&q->memory, conf->frame_size, (2 * q->sides + 1) * conf->ring_size,
                           conf->device.numa_node, err);
}

static int adopt_sockets(struct xdp_queue *q, struct err *err)
{
    q->sockets = xdp_sockets_adopt(q->side, q->sides, &q->memory,
                                   handover_socket(q->from, q->index, 0), err);
    return q->sockets != NULL ? 0 : -1;
}

static int open_or_adopt(struct xdp_queue *q, struct err *err)
{
    if (q->from != NULL)
        return adopt_sockets(q, err);
    return open_memory(q, err) < 0 ? -1 : open_sockets(q, err);
}

static void queue_free(struct xdp_queue *q)
{
    pthread_mutex_destroy(&q->lock);
    xdp_sockets_close(q->sockets);
    xdp_memory_close(&q->memory);
    for (unsigned i = 0; i < q->sides; i++)
        bpf_filter_free(q->filter[i]);
    free(q);
}

/* Runs on the receive thread, so that the memory is on its node. The kernel redirects nothing to
 * the sockets before start(). */
static void *xdp_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                            struct counters *counters, struct err *err)
{
    struct xdp_queue *q = xcalloc(1, sizeof(*q));
    struct xdp_source *source;

    q->index = queue;
    q->from = ((struct xdp_capture *)capture)->from;
    q->memory.fd = -1;
    pthread_mutex_init(&q->lock, NULL);
    source = source_of(capture, &queue);
    q->pool = pool;
    q->counters = counters;
    q->number = queue;
    q->sides = source->sides;
    for (unsigned i = 0; i < q->sides; i++)
        q->side[i] = &source->side[i];
    if (open_filters(q, err) < 0 || open_or_adopt(q, err) < 0) {
        queue_free(q);
        return NULL;
    }
    q->packets = counter_register("capture.kernel_packets", COUNTER_SUM);
    q->drops = counter_register("capture.kernel_drops", COUNTER_SUM);
    q->errors = counter_register("capture.errors", COUNTER_SUM);
    q->send_errors = counter_register_own("capture.afxdp.send_errors", COUNTER_SUM);
    packet_pool_on_return(pool, packet_returned, q);
    return q;
}

/* The kernel counts drops only. Received frames are counted in fill(), so drops are added to
 * both. */
static void xdp_update_stats(void *queue)
{
    struct xdp_queue *q = queue;
    struct xdp_stats add = { 0 };

    for (unsigned i = 0; i < q->sides && q->sockets != NULL; i++)
        xdp_sockets_stats(q->sockets, i, &add);
    counter_add(q->counters, q->drops, add.drops);
    counter_add(q->counters, q->packets, add.drops);
}

/* The engine does not close the queue meanwhile. */
static int xdp_hand_over(void *queue, struct capture_handover *to, unsigned number,
                         struct err *err)
{
    struct xdp_queue *q = queue;
    int status;

    pthread_mutex_lock(&q->lock);
    status = q->sockets == NULL
                 ? err_set(err, "%s is gone, so its socket cannot be handed over now",
                           q->side[0]->device.name)
                 : xdp_sockets_export(q->sockets, handover_socket(to, number, 0), err);
    if (status == 0)
        __atomic_store_n(&q->to, to, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&q->lock);
    return status;
}

static int xdp_adopt(void *capture, struct capture_handover *from, struct err *err)
{
    struct xdp_capture *c = capture;
    unsigned threads = 0;

    for (unsigned i = 0; i < c->count; i++)
        threads += c->sources[i].side[0].threads;
    if (threads != from->queues)
        return err_set(err, "af-xdp: %u threads read here, %u in the engine that runs: another "
                       "number needs a restart", threads, from->queues);
    c->from = from;
    return 0;
}

/* What busy polling has changed stays so, for the process that goes on. */
static void xdp_leave(void *capture)
{
    struct xdp_capture *c = capture;

    for (unsigned i = 0; i < c->count; i++)
        for (unsigned side = 0; side < c->sources[i].sides; side++)
            c->sources[i].side[side].prog.is_tuned = false;
}

/* The memory must outlive all packets that point into it; the engine waits for them before it
 * closes. */
static void xdp_queue_close(void *queue)
{
    struct xdp_queue *q = queue;

    packet_pool_collect(q->pool);
    queue_free(q);
}

static void xdp_interrupt(void *queue)
{
    struct xdp_queue *q = queue;

    __atomic_store_n(&q->interrupted, 1, __ATOMIC_RELAXED);
}

/* --- receiving ---------------------------------------------------------------------------- */

/* A frame that the bpf-filter rejects is not inspected: inline it is forwarded, otherwise
 * dropped. */
static COLD void pass_by(struct xdp_queue *q, unsigned side, const struct xdp_frame *f)
{
    if (q->side[side]->bridge.copy != BRIDGE_NONE &&
        !xdp_sockets_send(q->sockets, 1 - side, f->data, f->len))
        counter_inc(q->counters, q->send_errors);
    xdp_frame_done(&q->memory, xdp_frame_of(&q->memory, f->data), FRAME_WITH_PACKET);
}

/* AF_XDP has no checksum status. decode decides whether a field holds only the partial sum of a
 * sender on this machine (PACKET_OPEN_CHECKSUM). */
static void mind_checksum(const struct xdp_conf *conf, struct packet *p)
{
    if (conf->checksums != CAPTURE_CHECKSUMS_YES)
        p->flags |= PACKET_OPEN_CHECKSUM;
    if (conf->checksums == CAPTURE_CHECKSUMS_NO)
        p->flags |= PACKET_NO_CHECKSUM;
}

static void take(struct xdp_queue *q, unsigned side, const struct xdp_frame *f,
                 struct packet_vector *v)
{
    struct packet *p;

    if (UNLIKELY(q->filter[side] != NULL) &&
        !bpf_filter_matches(q->filter[side], DLT_EN10MB, f->data, f->len, f->len)) {
        pass_by(q, side, f);
        return;
    }
    p = packet_pool_get(q->pool);
    if (UNLIKELY(p == NULL)) {          /* cannot happen: fill() has checked the pool */
        counter_inc(q->counters, q->drops);
        xdp_frame_done(&q->memory, xdp_frame_of(&q->memory, f->data), FRAME_WITH_PACKET);
        return;
    }
    p->data = f->data;
    p->len = p->wire_len = f->len;
    p->time_us = v->now_us;
    p->datalink = DATALINK_ETHERNET;
    p->source = PACKET_WIRE;
    p->device = &q->side[side]->device;
    p->device_name = q->side[side]->device.name;
    capture_slot(p)->holder = f->data;
    mind_checksum(q->side[side], p);
    vector_push(v, p);
}

static unsigned fill_from(struct xdp_queue *q, unsigned side, unsigned want,
                          struct packet_vector *v)
{
    struct xdp_frame frame[VECTOR_FILL];
    unsigned count = xdp_sockets_receive(q->sockets, side, frame, want);

    for (unsigned i = 0; i < count; i++)
        take(q, side, &frame[i], v);
    return count;
}

/* The first port of a bridge leaves half of the vector to the second one. */
static enum capture_status fill(struct xdp_queue *q, struct packet_vector *v)
{
    unsigned space = MIN((unsigned)VECTOR_FILL, packet_pool_left(q->pool)), taken = 0;

    for (unsigned i = 0; i < q->sides && space > 0; i++)
        taken += fill_from(q, i, i + 1 < q->sides ? (space + 1) / 2 : space - taken, v);
    counter_add(q->counters, q->packets, taken);
    xdp_sockets_kick(q->sockets);
    return v->count > 0 ? CAPTURE_OK : CAPTURE_IDLE;
}

static void pause_us(unsigned us)
{
    struct timespec pause = { .tv_nsec = (long)us * 1000 };

    nanosleep(&pause, NULL);
}

static COLD bool start(struct xdp_queue *q)
{
    struct err err = { 0 };

    q->is_started = q->from != NULL || xdp_sockets_start(q->sockets, &err) == 0;
    if (q->from != NULL)
        xdp_sockets_resume(q->sockets);
    if (!q->is_started)
        log_err(LOG_LEVEL_ERROR, "af-xdp", &err);
    return q->is_started;
}

/* Retries after a pause, until the interface is back. Errors are not logged each time. */
static COLD void reopen(struct xdp_queue *q)
{
    struct err err = { 0 };
    int status;

    pause_us(WAIT_MS * 1000);
    packet_pool_collect(q->pool);
    q->from = NULL;                         /* these sockets are our own */
    pthread_mutex_lock(&q->lock);
    status = open_sockets(q, &err);
    pthread_mutex_unlock(&q->lock);
    if (status < 0 || !start(q))
        return;
    q->down_logged = false;
    log_notice("af-xdp", "%s is there again", q->side[0]->device.name);
}

/* Checks the interfaces. Traffic of one port shows nothing about the other port. */
static COLD void look_around(struct xdp_queue *q)
{
    for (unsigned i = 0; i < q->sides; i++) {
        const char *name = q->side[i]->device.name;
        int index = xdp_sockets_if_index(q->sockets, i);

        if (net_device_is_ready(name, index))
            continue;
        if (!q->down_logged)
            log_warning("af-xdp", "%s is down or gone: waiting for it", name);
        q->down_logged = true;
        if (net_device_is(name, index))
            return;
        xdp_update_stats(q);
        pthread_mutex_lock(&q->lock);
        xdp_sockets_close(q->sockets);
        q->sockets = NULL;
        pthread_mutex_unlock(&q->lock);
        return;
    }
    if (q->down_logged)
        log_notice("af-xdp", "%s is up again", q->side[0]->device.name);
    q->down_logged = false;
}

static int wait_ms(struct xdp_queue *q)
{
    return handover_state(__atomic_load_n(&q->to, __ATOMIC_RELAXED)) == HANDOVER_NONE
               ? WAIT_MS : HASTY_MS;
}

/* Called with empty RX rings. The drive call is needed where the kernel waits for a wake-up to
 * process rings (XDP_USE_NEED_WAKEUP), or polls the driver on our behalf. */
static enum capture_status sleep_for_frames(struct xdp_queue *q, struct packet_vector *v)
{
    struct pollfd at[2];
    int n;

    xdp_sockets_drive(q->sockets);
    if (fill(q, v) == CAPTURE_OK)
        return CAPTURE_OK;
    if (UNLIKELY(packet_pool_left(q->pool) == 0)) {
        pause_us(1000);                     /* packets of other threads hold all of it */
        return CAPTURE_IDLE;
    }
    for (unsigned i = 0; i < q->sides; i++)
        at[i] = (struct pollfd){ .fd = xdp_sockets_fd(q->sockets, i), .events = POLLIN };
    vector_sleeps(v);
    n = poll(at, q->sides, wait_ms(q));
    vector_wakes(v);
    if (n > 0 && ((at[0].revents | (q->sides > 1 ? at[1].revents : 0)) & POLLERR) != 0)
        pause_us(1000);
    else if (n > 0)
        return fill(q, v);
    return CAPTURE_IDLE;
}

/* Every WAIT_MS: each check is several system calls. */
static bool is_time_to_look(struct xdp_queue *q)
{
    uint64_t now = clock_coarse_ns();

    if (LIKELY(now - q->looked_ns < WAIT_MS * UINT64_C(1000000)))
        return false;
    q->looked_ns = now;
    return true;
}

/* All packets of a vector have one time, the time of reading: the rings carry no timestamps. */
static enum capture_status xdp_receive(void *queue, struct packet_vector *v)
{
    struct xdp_queue *q = queue;

    if (UNLIKELY(__atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) != 0))
        return CAPTURE_END;
    if (UNLIKELY(!q->is_started) && q->from != NULL && !handover_is_open(q->from)) {
        pause_us(1000);
        return CAPTURE_IDLE;
    }
    if (UNLIKELY(q->sockets != NULL && is_time_to_look(q)))
        look_around(q);
    if (UNLIKELY(q->sockets == NULL)) {
        reopen(q);
        return CAPTURE_IDLE;
    }
    if (UNLIKELY(!q->is_started) && !start(q))
        return CAPTURE_FAILED;
    v->now_us = MAX(v->now_us, clock_wall_us());
    if (fill(q, v) == CAPTURE_OK)
        return CAPTURE_OK;
    packet_pool_collect(q->pool);
    return sleep_for_frames(q, v);
}

/* --- inline ------------------------------------------------------------------------------- */

/* One for each thread that gives verdicts. */
struct xdp_tx {
    struct xdp_queue *queue;
    struct counters *counters;
    bool owns_rings;                    /* this is the receiving thread */
    struct frame_tx *plain[2]; /* otherwise: the sockets through which each port's frames leave */
};

static void *xdp_tx_open(void *queue, struct counters *counters, bool in_order,
                           struct helper_thread *sender)
{
    struct xdp_queue *q = queue;
    struct xdp_tx *tx;

    (void)sender;
    if (q->side[0]->bridge.copy == BRIDGE_NONE)
        return NULL;
    tx = xcalloc(1, sizeof(*tx));
    tx->queue = q;
    tx->counters = counters;
    tx->owns_rings = in_order;
    for (unsigned i = 0; i < q->sides && !in_order; i++)
        tx->plain[i] = frame_tx_new(q->side[i]->bridge.peer, counters, q->send_errors,
                                    q->side[i]->late);
    return tx;
}

/* A frame that leaves by the ring stays in use until the kernel has sent it (FRAME_BEING_SENT),
 * even after its packet has returned. */
static void xdp_verdict(void *self, struct packet *p)
{
    struct xdp_tx *tx = self;
    struct xdp_queue *q = tx->queue;
    unsigned side = p->device != &q->side[0]->device;

    if ((p->action & ACTION_DROP) != 0 && q->side[side]->bridge.copy == BRIDGE_IPS)
        return;
    if (UNLIKELY((p->flags & PACKET_OPEN_CHECKSUM) != 0))
        packet_fix_checksums(p);
    if (!tx->owns_rings)
        frame_tx_send(tx->plain[side], p->data, p->len);
    else if (q->sockets == NULL || !xdp_sockets_send(q->sockets, 1 - side, p->data, p->len))
        counter_inc(tx->counters, q->send_errors);
}

static void xdp_tx_flush(void *self)
{
    struct xdp_tx *tx = self;

    if (tx->owns_rings && tx->queue->sockets != NULL)
        xdp_sockets_flush(tx->queue->sockets);
    for (unsigned i = 0; i < 2; i++)
        if (tx->plain[i] != NULL)
            frame_tx_flush(tx->plain[i]);
}

static void xdp_tx_close(void *self)
{
    struct xdp_tx *tx = self;

    for (unsigned i = 0; i < 2; i++)
        frame_tx_free(tx->plain[i]);
    free(tx);
}

/* For packets that the engine creates (reject): the interfaces towards both hosts. */
static void xdp_reject_path(void *queue, const struct packet *p, struct capture_path *out)
{
    const struct xdp_queue *q = queue;
    const struct xdp_conf *conf = q->side[p->device != &q->side[0]->device];
    unsigned peer = conf->bridge.copy != BRIDGE_NONE ? if_nametoindex(conf->bridge.peer) : 0;

    out->mark = 0;
    out->if_index = (int)if_nametoindex(conf->device.name);
    out->peer_index = peer > 0 ? (int)peer : out->if_index;
}

static const char *const run_modes[] = { "single", "workers", "autofp", "pipeline", NULL };

const struct capture_ops capture_af_xdp = {
    .name = "af-xdp",
    .label = "AF_XDP_DEV",
    .doc = "network interfaces, before the kernel's network stack",
    .default_run_mode = "workers",
    .run_modes = run_modes,
    .live = true,
    .has_interfaces = true,
    .verdicts = true,
    .asks_checksums = true,
    .sources = xdp_sources,
    .auto_threads = xdp_threads_auto,
    .queues = xdp_queues,
    .peer = xdp_peer,
    .is_inline = xdp_is_inline,
    .forwards = xdp_forwards,
    .open = xdp_open,
    .hand_over = xdp_hand_over,
    .adopt = xdp_adopt,
    .leave = xdp_leave,
    .queue_open = xdp_queue_open,
    .receive = xdp_receive,
    .tx_open = xdp_tx_open,
    .verdict = xdp_verdict,
    .tx_flush = xdp_tx_flush,
    .tx_close = xdp_tx_close,
    .reject_path = xdp_reject_path,
    .interrupt = xdp_interrupt,
    .update_stats = xdp_update_stats,
    .queue_close = xdp_queue_close,
    .close = xdp_close,
};
#endif
