/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/file.c - packets from capture files and directories of them.
 *
 * Frames of a file are used where the reader has them. Where all packets are back before the next
 * are wanted, they lie in one buffer over and over; elsewhere in a mapping, which stays until the
 * last packet that points into it has been returned. Several queues may be open: each reads
 * everything, and the threads behind them keep their share of the flows. */
#include "capture/pcap/file.h"

#include "base/array.h"
#include "base/report/log.h"
#include "capture/device/bpf_filter.h"
#include "capture/pcap/files.h"
#include "capture/pcap/reader.h"
#include "packet/decode.h"
#include "packet/turn.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* So many frames of others are passed over before the thread says how far it is. */
#define FRAMES_AT_ONCE (16 * VECTOR_FILL)

/* Link types a capture has told us about are few; one that is not known is said once. */
struct open_file {
    struct pcap_reader *reader;
    struct pcap_input *input;
    unsigned out;                   /* packets that point into it */
    bool is_read, link_type_logged;
    uint64_t alerts;
    struct open_file *next;
};

struct pcap_capture {
    struct pcap_files *files;
    const char *filter;
    size_t buffer_size;
    bool no_checksum;
    const volatile int *stop;       /* NULL: none */
    unsigned at_once;               /* packets in a vector: one where verdicts are simulated, so
                                     * that each is known before the next packet comes */
    bool file_per_queue;
    unsigned queues;                /* open; atomic */
    uint64_t done_bytes;            /* atomic; by queue 0, or of whole files */
    struct { uint64_t packets, bytes, files; } read;    /* atomic; of queues that have closed */
};

struct pcap_queue {
    struct pcap_capture *capture;
    struct packet_pool *pool;
    struct bpf_filter *filter;
    capture_choose_fn *takes;       /* NULL: all frames */
    void *takes_arg;
    unsigned number;
    bool speaks;                    /* of files: not also another queue */
    struct open_file *file;         /* being read; NULL: none */
    struct open_file *old;          /* read, but packets are still out */
    unsigned next_input;
    int interrupted;                /* atomic */
    bool failed;                    /* a file that was named could not be read at all */
    uint64_t packets, bytes, finished_bytes;
    uint64_t number_base;           /* packets before this capture: of a file, where it is one */
    uint64_t order;                 /* of the last packet */
    unsigned files_read;
};

static enum delete_when delete_when(const struct conf_node *root)
{
    const char *value = conf_string(root, "pcap-file.delete-when-done", "false");

    if (text_equal_nocase(text_of(value), "non-alerts"))
        return DELETE_WITHOUT_ALERTS;
    return conf_bool(root, "pcap-file.delete-when-done", false) ? DELETE_ALWAYS : DELETE_NEVER;
}

static void *file_open(const struct capture_request *rq, struct err *err)
{
    struct pcap_capture *c = xcalloc(1, sizeof(*c));
    struct pcap_files_conf files = {
        .paths = rq->sources,
        .recursive = conf_bool(rq->conf, "pcap-file.recursive", false),
        .continuous = conf_bool(rq->conf, "pcap-file.continuous", false),
        .delay_s = (unsigned)conf_u64_range(rq->conf, "pcap-file.delay", 30, 0, 86400),
        .poll_s = (unsigned)conf_u64_range(rq->conf, "pcap-file.poll-interval", 5, 1, 86400),
        .delete_when = delete_when(rq->conf),
        .one_reader = rq->file_per_queue,
    };

    c->filter = rq->bpf_filter != NULL ? rq->bpf_filter
                                       : conf_string(rq->conf, "pcap-file.bpf-filter", NULL);
    c->buffer_size = (size_t)conf_size(rq->conf, "pcap-file.buffer-size", 128 << 10);
    c->no_checksum = capture_checksums_read(conf_find(rq->conf, "pcap-file")) ==
                       CAPTURE_CHECKSUMS_NO;
    c->stop = rq->stop;
    c->file_per_queue = rq->file_per_queue;
    c->at_once = rq->simulate_ips ? 1 : VECTOR_FILL;
    c->files = pcap_files_new(&files, err);
    if (c->files == NULL) {
        free(c);
        return NULL;
    }
    return c;
}

static void file_close(struct pcap_queue *q, struct open_file *f)
{
    pcap_reader_close(f->reader);
    pcap_files_done(q->capture->files, f->input, f->alerts);
    free(f);
}

static void packet_returned(struct packet *p, void *arg)
{
    struct pcap_queue *q = arg;
    struct open_file *f = p->capture_slot;

    if (f == NULL)
        return;
    p->capture_slot = NULL;
    f->alerts += p->alert.count;
    f->out--;
    if (f->out > 0 || !f->is_read)
        return;
    for (struct open_file **at = &q->old; *at != NULL; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    file_close(q, f);
}

static void *file_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                             struct counters *counters, struct err *err)
{
    struct pcap_capture *c = capture;
    struct pcap_queue *q = xcalloc(1, sizeof(*q));

    (void)counters;
    q->capture = c;
    q->pool = pool;
    q->number = queue;
    q->speaks = queue == 0 || c->file_per_queue;
    if (c->filter != NULL && c->filter[0] != '\0') {
        q->filter = bpf_filter_new(c->filter, err);
        if (q->filter == NULL) {
            free(q);
            return NULL;
        }
    }
    packet_pool_on_return(pool, packet_returned, q);
    pcap_files_add_reader(c->files);
    __atomic_fetch_add(&c->queues, 1, __ATOMIC_RELAXED);
    return q;
}

/* A broken file is said once, though all threads find it so. */
static void log_input(const struct pcap_queue *q, const struct pcap_input *input, const char *text)
{
    if (!q->speaks)
        return;
    if (input->is_alone)
        log_error("pcap", "%s", text);
    else
        log_warning("pcap", "%s: skipped", text);
}

static void file_finished(struct pcap_queue *q, enum pcap_status status)
{
    struct open_file *f = q->file;

    if (status == PCAP_STATUS_BROKEN && q->speaks)
        log_warning("pcap", "%s: %s; what stood before it was read", f->input->path,
                    pcap_reader_problem(f->reader));
    else if (status == PCAP_STATUS_END)
        q->files_read++;
    q->finished_bytes += f->input->size;
    if (q->capture->file_per_queue)
        __atomic_fetch_add(&q->capture->done_bytes, f->input->size, __ATOMIC_RELAXED);
    q->file = NULL;
    f->is_read = true;
    if (f->out == 0) {
        file_close(q, f);
        return;
    }
    f->next = q->old;
    q->old = f;
}

static struct pcap_input *next_input(struct pcap_queue *q, bool *more)
{
    struct pcap_input *input;

    if (q->capture->file_per_queue)
        return pcap_files_take(q->capture->files, more);
    input = pcap_files_at(q->capture->files, q->next_input, more);
    q->next_input += input != NULL;
    return input;
}

/* Where verdicts are simulated frames are written to, which all threads look at. */
static struct byte_share *share_of(const struct pcap_queue *q, struct pcap_input *input)
{
    return q->takes != NULL && q->capture->at_once > 1
         ? pcap_files_share(q->capture->files, input) : NULL;
}

static bool open_next(struct pcap_queue *q, bool *more)
{
    struct pcap_input *input;
    struct err err = { 0 };
    struct open_file *f;

    while ((input = next_input(q, more)) != NULL) {
        struct pcap_reader *reader = pcap_reader_open_shared(
            input->path, q->capture->buffer_size, share_of(q, input), q->number, &err);

        if (reader == NULL) {
            log_input(q, input, err.text);
            q->failed = q->failed || input->is_alone;
            continue;
        }
        f = xcalloc(1, sizeof(*f));
        f->reader = reader;
        f->input = input;
        q->file = f;
        return true;
    }
    return false;
}

static bool is_interrupted(const struct pcap_queue *q)
{
    return __atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) != 0 ||
           (q->capture->stop != NULL && __atomic_load_n(q->capture->stop, __ATOMIC_RELAXED) != 0);
}

/* No file now. In a watched directory packets of the last one are called home, so that it can
 * be deleted. */
static enum capture_status wait_for_files(struct pcap_queue *q, bool more)
{
    struct timespec pause = { .tv_nsec = 100000000 };

    if (!more || is_interrupted(q))
        return q->failed ? CAPTURE_FAILED : CAPTURE_END;
    packet_pool_collect(q->pool);
    nanosleep(&pause, NULL);
    return CAPTURE_IDLE;
}

/* Every frame has a number and a place, also one that another thread takes. */
static void count_frame(struct pcap_queue *q, const struct pcap_frame *frame)
{
    q->packets++;
    q->order = order_next(q->order, frame->time_us);
    q->bytes += frame->len;
}

static void fill(struct pcap_queue *q, struct packet *p, const struct pcap_frame *frame)
{
    struct open_file *f = q->file;

    if (pcap_reader_is_stable(f->reader)) {
        p->data = frame->data;
    } else {
        buf_clear(&p->frame);
        buf_add(&p->frame, frame->data, frame->len);
        p->data = p->frame.data;
    }
    p->len = frame->len;
    p->wire_len = frame->wire_len;
    p->time_us = frame->time_us;
    p->number = q->packets - q->number_base;
    p->order = q->order;
    p->source = PACKET_WIRE;
    p->file_name = f->input->path;
    p->capture_slot = f;
    if (q->capture->no_checksum)
        p->flags |= PACKET_NO_CHECKSUM;
    f->out++;
}

static COLD void log_link_type(struct pcap_queue *q, int link_type)
{
    if (!q->file->link_type_logged && q->speaks)
        log_error("pcap", "%s: link type %d is not supported: its packets are left out",
                  q->file->input->path, link_type);
    q->file->link_type_logged = true;
}

/* The next frame that passes the filter. */
static enum pcap_status next_selected(struct pcap_queue *q, struct pcap_frame *frame,
                                    enum datalink *link)
{
    enum pcap_status status;

    while ((status = pcap_reader_next(q->file->reader, frame)) == PCAP_STATUS_FRAME) {
        *link = datalink_from_pcap(frame->link_type);
        if (UNLIKELY(*link == DATALINK_NONE)) {
            log_link_type(q, frame->link_type);
            continue;
        }
        if (q->filter == NULL || bpf_filter_matches(q->filter, frame->link_type, frame->data,
                                                    frame->len, frame->wire_len))
            break;
    }
    return status;
}

static void count_progress(struct pcap_queue *q)
{
    uint64_t done, total;

    if (q->number != 0 || q->file == NULL || q->capture->file_per_queue)
        return;
    pcap_reader_progress(q->file->reader, &done, &total);
    __atomic_store_n(&q->capture->done_bytes, q->finished_bytes + done, __ATOMIC_RELAXED);
}

/* The next frame that is ours, of at most *left. When that is 0 it is enough, with this frame if
 * *ours. */
static enum pcap_status next_ours(struct pcap_queue *q, struct packet_vector *v,
                                  struct pcap_frame *frame, enum datalink *link, unsigned *left,
                                  bool *ours)
{
    enum pcap_status status;

    while ((status = next_selected(q, frame, link)) == PCAP_STATUS_FRAME) {
        unsigned choice = CAPTURE_OURS;

        count_frame(q, frame);
        /* Others' frames, too: the end of the file is the same for all. */
        if (frame->time_us > v->now_us)
            v->now_us = frame->time_us;
        if (q->takes != NULL)
            choice = q->takes(q->takes_arg, *link, frame->data, frame->len, q->order);
        *ours = choice & CAPTURE_OURS;
        *left = UNLIKELY(choice & CAPTURE_HAND_OFF) ? 0 : *left - !*ours;
        if (*ours || *left == 0)
            break;
    }
    return status;
}

/* False: the file has ended, the pool is empty for now, none of the next frames is ours, there is
 * no room for it beside those of this vector, or what has been read is to be handed off. */
static bool receive_one(struct pcap_queue *q, struct packet_vector *v, unsigned *left)
{
    struct packet *p = packet_pool_get(q->pool);
    struct pcap_frame frame;
    enum datalink link = DATALINK_NONE;
    enum pcap_status status;
    bool ours = false;

    if (p == NULL)
        return false;
    status = next_ours(q, v, &frame, &link, left, &ours);
    if (UNLIKELY(status != PCAP_STATUS_FRAME)) {
        packet_release(p, PACKET_THREAD_OWNER);
        if (status == PCAP_STATUS_LATER)
            return false;
        count_progress(q);
        file_finished(q, status);
        return false;
    }
    if (UNLIKELY(!ours)) {
        packet_release(p, PACKET_THREAD_OWNER);
        return false;
    }
    fill(q, p, &frame);
    p->datalink = (uint8_t)link;
    vector_push(v, p);
    return *left > 0;
}

/* The next file is another capture: its packets count from 1, at its own time. */
static enum capture_status cut(struct pcap_queue *q)
{
    q->number_base = q->packets;
    q->order = 0;
    return CAPTURE_CUT;
}

static enum capture_status file_receive(void *queue, struct packet_vector *v)
{
    struct pcap_queue *q = queue;
    unsigned left = FRAMES_AT_ONCE;
    bool more = false;

    v->order_at = q->order + 1;
    if (UNLIKELY(is_interrupted(q)))
        return CAPTURE_END;
    if (q->file == NULL && !open_next(q, &more))
        return wait_for_files(q, more);
    if (q->file->out == 0)
        pcap_reader_release(q->file->reader);
    else
        pcap_reader_hold(q->file->reader);
    while (v->count < q->capture->at_once && receive_one(q, v, &left))
        ;
    v->order_at = q->order + 1;
    if (UNLIKELY(q->file == NULL && q->capture->file_per_queue))
        return cut(q);
    count_progress(q);
    return CAPTURE_OK;
}

static void file_choose(void *queue, capture_choose_fn *takes, void *arg)
{
    struct pcap_queue *q = queue;

    q->takes = takes;
    q->takes_arg = arg;
}

static void file_interrupt(void *queue)
{
    struct pcap_queue *q = queue;

    __atomic_store_n(&q->interrupted, 1, __ATOMIC_RELAXED);
}

static void log_end(const struct pcap_capture *c)
{
    log_notice("pcap", "read %llu file%s, %llu packets, %llu bytes",
               (unsigned long long)c->read.files, c->read.files == 1 ? "" : "s",
               (unsigned long long)c->read.packets, (unsigned long long)c->read.bytes);
}

static void file_queue_close(void *queue)
{
    struct pcap_queue *q = queue;

    packet_pool_collect(q->pool);
    if (q->file != NULL)
        file_finished(q, PCAP_STATUS_FRAME);
    if (q->speaks) {
        __atomic_fetch_add(&q->capture->read.packets, q->packets, __ATOMIC_RELAXED);
        __atomic_fetch_add(&q->capture->read.bytes, q->bytes, __ATOMIC_RELAXED);
        __atomic_fetch_add(&q->capture->read.files, q->files_read, __ATOMIC_RELAXED);
    }
    if (__atomic_sub_fetch(&q->capture->queues, 1, __ATOMIC_ACQ_REL) == 0)
        log_end(q->capture);
    bpf_filter_free(q->filter);
    free(q);
}

static void file_capture_close(void *capture)
{
    struct pcap_capture *c = capture;

    pcap_files_free(c->files);
    free(c);
}

void pcap_file_progress(void *capture, uint64_t *done, uint64_t *total)
{
    struct pcap_capture *c = capture;

    *done = __atomic_load_n(&c->done_bytes, __ATOMIC_RELAXED);
    *total = pcap_files_total(c->files);
}

static const char *const run_modes[] = { "single", "autofp", "workers", "pipeline", NULL };

const struct capture_ops capture_pcap_file = {
    .name = "pcap-file",
    .label = "PCAP_FILE",
    .doc = "capture files and directories of them",
    .default_run_mode = "autofp",
    .run_modes = run_modes,
    .open = file_open,
    .queue_open = file_queue_open,
    .choose = file_choose,
    .receive = file_receive,
    .interrupt = file_interrupt,
    .queue_close = file_queue_close,
    .close = file_capture_close,
};
