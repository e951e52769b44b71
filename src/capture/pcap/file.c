/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/file.c - packets from capture files and directories of them.
 *
 * Frames of a file are used where the reader has them. If all packets are back before the next are
 * read, they are in one buffer that is used again and again. Otherwise they are in a mapping, which
 * stays until the last packet that points into it has returned.
 *
 * Several threads may share the capture. Then one queue reads it for all and returns frames; the
 * threads' own queues only make packets of them. */
#include "capture/pcap/file.h"

#include "base/array.h"
#include "base/report/log.h"
#include "capture/device/bpf_filter.h"
#include "capture/pcap/file_list.h"
#include "capture/pcap/reader.h"
#include "packet/decode.h"
#include "sequencer/sequencer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRESS_FRAMES 1024        /* between two updates of a shared file's progress */

#define PIPE_WAIT_MS 100

/* Counts of one queue for one file; only the thread of the queue's pool writes them. */
struct file_user {
    CACHE_ALIGNED uint64_t home;    /* packets of it that have returns to the pool; atomic */
    uint64_t alerts;                /* of them, those with any; atomic */
};

/* A file that is read, or that was read while packets of it are in flight. A link type that is not
 * supported is logged once per file. */
struct open_file {
    struct pcap_reader *reader;
    struct pcap_input *input;
    uint64_t frames;                /* frames that are or will be packets */
    bool is_read, link_type_logged;
    bool is_mapped;                 /* shared file: frames stay in place */
    struct open_file *next;
    struct file_user *user;         /* by queue; the last one is that of the queue that reads */
};

/* Opened once; queues on several threads use it. */
struct pcap_capture {
    struct pcap_files *files;
    const char *filter;
    size_t buffer_size;
    bool no_checksum;
    bool mixed_interfaces;          /* pcapng: read them all */
    bool after_2038;                /* pcap: seconds above 2^31 are a time */
    const volatile int *stop;       /* NULL: none */
    unsigned at_once;               /* packets in a vector: one where verdicts are simulated, so
                                     * that each is known before the next packet comes */
    bool file_per_queue, is_shared;
    unsigned threads;               /* queues without the one that reads for them */
    unsigned queues;                /* open; atomic */
    uint64_t done_bytes;            /* atomic; by queue 0, or of complete files */
    struct { uint64_t packets, bytes, files; } read;    /* atomic; totals of closed queues */
};

/* State of one queue: a receive thread, or the scan of a shared file. */
struct pcap_queue {
    struct pcap_capture *capture;
    struct packet_pool *pool;
    struct bpf_filter *filter;
    unsigned number;
    unsigned user;                  /* in open_file.user */
    bool reads;                     /* otherwise another queue does */
    bool speaks;                    /* logs about files; of several queues one does */
    struct open_file *file;         /* being read; NULL: none */
    struct open_file *old;          /* read, but packets are still out */
    struct capture_file *last;      /* with packets; NULL: none yet */
    unsigned next_input;
    int interrupted;                /* atomic */
    bool failed;                    /* a file that was named could not be read at all */
    uint64_t packets_waited;        /* packets when the scan last found nothing in a pipe */
    uint64_t packets, bytes, finished_bytes;
    uint64_t number_base;           /* packets before this capture: of a file, where it is one */
    uint64_t seqno;                 /* sequence number of the last packet */
    unsigned files_read;
};

/* Suricata's key: yes, no or non-alerts. */
static enum delete_when delete_when(const struct conf_node *root)
{
    const char *value = conf_string(root, "pcap-file.delete-when-done", "false");

    if (text_equal_nocase(text_of(value), "non-alerts"))
        return DELETE_WITHOUT_ALERTS;
    return conf_bool(root, "pcap-file.delete-when-done", false) ? DELETE_ALWAYS : DELETE_NEVER;
}

/* Today such a time comes from a broken or made-up file, and Suricata makes 1970 of it. Once the
 * clock itself is past 2038, captures have such times. */
static bool goes_beyond_2038(const struct conf_node *root)
{
    const char *value = conf_string(root, "pcap-file.times-after-2038", "auto");

    if (text_equal_nocase(text_of(value), "auto"))
        return time(NULL) > INT32_MAX;
    return conf_bool(root, "pcap-file.times-after-2038", false);
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
    };

    c->filter = rq->bpf_filter != NULL ? rq->bpf_filter
                                       : conf_string(rq->conf, "pcap-file.bpf-filter", NULL);
    c->buffer_size = (size_t)conf_size(rq->conf, "pcap-file.buffer-size", 128 << 10);
    c->no_checksum = capture_checksums_read(conf_find(rq->conf, "pcap-file")) ==
                       CAPTURE_CHECKSUMS_NO;
    c->mixed_interfaces = conf_bool(rq->conf, "pcap-file.mixed-interfaces", false);
    c->after_2038 = goes_beyond_2038(rq->conf);
    c->stop = rq->stop;
    c->file_per_queue = rq->file_per_queue;
    c->is_shared = rq->is_shared;
    c->threads = rq->threads;
    c->at_once = rq->simulate_ips ? 1 : VECTOR_FILL;
    c->files = pcap_files_new(&files, err);
    if (c->files == NULL) {
        free(c);
        return NULL;
    }
    return c;
}

/* Queues that may hold packets of a file. */
static unsigned users_of(const struct pcap_capture *c)
{
    return c->is_shared ? c->threads + 1 : 1;
}

/* All packets are back; non-alerts decides here whether the file is deleted. */
static void file_close(struct pcap_queue *q, struct open_file *f)
{
    uint64_t alerts = 0;

    for (unsigned i = 0; i < users_of(q->capture); i++)
        alerts += __atomic_load_n(&f->user[i].alerts, __ATOMIC_RELAXED);
    pcap_reader_close(f->reader);
    pcap_files_done(q->capture->files, f->input, alerts);
    free(f->user);
    free(f);
}

/* A packet of a thread counts as returned when its thread has collected it. Acquire pairs with the
 * release in packet_returned(): after equality no thread reads the mapping. */
static bool all_home(const struct pcap_queue *q, const struct open_file *f)
{
    uint64_t home = 0;

    for (unsigned i = 0; i < users_of(q->capture); i++)
        home += __atomic_load_n(&f->user[i].home, __ATOMIC_ACQUIRE);
    return home == f->frames;
}

/* The queue that reads closes files whose last packet has returned. */
static void close_old(struct pcap_queue *q)
{
    struct open_file **at = &q->old, *f;

    while ((f = *at) != NULL) {
        if (!all_home(q, f)) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        file_close(q, f);
    }
}

/* Runs on the thread that owns the packet's pool, so each counter has one writer. */
static void packet_returned(struct packet *p, void *arg)
{
    struct pcap_queue *q = arg;
    struct open_file *f = capture_slot(p)->holder;
    struct file_user *user;

    if (f == NULL)
        return;
    capture_slot(p)->holder = NULL;
    user = &f->user[q->user];
    if (UNLIKELY(p->action & ACTION_ALERT))
        __atomic_store_n(&user->alerts, user->alerts + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&user->home, user->home + 1, __ATOMIC_RELEASE);
    if (UNLIKELY(q->reads && f->is_read))
        close_old(q);
}

/* All threads find a broken file; one logs it. Named files are errors, files of a directory are
 * skipped with a warning. */
static void log_input(const struct pcap_queue *q, const struct pcap_input *input, const char *text)
{
    if (!q->speaks)
        return;
    if (input->is_alone)
        log_error("pcap", "%s", text);
    else
        log_warning("pcap", "%s: skipped", text);
}

/* A broken file keeps the packets before the damage. Without any the start has failed, as in
 * Suricata. */
static void file_finished(struct pcap_queue *q, enum pcap_status status)
{
    struct open_file *f = q->file;

    if (status == PCAP_STATUS_BROKEN && q->speaks)
        log_warning("pcap", "%s: %s; the packets before it were read", f->input->path,
                    pcap_reader_problem(f->reader));
    else if (status == PCAP_STATUS_END)
        q->files_read++;
    if (status == PCAP_STATUS_BROKEN && f->frames == 0 && f->input->is_alone)
        q->failed = true;
    q->finished_bytes += f->input->size;
    if (q->capture->file_per_queue)
        __atomic_fetch_add(&q->capture->done_bytes, f->input->size, __ATOMIC_RELAXED);
    q->file = NULL;
    f->is_read = true;
    f->next = q->old;
    q->old = f;
    close_old(q);
}

/* With a file per queue, each file goes to the first queue that requests one. */
static struct pcap_input *next_input(struct pcap_queue *q, bool *more)
{
    struct pcap_input *input;

    if (q->capture->file_per_queue)
        return pcap_files_take(q->capture->files, more);
    input = pcap_files_at(q->capture->files, q->next_input, more);
    q->next_input += input != NULL;
    return input;
}

/* Skips files that cannot be opened. False: there is no file now; *more: there may be later. */
static struct open_file *open_input(const struct pcap_capture *c, struct pcap_input *input,
                                    struct err *err)
{
    size_t users = users_of(c) * sizeof(struct file_user);
    struct open_file *f = calloc(1, sizeof(*f));

    if (f == NULL || (f->user = aligned_alloc(CACHE_LINE, users)) == NULL) {
        err_set(err, "%s: no memory to read it", input->path);
        free(f);
        return NULL;
    }
    memset(f->user, 0, users);
    f->input = input;
    f->reader = pcap_reader_open(input->path, c->buffer_size, err);
    if (f->reader == NULL) {
        free(f->user);
        free(f);
        return NULL;
    }
    if (c->mixed_interfaces)
        pcap_reader_mix(f->reader);
    if (c->after_2038)
        pcap_reader_go_beyond_2038(f->reader);
    f->is_mapped = c->is_shared && pcap_reader_hold(f->reader, false);
    return f;
}

static bool open_next(struct pcap_queue *q, bool *more)
{
    struct pcap_input *input;
    struct err err = { 0 };
    struct open_file *f;

    while ((input = next_input(q, more)) != NULL) {
        f = open_input(q->capture, input, &err);
        if (f != NULL) {
            q->file = f;
            return true;
        }
        log_input(q, input, err.text);
        q->failed = q->failed || input->is_alone;
    }
    return false;
}

/* The first file is opened here, before --user takes effect: only the old user may be able to read
 * it. A pipe is not, because that waits for its writer. */
static void *file_queue_open(void *capture, unsigned queue, struct packet_pool *pool,
                             struct counters *counters, struct err *err)
{
    struct pcap_capture *c = capture;
    struct pcap_queue *q = xcalloc(1, sizeof(*q));
    bool more;

    (void)counters;
    q->capture = c;
    q->pool = pool;
    q->reads = !c->is_shared || queue == CAPTURE_SCAN;
    q->number = queue == CAPTURE_SCAN ? 0 : queue;
    q->user = !c->is_shared ? 0 : queue == CAPTURE_SCAN ? c->threads : queue;
    q->speaks = q->reads && (q->number == 0 || c->file_per_queue);
    if (c->filter != NULL && c->filter[0] != '\0') {
        q->filter = bpf_filter_new(c->filter, err);
        if (q->filter == NULL) {
            free(q);
            return NULL;
        }
    }
    if (q->reads && pcap_files_first_is_regular(c->files))
        (void)open_next(q, &more);
    packet_pool_on_return(pool, packet_returned, q);
    __atomic_fetch_add(&c->queues, 1, __ATOMIC_RELAXED);
    return q;
}

static bool is_interrupted(const struct pcap_queue *q)
{
    return __atomic_load_n(&q->interrupted, __ATOMIC_RELAXED) != 0 ||
           (q->capture->stop != NULL && __atomic_load_n(q->capture->stop, __ATOMIC_RELAXED) != 0);
}

/* There is no file now. A watched directory may get more; until then packets of the last file are
 * collected, so that it can be closed and deleted. */
static enum capture_status wait_for_files(struct pcap_queue *q, bool more)
{
    struct timespec pause = { .tv_nsec = 100000000 };

    if (!more || is_interrupted(q))
        return q->failed ? CAPTURE_FAILED : CAPTURE_END;
    packet_pool_collect(q->pool);
    nanosleep(&pause, NULL);
    return CAPTURE_IDLE;
}

/* A pipe without data does not hold up what the thread does beside packets. True: nothing came. */
static COLD bool wait_for_pipe(const struct pcap_queue *q)
{
    return pcap_reader_wait(q->file->reader, PIPE_WAIT_MS);
}

static void count_frame(struct pcap_queue *q, const struct pcap_frame *frame)
{
    q->packets++;
    q->seqno = seqno_next(q->seqno, frame->time_us);
    q->bytes += frame->len;
}

/* True if packets may use the frame in place. Simulated verdicts may write to frames; in a shared
 * mapping the reading thread releases pages, which would undo that. So these are copied. */
static bool is_stable(const struct pcap_queue *q)
{
    if (q->capture->is_shared)
        return q->file->is_mapped && q->capture->at_once > 1;
    return pcap_reader_is_stable(q->file->reader);
}

/* Files that are captures of their own do not know each other. */
static COLD void begin_file(struct pcap_queue *q, enum datalink link)
{
    struct capture_file *file = &q->file->input->file;

    capture_file_begin(file, q->capture->file_per_queue ? NULL : q->last, q->seqno, (uint8_t)link);
    q->last = file;
}

/* Makes a reference of the frame; packets are made from it on the thread that inspects. */
static void return_frame(struct pcap_queue *q, const struct pcap_frame *frame, enum datalink link,
                 struct frame_ref *out)
{
    struct open_file *f = q->file;

    *out = (struct frame_ref){ .data = frame->data, .len = frame->len,
                               .wire_len = frame->wire_len, .time_us = frame->time_us,
                               .number = q->packets - q->number_base, .seqno = q->seqno,
                               .file = f, .datalink = (uint8_t)link,
                               .is_stable = is_stable(q) };
    if (UNLIKELY(f->frames == 0))
        begin_file(q, link);
    f->frames++;
}

/* Runs on the inspecting thread, for a shared file on another one than the scan. */
static void file_take(void *queue, const struct frame_ref *frame, struct packet *p)
{
    const struct pcap_queue *q = queue;
    struct open_file *f = frame->file;

    p->len = frame->len;
    if (LIKELY(frame->is_stable)) {
        p->data = frame->data;
    } else {
        buf_clear(&p->frame);
        if (!buf_add(&p->frame, frame->data, frame->len))
            p->len = 0;                 /* counted by the decoder, as one too short */
        p->data = p->len > 0 ? p->frame.data : p->pseudo_headers;
    }
    p->wire_len = frame->wire_len;
    p->time_us = frame->time_us;
    p->number = frame->number;
    p->seqno = frame->seqno;
    p->source = PACKET_WIRE;
    p->datalink = frame->datalink;
    p->file = &f->input->file;
    capture_slot(p)->holder = f;
    if (q->capture->no_checksum)
        p->flags |= PACKET_NO_CHECKSUM;
}

static COLD void log_link_type(struct pcap_queue *q, int link_type)
{
    if (!q->file->link_type_logged && q->speaks)
        log_error("pcap", "%s: link type %d is not supported: its packets are left out",
                  q->file->input->path, link_type);
    q->file->link_type_logged = true;
}

/* The next frame with a supported link type that the filter accepts. */
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

/* Only one queue writes the progress. */
static void count_progress(struct pcap_queue *q)
{
    uint64_t done, total;

    if (q->number != 0 || q->file == NULL || q->capture->file_per_queue)
        return;
    pcap_reader_progress(q->file->reader, &done, &total);
    __atomic_store_n(&q->capture->done_bytes, q->finished_bytes + done, __ATOMIC_RELAXED);
}

/* Takes one packet. False: the file has ended, the pool is empty, or the next frame would overwrite
 * those of this vector. */
static bool receive_one(struct pcap_queue *q, struct packet_vector *v)
{
    struct packet *p = packet_pool_get(q->pool);
    struct pcap_frame frame;
    struct frame_ref given;
    enum datalink link = DATALINK_NONE;
    enum pcap_status status;

    if (p == NULL)
        return false;
    status = next_selected(q, &frame, &link);
    if (UNLIKELY(status != PCAP_STATUS_FRAME)) {
        packet_release(p, PACKET_THREAD_OWNER);
        if (status == PCAP_STATUS_LATER)
            return false;
        count_progress(q);
        file_finished(q, status);
        return false;
    }
    count_frame(q, &frame);
    if (frame.time_us > v->now_us)
        v->now_us = frame.time_us;
    return_frame(q, &frame, link, &given);
    file_take(q, &given, p);
    vector_push(v, p);
    return true;
}

/* The next file is another capture: its packets count from 1 and it has its own time. */
static enum capture_status cut(struct pcap_queue *q)
{
    q->number_base = q->packets;
    q->seqno = 0;
    return CAPTURE_CUT;
}

/* seqno_at tells the engine's merge that all later packets have higher positions, even with an
 * empty vector. */
static enum capture_status file_receive(void *queue, struct packet_vector *v)
{
    struct pcap_queue *q = queue;
    bool more = false;

    v->seqno_at = q->seqno + 1;
    if (UNLIKELY(is_interrupted(q)))
        return CAPTURE_END;
    if (q->file == NULL && !open_next(q, &more))
        return wait_for_files(q, more);
    if (all_home(q, q->file))
        pcap_reader_release(q->file->reader);
    else
        pcap_reader_hold(q->file->reader, true);
    while (v->count < q->capture->at_once && receive_one(q, v))
        ;
    v->seqno_at = q->seqno + 1;
    if (UNLIKELY(v->count == 0 && q->file != NULL && wait_for_pipe(q)))
        return CAPTURE_IDLE;
    if (UNLIKELY(q->file == NULL && q->capture->file_per_queue))
        return cut(q);
    count_progress(q);
    return CAPTURE_OK;
}

/* What is in the batch does not wait for more. True: look again. */
static COLD bool pipe_has_more(struct pcap_queue *q)
{
    bool has_new = q->packets != q->packets_waited;

    q->packets_waited = q->packets;
    return !has_new && !wait_for_pipe(q);
}

/* Reads one file after the other. A frame knows its file; nothing else separates files in a
 * batch. */
static enum capture_status file_scan(void *queue, struct frame_ref *out)
{
    struct pcap_queue *q = queue;
    enum datalink link = DATALINK_NONE;
    enum pcap_status status;
    struct pcap_frame frame;
    bool more = false;

    while (!is_interrupted(q)) {
        if (q->file == NULL && !open_next(q, &more)) {
            close_old(q);
            if (more)
                return CAPTURE_IDLE;
            return q->failed ? CAPTURE_FAILED : CAPTURE_END;
        }
        if (UNLIKELY(!q->file->is_mapped))
            pcap_reader_release(q->file->reader);
        status = next_selected(q, &frame, &link);
        if (LIKELY(status == PCAP_STATUS_FRAME)) {
            count_frame(q, &frame);
            return_frame(q, &frame, link, out);
            if (UNLIKELY(q->packets % PROGRESS_FRAMES == 0))
                count_progress(q);
            return CAPTURE_OK;
        }
        count_progress(q);
        if (status != PCAP_STATUS_LATER)
            file_finished(q, status);
        else if (!pipe_has_more(q))
            return CAPTURE_IDLE;
    }
    return CAPTURE_END;
}

/* Frames that are copied stay in no mapping; files before this one are closed as a whole. */
static void file_scan_release(void *queue, const struct frame_ref *frame)
{
    struct pcap_queue *q = queue;

    if (frame->file == q->file && q->file != NULL && q->file->is_mapped)
        pcap_reader_release_to(q->file->reader, frame->data);
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

/* All packets are back. Frames that no thread has taken may remain, so files close without
 * counting. */
static void file_queue_close(void *queue)
{
    struct pcap_queue *q = queue;
    struct open_file *f;

    packet_pool_collect(q->pool);
    if (q->file != NULL)
        file_finished(q, PCAP_STATUS_FRAME);
    while ((f = q->old) != NULL) {
        q->old = f->next;
        file_close(q, f);
    }
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

/* Both in bytes of the files on disk. */
static void file_progress(void *capture, struct capture_progress *out)
{
    struct pcap_capture *c = capture;

    out->bytes = __atomic_load_n(&c->done_bytes, __ATOMIC_RELAXED);
    out->total_bytes = pcap_files_total(c->files);
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
    .scan = file_scan,
    .take = file_take,
    .scan_release = file_scan_release,
    .receive = file_receive,
    .interrupt = file_interrupt,
    .queue_close = file_queue_close,
    .progress = file_progress,
    .close = file_capture_close,
};
