/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq/nflog.c - packets that a firewall rule logs (NFLOG): copies, for IDS only.
 *
 * The kernel collects packets of a group and sends several in one message, which is read into a
 * slot. Packets are used there; the slot is free when the last of them has returned. Packets have
 * numbers, so that missing ones can be counted. */
#include "config.h"

#ifdef HAVE_NFLOG
#include "base/memory/lib_memory.h"
#include "capture/capture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/system/clock.h"
#include "capture/device/net_device.h"
#include "capture/nfq/nflog.h"
#include "packet/decode.h"

#define TABLE "/proc/net/netfilter/nfnetlink_log"
#define WAIT_MS 100
#define GROUPS_MAX 65536
#define MESSAGE_CAPACITY 1024               /* for headers and attributes of a message */

/* Settings of one group; read-only once threads run. */
struct nflog_group {
    struct capture_device device;
    unsigned number;
    unsigned buffer_size;               /* of one message with several packets */
    unsigned threshold, timeout_cs;   /* sends after this many packets, or hundredths of a second */
    unsigned max_size;                  /* bytes of a packet */
    size_t slot_size;
};

struct nflog_capture {
    struct nflog_group *groups;
    unsigned count;
    bool no_checksum;
};

/* The memory of one message. Only the receive thread touches `out` and the list. */
struct nflog_slot {
    struct nflog_slot *next;
    unsigned out;                       /* packets that are not back */
    uint8_t data[];
};

/* State of one receive thread. No other thread writes it, except `interrupted`. */
struct nflog_queue {
    const struct nflog_capture *capture;
    const struct nflog_group *group;
    int fd;
    struct packet_pool *pool;
    struct counters *counters;
    counter_id packets, drops, errors;
    struct nflog_slot *free_slots;
    struct nflog_slot *reading;         /* the message being taken apart; NULL: none */
    struct bytes rest;                  /* next packet's number */
    uint32_t expected;                  /* the next packet's number */
    bool has_seen;                      /* whether a packet has set it */
    int interrupted;                    /* atomic */
};

/* --- settings ----------------------------------------------------------------------------- */

static int nflog_sources(const struct conf_node *root, const char *const *given, size_t count,
                         struct capture_names *out, struct err *err)
{
    uint64_t number;

    for (size_t i = 0; i < count; i++) {
        if (!text_to_u64(text_of(given[i]), GROUPS_MAX - 1, &number))
            return err_set(err, "--nflog: expected the number of a group, got \"%s\"", given[i]);
        capture_names_add(out, given[i]);
    }
    if (count > 0)
        return 0;
    CONF_EACH(item, conf_find(root, "nflog")) {
        const char *name = conf_string(item, "group", NULL);

        if (name != NULL && text_to_u64(text_of(name), GROUPS_MAX - 1, &number))
            capture_names_add(out, name);
    }
    return out->count > 0 ? 0 : err_set(err, "no group to capture from: give --nflog=NUMBER, or "
                                        "name one under nflog: in the configuration");
}

/* Suricata's keys. A slot holds the largest message that the kernel sends with these settings. */
static void read_group(struct nflog_group *g, const struct capture_request *rq, unsigned i)
{
    const struct conf_node *item = conf_item(conf_find(rq->conf, "nflog"), "group",
                                             rq->sources[i]);
    uint64_t number = 0;

    text_to_u64(text_of(rq->sources[i]), GROUPS_MAX - 1, &number);
    g->number = (unsigned)number;
    snprintf(g->device.name, sizeof(g->device.name), "NFLOG#%u", g->number);
    g->device.id = (uint16_t)i;
    g->device.numa_node = -1;
    g->max_size = (unsigned)conf_u64_range(item, "max-size", 65535, 64, 65535);
    g->buffer_size = (unsigned)conf_u64_range(item, "buffer-size", 65536, 4096, 1 << 17);
    g->threshold = (unsigned)conf_u64_range(item, "qthreshold", 32, 1, 1024);
    g->timeout_cs = (unsigned)conf_u64_range(item, "qtimeout", 1, 1, 10000);
    g->slot_size = MAX(g->buffer_size, g->max_size) + MESSAGE_CAPACITY;
}

static void nflog_close(void *capture)
{
    struct nflog_capture *c = capture;

    free(c->groups);
    free(c);
}

static void *nflog_open(const struct capture_request *rq, struct err *err)
{
    struct nflog_capture *c = xcalloc(1, sizeof(*c));

    (void)err;
    while (rq->sources[c->count] != NULL)
        c->count++;
    c->groups = xcalloc(c->count, sizeof(c->groups[0]));
    c->no_checksum = !conf_bool(rq->conf, "stream.checksum-validation", true);
    for (unsigned i = 0; i < c->count; i++)
        read_group(&c->groups[i], rq, i);
    return c;
}

/* --- queues ------------------------------------------------------------------------------- */

/* EPERM means a group of another program, or missing privileges; the file in /proc distinguishes
 * them. */
static int ask(int fd, const struct nflog_group *g, struct netlink_request *rq, struct err *err)
{
    int error;

    if (netlink_request_do(fd, rq) == 0)
        return 0;
    error = errno;                      /* the same for a lack of rights */
    if (netlink_is_taken(TABLE, g->number))
        return err_set(err, "netfilter log group %u is read by another program: stop it, or take "
                       "another number here and in the rule that logs", g->number);
    return err_set(err, "netfilter log group %u: %s%s", g->number, strerror(error),
                   net_rights_hint(error));
}

/* Two requests: the group must be bound before it can be configured (nfnetlink_log). */
static int set_up(int fd, const struct nflog_group *g, struct err *err)
{
    struct nfulnl_msg_config_cmd bind = { .command = NFULNL_CFG_CMD_BIND };
    struct nfulnl_msg_config_mode mode = { .copy_range = htonl(g->max_size),
                                           .copy_mode = NFULNL_COPY_PACKET };
    uint32_t size = htonl(g->buffer_size), threshold = htonl(g->threshold);
    uint32_t timeout = htonl(g->timeout_cs);
    uint16_t flags = htons(NFULNL_CFG_F_SEQ);
    struct netlink_request rq;

    netlink_request_begin(&rq, NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG, g->number);
    netlink_request_add(&rq, NFULA_CFG_CMD, &bind, sizeof(bind));
    if (ask(fd, g, &rq, err) < 0)
        return -1;
    netlink_request_begin(&rq, NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG, g->number);
    netlink_request_add(&rq, NFULA_CFG_MODE, &mode, sizeof(mode));
    netlink_request_add(&rq, NFULA_CFG_NLBUFSIZ, &size, sizeof(size));
    netlink_request_add(&rq, NFULA_CFG_QTHRESH, &threshold, sizeof(threshold));
    netlink_request_add(&rq, NFULA_CFG_TIMEOUT, &timeout, sizeof(timeout));
    netlink_request_add(&rq, NFULA_CFG_FLAGS, &flags, sizeof(flags));
    return ask(fd, g, &rq, err);
}

static int open_group(const struct nflog_group *g, struct err *err)
{
    int fd = netlink_open();

    if (fd < 0)
        return err_set(err, "netfilter log group %u: %s%s", g->number, strerror(errno),
                       net_rights_hint(errno));
    if (set_up(fd, g, err) < 0) {
        close(fd);
        return -1;
    }
    netlink_started(fd);
    return fd;
}

static void slot_free(struct nflog_queue *q, struct nflog_slot *slot)
{
    slot->next = q->free_slots;
    q->free_slots = slot;
}

/* Allocates when more messages are in flight than ever before; never in steady state. */
static struct nflog_slot *slot_get(struct nflog_queue *q)
{
    struct nflog_slot *slot = q->free_slots;

    if (UNLIKELY(slot == NULL))
        return lib_calloc(1, sizeof(*slot) + q->group->slot_size);
    q->free_slots = slot->next;
    return slot;
}

static void packet_returned(struct packet *p, void *arg)
{
    struct nflog_queue *q = arg;
    struct nflog_slot *slot = capture_slot(p)->holder;

    if (slot == NULL)
        return;
    capture_slot(p)->holder = NULL;
    if (--slot->out == 0 && slot != q->reading)
        slot_free(q, slot);
}

/* One thread per group: messages of a group must stay in order for their numbers to count. */
static void *nflog_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                              struct counters *counters, struct err *err)
{
    const struct nflog_capture *c = capture;
    struct nflog_queue *q;
    int fd;

    if (queue >= c->count) {
        err_set(err, "more threads than netfilter log groups: each group is read by one");
        return NULL;
    }
    fd = open_group(&c->groups[queue], err);
    if (fd < 0)
        return NULL;
    q = xcalloc(1, sizeof(*q));
    q->capture = c;
    q->group = &c->groups[queue];
    q->fd = fd;
    q->pool = pool;
    q->counters = counters;
    q->packets = counter_register("capture.kernel_packets", COUNTER_SUM);
    q->drops = counter_register("capture.kernel_drops", COUNTER_SUM);
    q->errors = counter_register("capture.errors", COUNTER_SUM);
    packet_pool_on_return(pool, packet_returned, q);
    return q;
}

/* A message whose packets have all returned, but which is still being read, is in `reading`
 * only. */
static void nflog_queue_close(void *queue)
{
    struct nflog_queue *q = queue;

    packet_pool_collect(q->pool);
    close(q->fd);
    free(q->reading);
    while (q->free_slots != NULL) {
        struct nflog_slot *slot = q->free_slots;

        q->free_slots = slot->next;
        lib_free(slot);
    }
    free(q);
}

static void nflog_interrupt(void *queue)
{
    struct nflog_queue *q = queue;

    __atomic_store_n(&q->interrupted, 1, __ATOMIC_RELAXED);
}

/* --- receiving ---------------------------------------------------------------------------- */

/* Attributes that are not needed are skipped. Short ones leave 0 (the cursor's sticky error). */
static void read_attribute(struct nflog_packet *m, unsigned type, struct slice s)
{
    struct bytes in = bytes_of_slice(s);

    switch (type) {
    case NFULA_PACKET_HDR:
        m->protocol = take_be16(&in);
        break;
    case NFULA_MARK:
        m->mark = take_be32(&in);
        break;
    case NFULA_TIMESTAMP:
        m->time_us = take_be64(&in) * 1000000;
        m->time_us += take_be64(&in);
        break;
    case NFULA_SEQ:
        m->number = take_be32(&in);
        m->has_number = !in.failed;
        break;
    case NFULA_PAYLOAD:
        m->payload = s;
        break;
    default:
        break;
    }
}

/* The next packet of a message with several netlink messages. False at the end or if the rest is
 * malformed; the tail of a malformed message counts as missing by its numbers. */
bool nflog_packet_read(struct bytes *rest, struct nflog_packet *m)
{
    const uint8_t *at;

    while ((at = take_bytes(rest, sizeof(struct nlmsghdr))) != NULL) {
        struct nlmsghdr head;
        struct bytes in;
        struct slice body;
        unsigned type;

        memcpy(&head, at, sizeof(head));
        if (head.nlmsg_len < sizeof(head))
            return false;
        body = take_slice(rest, head.nlmsg_len - sizeof(head));
        take_skip(rest, MIN((size_t)(NLMSG_ALIGN(head.nlmsg_len) - head.nlmsg_len),
                                (size_t)(rest->end - rest->next)));
        if (body.data == NULL)
            return false;
        if (head.nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET))
            continue;
        in = bytes_of_slice(body);
        take_skip(&in, sizeof(struct nfgenmsg));
        *m = (struct nflog_packet){ 0 };
        while (netlink_attribute(&in, &type, &body))
            read_attribute(m, type, body);
        return true;
    }
    return false;
}

/* The kernel numbers each packet of the group before it queues it, so a hole in the numbers is a
 * drop. Unsigned difference: numbers wrap. */
static void count_missing(struct nflog_queue *q, const struct nflog_packet *m)
{
    if (!m->has_number)
        return;
    if (q->has_seen && m->number != q->expected) {
        counter_add(q->counters, q->drops, (uint32_t)(m->number - q->expected));
        counter_add(q->counters, q->packets, (uint32_t)(m->number - q->expected));
    }
    q->has_seen = true;
    q->expected = m->number + 1;
}

/* NFLOG packets have no Ethernet header, and no checksum status: decode decides about partial
 * checksums. */
static void push_packet(struct nflog_queue *q, struct packet *p, const struct nflog_packet *m,
                        struct packet_vector *v)
{
    p->data = (uint8_t *)m->payload.data;
    p->len = p->wire_len = m->payload.len;
    p->time_us = m->time_us != 0 ? m->time_us : v->now_us;
    p->datalink = DATALINK_RAW;
    p->source = PACKET_WIRE;
    p->device = &q->group->device;
    p->device_name = q->group->device.name;
    p->mark = m->mark;
    capture_slot(p)->holder = q->reading;
    p->flags |= PACKET_OPEN_CHECKSUM | (q->capture->no_checksum ? PACKET_NO_CHECKSUM : 0);
    q->reading->out++;
    counter_inc(q->counters, q->packets);
    vector_push(v, p);
}

/* Packets that are still in flight free the slot later. */
static void end_message(struct nflog_queue *q)
{
    struct nflog_slot *slot = q->reading;

    q->reading = NULL;
    if (slot->out == 0)
        slot_free(q, slot);
}

/* Takes a packet from the pool first, since the cursor cannot go back. */
static void read_packets(struct nflog_queue *q, struct packet_vector *v)
{
    struct nflog_packet m;

    while (v->count < VECTOR_FILL) {
        struct packet *p = packet_pool_get(q->pool);

        if (p == NULL)
            return;
        if (!nflog_packet_read(&q->rest, &m)) {
            packet_release(p, PACKET_THREAD_OWNER);
            end_message(q);
            return;
        }
        count_missing(q, &m);
        if (m.payload.data != NULL && (m.protocol == ETH_P_IP || m.protocol == ETH_P_IPV6))
            push_packet(q, p, &m, v);
        else
            packet_release(p, PACKET_THREAD_OWNER);
    }
}

/* Packets that did not fit into the socket's buffer show as missing numbers. */
static bool receive_message(struct nflog_queue *q)
{
    struct nflog_slot *slot = slot_get(q);
    ssize_t n;

    if (slot == NULL)
        return false;                   /* it stays in the socket */
    n = recv(q->fd, slot->data, q->group->slot_size, MSG_DONTWAIT);
    if (n > 0) {
        q->reading = slot;
        q->rest = bytes_of(slot->data, (size_t)n);
        return true;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        counter_inc(q->counters, q->errors);
    slot_free(q, slot);
    return false;
}

static enum capture_status fill(struct nflog_queue *q, struct packet_vector *v)
{
    v->now_us = MAX(v->now_us, clock_wall_us());
    while (v->count < VECTOR_FILL && (q->reading != NULL || receive_message(q))) {
        unsigned before = v->count;

        read_packets(q, v);
        if (q->reading != NULL && v->count == before)
            break;                      /* the pool is empty */
    }
    return v->count > 0 ? CAPTURE_OK : CAPTURE_IDLE;
}

static enum capture_status nflog_receive(void *queue, struct packet_vector *v)
{
    struct nflog_queue *q = queue;
    struct pollfd at = { .fd = q->fd, .events = POLLIN };
    int ready;

    if (UNLIKELY(__atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) != 0))
        return CAPTURE_END;
    if (fill(q, v) == CAPTURE_OK)
        return CAPTURE_OK;
    packet_pool_collect(q->pool);
    if (q->reading != NULL) {
        poll(NULL, 0, 1);               /* packets of other threads hold the pool */
        return CAPTURE_IDLE;
    }
    vector_sleeps(v);
    ready = poll(&at, 1, WAIT_MS);
    vector_wakes(v);
    return ready > 0 ? fill(q, v) : CAPTURE_IDLE;
}

/* Packets created for reject take the routes of this machine. */
static void nflog_reject_path(void *queue, const struct packet *p, struct capture_path *out)
{
    (void)queue, (void)p;
    *out = (struct capture_path){ 0 };
}

static const char *const run_modes[] = { "single", "workers", "autofp", "pipeline", NULL };

const struct capture_ops capture_nflog = {
    .name = "nflog",
    .label = "NFLOG",
    .doc = "packets that a firewall rule logs",
    .default_run_mode = "autofp",
    .run_modes = run_modes,
    .live = true,
    .asks_checksums = true,
    .sources = nflog_sources,
    .open = nflog_open,
    .queue_open = nflog_queue_open,
    .receive = nflog_receive,
    .reject_path = nflog_reject_path,
    .interrupt = nflog_interrupt,
    .queue_close = nflog_queue_close,
    .close = nflog_close,
};
#endif
