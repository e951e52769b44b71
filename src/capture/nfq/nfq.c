/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq/nfq.c - packets that a firewall rule queues (NFQUEUE), and verdicts on them.
 *
 * A message is read into a slot, and its packet is used there until it returns to the pool.
 * Segments that the kernel has joined (GSO) stay joined, which saves most of the cost of bulk data.
 *
 * At the end the kernel drops the packets that still wait, or accepts them with fail-open. */
#include "capture/nfq/nfq.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory/lib_memory.h"
#include "base/system/clock.h"
#include "packet/decode.h"

/* The longest sleep of a thread; liveness relies on it. */
#define WAIT_MS 100
#define HASTY_MS 2              /* the same while a process waits to take over */
#define QUEUES_MAX 65536

/* Opened once by the main thread; read-only afterwards, except `table`. */
struct nfq_capture {
    struct nfq_conf conf;
    unsigned *numbers;
    unsigned count;
    struct capture_device *devices;
    struct capture_handover *from;      /* sockets of another process; NULL: none */
    struct nfq_table *table;            /* NULL: no drop counts */
    pthread_mutex_t table_lock;         /* each queue reads the table once a second */
};

struct nfq_counters {
    counter_id packets, drops, errors, strays;
};

/* State of one receive thread. No other thread writes it, except `interrupted`. */
struct nfq_queue {
    struct nfq_capture *capture;
    unsigned number;
    unsigned index;                     /* among the queues of the capture */
    struct capture_handover *from, *to; /* NULL: none; `to` is atomic */
    int fd;
    struct packet_pool *pool;
    struct counters *counters;
    struct nfq_counters id;
    uint64_t drops;
    struct nfq_slot *free_slots;
    struct nfq_slot *armed[VECTOR_FILL];    /* filled ones first: first .. filled are unread */
    struct mmsghdr message[VECTOR_FILL];
    struct iovec part[VECTOR_FILL];
    unsigned first, filled;
    uint32_t last_id;
    struct nfq_verdict *own_verdicts;          /* verdicts on what the engine does not inspect */
    int interrupted;                    /* atomic */
};

/* --- settings ----------------------------------------------------------------------------- */

/* As Suricata's -q: a number, or a range such as 0:3. */
static int nfq_sources(const struct conf_node *root, const char *const *given, size_t count,
                       struct capture_names *out, struct err *err)
{
    (void)root;
    for (size_t i = 0; i < count; i++) {
        struct text rest = text_of(given[i]), word;
        uint64_t first = 0, last;
        bool good;

        good = text_split(&rest, ':', &word) && text_to_u64(word, QUEUES_MAX - 1, &first);
        last = first;
        if (good && rest.n > 0)
            good = text_split(&rest, ':', &word) && rest.n == 0 &&
                   text_to_u64(word, QUEUES_MAX - 1, &last);
        if (!good || last < first || last - first >= 1024)
            return err_set(err, "-q: expected the number of a queue, or a range as in 0:3, got "
                           "\"%s\"", given[i]);
        for (; first <= last; first++) {
            char name[16];

            snprintf(name, sizeof(name), "%llu", (unsigned long long)first);
            capture_names_add(out, name);
        }
    }
    return out->count > 0 ? 0 : err_set(err, "-q needs the number of a queue");
}

/* Suricata's keys. max_length is the kernel's limit of waiting packets; it must exceed what the
 * engine can hold, or verdicts in batches would stall the queue. */
static void read_conf(struct nfq_conf *conf, const struct conf_node *root)
{
    static const char *const modes[] = { "accept", "repeat", "route", NULL };
    const struct conf_node *nfq = conf_find(root, "nfq");
    uint64_t pending = conf_u64(root, "max-pending-packets", 1024);

    conf->mode = (enum nfq_mode)conf_choice_or_end(nfq, "mode", modes, NFQ_ACCEPT);
    conf->repeat_mark = (uint32_t)conf_u64_range(nfq, "repeat-mark", 0, 0, UINT32_MAX);
    conf->repeat_mask = (uint32_t)conf_u64_range(nfq, "repeat-mask", 0, 0, UINT32_MAX);
    conf->bypass_mark = (uint32_t)conf_u64_range(nfq, "bypass-mark", 0, 0, UINT32_MAX);
    conf->bypass_mask = (uint32_t)conf_u64_range(nfq, "bypass-mask", 0, 0, UINT32_MAX);
    conf->route_queue = (uint16_t)conf_u64_range(nfq, "route-queue", 0, 0, 65535);
    conf->batch = (unsigned)conf_u64_range(nfq, "batchcount", 0, 0, 255);
    conf->fail_open = conf_bool(nfq, "fail-open", false);
    conf->max_length = (unsigned)MAX(4 * pending, (uint64_t)4096);
}

/* Both modes pass the packet through the rules again, so it would loop without a mark. */
static int check_conf(const struct nfq_capture *c, const struct conf_node *root, struct err *err)
{
    const struct conf_node *mode = conf_find(root, "nfq.mode");
    const struct nfq_conf *conf = &c->conf;

    if (conf->mode == NFQ_REPEAT && (conf->repeat_mark & conf->repeat_mask) == 0)
        return err_at(err, mode->at, "nfq: mode repeat needs repeat-mark and repeat-mask: "
                      "without a mark the packet would be queued for ever");
    for (unsigned i = 0; i < c->count && conf->mode == NFQ_ROUTE; i++)
        if (c->numbers[i] == conf->route_queue)
            return err_at(err, mode->at, "nfq: mode route to queue %u (route-queue), which is read "
                          "here: the packet would come back for ever", conf->route_queue);
    return 0;
}

static void nfq_close(void *capture)
{
    struct nfq_capture *c = capture;

    nfq_table_close(c->table);
    pthread_mutex_destroy(&c->table_lock);
    free(c->numbers);
    free(c->devices);
    free(c);
}

static void *nfq_open(const struct capture_request *rq, struct err *err)
{
    struct nfq_capture *c = xcalloc(1, sizeof(*c));

    /* Opened here, before privileges are dropped. */
    c->table = nfq_table_open();
    pthread_mutex_init(&c->table_lock, NULL);
    read_conf(&c->conf, rq->conf);
    c->conf.no_checksum = !conf_bool(rq->conf, "stream.checksum-validation", true);
    while (rq->sources[c->count] != NULL)
        c->count++;
    c->numbers = xcalloc(c->count, sizeof(c->numbers[0]));
    c->devices = xcalloc(c->count, sizeof(c->devices[0]));
    for (unsigned i = 0; i < c->count; i++) {
        uint64_t number = 0;

        text_to_u64(text_of(rq->sources[i]), QUEUES_MAX - 1, &number);
        c->numbers[i] = (unsigned)number;
        snprintf(c->devices[i].name, sizeof(c->devices[i].name), "NFQ#%u", c->numbers[i]);
        c->devices[i].id = (uint16_t)i;
        c->devices[i].numa_node = -1;
    }
    if (check_conf(c, rq->conf, err) < 0) {
        nfq_close(c);
        return NULL;
    }
    return c;
}

/* --- queues ------------------------------------------------------------------------------- */

/* Runs on the receive thread when it collects its pool. */
static void packet_returned(struct packet *p, void *arg)
{
    struct nfq_queue *q = arg;
    struct nfq_slot *slot = capture_slot(p)->holder;

    if (slot == NULL)
        return;
    capture_slot(p)->holder = NULL;
    slot->next = q->free_slots;
    q->free_slots = slot;
}

/* Allocates when more packets are in flight than ever before; never in steady state. */
static struct nfq_slot *slot_get(struct nfq_queue *q)
{
    struct nfq_slot *slot = q->free_slots;

    if (UNLIKELY(slot == NULL))
        return lib_malloc(sizeof(*slot) + NFQ_SLOT_SIZE);
    q->free_slots = slot->next;
    return slot;
}

/* False: no memory for a slot; earlier ones stay armed. */
static bool arm(struct nfq_queue *q, unsigned i)
{
    struct nfq_slot *slot = slot_get(q);

    if (slot == NULL)
        return false;
    q->armed[i] = slot;
    q->part[i] = (struct iovec){ slot->data, NFQ_SLOT_SIZE };
    q->message[i].msg_hdr = (struct msghdr){ .msg_iov = &q->part[i], .msg_iovlen = 1 };
    return true;
}

static struct nfq_binding binding_of(const struct nfq_queue *q)
{
    return (struct nfq_binding){ q->fd, q->number };
}

/* Netfilter binds a queue to an address of netlink, which the socket keeps in another process. The
 * settings stay, too: an answer of the kernel could come to either process. */
static int adopt_socket(const struct nfq_queue *q, struct err *err)
{
    const struct capture_socket *from = handover_socket(q->from, q->index, 0);
    int fd;

    if (strcmp(from->device, q->capture->devices[q->index].name) != 0)
        return err_set(err, "the thread that reads %s here reads %s in the engine that runs: take "
                       "over with its queues, in the same order",
                       q->capture->devices[q->index].name, from->device);
    fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 3);
    return fd >= 0 ? fd : err_set(err, "netfilter queue %u: %s", q->number, strerror(errno));
}

/* One thread per queue: netfilter binds a queue to one socket. */
static void nfq_queue_close(void *queue);

static void *nfq_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                            struct counters *counters, struct err *err)
{
    struct nfq_capture *c = capture;
    struct nfq_queue *q;

    if (queue >= c->count) {
        err_set(err, "more threads than netfilter queues: each queue is read by one");
        return NULL;
    }
    q = xcalloc(1, sizeof(*q));
    q->capture = c;
    q->number = c->numbers[queue];
    q->pool = pool;
    q->counters = counters;
    q->index = queue;
    q->from = c->from;
    q->fd = c->from != NULL ? adopt_socket(q, err) : nfq_socket_open(&c->conf, q->number, err);
    if (q->fd < 0) {
        free(q);
        return NULL;
    }
    q->id = (struct nfq_counters){
        .packets = counter_register("capture.kernel_packets", COUNTER_SUM),
        .drops = counter_register("capture.kernel_drops", COUNTER_SUM),
        .errors = counter_register("capture.errors", COUNTER_SUM),
        .strays = counter_register_own("capture.nfq.not_ip", COUNTER_SUM),
    };
    q->own_verdicts = nfq_verdict_new(&c->conf, binding_of(q), counters, false, NULL);
    for (unsigned i = 0; i < VECTOR_FILL; i++)
        if (!arm(q, i)) {
            err_set(err, "netfilter queue %u: no memory", q->number);
            nfq_queue_close(q);
            return NULL;
        }
    packet_pool_on_return(pool, packet_returned, q);
    return q;
}

/* Any thread; the engine does not close the queue meanwhile. */
static int nfq_hand_over(void *queue, struct capture_handover *to, unsigned number, struct err *err)
{
    struct nfq_queue *q = queue;
    struct capture_socket *out = handover_socket(to, number, 0);

    *out = (struct capture_socket){ .fd = fcntl(q->fd, F_DUPFD_CLOEXEC, 3) };
    if (out->fd < 0)
        return err_set(err, "netfilter queue %u: %s", q->number, strerror(errno));
    snprintf(out->device, sizeof(out->device), "%s", q->capture->devices[q->index].name);
    __atomic_store_n(&q->to, to, __ATOMIC_RELEASE);
    return 0;
}

static int nfq_adopt(void *capture, struct capture_handover *from, struct err *err)
{
    struct nfq_capture *c = capture;

    if (c->count != from->queues)
        return err_set(err, "nfq: %u queues here, %u in the engine that runs: another number needs "
                       "a restart", c->count, from->queues);
    c->from = from;
    return 0;
}

static bool is_leaving(const struct nfq_queue *q)
{
    return handover_state(q->to) == HANDOVER_LEAVING;
}

/* The only source of drop counts is a file in /proc, shared by all queues. */
static void nfq_update_stats(void *queue)
{
    struct nfq_queue *q = queue;
    uint64_t drops = 0;

    if (q->capture->table == NULL)
        return;
    pthread_mutex_lock(&q->capture->table_lock);
    nfq_table_read(q->capture->table, q->number, &drops);
    pthread_mutex_unlock(&q->capture->table_lock);
    if (drops <= q->drops)
        return;
    counter_add(q->counters, q->id.drops, drops - q->drops);
    q->drops = drops;
}

static void nfq_queue_close(void *queue)
{
    struct nfq_queue *q = queue;

    packet_pool_collect(q->pool);
    if (q->capture->conf.fail_open && !is_leaving(q))
        nfq_verdict_accept_rest(q->own_verdicts, q->last_id);
    nfq_verdict_free(q->own_verdicts);
    close(q->fd);
    for (unsigned i = 0; i < VECTOR_FILL; i++)
        lib_free(q->armed[i]);
    while (q->free_slots != NULL) {
        struct nfq_slot *slot = q->free_slots;

        q->free_slots = slot->next;
        lib_free(slot);
    }
    free(q);
}

static void nfq_interrupt(void *queue)
{
    struct nfq_queue *q = queue;

    __atomic_store_n(&q->interrupted, 1, __ATOMIC_RELAXED);
}

/* --- receiving ---------------------------------------------------------------------------- */

/* wire_len is the length before the kernel truncated the copy, if it did. */
static void fill_packet(struct nfq_queue *q, struct packet *p, const struct nfq_message *m,
                        struct nfq_slot *slot, uint64_t now_us)
{
    slot->mark = m->mark;
    p->data = m->payload;
    p->len = m->len;
    p->wire_len = m->wire_len;
    p->time_us = now_us;
    p->datalink = DATALINK_RAW;
    p->source = PACKET_WIRE;
    p->mark = m->mark;
    capture_slot(p)->id = m->id;
    capture_slot(p)->holder = slot;
    if (m->checksum_pending || q->capture->conf.no_checksum)
        p->flags |= PACKET_NO_CHECKSUM;
}

/* Handles the message armed[i]. Returns false if the pool is empty: the message then waits. Accepts
 * and counts packets other than IP, because rules cannot inspect them. */
static bool take_message(struct nfq_queue *q, unsigned i, struct packet_vector *v)
{
    struct nfq_message m;
    struct packet *p;

    switch (nfq_message_read(q->armed[i]->data, q->message[i].msg_len, &m)) {
    case NFQ_ERROR:
        counter_inc(q->counters, q->id.errors);
        return true;
    case NFQ_OTHER:
        return true;
    case NFQ_PACKET:
        break;
    }
    q->last_id = m.id;
    if (m.payload == NULL || (m.protocol != ETH_P_IP && m.protocol != ETH_P_IPV6)) {
        counter_inc(q->counters, q->id.strays);
        nfq_verdict_add_id(q->own_verdicts, m.id, true);
        return true;
    }
    p = packet_pool_get(q->pool);
    if (p == NULL)
        return false;
    fill_packet(q, p, &m, q->armed[i], v->now_us);
    if (UNLIKELY(!arm(q, i))) {         /* nowhere to read the next one into */
        capture_slot(p)->holder = NULL;
        packet_release(p, PACKET_THREAD_OWNER);
        counter_inc(q->counters, q->id.errors);
        nfq_verdict_add_id(q->own_verdicts, m.id, q->capture->conf.fail_open);
        return true;
    }
    vector_push(v, p);
    return true;
}

static enum capture_status take_messages(struct nfq_queue *q, struct packet_vector *v)
{
    v->now_us = MAX(v->now_us, clock_wall_us());
    while (q->first < q->filled && take_message(q, q->first, v))
        q->first++;
    counter_add(q->counters, q->id.packets, v->count);
    return v->count > 0 ? CAPTURE_OK : CAPTURE_IDLE;
}

/* Reads up to a vector of messages with one call. Returns 0 if none is there. */
static int receive_messages(struct nfq_queue *q)
{
    int n = recvmmsg(q->fd, q->message, VECTOR_FILL, MSG_DONTWAIT, NULL);

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        counter_inc(q->counters, q->id.errors);
    q->first = 0;
    q->filled = n > 0 ? (unsigned)n : 0;
    return n > 0;
}

/* While another process waits for this one to stop, the thread notices it soon. */
static int wait_ms(struct nfq_queue *q)
{
    return handover_state(__atomic_load_n(&q->to, __ATOMIC_RELAXED)) == HANDOVER_NONE
               ? WAIT_MS : HASTY_MS;
}

static COLD enum capture_status wait_for_places(void)
{
    const struct timespec pause = { .tv_nsec = 1000000 };

    nanosleep(&pause, NULL);
    return CAPTURE_IDLE;
}

/* Messages that have left the socket are processed before the end, because only this process has
 * them. */
static enum capture_status nfq_receive(void *queue, struct packet_vector *v)
{
    struct nfq_queue *q = queue;
    struct pollfd at = { .fd = q->fd, .events = POLLIN };
    int ready;

    if (q->first < q->filled)
        return take_messages(q, v);
    if (UNLIKELY(__atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) != 0))
        return CAPTURE_END;
    if (UNLIKELY(q->from != NULL) && !handover_is_open(q->from))
        return wait_for_places();
    if (!receive_messages(q)) {
        packet_pool_collect(q->pool);
        vector_sleeps(v);
        ready = poll(&at, 1, wait_ms(q));
        vector_wakes(v);
        if (ready <= 0 || !receive_messages(q))
            return CAPTURE_IDLE;
    }
    return take_messages(q, v);
}

/* If a thread gives verdicts all the time, a helper gets no CPU, unless there are more CPUs than
 * such threads. */
static bool nfq_sends_apart(const struct conf_node *root, const char *source, unsigned threads,
                            unsigned cpus)
{
    (void)root;
    (void)source;
    return cpus > threads;
}

/* --- verdicts ----------------------------------------------------------------------------- */

static void *nfq_verdict_open(void *queue, struct counters *counters, bool in_order,
                           struct helper_thread *sender)
{
    struct nfq_queue *q = queue;

    return nfq_verdict_new(&q->capture->conf, binding_of(q), counters, in_order, sender);
}

static void nfq_add_verdict(void *tx, struct packet *p)
{
    nfq_verdict_add(tx, p);
}

static void nfq_flush(void *tx)
{
    nfq_verdict_flush(tx);
}

static void nfq_verdict_close(void *tx)
{
    nfq_verdict_free(tx);
}

/* Created packets take the routes of this machine. In mode repeat they need the mark that keeps the
 * firewall from queueing them again. */
static void nfq_reject_path(void *queue, const struct packet *p, struct capture_path *out)
{
    const struct nfq_queue *q = queue;
    const struct nfq_conf *conf = &q->capture->conf;

    (void)p;
    *out = (struct capture_path){ .mark = conf->mode == NFQ_REPEAT
                                              ? conf->repeat_mark & conf->repeat_mask : 0 };
}

static const char *const run_modes[] = { "workers", "autofp", "pipeline", NULL };

const struct capture_ops capture_nfq = {
    .name = "nfq",
    .label = "NFQ",
    .doc = "netfilter queues, inline",
    .default_run_mode = "workers",
    .run_modes = run_modes,
    .live = true,
    .verdicts = true,
    .sources = nfq_sources,
    .open = nfq_open,
    .queue_open = nfq_queue_open,
    .receive = nfq_receive,
    .sends_apart = nfq_sends_apart,
    .tx_open = nfq_verdict_open,
    .verdict = nfq_add_verdict,
    .tx_flush = nfq_flush,
    .tx_close = nfq_verdict_close,
    .reject_path = nfq_reject_path,
    .interrupt = nfq_interrupt,
    .update_stats = nfq_update_stats,
    .queue_close = nfq_queue_close,
    .hand_over = nfq_hand_over,
    .adopt = nfq_adopt,
    .close = nfq_close,
};
