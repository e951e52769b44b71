/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/af_packet.c - packets of network interfaces, through rings shared with the
 * kernel; between two interfaces also inline.
 *
 * A queue is one socket with its ring. A bridge has one for each port, so that one thread has both
 * directions of a flow. Several queues of an interface form a fanout group, over which the kernel
 * distributes the flows: by a hash that is the same on both ports, and by the order of joining.
 * When an interface disappears, its queue waits for one of the same name and starts over with a new
 * ring. Packets of the old ring return to the pool independently. */
#include "capture/af_packet/af_packet.h"

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
#include "base/system/clock.h"
#include "base/report/log.h"

/* A thread checks for interrupt() and interfaces that are down at least this often; liveness relies
 * on it. */
#define WAIT_MS 100
#define HASTY_MS 2              /* the same while a process waits to take over */
/* Then a thread that takes over has read what had waited, and the other process has ended. */
#define BACKLOG_US UINT64_C(5000000)

/* The source of a thread, or of a group of threads: an interface, or the two ports of a bridge. */
struct af_source {
    struct af_conf side[2];
    unsigned sides;
};

/* Opened once by the main thread; read-only afterwards, except `load`. */
struct af_capture {
    struct af_load load;
    struct af_source *sources;
    unsigned count;
    struct capture_handover *from;      /* sockets of another process; NULL: none */
};

/* `flushed` is registered only with use-emergency-flush, because Suricata does not have it. */
struct af_counters {
    counter_id packets, drops, errors, polls, poll_timeout, poll_data, poll_errors;
    counter_id flushed;                 /* with use-emergency-flush only */
    counter_id bypass_added, bypass_failed, bypassed_packets, bypassed_bytes;
};

/* One port of one queue. */
struct af_side {
    struct af_conf *conf;
    struct af_ring *ring;               /* NULL: the interface is gone */
    enum datalink link;
    int position;                          /* in the fanout group; -1: not in one yet */
    bool is_down, reopen_logged;
};

/* State of one receive thread. No other thread writes it, except `interrupted`. */
struct af_queue {
    struct af_load *load;               /* of all queues */
    struct packet_pool *pool;
    struct counters *counters;
    struct af_counters id;
    struct af_side side[2];
    unsigned sides;
    unsigned down;                      /* number of sides that are down */
    uint64_t looked_ns;                 /* when the thread last checked for them */
    bool is_started;
    uint64_t late_until_us;             /* 0: it no longer matters that another read before */
    unsigned number;                    /* over all sources */
    struct capture_handover *from, *to; /* NULL: none; `to` is atomic */
    pthread_mutex_t rings_lock;         /* taken to replace a ring, and to give a socket away */
    int interrupted;                    /* atomic */
};

/* --- settings ----------------------------------------------------------------------------- */

static struct capture_section section_of(const struct conf_node *root)
{
    return (struct capture_section){ root, "af-packet" };
}

static int af_sources(const struct conf_node *root, const char *const *given, size_t count,
                      struct capture_names *out, struct err *err)
{
    return bridge_sources(section_of(root), given, count, out, err);
}

static const char *af_peer(const struct conf_node *root, const char *source)
{
    return bridge_peer(section_of(root), source);
}

static bool af_is_inline(const struct conf_node *root, const char *const *sources, size_t count)
{
    return bridge_any(section_of(root), sources, count, BRIDGE_IPS);
}

static bool af_forwards(const struct conf_node *root, const char *const *sources, size_t count)
{
    return bridge_any(section_of(root), sources, count, BRIDGE_TAP);
}

/* A thread that sends apart only helps while one of the CPUs is idle. */
static bool af_sends_apart(const struct conf_node *root, const char *source, unsigned threads,
                           unsigned cpus)
{
    const char *peer;

    (void)threads;
    return cpus > 1 && bridge_copy_mode(section_of(root), source, &peer) != BRIDGE_NONE;
}

static void af_close(void *capture)
{
    struct af_capture *c = capture;

    for (unsigned i = 0; i < c->count; i++)
        for (unsigned side = 0; side < c->sources[i].sides; side++)
            af_conf_fini(&c->sources[i].side[side]);
    free(c->sources);
    free(c);
}

/* source_threads is NULL where no plan exists yet, as for -T. */
static int open_source(struct af_source *source, const struct capture_request *rq, unsigned i,
                       struct err *err)
{
    unsigned threads = rq->source_threads != NULL ? MAX(rq->source_threads[i], 1u) : 1;
    const char *peer = bridge_peer(section_of(rq->conf), rq->sources[i]);

    source->sides = 1;
    source->side[0].threads = source->side[1].threads = threads;
    if (af_conf_read(&source->side[0], rq, rq->sources[i], err) < 0)
        return -1;
    if (peer == NULL)
        return 0;
    source->sides = 2;
    return af_conf_read(&source->side[1], rq, peer, err);
}

static void *af_open(const struct capture_request *rq, struct err *err)
{
    struct af_capture *c = xaligned(CACHE_LINE, sizeof(*c));

    c->load.cpus = (unsigned)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
    while (rq->sources[c->count] != NULL)
        c->count++;
    c->sources = xcalloc(c->count + 1, sizeof(c->sources[0]));
    for (unsigned i = 0; i < c->count; i++)
        if (open_source(&c->sources[i], rq, i, err) < 0) {
            af_close(c);
            return NULL;
        }
    return c;
}

/* --- queues ------------------------------------------------------------------------------- */

/* All threads of an interface share one table of totals. Only the first of the fanout group reports
 * them, so that the sum over threads is right. */
static void bypass_stats(struct af_queue *q, struct af_side *side)
{
    uint64_t packets, bytes;

    if (side->conf->bypass == NULL || side->position > 0)
        return;
    af_bypass_totals(side->conf->bypass, &packets, &bytes);
    counter_set(q->counters, q->id.bypassed_packets, packets);
    counter_set(q->counters, q->id.bypassed_bytes, bytes);
}

/* A flow that the engine has bypassed needs no more packets in user space either. Adding a
 * direction twice is normal: several packets may be in flight. */
static COLD void bypass_more(struct af_queue *q, const struct packet *p)
{
    switch (af_bypass_add(q->side[0].conf->bypass, p->data, p->len)) {
    case AF_BYPASS_ADDED: counter_inc(q->counters, q->id.bypass_added); break;
    case AF_BYPASS_FAILED: counter_inc(q->counters, q->id.bypass_failed); break;
    case AF_BYPASS_NOT: break;
    }
}

/* Runs on the receive thread when it collects its pool, so block counters need no atomics. */
static void packet_returned(struct packet *p, void *arg)
{
    struct af_block_ref *block_ref = capture_slot(p)->holder;
    struct af_queue *q = arg;

    if (block_ref == NULL)
        return;
    if (UNLIKELY((p->flags & PACKET_BYPASSED) != 0) && q->side[0].conf->bypass != NULL)
        bypass_more(q, p);
    capture_slot(p)->holder = NULL;
    af_block_release(block_ref);
}

/* Suricata's names, and `capture.errors` as in its AF_PACKET statistics. */
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
        .bypass_added = counter_register_own("capture.afpacket.bypass_added", COUNTER_SUM),
        .bypass_failed = counter_register_own("capture.afpacket.bypass_failed", COUNTER_SUM),
        .bypassed_packets = counter_register("flow_bypassed.pkts", COUNTER_SUM),
        .bypassed_bytes = counter_register("flow_bypassed.bytes", COUNTER_SUM),
    };
}

/* Queues are numbered over all sources; returns the source and makes the number relative to it. */
static struct af_source *source_of(struct af_capture *c, unsigned *queue)
{
    unsigned i = 0;

    while (i + 1 < c->count && *queue >= c->sources[i].side[0].threads)
        *queue -= c->sources[i++].side[0].threads;
    return &c->sources[i];
}

/* A position of -1 lets the fanout group assign the next one. */
static int open_side(struct af_queue *q, struct af_conf *conf, struct err *err)
{
    struct af_side *side = &q->side[q->sides];

    *side = (struct af_side){ .conf = conf, .position = -1,
                              .link = net_device_link(conf->facts.arp_type) };
    side->ring = q->from != NULL
                     ? af_ring_adopt(conf, handover_socket(q->from, q->number, q->sides),
                                     &side->position, err)
                     : af_ring_open(conf, &side->position, err);
    if (side->ring == NULL)
        return -1;
    q->sides++;
    return 0;
}

/* Runs on the receive thread. The ring takes nothing in before start(): see af_ring_open(). */
static void *af_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                           struct counters *counters, struct err *err)
{
    struct af_queue *q = xcalloc(1, sizeof(*q));
    struct af_source *source;

    q->number = queue;
    source = source_of(capture, &queue);
    q->from = ((struct af_capture *)capture)->from;
    pthread_mutex_init(&q->rings_lock, NULL);
    q->load = &((struct af_capture *)capture)->load;
    q->pool = pool;
    q->counters = counters;
    for (unsigned i = 0; i < source->sides; i++)
        if (open_side(q, &source->side[i], err) < 0) {
            while (q->sides > 0)
                af_ring_close(q->side[--q->sides].ring);
            pthread_mutex_destroy(&q->rings_lock);
            free(q);
            return NULL;
        }
    register_counters(&q->id);
    if (q->side[0].conf->emergency_flush || q->side[q->sides - 1].conf->emergency_flush)
        q->id.flushed = counter_register_own("capture.afpacket.flushed", COUNTER_SUM);
    packet_pool_on_return(pool, packet_returned, q);
    return q;
}

/* PACKET_STATISTICS resets the kernel's counts, so the counts are added up here. */
static void side_stats(struct af_queue *q, struct af_side *side)
{
    struct af_stats add = { 0 };

    if (side->ring == NULL)
        return;
    af_ring_stats(side->ring, &add);
    counter_add(q->counters, q->id.packets, add.packets);
    counter_add(q->counters, q->id.drops, add.drops);
    if (side->conf->emergency_flush)
        counter_add(q->counters, q->id.flushed, add.flushed);
    bypass_stats(q, side);
}

static void af_update_stats(void *queue)
{
    struct af_queue *q = queue;

    for (unsigned i = 0; i < q->sides && q->is_started; i++)
        side_stats(q, &q->side[i]);
}

/* The engine does not close the queue meanwhile. A program at the interface is held by a link of
 * this process, so it cannot go along. */
static int af_hand_over(void *queue, struct capture_handover *to, unsigned number, struct err *err)
{
    struct af_queue *q = queue;
    int status = 0;

    pthread_mutex_lock(&q->rings_lock);
    for (unsigned i = 0; i < q->sides && status == 0; i++) {
        struct af_side *side = &q->side[i];

        if (side->ring == NULL)
            status = err_set(err, "%s is gone, so its socket cannot be handed over now",
                             side->conf->device.name);
        else if (side->conf->xdp_fd >= 0)
            status = err_set(err, "%s: with xdp-filter-file there is no hand-over",
                             side->conf->device.name);
        else
            status = af_ring_export(side->ring, side->position, handover_socket(to, number, i),
                                    err);
    }
    if (status == 0)
        __atomic_store_n(&q->to, to, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&q->rings_lock);
    return status;
}

static int af_adopt(void *capture, struct capture_handover *from, struct err *err)
{
    struct af_capture *c = capture;
    unsigned threads = 0;

    for (unsigned i = 0; i < c->count; i++)
        threads += c->sources[i].side[0].threads;
    if (threads != from->queues)
        return err_set(err, "af-packet: %u threads read here, %u in the engine that runs: another "
                       "number needs a restart", threads, from->queues);
    c->from = from;
    return 0;
}

/* Offloads that were switched off stay so, for the process that goes on. */
static void af_leave(void *capture)
{
    struct af_capture *c = capture;

    for (unsigned i = 0; i < c->count; i++)
        for (unsigned side = 0; side < c->sources[i].sides; side++)
            c->sources[i].side[side].joined_before = 0;
}

static void export_places(struct af_queue *q)
{
    for (unsigned i = 0; i < q->sides && q->to != NULL; i++)
        if (q->side[i].ring != NULL)
            af_ring_export_place(q->side[i].ring, handover_socket(q->to, q->number, i));
}

/* Packets may still be in flight: af_ring_close() keeps the mapping until the last one is back. */
static void af_queue_close(void *queue)
{
    struct af_queue *q = queue;

    packet_pool_collect(q->pool);
    export_places(q);
    for (unsigned i = 0; i < q->sides; i++)
        af_ring_close(q->side[i].ring);
    pthread_mutex_destroy(&q->rings_lock);
    free(q);
}

static void af_interrupt(void *queue)
{
    struct af_queue *q = queue;

    __atomic_store_n(&q->interrupted, 1, __ATOMIC_RELAXED);
}

/* --- receiving ---------------------------------------------------------------------------- */

/* `auto` needs no sampling of checksums here, unlike for pcap: the kernel marks frames whose
 * checksum is valid or not computed yet (TP_STATUS_CSUM_VALID, TP_STATUS_CSUMNOTREADY). */
static void mind_checksum(const struct af_conf *conf, struct packet *p, uint32_t status)
{
    if (conf->checksums == CAPTURE_CHECKSUMS_NO ||
        (conf->checksums == CAPTURE_CHECKSUMS_AUTO &&
         (status & (TP_STATUS_CSUMNOTREADY | TP_STATUS_CSUM_VALID)) != 0))
        p->flags |= PACKET_NO_CHECKSUM;
}

/* Takes a packet of the pool first: a frame that has been taken from the ring needs one. */
static bool receive_one(struct af_queue *q, struct af_side *side, struct packet_vector *v)
{
    struct packet *p;
    struct af_frame f;

    if (!af_ring_is_ready(side->ring) || (p = packet_pool_get(q->pool)) == NULL)
        return false;
    if (!af_ring_next(side->ring, &f)) {
        packet_release(p, PACKET_THREAD_OWNER);
        return false;
    }
    p->data = f.data;
    p->len = f.len;
    p->wire_len = f.wire_len;
    p->time_us = f.time_us;
    p->datalink = (uint8_t)side->link;
    p->source = PACKET_WIRE;
    p->device = &side->conf->device;
    p->device_name = side->conf->device.name;
    capture_slot(p)->holder = f.block_ref;
    mind_checksum(side->conf, p, f.status);
    if (f.time_us > v->now_us)
        v->now_us = f.time_us;
    vector_push(v, p);
    return true;
}

static void fill_from(struct af_queue *q, struct af_side *side, unsigned until,
                      struct packet_vector *v)
{
    while (v->count < until && receive_one(q, side, v))
        ;
}

/* The first port of a bridge leaves half of the vector to the second one, so that no direction
 * starves the other; the second may leave it to the first again. */
static enum capture_status fill(struct af_queue *q, struct packet_vector *v)
{
    if (q->sides > 1) {
        fill_from(q, &q->side[0], VECTOR_FILL / 2, v);
        fill_from(q, &q->side[1], VECTOR_FILL, v);
    }
    fill_from(q, &q->side[0], VECTOR_FILL, v);
    return v->count > 0 ? CAPTURE_OK : CAPTURE_IDLE;
}

/* Around a hand-over frames come in bursts, larger than a ring between threads: none is read for
 * some ms, and a process that starts or ends takes CPUs. The kernel's ring has space for these. */
static COLD enum capture_status late(struct af_queue *q, const struct packet_vector *v)
{
    if (handover_state(__atomic_load_n(&q->to, __ATOMIC_RELAXED)) != HANDOVER_NONE ||
        v->packet[v->count - 1]->time_us <= q->late_until_us)
        return CAPTURE_LATE;
    q->late_until_us = 0;
    return CAPTURE_OK;
}

static enum capture_status fill_in_time(struct af_queue *q, struct packet_vector *v)
{
    enum capture_status status = fill(q, v);

    if (LIKELY(q->late_until_us == 0 && __atomic_load_n(&q->to, __ATOMIC_RELAXED) == NULL))
        return status;
    return status == CAPTURE_OK ? late(q, v) : status;
}

static void pause_us(unsigned us)
{
    struct timespec pause = { .tv_nsec = (long)us * 1000 };

    nanosleep(&pause, NULL);
}

static COLD void side_is_back(struct af_queue *q, struct af_side *side, const char *how)
{
    side->is_down = side->reopen_logged = false;
    q->down--;
    log_notice("af-packet", "%s is %s again", side->conf->device.name, how);
}

/* Another interface of the same name exists. Its fanout group can only be joined when all members
 * have left the old one, and in the old order, so reopening may take several tries. */
static COLD void reopen(struct af_queue *q, struct af_side *side)
{
    struct err err = { 0 };
    struct af_ring *ring = af_ring_open(side->conf, &side->position, &err);

    if (ring == NULL || af_ring_start(ring, &err) < 0) {
        if (ring != NULL)
            af_ring_close(ring);
        if (!side->reopen_logged)
            log_err(LOG_LEVEL_INFO, "af-packet", &err);
        side->reopen_logged = true;
        return;
    }
    side->ring = ring;
    side_is_back(q, side, "there");
}

/* Closes the ring of an interface that is gone: while one member of the old fanout group is left,
 * no thread can join a new one. */
static COLD void look_for(struct af_queue *q, struct af_side *side)
{
    const char *name = side->conf->device.name;

    if (side->ring != NULL && net_device_is_ready(name, af_ring_if_index(side->ring))) {
        side_is_back(q, side, "up");
        return;
    }
    if (side->ring != NULL && !net_device_is(name, af_ring_if_index(side->ring))) {
        side_stats(q, side);
        af_ring_close(side->ring);
        side->ring = NULL;
    }
    if (side->ring == NULL && if_nametoindex(name) != 0)
        reopen(q, side);
}

static COLD void look_for_sides(struct af_queue *q)
{
    uint64_t now = clock_coarse_ns();

    if (now - q->looked_ns < WAIT_MS * UINT64_C(1000000))
        return;
    q->looked_ns = now;
    packet_pool_collect(q->pool);
    pthread_mutex_lock(&q->rings_lock);
    for (unsigned i = 0; i < q->sides; i++)
        if (q->side[i].is_down)
            look_for(q, &q->side[i]);
    pthread_mutex_unlock(&q->rings_lock);
}

/* While another process waits for this one to stop, threads notice it soon. */
static int wait_ms(struct af_queue *q)
{
    return handover_state(__atomic_load_n(&q->to, __ATOMIC_RELAXED)) == HANDOVER_NONE
               ? WAIT_MS : HASTY_MS;
}

/* ENETDOWN, ENODEV and ENXIO are what packet(7) sockets report when their interface goes down or
 * away. Any other error is counted; the pause keeps a permanent one from using all of a CPU. */
static COLD void socket_error(struct af_queue *q, struct af_side *side)
{
    int error = af_ring_take_error(side->ring);

    counter_inc(q->counters, q->id.poll_errors);
    if (error == 0 || error == EINTR)
        return;
    if (error != ENETDOWN && error != ENODEV && error != ENXIO) {
        counter_inc(q->counters, q->id.errors);
        pause_us(1000);
        return;
    }
    side->is_down = true;
    q->down++;
    log_warning("af-packet", "%s is down or gone: waiting for it", side->conf->device.name);
}

/* poll() reports frames of a block that packets still use, so a thread must not poll then. */
static bool any_held(const struct af_queue *q)
{
    for (unsigned i = 0; i < q->sides; i++)
        if (q->side[i].ring != NULL && af_ring_is_held(q->side[i].ring))
            return true;
    return false;
}

/* Called with an empty ring. A pause instead of poll() where the next block is not free yet. */
static enum capture_status sleep_for_frames(struct af_queue *q, struct packet_vector *v)
{
    struct pollfd at[2];
    int n;

    for (unsigned i = 0; i < q->sides; i++)
        if (UNLIKELY(q->side[i].ring != NULL && af_ring_has_error(q->side[i].ring)))
            socket_error(q, &q->side[i]);
    if (UNLIKELY(any_held(q))) {
        vector_sleeps(v);
        pause_us(1000);                    /* packets of other threads are still in all blocks */
        vector_wakes(v);
        packet_pool_collect(q->pool);
        return fill_in_time(q, v);
    }
    for (unsigned i = 0; i < q->sides; i++)
        at[i] = (struct pollfd){ .fd = q->side[i].is_down ? -1 : af_ring_fd(q->side[i].ring),
                                 .events = POLLIN };
    __atomic_fetch_sub(&q->load->awake, 1, __ATOMIC_RELAXED);
    vector_sleeps(v);
    n = poll(at, q->sides, wait_ms(q));
    vector_wakes(v);
    __atomic_fetch_add(&q->load->awake, 1, __ATOMIC_RELAXED);
    counter_inc(q->counters, q->id.polls);
    if (n <= 0) {
        counter_inc(q->counters, q->id.poll_timeout);
        return CAPTURE_IDLE;
    }
    counter_inc(q->counters, q->id.poll_data);
    for (unsigned i = 0; i < q->sides; i++)
        if (UNLIKELY((at[i].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0))
            socket_error(q, &q->side[i]);
    if (fill(q, v) == CAPTURE_OK)
        return CAPTURE_OK;
    /* poll() also reports a slot that was read but is not returned yet, so poll() would spin:
     * pause. */
    pause_us(100);
    return CAPTURE_IDLE;
}

/* Starts receiving at the first call, after all threads have opened: the fanout group is complete
 * then. */
static COLD bool start(struct af_queue *q)
{
    struct err err = { 0 };

    q->is_started = true;
    if (q->from != NULL)
        q->late_until_us = clock_wall_us() + BACKLOG_US;
    __atomic_fetch_add(&q->load->awake, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < q->sides && q->from != NULL; i++)
        af_ring_take_place(q->side[i].ring, handover_socket(q->from, q->number, i));
    for (unsigned i = 0; i < q->sides; i++)
        if (af_ring_start(q->side[i].ring, &err) < 0) {
            log_err(LOG_LEVEL_ERROR, "af-packet", &err);
            return false;
        }
    return true;
}

static enum capture_status af_receive(void *queue, struct packet_vector *v)
{
    struct af_queue *q = queue;
    enum capture_status status;

    if (UNLIKELY(__atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) != 0))
        return CAPTURE_END;
    if (UNLIKELY(!q->is_started) && q->from != NULL && !handover_is_open(q->from)) {
        pause_us(1000);
        return CAPTURE_IDLE;
    }
    if (UNLIKELY(!q->is_started) && !start(q))
        return CAPTURE_FAILED;
    if (UNLIKELY(q->down > 0))
        look_for_sides(q);
    status = fill_in_time(q, v);
    if (status != CAPTURE_IDLE)
        return status;
    packet_pool_collect(q->pool);
    return sleep_for_frames(q, v);
}

/* --- inline ------------------------------------------------------------------------------- */

/* For each port one way out: through the other port. */
struct af_egress_pair {
    const struct capture_device *device[2];
    struct af_egress *egress[2];
    struct af_helper *helper;           /* NULL: none */
    unsigned count;
};

/* in_order: verdicts come in the order of capture, so a helper thread can keep that order. */
static void *af_egress_open(void *queue, struct counters *counters, bool in_order,
                          struct helper_thread *sender)
{
    struct af_queue *q = queue;
    struct af_egress_pair *pair;

    if (q->side[0].conf->bridge.copy == BRIDGE_NONE)
        return NULL;
    pair = xcalloc(1, sizeof(*pair));
    pair->count = q->sides;
    if (in_order && sender != NULL)
        pair->helper = af_helper_new(sender, q->load);
    for (unsigned i = 0; i < q->sides; i++) {
        pair->device[i] = &q->side[i].conf->device;
        pair->egress[i] = af_egress_new(q->side[i].conf, counters, pair->helper);
    }
    return pair;
}

/* The device of a packet is that of the port it came in by. */
static void af_verdict(void *self, struct packet *p)
{
    struct af_egress_pair *pair = self;

    af_egress_send(pair->egress[p->device != pair->device[0]], p);
}

static void af_egress_flush_all(void *self)
{
    struct af_egress_pair *pair = self;

    for (unsigned i = 0; i < pair->count; i++)
        af_egress_flush(pair->egress[i]);
}

/* The helper first: it may still send through the egress. */
static void af_egress_close(void *self)
{
    struct af_egress_pair *pair = self;

    af_helper_free(pair->helper);
    for (unsigned i = 0; i < pair->count; i++)
        af_egress_free(pair->egress[i]);
    free(pair);
}

/* For packets that the engine creates (reject): the interfaces towards both hosts. */
static void af_reject_path(void *queue, const struct packet *p, struct capture_path *out)
{
    struct af_queue *q = queue;
    const struct af_conf *conf = q->side[p->device != &q->side[0].conf->device].conf;
    unsigned peer = conf->bridge.copy != BRIDGE_NONE ? if_nametoindex(conf->bridge.peer) : 0;

    out->mark = 0;
    out->if_index = (int)if_nametoindex(conf->device.name);
    out->peer_index = peer > 0 ? (int)peer : out->if_index;
}

static const char *const run_modes[] = { "single", "workers", "autofp", "pipeline", NULL };

const struct capture_ops capture_af_packet = {
    .name = "af-packet",
    .label = "AF_PACKET_DEV",
    .doc = "network interfaces, by rings shared with the kernel",
    .default_run_mode = "workers",
    .run_modes = run_modes,
    .live = true,
    .has_interfaces = true,
    .verdicts = true,
    .sources = af_sources,
    .auto_threads = af_threads_auto,
    .queues = af_queues,
    .peer = af_peer,
    .is_inline = af_is_inline,
    .forwards = af_forwards,
    .sends_apart = af_sends_apart,
    .open = af_open,
    .queue_open = af_queue_open,
    .receive = af_receive,
    .tx_open = af_egress_open,
    .verdict = af_verdict,
    .tx_flush = af_egress_flush_all,
    .tx_close = af_egress_close,
    .reject_path = af_reject_path,
    .interrupt = af_interrupt,
    .update_stats = af_update_stats,
    .queue_close = af_queue_close,
    .hand_over = af_hand_over,
    .adopt = af_adopt,
    .leave = af_leave,
    .close = af_close,
};
