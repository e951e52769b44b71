/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/dpdk/dpdk.c - network cards through DPDK, without the kernel. With copy-mode the two
 * ports of a bridge forward to each other.
 *
 * A burst of a receive queue becomes a vector, and packets are used in their mbufs. Both ports of a
 * bridge are one source: a thread reads the same queue of both, so that a flow, whose two
 * directions arrive on different ports, has one thread. */
#include "config.h"

#ifdef HAVE_DPDK
#include "capture/dpdk/dpdk.h"
#include "capture/dpdk/rte.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/report/log.h"
#include "base/system/clock.h"
#include "capture/device/bpf_filter.h"
#include "packet/checksum.h"

/* How long a thread waits at most for packets. */
#define WAIT_MS 100
/* A thread polls without a pause until nothing has come for SPIN_US; from then on it sleeps between
 * two looks. With the kernel's timer slack that is 0.1 ms: less than fill the 4,096 descriptors of
 * a queue at 10 Gbit/s in the smallest packets (0.27 ms). */
#define SPIN_US 1000
#define SLEEP_US 50
/* How often the driver is asked to take what it has just refused. Packets beyond that are lost. */
#define SEND_TRIES 64

/* A port, or the two ports of a bridge. */
struct dpdk_source {
    struct dpdk_port port[2];
    unsigned ports, threads;
    pthread_mutex_t lock;               /* for the start */
    bool is_started, has_failed;
    struct rte_mempool **pool;          /* by queue */
};

struct dpdk_capture {
    struct dpdk_source *sources;
    unsigned count;
};

/* mbufs on their way to the driver. */
struct burst {
    struct rte_mbuf *m[VECTOR_FILL];
    unsigned count;
};

/* State of one receive thread. No other thread writes it, except `interrupted`, and the send queues
 * under their locks. */
struct dpdk_queue {
    struct packet_pool *pool;
    struct counters *counters;
    struct dpdk_source *source;
    struct dpdk_port *side[2];
    unsigned sides;
    uint16_t number;
    bool is_started, has_lcore;
    counter_id packets, drops, kernel_packets, missed, errors, no_mbufs, receive_errors;
    counter_id send_errors;
    struct bpf_filter *filter[2];       /* NULL: none */
    struct burst passed[2];             /* by the port they leave by: what a filter left out */
    struct burst done;                  /* mbufs of returned packets */
    rte_spinlock_t send_lock[2];        /* by port: threads that give verdicts share its queue */
    uint64_t idle_ns;                   /* since when nothing has come; 0: something has */
    int interrupted;                    /* atomic */
};

/* --- settings ----------------------------------------------------------------------------- */

static int dpdk_sources(const struct conf_node *root, const char *const *given, size_t count,
                        struct capture_names *out, struct err *err)
{
    return bridge_sources(dpdk_section(root), given, count, out, err);
}

static const char *dpdk_peer(const struct conf_node *root, const char *source)
{
    return bridge_peer(dpdk_section(root), source);
}

static bool dpdk_is_inline(const struct conf_node *root, const char *const *sources, size_t count)
{
    return bridge_any(dpdk_section(root), sources, count, BRIDGE_IPS);
}

static bool dpdk_forwards(const struct conf_node *root, const char *const *sources, size_t count)
{
    return bridge_any(dpdk_section(root), sources, count, BRIDGE_TAP);
}

/* The number of configured sources; a bridge counts once. */
static unsigned count_sources(const struct conf_node *root)
{
    struct capture_names names = { 0 };
    struct err err = { 0 };
    size_t count;

    (void)capture_interfaces(dpdk_section(root), NULL, 0, &names, &err);
    count = names.count;
    for (size_t i = 0; i < names.count; i++)
        for (size_t k = 0; k < i; k++)
            count -= bridge_are_pair(dpdk_section(root), names.at[k], names.at[i]);
    capture_names_free(&names);
    return (unsigned)MAX(count, 1u);
}

/* As in Suricata, ports share the CPUs evenly. The plan can be made where EAL cannot start, such as
 * beside a running engine; then the number of queues is not known. */
static unsigned dpdk_auto_threads(const struct conf_node *root, const char *name, unsigned cpus,
                                  unsigned queues)
{
    const struct conf_node *item = conf_item(conf_find(root, dpdk_section(root).name), "interface",
                                             name);
    unsigned share = MAX(cpus / count_sources(root), 1u);

    (void)queues;
    if (!text_equal_nocase(text_of(conf_string(item, "threads", "auto")), "auto") ||
        dpdk_eal_start(root, NULL) < 0)
        return share;
    queues = dpdk_port_queues(name);
    if (dpdk_peer(root, name) != NULL)
        queues = MIN(queues, dpdk_port_queues(dpdk_peer(root, name)));
    return queues > 0 ? MIN(queues, share) : share;
}

static void dpdk_describe(const struct conf_node *root, const char *source, char *buf, size_t size)
{
    struct err err = { 0 };

    if (dpdk_eal_start(root, &err) < 0) {
        snprintf(buf, size, "not known: %s", err.text);
        return;
    }
    dpdk_port_describe(source, buf, size);
}

/* --- opening ------------------------------------------------------------------------------ */

/* Ports before mempools: a driver returns the mbufs of its descriptors when it closes. */
static void close_source(struct dpdk_source *s)
{
    for (unsigned i = 0; i < s->ports; i++)
        dpdk_port_close(&s->port[i]);
    for (unsigned i = 0; i < s->threads && s->pool != NULL; i++)
        rte_mempool_free(s->pool[i]);
    free(s->pool);
    pthread_mutex_destroy(&s->lock);
}

static void dpdk_close(void *capture)
{
    struct dpdk_capture *c = capture;

    for (unsigned i = 0; i < c->count; i++)
        close_source(&c->sources[i]);
    free(c->sources);
    free(c);
}

/* One thread reads both ports of a bridge, so both ways must be configured. */
static int read_source(struct dpdk_source *s, const struct capture_request *rq, const char *name,
                       struct err *err)
{
    const struct capture_section section = dpdk_section(rq->conf);
    const char *peer;

    s->ports = 1;
    if (dpdk_conf_read(&s->port[0].conf, rq->conf, name, err) < 0)
        return -1;
    if (s->port[0].conf.bridge.copy == BRIDGE_NONE)
        return 0;
    peer = s->port[0].conf.bridge.peer;
    if (!bridge_are_pair(section, name, peer))
        return err_at(err, conf_find(s->port[0].conf.item, "copy-iface")->at, "copy-iface: a "
                      "bridge needs both ways: %s with copy-iface: %s", peer, name);
    s->ports = 2;
    return dpdk_conf_read(&s->port[1].conf, rq->conf, peer, err);
}

static int open_queues(struct dpdk_source *s, const struct capture_request *rq, struct err *err)
{
    s->pool = xcalloc(s->threads, sizeof(s->pool[0]));
    for (unsigned i = 0; i < s->threads; i++) {
        s->pool[i] = dpdk_mempool_new(s->port, s->ports, i, rq->packets, err);
        if (s->pool[i] == NULL)
            return -1;
        for (unsigned k = 0; k < s->ports; k++)
            if (dpdk_port_queue(&s->port[k], i, s->pool[i], err) < 0)
                return -1;
    }
    return 0;
}

static int open_source(struct dpdk_source *s, const struct capture_request *rq, unsigned number,
                       struct err *err)
{
    pthread_mutex_init(&s->lock, NULL);
    s->threads = rq->source_threads != NULL ? MAX(rq->source_threads[number], 1u) : 1;
    if (read_source(s, rq, rq->sources[number], err) < 0)
        return -1;
    for (unsigned i = 0; i < s->ports; i++) {
        struct dpdk_conf *conf = &s->port[i].conf;

        conf->threads = s->threads;
        if (rq->bpf_filter != NULL)
            conf->bpf_filter = rq->bpf_filter;
        s->port[i].is_inline = s->ports > 1;
        if (dpdk_port_open(&s->port[i], err) < 0)
            return -1;
    }
    return open_queues(s, rq, err);
}

/* On the first thread, with all its privileges: huge pages and devices are files. */
static void *dpdk_open(const struct capture_request *rq, struct err *err)
{
    struct dpdk_capture *c;
    unsigned count = 0;

    if (dpdk_eal_start(rq->conf, err) < 0)
        return NULL;
    while (rq->sources[count] != NULL)
        count++;
    c = xcalloc(1, sizeof(*c));
    c->sources = xcalloc(count + 1, sizeof(c->sources[0]));
    for (; c->count < count; c->count++)
        if (open_source(&c->sources[c->count], rq, c->count, err) < 0) {
            c->count++;
            dpdk_close(c);
            return NULL;
        }
    return c;
}

/* --- queues ------------------------------------------------------------------------------- */

static void free_burst(struct burst *b)
{
    rte_pktmbuf_free_bulk(b->m, b->count);
    b->count = 0;
}

/* Runs on the receive thread when it collects its pool, in any order. */
static void packet_returned(struct packet *p, void *arg)
{
    struct dpdk_queue *q = arg;
    struct rte_mbuf *m = capture_slot(p)->holder;

    if (m == NULL)
        return;
    capture_slot(p)->holder = NULL;
    q->done.m[q->done.count++] = m;
    if (q->done.count == VECTOR_FILL)
        free_burst(&q->done);
}

/* Queues are numbered over all sources; makes the number relative to its source. */
static struct dpdk_source *source_of(struct dpdk_capture *c, unsigned *queue)
{
    unsigned i = 0;

    while (i + 1 < c->count && *queue >= c->sources[i].threads)
        *queue -= c->sources[i++].threads;
    return &c->sources[i];
}

static void register_counters(struct dpdk_queue *q)
{
    q->kernel_packets = counter_register("capture.kernel_packets", COUNTER_SUM);
    q->drops = counter_register("capture.kernel_drops", COUNTER_SUM);
    /* Suricata's for DPDK. */
    q->packets = counter_register("capture.packets", COUNTER_SUM);
    q->receive_errors = counter_register("capture.rx_errors", COUNTER_SUM);
    q->send_errors = counter_register("capture.tx_errors", COUNTER_SUM);
    q->missed = counter_register("capture.dpdk.imissed", COUNTER_SUM);
    q->no_mbufs = counter_register("capture.dpdk.no_mbufs", COUNTER_SUM);
    q->errors = counter_register("capture.dpdk.ierrors", COUNTER_SUM);
}

static int open_filters(struct dpdk_queue *q, struct err *err)
{
    for (unsigned i = 0; i < q->sides; i++) {
        if (q->side[i]->conf.bpf_filter == NULL)
            continue;
        q->filter[i] = bpf_filter_new(q->side[i]->conf.bpf_filter, err);
        if (q->filter[i] == NULL)
            return -1;
    }
    return 0;
}

static void queue_free(struct dpdk_queue *q)
{
    for (unsigned i = 0; i < q->sides; i++)
        bpf_filter_free(q->filter[i]);
    if (q->has_lcore)
        rte_thread_unregister();
    free(q);
}

/* A thread without an lcore works too, but without its cache of the mempool. */
static void *dpdk_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                             struct counters *counters, struct err *err)
{
    struct dpdk_queue *q = xcalloc(1, sizeof(*q));

    q->source = source_of(capture, &queue);
    q->pool = pool;
    q->counters = counters;
    q->number = (uint16_t)queue;
    q->sides = q->source->ports;
    for (unsigned i = 0; i < q->sides; i++) {
        q->side[i] = &q->source->port[i];
        rte_spinlock_init(&q->send_lock[i]);
    }
    if (open_filters(q, err) < 0) {
        queue_free(q);
        return NULL;
    }
    q->has_lcore = rte_thread_register() == 0;
    if (!q->has_lcore)
        log_warning("dpdk", "%s: thread %u gets no lcore (%s): mbufs are slower",
                    q->side[0]->conf.device.name, queue, rte_strerror(rte_errno));
    register_counters(q);
    packet_pool_on_return(pool, packet_returned, q);
    return q;
}

/* The device counts for all of its queues, so one thread reads it. */
static void dpdk_update_stats(void *queue)
{
    struct dpdk_queue *q = queue;

    for (unsigned i = 0; i < q->sides && q->number == 0; i++) {
        struct dpdk_stats add;
        uint64_t lost;

        dpdk_port_stats(q->side[i], &add);
        lost = add.missed + add.errors + add.no_mbufs;
        counter_add(q->counters, q->missed, add.missed);
        counter_add(q->counters, q->errors, add.errors);
        counter_add(q->counters, q->no_mbufs, add.no_mbufs);
        counter_add(q->counters, q->send_errors, add.unsent);
        counter_add(q->counters, q->receive_errors, lost);
        counter_add(q->counters, q->drops, lost);
        counter_add(q->counters, q->packets, lost);
        counter_add(q->counters, q->kernel_packets, lost);
    }
}

/* The engine waits for all packets of the pool before it closes. */
static void dpdk_queue_close(void *queue)
{
    struct dpdk_queue *q = queue;

    packet_pool_collect(q->pool);
    free_burst(&q->done);
    queue_free(q);
}

static void dpdk_interrupt(void *queue)
{
    struct dpdk_queue *q = queue;

    __atomic_store_n(&q->interrupted, 1, __ATOMIC_RELAXED);
}

/* --- sending ------------------------------------------------------------------------------ */

/* The lock is taken once for a burst. Only in run modes that give verdicts on other threads than
 * the receiving one can it be taken already. */
static void send_burst(struct dpdk_queue *q, struct counters *counters, unsigned side,
                       struct burst *b)
{
    unsigned sent = 0;

    if (b->count == 0)
        return;
    rte_spinlock_lock(&q->send_lock[side]);
    for (unsigned tries = 0; sent < b->count && tries < SEND_TRIES; tries++) {
        unsigned n = rte_eth_tx_burst(q->side[side]->id, q->number, b->m + sent,
                                      (uint16_t)(b->count - sent));

        sent += n;
        if (n == 0)
            clock_pause();
    }
    rte_spinlock_unlock(&q->send_lock[side]);
    if (UNLIKELY(sent < b->count)) {
        counter_add(counters, q->send_errors, b->count - sent);
        rte_pktmbuf_free_bulk(b->m + sent, b->count - sent);
    }
    b->count = 0;
}

static void send_later(struct dpdk_queue *q, struct counters *counters, unsigned side,
                       struct burst *b, struct rte_mbuf *m)
{
    b->m[b->count++] = m;
    if (b->count == VECTOR_FILL)
        send_burst(q, counters, side, b);
}

/* --- receiving ---------------------------------------------------------------------------- */

/* A packet that the filter leaves out is not inspected: inline it is forwarded, otherwise
 * dropped. */
static COLD void pass_by(struct dpdk_queue *q, unsigned side, struct rte_mbuf *m)
{
    if (q->sides > 1)
        send_later(q, q->counters, 1 - side, &q->passed[1 - side], m);
    else
        rte_pktmbuf_free(m);
}

/* What the device has checked need not be checked again, unless it found an error: then decode
 * decides, so that its events are the same everywhere. A virtual device may hand over what a sender
 * on this machine has left to a card; decode recognises that. Without a bridge that only matters
 * where checksums are checked. */
static void mind_checksum(const struct dpdk_port *port, const struct rte_mbuf *m, struct packet *p)
{
    const uint64_t good = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
    const uint64_t mask = RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK;

    if (port->conf.checksums == CAPTURE_CHECKSUMS_NO ||
        (port->checks_checksums && (m->ol_flags & mask) == good)) {
        p->flags |= PACKET_NO_CHECKSUM;
        if (!port->is_inline)
            return;
    }
    if (port->conf.checksums != CAPTURE_CHECKSUMS_YES)
        p->flags |= PACKET_OPEN_CHECKSUM;
}

/* NULL: the mbuf is not one frame, and was freed. Mbufs hold a frame of the port's MTU, so only a
 * driver that takes longer ones makes several segments of one. */
static COLD struct rte_mbuf *make_single(struct dpdk_queue *q, struct rte_mbuf *m)
{
    if (m->nb_segs > 1 && rte_pktmbuf_linearize(m) < 0)
        goto lost;
    if ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 && rte_vlan_insert(&m) < 0)
        goto lost;
    return m;

lost:
    counter_inc(q->counters, q->receive_errors);
    counter_inc(q->counters, q->drops);
    rte_pktmbuf_free(m);
    return NULL;
}

static void take(struct dpdk_queue *q, unsigned side, struct rte_mbuf *m, struct packet_vector *v)
{
    struct dpdk_port *port = q->side[side];
    struct packet *p;

    if (UNLIKELY(m->nb_segs > 1 || (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0) &&
        (m = make_single(q, m)) == NULL)
        return;
    if (UNLIKELY(q->filter[side] != NULL) &&
        !bpf_filter_matches(q->filter[side], DATALINK_ETHERNET, rte_pktmbuf_mtod(m, uint8_t *),
                            m->data_len, m->data_len)) {
        pass_by(q, side, m);
        return;
    }
    p = packet_pool_get(q->pool);
    if (UNLIKELY(p == NULL)) {          /* cannot happen: fill() has checked the pool */
        counter_inc(q->counters, q->drops);
        rte_pktmbuf_free(m);
        return;
    }
    p->data = rte_pktmbuf_mtod(m, uint8_t *);
    p->len = p->wire_len = m->data_len;
    p->time_us = v->now_us;
    p->datalink = DATALINK_ETHERNET;
    p->source = PACKET_WIRE;
    p->device = &port->conf.device;
    p->device_name = port->conf.device.name;
    capture_slot(p)->holder = m;
    mind_checksum(port, m, p);
    vector_push(v, p);
}

static unsigned fill_from(struct dpdk_queue *q, unsigned side, unsigned want,
                          struct packet_vector *v)
{
    struct rte_mbuf *m[VECTOR_FILL];
    unsigned count = rte_eth_rx_burst(q->side[side]->id, q->number, m, (uint16_t)want);

    for (unsigned i = 0; i < MIN(count, 4u); i++)
        PREFETCH(m[i]);
    for (unsigned i = 0; i < count; i++) {
        if (i + 4 < count)
            PREFETCH(m[i + 4]);
        take(q, side, m[i], v);
    }
    return count;
}

/* The first port of a bridge leaves half of the vector to the second one. */
static enum capture_status fill(struct dpdk_queue *q, struct packet_vector *v)
{
    unsigned space = MIN((unsigned)VECTOR_FILL, packet_pool_left(q->pool)), taken = 0;

    for (unsigned i = 0; i < q->sides && space > 0; i++)
        taken += fill_from(q, i, i + 1 < q->sides ? (space + 1) / 2 : space - taken, v);
    counter_add(q->counters, q->packets, taken);
    counter_add(q->counters, q->kernel_packets, taken);
    for (unsigned i = 0; i < q->sides; i++)
        send_burst(q, q->counters, i, &q->passed[i]);
    return v->count > 0 ? CAPTURE_OK : CAPTURE_IDLE;
}

static void pause_us(unsigned us)
{
    struct timespec pause = { .tv_nsec = (long)us * 1000 };

    nanosleep(&pause, NULL);
}

/* interrupt-mode: the interrupts of this queue wake this thread. */
static int want_interrupts(struct dpdk_queue *q, struct err *err)
{
    for (unsigned i = 0; i < q->sides; i++) {
        const struct dpdk_conf *conf = &q->side[i]->conf;
        int status = conf->interrupts
                         ? rte_eth_dev_rx_intr_ctl_q(q->side[i]->id, q->number,
                                                     RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD,
                                                     NULL)
                         : 0;

        if (status != 0)
            return err_at(err, conf_find(conf->item, "interrupt-mode")->at,
                          "interrupt-mode: %s: the driver %s has no interrupts of receive queues "
                          "(%s)", conf->device.name, q->side[i]->driver, rte_strerror(-status));
    }
    return 0;
}

/* The first thread that receives starts the ports, when all threads of the engine are open. */
static COLD bool start(struct dpdk_queue *q)
{
    struct dpdk_source *s = q->source;
    struct err err = { 0 };

    pthread_mutex_lock(&s->lock);
    for (unsigned i = 0; i < s->ports && !s->is_started && !s->has_failed; i++)
        s->has_failed = dpdk_port_start(&s->port[i], &err) < 0;
    s->is_started = !s->has_failed;
    if (s->is_started && want_interrupts(q, &err) < 0)
        s->has_failed = true;
    pthread_mutex_unlock(&s->lock);
    q->is_started = !s->has_failed;
    if (err.text[0] != '\0')
        log_err(LOG_LEVEL_ERROR, "dpdk", &err);
    return q->is_started;
}

/* Interrupts are on only while the thread sleeps. A packet that came before is found by the look
 * after they are on. */
static enum capture_status sleep_for_interrupt(struct dpdk_queue *q, struct packet_vector *v)
{
    struct rte_epoll_event event[2];
    enum capture_status status;

    if (UNLIKELY(packet_pool_left(q->pool) == 0)) {
        pause_us(1000);                 /* packets of other threads hold all of it */
        return CAPTURE_IDLE;
    }
    for (unsigned i = 0; i < q->sides; i++)
        (void)rte_eth_dev_rx_intr_enable(q->side[i]->id, q->number);
    status = fill(q, v);
    if (status == CAPTURE_IDLE) {
        vector_sleeps(v);
        (void)rte_epoll_wait(RTE_EPOLL_PER_THREAD, event, (int)q->sides, WAIT_MS);
        vector_wakes(v);
    }
    for (unsigned i = 0; i < q->sides; i++)
        (void)rte_eth_dev_rx_intr_disable(q->side[i]->id, q->number);
    return status == CAPTURE_IDLE ? fill(q, v) : status;
}

static void sleep_a_little(struct packet_vector *v)
{
    vector_sleeps(v);
    pause_us(SLEEP_US);
    vector_wakes(v);
}

static enum capture_status poll_again(struct dpdk_queue *q, struct packet_vector *v)
{
    uint64_t begin = clock_ns(), now = begin;

    if (q->idle_ns == 0)
        q->idle_ns = begin;
    while (now - begin < WAIT_MS * UINT64_C(1000000) &&
           __atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) == 0) {
        if (now - q->idle_ns < SPIN_US * UINT64_C(1000))
            clock_pause();
        else
            sleep_a_little(v);
        v->now_us = MAX(v->now_us, clock_wall_us());
        if (fill(q, v) == CAPTURE_OK)
            return CAPTURE_OK;
        packet_pool_collect(q->pool);
        now = clock_ns();
    }
    return CAPTURE_IDLE;
}

/* All packets of a vector have one time, the time of reading. */
static enum capture_status dpdk_receive(void *queue, struct packet_vector *v)
{
    struct dpdk_queue *q = queue;
    enum capture_status status;

    if (UNLIKELY(__atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) != 0))
        return CAPTURE_END;
    if (UNLIKELY(!q->is_started) && !start(q))
        return CAPTURE_FAILED;
    v->now_us = MAX(v->now_us, clock_wall_us());
    status = fill(q, v);
    if (status == CAPTURE_IDLE) {
        packet_pool_collect(q->pool);
        free_burst(&q->done);
        status = q->side[0]->conf.interrupts ? sleep_for_interrupt(q, v) : poll_again(q, v);
    }
    if (status == CAPTURE_OK)
        q->idle_ns = 0;
    return status;
}

/* --- verdicts ----------------------------------------------------------------------------- */

/* One for each thread that gives verdicts. */
struct dpdk_tx {
    struct dpdk_queue *queue;
    struct counters *counters;
    struct burst out[2];                /* by the port they leave by */
};

static void *dpdk_tx_open(void *queue, struct counters *counters, bool in_order,
                          struct helper_thread *sender)
{
    struct dpdk_queue *q = queue;
    struct dpdk_tx *tx;

    (void)in_order;
    (void)sender;
    if (q->sides == 1)
        return NULL;
    tx = xcalloc(1, sizeof(*tx));
    tx->queue = q;
    tx->counters = counters;
    return tx;
}

/* The driver gets a reference of its own: the packet stays in use, as by the outputs. */
static void dpdk_verdict(void *self, struct packet *p)
{
    struct dpdk_tx *tx = self;
    struct dpdk_queue *q = tx->queue;
    unsigned side = p->device != &q->side[0]->conf.device;
    struct rte_mbuf *m = capture_slot(p)->holder;

    if ((p->action & ACTION_DROP) != 0 && q->side[side]->conf.bridge.copy == BRIDGE_IPS)
        return;
    if (UNLIKELY((p->flags & PACKET_OPEN_CHECKSUM) != 0))
        packet_fix_checksums(p);
    rte_mbuf_refcnt_update(m, 1);
    m->ol_flags = 0;                    /* what the receiving port found; here they are orders */
    send_later(q, tx->counters, 1 - side, &tx->out[1 - side], m);
}

static void dpdk_tx_flush(void *self)
{
    struct dpdk_tx *tx = self;

    for (unsigned i = 0; i < 2; i++)
        send_burst(tx->queue, tx->counters, i, &tx->out[i]);
}

static void dpdk_tx_close(void *self)
{
    free(self);
}

/* A driver above an interface of the kernel, such as net_tap, names it. Others leave reject packets
 * to the routes of this machine. */
static void dpdk_reject_path(void *queue, const struct packet *p, struct capture_path *out)
{
    const struct dpdk_queue *q = queue;
    unsigned side = p->device != &q->side[0]->conf.device;

    out->mark = 0;
    out->if_index = (int)q->side[side]->if_index;
    out->peer_index = q->sides > 1 ? (int)q->side[1 - side]->if_index : out->if_index;
}

static const char *const run_modes[] = { "single", "workers", "autofp", "pipeline", NULL };

const struct capture_ops capture_dpdk = {
    .name = "dpdk",
    .label = "DPDK",
    .doc = "network cards through DPDK, without the kernel",
    .section = "dpdk.interfaces",
    .default_run_mode = "workers",
    .run_modes = run_modes,
    .live = true,
    .verdicts = true,
    .asks_checksums = true,
    .sources = dpdk_sources,
    .auto_threads = dpdk_auto_threads,
    .peer = dpdk_peer,
    .describe = dpdk_describe,
    .is_inline = dpdk_is_inline,
    .forwards = dpdk_forwards,
    .open = dpdk_open,
    .queue_open = dpdk_queue_open,
    .receive = dpdk_receive,
    .tx_open = dpdk_tx_open,
    .verdict = dpdk_verdict,
    .tx_flush = dpdk_tx_flush,
    .tx_close = dpdk_tx_close,
    .reject_path = dpdk_reject_path,
    .interrupt = dpdk_interrupt,
    .update_stats = dpdk_update_stats,
    .queue_close = dpdk_queue_close,
    .close = dpdk_close,
};
#endif
