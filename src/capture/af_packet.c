/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet.c - packets of network interfaces, by rings shared with the kernel; between
 * two interfaces also inline.
 *
 * A queue is one socket with its ring. Several queues of an interface form a fanout group, over
 * which the kernel deals the flows. When an interface goes, its queue waits for one of the same
 * name and starts over with a new ring; packets of the old one come home in their own time. */
#include "capture/af_packet.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"

#define WAIT_MS 100

struct af_capture {
    struct af_conf *interfaces;
    unsigned count;
    const volatile int *stop;
};

struct af_counters {
    counter_id packets, drops, errors, polls, poll_timeout, poll_data, poll_errors;
};

struct af_queue {
    struct af_capture *capture;
    struct af_conf *conf;
    struct packet_pool *pool;
    struct counters *counters;
    struct af_counters id;
    struct af_ring *ring;
    enum datalink link;
    bool is_started, is_down, said_reopen;
    int interrupted;                    /* atomic */
};

/* --- settings ----------------------------------------------------------------------------- */

/* The other port of a bridge need not be named. */
static int af_sources(const struct conf_node *root, const char *const *given, size_t count,
                      struct capture_names *out, struct err *err)
{
    if (capture_interfaces(root, "af-packet", given, count, out, err) < 0)
        return -1;
    for (size_t i = 0; i < out->count; i++) {
        const char *peer, *back;

        if (af_copy_mode(root, out->at[i], &peer) == AF_COPY_NONE)
            continue;
        if (af_copy_mode(root, peer, &back) != AF_COPY_NONE && strcmp(back, out->at[i]) == 0)
            capture_names_add(out, peer);
        else
            log_warning("af-packet", "what comes in by %s goes out by %s, but nothing comes "
                        "back: %s has no copy-iface: %s", out->at[i], peer, peer, out->at[i]);
    }
    return 0;
}

static bool any_copies(const struct conf_node *root, const char *const *sources, size_t count,
                       enum af_copy least)
{
    const char *peer;

    for (size_t i = 0; i < count; i++)
        if (af_copy_mode(root, sources[i], &peer) >= least)
            return true;
    return false;
}

static bool af_is_inline(const struct conf_node *root, const char *const *sources, size_t count)
{
    return any_copies(root, sources, count, AF_COPY_IPS);
}

static bool af_forwards(const struct conf_node *root, const char *const *sources, size_t count)
{
    return any_copies(root, sources, count, AF_COPY_TAP);
}

static void af_close(void *capture)
{
    struct af_capture *c = capture;

    free(c->interfaces);
    free(c);
}

static void *af_open(const struct capture_request *rq, struct err *err)
{
    struct af_capture *c = xcalloc(1, sizeof(*c));

    c->stop = rq->stop;
    while (rq->sources[c->count] != NULL)
        c->count++;
    c->interfaces = xcalloc(c->count + 1, sizeof(c->interfaces[0]));
    for (unsigned i = 0; i < c->count; i++) {
        struct af_conf *conf = &c->interfaces[i];

        conf->threads = rq->source_threads != NULL ? MAX(rq->source_threads[i], 1u) : 1;
        conf->device.id = (uint16_t)i;
        if (af_conf_read(conf, rq, rq->sources[i], err) < 0) {
            af_close(c);
            return NULL;
        }
    }
    return c;
}

/* --- queues ------------------------------------------------------------------------------- */

static void packet_home(struct packet *p, void *arg)
{
    struct af_lease *lease = p->capture_slot;

    (void)arg;
    if (lease == NULL)
        return;
    p->capture_slot = NULL;
    af_lease_return(lease);
}

static void register_counters(struct af_counters *id)
{
    *id = (struct af_counters){
        .packets = counter_register("capture.kernel_packets", COUNTER_SUM),
        .drops = counter_register("capture.kernel_drops", COUNTER_SUM),
        .errors = counter_register("capture.errors", COUNTER_SUM),
        .polls = counter_register("capture.afpacket.polls", COUNTER_SUM),
        .poll_timeout = counter_register("capture.afpacket.poll_timeout", COUNTER_SUM),
        .poll_data = counter_register("capture.afpacket.poll_data", COUNTER_SUM),
        .poll_errors = counter_register("capture.afpacket.poll_errors", COUNTER_SUM),
    };
}

static struct af_conf *interface_of(struct af_capture *c, unsigned queue)
{
    unsigned i = 0;

    while (i + 1 < c->count && queue >= c->interfaces[i].threads)
        queue -= c->interfaces[i++].threads;
    return &c->interfaces[i];
}

static void *af_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                           struct counters *counters, struct err *err)
{
    struct af_capture *c = capture;
    struct af_conf *conf = interface_of(c, queue);
    struct af_ring *ring = af_ring_open(conf, err);
    struct af_queue *q;

    if (ring == NULL)
        return NULL;
    q = xcalloc(1, sizeof(*q));
    q->capture = c;
    q->conf = conf;
    q->pool = pool;
    q->counters = counters;
    q->ring = ring;
    q->link = net_device_link(conf->facts.arp_type);
    register_counters(&q->id);
    packet_pool_on_return(pool, packet_home, q);
    return q;
}

static void af_update_stats(void *queue)
{
    struct af_queue *q = queue;
    struct af_stats add = { 0 };

    af_ring_stats(q->ring, &add);
    counter_add(q->counters, q->id.packets, add.packets);
    counter_add(q->counters, q->id.drops, add.drops);
}

static void af_queue_close(void *queue)
{
    struct af_queue *q = queue;

    packet_pool_collect(q->pool);
    af_ring_close(q->ring);
    free(q);
}

static void af_interrupt(void *queue)
{
    struct af_queue *q = queue;

    __atomic_store_n(&q->interrupted, 1, __ATOMIC_RELAXED);
}

/* --- receiving ---------------------------------------------------------------------------- */

static void mind_checksum(const struct af_queue *q, struct packet *p, uint32_t status)
{
    if (q->conf->checksums == AF_CHECKSUMS_NO ||
        (q->conf->checksums == AF_CHECKSUMS_KERNEL &&
         (status & (TP_STATUS_CSUMNOTREADY | TP_STATUS_CSUM_VALID)) != 0))
        p->flags |= PACKET_NO_CHECKSUM;
}

static bool receive_one(struct af_queue *q, struct packet_vector *v)
{
    struct packet *p = packet_pool_get(q->pool);
    struct af_frame f;

    if (p == NULL)
        return false;
    if (!af_ring_next(q->ring, &f)) {
        packet_release(p, PACKET_LANE_OWNER);
        return false;
    }
    p->data = f.data;
    p->len = f.len;
    p->wire_len = f.wire_len;
    p->time_us = f.time_us;
    p->datalink = (uint8_t)q->link;
    p->source = PACKET_WIRE;
    p->device = &q->conf->device;
    p->device_name = q->conf->device.name;
    p->capture_slot = f.lease;
    mind_checksum(q, p, f.status);
    if (f.time_us > v->now_us)
        v->now_us = f.time_us;
    vector_push(v, p);
    return true;
}

static enum capture_status fill(struct af_queue *q, struct packet_vector *v)
{
    while (v->count < VECTOR_FILL && receive_one(q, v))
        ;
    return v->count > 0 ? CAPTURE_OK : CAPTURE_IDLE;
}

static void pause_ms(unsigned ms)
{
    struct timespec pause = { .tv_nsec = (long)ms * 1000000 };

    nanosleep(&pause, NULL);
}

/* Another interface of the same name is there. Its fanout group can be joined once all have left
 * the old one, so it may take several tries. */
static COLD void reopen(struct af_queue *q)
{
    struct err err = { 0 };
    struct af_ring *ring = af_ring_open(q->conf, &err);

    if (ring == NULL || af_ring_start(ring, &err) < 0) {
        if (ring != NULL)
            af_ring_close(ring);
        if (!q->said_reopen)
            log_err(LOG_LEVEL_INFO, "af-packet", &err);
        q->said_reopen = true;
        return;
    }
    af_update_stats(q);
    af_ring_close(q->ring);
    q->ring = ring;
    q->is_down = q->said_reopen = false;
    log_notice("af-packet", "%s is there again", q->conf->device.name);
}

static COLD enum capture_status wait_for_device(struct af_queue *q)
{
    const char *name = q->conf->device.name;
    int index = af_ring_if_index(q->ring);

    pause_ms(WAIT_MS);
    packet_pool_collect(q->pool);
    if (net_device_is_ready(name, index)) {
        q->is_down = false;
        log_notice("af-packet", "%s is up again", name);
    } else if (!net_device_is(name, index) && if_nametoindex(name) != 0) {
        reopen(q);
    }
    return CAPTURE_IDLE;
}

static COLD enum capture_status socket_error(struct af_queue *q)
{
    int error = 0;
    socklen_t len = sizeof(error);

    counter_inc(q->counters, q->id.poll_errors);
    getsockopt(af_ring_fd(q->ring), SOL_SOCKET, SO_ERROR, &error, &len);
    if (error == 0 || error == EINTR)
        return CAPTURE_IDLE;
    if (error != ENETDOWN && error != ENODEV && error != ENXIO) {
        counter_inc(q->counters, q->id.errors);
        pause_ms(1);
        return CAPTURE_IDLE;
    }
    q->is_down = true;
    log_warning("af-packet", "%s is down or gone: waiting for it", q->conf->device.name);
    return CAPTURE_IDLE;
}

static enum capture_status sleep_for_frames(struct af_queue *q, struct packet_vector *v)
{
    struct pollfd at = { .fd = af_ring_fd(q->ring), .events = POLLIN };
    int n;

    if (UNLIKELY(af_ring_is_held(q->ring))) {
        pause_ms(1);                    /* the other threads have all of it */
        packet_pool_collect(q->pool);
        return fill(q, v);
    }
    n = poll(&at, 1, WAIT_MS);
    counter_inc(q->counters, q->id.polls);
    if (n <= 0) {
        counter_inc(q->counters, q->id.poll_timeout);
        return CAPTURE_IDLE;
    }
    if (UNLIKELY((at.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0))
        return socket_error(q);
    counter_inc(q->counters, q->id.poll_data);
    return fill(q, v);
}

static COLD bool start(struct af_queue *q)
{
    struct err err = { 0 };

    q->is_started = true;
    if (af_ring_start(q->ring, &err) == 0)
        return true;
    log_err(LOG_LEVEL_ERROR, "af-packet", &err);
    return false;
}

static enum capture_status af_receive(void *queue, struct packet_vector *v)
{
    struct af_queue *q = queue;

    if (UNLIKELY(__atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) != 0))
        return CAPTURE_END;
    if (UNLIKELY(!q->is_started) && !start(q))
        return CAPTURE_FAILED;
    if (UNLIKELY(q->is_down))
        return wait_for_device(q);
    if (fill(q, v) == CAPTURE_OK)
        return CAPTURE_OK;
    packet_pool_collect(q->pool);
    return sleep_for_frames(q, v);
}

/* --- inline ------------------------------------------------------------------------------- */

static void *af_port_of(void *queue, struct counters *counters, bool in_order)
{
    struct af_queue *q = queue;

    (void)in_order;
    return q->conf->copy != AF_COPY_NONE ? af_port_open(q->conf, counters) : NULL;
}

static void af_reject_path(void *queue, struct capture_path *out)
{
    struct af_queue *q = queue;
    unsigned peer = q->conf->copy != AF_COPY_NONE ? if_nametoindex(q->conf->peer) : 0;

    *out = (struct capture_path){ .if_index = af_ring_if_index(q->ring),
                                  .peer_index = peer > 0 ? (int)peer
                                                         : af_ring_if_index(q->ring) };
}

static const char *const run_modes[] = { "single", "workers", "autofp", "pipeline", NULL };

const struct capture_ops capture_af_packet = {
    .name = "af-packet",
    .label = "AF_PACKET_DEV",
    .doc = "network interfaces, by rings shared with the kernel",
    .default_run_mode = "workers",
    .run_modes = run_modes,
    .live = true,
    .verdicts = true,
    .sources = af_sources,
    .auto_threads = af_threads_auto,
    .is_inline = af_is_inline,
    .forwards = af_forwards,
    .open = af_open,
    .queue_open = af_queue_open,
    .receive = af_receive,
    .port_open = af_port_of,
    .verdict = af_port_send,
    .port_flush = af_port_flush,
    .port_close = af_port_close,
    .reject_path = af_reject_path,
    .interrupt = af_interrupt,
    .update_stats = af_update_stats,
    .queue_close = af_queue_close,
    .close = af_close,
};
