/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/live.c - network interfaces through libpcap, so that ids reads whatever a patched
 * libpcap can read.
 *
 * libpcap owns a frame until the next call, so frames are copied into packets. */
#include "capture/capture.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/report/log.h"
#include "base/text/text.h"
#include "capture/device/net_device.h"
#include "packet/decode.h"

/* The longest sleep of a thread; liveness relies on it. */
#define WAIT_MS 100
/* libpcap's maximum. */
#define SNAPLEN_AUTO 262144
/* The time for which libpcap may collect packets before it returns them. */
#define READ_TIMEOUT_MS 10
/* libpcap's default of 2 MB is full after a few milliseconds in which this thread does not run. */
#define BUFFER_SIZE (16 << 20)

/* Settings of one interface; read-only once threads run. */
struct live_source {
    struct capture_device device;
    unsigned threads;
    unsigned snaplen, buffer_size;
    bool promisc, no_checksum;
    const char *filter;                 /* NULL: none */
};

struct live_capture {
    struct live_source *sources;
    unsigned count;
};

/* State of one receive thread. No other thread writes it, except `interrupted`. */
struct live_queue {
    const struct live_source *source;
    struct packet_pool *pool;
    struct counters *counters;
    counter_id packets, drops, if_drops, errors;
    struct pcap_stat before;
    pcap_t *pcap;
    enum datalink link;
    struct packet_vector *vector;       /* during a call of libpcap */
    bool loss_logged;
    int interrupted;                    /* atomic */
};

static int live_sources(const struct conf_node *root, const char *const *given, size_t count,
                        struct capture_names *out, struct err *err)
{
    return capture_interfaces((struct capture_section){ root, "pcap" }, given, count, out, err);
}

/* Several threads on an interface get copies of all packets, unless a patched libpcap (as for some
 * cards) distributes them. */
static void read_source(struct live_source *s, const struct capture_request *rq, unsigned i)
{
    const struct conf_node *item = conf_item(conf_find(rq->conf, "pcap"), "interface",
                                             rq->sources[i]);

    snprintf(s->device.name, sizeof(s->device.name), "%s", rq->sources[i]);
    s->device.id = (uint16_t)i;
    s->device.numa_node = -1;
    s->threads = rq->source_threads != NULL ? MAX(rq->source_threads[i], 1u) : 1;
    s->snaplen = (unsigned)conf_u64_range(item, "snaplen", 0, 0, 1 << 20);
    s->buffer_size = (unsigned)conf_size(item, "buffer-size", BUFFER_SIZE);
    s->promisc = conf_bool(item, "promisc", true);
    s->no_checksum = capture_checksums_read(item) == CAPTURE_CHECKSUMS_NO;
    s->filter = rq->bpf_filter != NULL ? rq->bpf_filter : conf_string(item, "bpf-filter", NULL);
    if (s->threads > 1)
        log_warning("pcap", "%u threads on %s: each gets all packets, unless its libpcap deals "
                    "them", s->threads, s->device.name);
}

static void *live_open(const struct capture_request *rq, struct err *err)
{
    struct live_capture *c = xcalloc(1, sizeof(*c));

    (void)err;
    while (rq->sources[c->count] != NULL)
        c->count++;
    c->sources = xcalloc(c->count + 1, sizeof(c->sources[0]));
    for (unsigned i = 0; i < c->count; i++)
        read_source(&c->sources[i], rq, i);
    return c;
}

static void live_close(void *capture)
{
    struct live_capture *c = capture;

    free(c->sources);
    free(c);
}

/* --- queues ------------------------------------------------------------------------------- */

/* Messages include a remedy for the most common errors. */
static int fail(const struct live_source *s, pcap_t *pcap, int status, struct err *err)
{
    const char *name = s->device.name, *text = pcap_geterr(pcap);

    switch (status) {
    case PCAP_ERROR_NO_SUCH_DEVICE:
        return err_set(err, "there is no interface \"%s\"; `ip -br link` lists them", name);
    case PCAP_ERROR_IFACE_NOT_UP:
        return err_set(err, "interface %s is down: `ip link set dev %s up`", name, name);
    case PCAP_ERROR_PERM_DENIED:
        return err_set(err, "%s: %s%s", name, text, net_rights_hint(EPERM));
    default:
        return err_set(err, "%s: %s%s%s", name, pcap_statustostr(status),
                       text[0] != '\0' ? ": " : "", text);
    }
}

static int set_filter(const struct live_source *s, pcap_t *pcap, struct err *err)
{
    struct bpf_program program;
    int status;

    if (s->filter == NULL)
        return 0;
    if (pcap_compile(pcap, &program, s->filter, 1, PCAP_NETMASK_UNKNOWN) < 0)
        return err_set(err, "bpf-filter \"%s\": %s", s->filter, pcap_geterr(pcap));
    status = pcap_setfilter(pcap, &program);
    pcap_freecode(&program);
    return status == 0 ? 0 : err_set(err, "bpf-filter \"%s\": %s", s->filter, pcap_geterr(pcap));
}

/* Non-blocking: the queue polls by itself, so that it can be interrupted. */
static int start(const struct live_source *s, pcap_t *pcap, struct err *err)
{
    char text[PCAP_ERRBUF_SIZE];
    int status;

    pcap_set_snaplen(pcap, s->snaplen > 0 ? (int)s->snaplen : SNAPLEN_AUTO);
    pcap_set_promisc(pcap, s->promisc);
    pcap_set_timeout(pcap, READ_TIMEOUT_MS);
    if (s->buffer_size > 0)
        pcap_set_buffer_size(pcap, (int)s->buffer_size);
    status = pcap_activate(pcap);
    if (status < 0)
        return fail(s, pcap, status, err);
    if (datalink_from_pcap(pcap_datalink(pcap)) == DATALINK_NONE)
        return err_set(err, "%s: link type %d is not supported", s->device.name,
                       pcap_datalink(pcap));
    if (set_filter(s, pcap, err) < 0)
        return -1;
    if (pcap_setnonblock(pcap, 1, text) < 0)
        return err_set(err, "%s: %s", s->device.name, text);
    return 0;
}

static pcap_t *open_pcap(const struct live_source *s, struct err *err)
{
    char text[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = pcap_create(s->device.name, text);

    if (pcap == NULL) {
        err_set(err, "%s: %s", s->device.name, text);
        return NULL;
    }
    if (start(s, pcap, err) < 0) {
        pcap_close(pcap);
        return NULL;
    }
    return pcap;
}

static const struct live_source *source_of(const struct live_capture *c, unsigned queue)
{
    unsigned i = 0;

    while (i + 1 < c->count && queue >= c->sources[i].threads)
        queue -= c->sources[i++].threads;
    return &c->sources[i];
}

static void *live_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                             struct counters *counters, struct err *err)
{
    const struct live_source *source = source_of(capture, queue);
    pcap_t *pcap = open_pcap(source, err);
    struct live_queue *q;

    if (pcap == NULL)
        return NULL;
    q = xcalloc(1, sizeof(*q));
    q->source = source;
    q->pool = pool;
    q->counters = counters;
    q->pcap = pcap;
    q->link = datalink_from_pcap(pcap_datalink(pcap));
    q->packets = counter_register("capture.kernel_packets", COUNTER_SUM);
    q->drops = counter_register("capture.kernel_drops", COUNTER_SUM);
    q->if_drops = counter_register("capture.kernel_ifdrops", COUNTER_SUM);
    q->errors = counter_register("capture.errors", COUNTER_SUM);
    return q;
}

/* libpcap's counters have 32 bits and wrap; the difference is right even then. */
static void live_update_stats(void *queue)
{
    struct live_queue *q = queue;
    struct pcap_stat now;

    if (q->pcap == NULL || pcap_stats(q->pcap, &now) < 0)
        return;
    counter_add(q->counters, q->packets, (uint32_t)(now.ps_recv - q->before.ps_recv));
    counter_add(q->counters, q->drops, (uint32_t)(now.ps_drop - q->before.ps_drop));
    counter_add(q->counters, q->if_drops, (uint32_t)(now.ps_ifdrop - q->before.ps_ifdrop));
    q->before = now;
}

static void live_queue_close(void *queue)
{
    struct live_queue *q = queue;

    if (q->pcap != NULL)
        pcap_close(q->pcap);
    free(q);
}

static void live_interrupt(void *queue)
{
    struct live_queue *q = queue;

    __atomic_store_n(&q->interrupted, 1, __ATOMIC_RELAXED);
}

/* --- receiving ---------------------------------------------------------------------------- */

/* libpcap calls this for each frame during pcap_dispatch(). */
static void take_frame(u_char *user, const struct pcap_pkthdr *head, const u_char *data)
{
    struct live_queue *q = (struct live_queue *)user;
    struct packet *p = packet_pool_get(q->pool);

    if (p == NULL)
        return;                         /* dispatch() requests no more than the pool has */
    buf_clear(&p->frame);
    if (!buf_add(&p->frame, data, head->caplen)) {
        packet_release(p, PACKET_THREAD_OWNER);
        counter_inc(q->counters, q->drops);
        return;
    }
    p->data = p->frame.data;
    p->len = head->caplen;
    p->wire_len = head->len;
    p->time_us = (uint64_t)head->ts.tv_sec * 1000000 + (uint64_t)head->ts.tv_usec;
    p->datalink = (uint8_t)q->link;
    p->source = PACKET_WIRE;
    p->device = &q->source->device;
    p->device_name = q->source->device.name;
    if (q->source->no_checksum)
        p->flags |= PACKET_NO_CHECKSUM;
    if (p->time_us > q->vector->now_us)
        q->vector->now_us = p->time_us;
    vector_push(q->vector, p);
}

static void pause_a_little(void)
{
    struct timespec pause = { .tv_nsec = WAIT_MS * 1000000L };

    nanosleep(&pause, NULL);
}

/* The interface is down or gone: opens it again as soon as possible. */
static COLD enum capture_status reopen(struct live_queue *q)
{
    struct err err = { 0 };

    if (q->pcap != NULL) {
        counter_inc(q->counters, q->errors);
        live_update_stats(q);
        pcap_close(q->pcap);
        q->pcap = NULL;
        q->before = (struct pcap_stat){ 0 };
    }
    if (!q->loss_logged)
        log_warning("pcap", "%s is down or gone: waiting for it", q->source->device.name);
    q->loss_logged = true;
    pause_a_little();
    q->pcap = open_pcap(q->source, &err);
    if (q->pcap == NULL)
        return CAPTURE_IDLE;
    q->loss_logged = false;
    log_notice("pcap", "%s is there again", q->source->device.name);
    return CAPTURE_IDLE;
}

static int dispatch(struct live_queue *q, struct packet_vector *v)
{
    q->vector = v;
    return pcap_dispatch(q->pcap, VECTOR_FILL, take_frame, (u_char *)q);
}

/* False: no frame came in time. */
static bool sleep_for_frames(struct live_queue *q, struct packet_vector *v)
{
    struct pollfd at = { .fd = pcap_get_selectable_fd(q->pcap), .events = POLLIN };
    int ready = 1;

    vector_sleeps(v);
    if (at.fd < 0)
        pause_a_little();
    else
        ready = poll(&at, 1, WAIT_MS);
    vector_wakes(v);
    return ready != 0;
}

static enum capture_status live_receive(void *queue, struct packet_vector *v)
{
    struct live_queue *q = queue;
    int n;

    if (UNLIKELY(__atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) != 0))
        return CAPTURE_END;
    if (UNLIKELY(q->pcap == NULL))
        return reopen(q);
    n = dispatch(q, v);
    if (n == 0) {
        if (!sleep_for_frames(q, v))
            return CAPTURE_IDLE;
        n = dispatch(q, v);
    }
    if (UNLIKELY(n < 0) && v->count == 0)
        return reopen(q);
    return v->count > 0 ? CAPTURE_OK : CAPTURE_IDLE;
}

static void live_reject_path(void *queue, const struct packet *p, struct capture_path *out)
{
    (void)queue, (void)p;
    *out = (struct capture_path){ 0 };
}

static const char *const run_modes[] = { "single", "workers", "autofp", "pipeline", NULL };

const struct capture_ops capture_pcap_live = {
    .name = "pcap",
    .label = "PCAP_DEV",
    .doc = "network interfaces, through libpcap",
    .default_run_mode = "autofp",
    .run_modes = run_modes,
    .live = true,
    .has_interfaces = true,
    .sources = live_sources,
    .open = live_open,
    .queue_open = live_queue_open,
    .receive = live_receive,
    .reject_path = live_reject_path,
    .interrupt = live_interrupt,
    .update_stats = live_update_stats,
    .queue_close = live_queue_close,
    .close = live_close,
};
