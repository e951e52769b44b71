/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/flow_partition.c - the scan of a file that several threads inspect, and each thread's
 * reader of what the scan has found. */
#include "modules/flow_partition.h"

#include "app/session.h"
#include "base/array.h"
#include "modules/checksum_sample.h"
#include "packet/decode/peek.h"
#include "sequencer/batches.h"
#include "sequencer/hosts.h"
#include "sequencer/setup.h"

#include <stdlib.h>
#include <time.h>

/* Buckets of flows, by hash. Many more than threads, so that busy buckets spread. */
#define OWNER_BITS 18
/* Packets that the scan has decoded and that have not returned: as many as a batch has frames, and
 * their inner packets. */
#define SCAN_POOL (2 * SEQ_BATCH_FRAMES)
/* Enough for one frame with tunnels in tunnels. */
#define SCAN_RESERVE (3 * VECTOR_FILL)

/* Frames that are read before the first of them is added to the batch. */
#define SCAN_GROUP 16u

/* A thread without work checks again after this; usually it is woken earlier. */
#define SLEEP_NS 100000000
/* So many frames ahead their bytes are prefetched, and so many bytes of each. */
#define FETCH_AHEAD 8
#define FETCH_MAX 2048u

/* Pauses when no frame can be read: a watched directory has no file, or the pool is empty. */
#define PAUSE_FILES_NS 100000000
#define PAUSE_POOL_NS 200000

/* Members from `owner` on belong to the scan, under the lock of the batches. */
struct flow_partition {
    struct run_context *ctx;
    struct seq_batches *batches;
    struct seq_hosts *hosts;            /* the sequencer's; NULL: there is none */
    unsigned threads, users;            /* users: under the engine's turn to open; atomic */
    uint16_t owner[1 << OWNER_BITS];    /* thread + 1; 0: none yet. Scan only, as all below */
    void *queue;
    struct packet_pool *pool;
    struct decoder *decoder;
    struct counters *counters;
    struct checksum_sample sample;
    struct packet_vector decoded;
    uint64_t now_us, end, last_us;
    unsigned left, taken;               /* packets in the pool, when it was last counted */
    uint64_t pause_ns;                  /* atomic: longest wait before the next scan, by the
                                         * reason why the last found nothing */
};

struct flow_places {
    uint32_t bucket, src, dst;          /* src, dst: in the table of hosts */
    bool has_flow;
};

/* A frame that the scan has read and has not added yet. */
struct scan_frame {
    struct frame_ref frame;
    struct packet_peek peek;            /* and places: if is_plain */
    struct flow_places places;
    bool is_plain;
};

struct scan_group {
    struct scan_frame frame[SCAN_GROUP];
    unsigned count;
};

/* One per thread. */
struct partition_reader {
    struct flow_partition *part;
    void *queue;
    struct packet_pool *pool;
    unsigned thread, at_once;
    struct seq_thread engine;
    struct seq_batch *batch;            /* NULL: none yet */
    struct seq_list list;               /* what is left of it; empty: none */
    uint64_t end;                       /* of the last batch */
    bool is_idle;                       /* has reported so, and may sleep */
};

/* --- the scan --------------------------------------------------------------------------------- */

/* Where the tables know a flow and its hosts. The scan has this some frames before it uses the
 * tables, whose entries are then in the cache. */
static struct flow_places find_places(const struct flow_partition *part, uint32_t flow_hash,
                                      const struct ip *src, const struct ip *dst)
{
    struct flow_places at = { .has_flow = flow_hash != 0,
                              .bucket = (flow_hash * 0x9e3779b1u) >> (32 - OWNER_BITS) };

    PREFETCH(&part->owner[at.bucket]);
    if (part->hosts != NULL) {
        at.src = seq_hosts_slot(part->hosts, src);
        at.dst = seq_hosts_slot(part->hosts, dst);
    }
    return at;
}

/* The thread that has one of the two hosts alone: the less do threads wait for each other. */
static int thread_of_hosts(const struct flow_partition *part, const struct flow_places *at)
{
    int thread;

    if (part->hosts == NULL)
        return -1;
    thread = seq_hosts_thread(part->hosts, at->src);
    return thread >= 0 ? thread : seq_hosts_thread(part->hosts, at->dst);
}

/* The first frame of a bucket decides its owner. Packets without a flow are thread 0's, as for
 * schedulers. */
static unsigned owner_of(struct flow_partition *part, const struct flow_places *at)
{
    uint16_t *owner = &part->owner[at->bucket];

    if (UNLIKELY(!at->has_flow))
        return 0;
    if (UNLIKELY(*owner == 0))
        *owner = (uint16_t)(seq_batches_choose(part->batches, thread_of_hosts(part, at)) + 1);
    return *owner - 1u;
}

static struct seq_entry *add(struct flow_partition *part, struct seq_batch *batch,
                             unsigned thread)
{
    seq_batches_assign(part->batches, thread, 1);
    return seq_batch_add(batch, thread);
}

/* Notes connections that may announce others, in the order of the capture, before any thread
 * inspects what follows. */
static void note_plain(const struct flow_partition *part, const struct packet_peek *peek,
                       uint64_t seqno)
{
    const struct run_context *ctx = part->ctx;

    if (!peek->is_tcp || ctx->seq == NULL || ctx->app == NULL ||
        LIKELY(!expectation_parent_is_likely(ctx->app, peek->payload, peek->payload_len)))
        return;
    expectation_parent_add(ctx->app, &(struct expectation_opening){
        packet_peek_src(peek), packet_peek_dst(peek), peek->flow_hash, seqno, false });
}

/* Before any thread has the packet. */
static void note_hosts(const struct flow_partition *part, const struct flow_places *at,
                       unsigned thread)
{
    if (part->hosts == NULL)
        return;
    seq_hosts_add(part->hosts, at->src, thread);
    seq_hosts_add(part->hosts, at->dst, thread);
}

/* Copies the bytes of frames that do not stay in memory into the batch. */
static void add_plain(struct flow_partition *part, struct seq_batch *batch,
                      const struct scan_frame *f)
{
    const struct frame_ref *frame = &f->frame;
    unsigned thread = owner_of(part, &f->places);
    struct seq_entry *e = add(part, batch, thread);

    note_hosts(part, &f->places, thread);
    note_plain(part, &f->peek, frame->seqno);
    e->frame = *frame;
    e->packet = NULL;
    if (!frame->is_stable && !buf_add(&batch->bytes, frame->data, frame->len))
        e->frame.len = 0;               /* counted by the decoder, as one too short */
}

static void add_packet(struct flow_partition *part, struct seq_batch *batch, struct packet *p)
{
    const struct run_context *ctx = part->ctx;
    struct flow_places at = find_places(part, p->flow_hash, &p->src, &p->dst);
    unsigned thread = owner_of(part, &at);

    note_hosts(part, &at, thread);
    if (ctx->seq != NULL && ctx->app != NULL)
        expectation_parent_packet(ctx->app, p, false);
    if (ctx->gives_verdict && p->root != NULL && p->root != p)
        p->root->inner_count++;
    add(part, batch, thread)->packet = p;
}

/* Counts all packets of a frame before one of them moves on: no thread has the batch yet. */
static void add_decoded(struct flow_partition *part, struct seq_batch *batch,
                        const struct frame_ref *frame)
{
    struct packet_vector *v = &part->decoded;
    struct packet *p = packet_pool_get(part->pool);

    part->ctx->capture->take(part->queue, frame, p);
    if (part->sample.mode == CHECKSUM_OFF)
        checksum_ignore(p);
    v->count = 0;
    vector_push(v, p);
    decode_packet(part->decoder, v, 0);
    for (unsigned i = 0; i < v->count; i++) {
        if (UNLIKELY(part->sample.mode == CHECKSUM_SAMPLING))
            checksum_sample_add(&part->sample, v->packet[i]);
        add_packet(part, batch, v->packet[i]);
    }
}

/* Whether the pool has packets for everything that one frame may become. Counts the pool only if
 * its last count is used up. */
static bool pool_has_space(struct flow_partition *part)
{
    unsigned taken = packet_pool_taken(part->pool);

    if (LIKELY(part->left >= SCAN_RESERVE + (taken - part->taken)))
        return true;
    part->left = packet_pool_left(part->pool);
    part->taken = taken;
    return part->left >= SCAN_RESERVE;
}

/* Plain frames are only peeked at; the thread that owns the flow decodes them. */
static void peek_frame(const struct flow_partition *part, struct scan_frame *f)
{
    struct ip src, dst;

    f->is_plain = part->sample.mode != CHECKSUM_SAMPLING &&
                  packet_peek(part->ctx->decode, (enum datalink)f->frame.datalink, f->frame.data,
                              f->frame.len, &f->peek);
    if (UNLIKELY(!f->is_plain))
        return;
    src = packet_peek_src(&f->peek);
    dst = packet_peek_dst(&f->peek);
    f->places = find_places(part, f->peek.flow_hash, &src, &dst);
}

/* Reads some frames before any of them is added, so that what the tables know of them is in the
 * cache by then. A frame that has to be decoded is the last of its group, because it may change the
 * checksum mode. So is one whose bytes are gone when the next is read. */
static enum capture_status read_group(struct flow_partition *part, struct scan_group *group,
                                      unsigned most)
{
    enum capture_status status = CAPTURE_OK;
    bool goes_on = true;

    group->count = 0;
    while (goes_on && group->count < most) {
        struct scan_frame *f = &group->frame[group->count];

        status = part->ctx->capture->scan(part->queue, &f->frame);
        if (UNLIKELY(status != CAPTURE_OK))
            break;
        peek_frame(part, f);
        goes_on = f->is_plain && f->frame.is_stable;
        group->count++;
    }
    return status;
}

static void add_group(struct flow_partition *part, struct seq_batch *batch,
                      const struct scan_group *group)
{
    for (unsigned i = 0; i < group->count; i++) {
        const struct scan_frame *f = &group->frame[i];

        part->now_us = MAX(part->now_us, f->frame.time_us);
        part->last_us = f->frame.time_us;
        part->end = f->frame.seqno + 1;
        if (LIKELY(f->is_plain))
            add_plain(part, batch, f);
        else
            add_decoded(part, batch, &f->frame);
    }
}

/* Sets the addresses of copied frames: the buffer does not move any more. */
static void place_bytes(struct seq_batch *batch)
{
    uint8_t *at = batch->bytes.data;

    for (unsigned i = 0; i < batch->count && batch->bytes.len > 0; i++) {
        struct seq_entry *e = &batch->entry[i];

        if (e->packet == NULL && !e->frame.is_stable) {
            e->frame.data = at;
            at += e->frame.len;
        }
    }
}

/* A slow thread may be some batches behind: pages of their frames that were released would be read
 * once more, and then stay. */
static void release_frames(const struct flow_partition *part)
{
    const struct seq_batch *oldest = seq_batches_oldest(part->batches);

    if (oldest != NULL && oldest->first.file != NULL && part->ctx->capture->scan_release != NULL)
        part->ctx->capture->scan_release(part->queue, &oldest->first);
}

/* Fills a batch. It ends where the checksum mode changes, so that one mode applies to all of it.
 * False: the scan found nothing, and the file has not ended. */
static bool scan(void *arg, struct seq_batch *batch)
{
    struct flow_partition *part = arg;
    enum checksum_mode mode = part->sample.mode;
    enum capture_status status = CAPTURE_OK;
    struct scan_group group;
    unsigned frames = 0;
    bool has_space, is_stable = false;

    packet_pool_collect(part->pool);
    release_frames(part);
    batch->first = (struct frame_ref){ .file = NULL };
    while ((has_space = pool_has_space(part)) && frames < SEQ_BATCH_FRAMES &&
           batch->count <= SEQ_BATCH_ENTRIES - SCAN_RESERVE - SCAN_GROUP &&
           part->sample.mode == mode && status == CAPTURE_OK) {
        status = read_group(part, &group, MIN(SCAN_GROUP, SEQ_BATCH_FRAMES - frames));
        if (group.count > 0)
            is_stable = group.frame[group.count - 1].frame.is_stable;
        if (frames == 0 && group.count > 0)
            batch->first = group.frame[0].frame;
        add_group(part, batch, &group);
        frames += group.count;
    }
    place_bytes(batch);
    part->decoded.now_us = part->now_us;
    __atomic_store_n(&part->ctx->last_frame_us, part->last_us, __ATOMIC_RELAXED);
    decode_end(part->decoder, &part->decoded);
    batch->no_checksum = mode == CHECKSUM_OFF;
    batch->now_us = part->now_us;
    batch->end = part->end;
    batch->last = status == CAPTURE_END || status == CAPTURE_FAILED;
    batch->failed = status == CAPTURE_FAILED;
    batch->more_at_hand = is_stable && has_space && !batch->last;
    __atomic_store_n(&part->pause_ns, has_space ? PAUSE_FILES_NS : PAUSE_POOL_NS,
                     __ATOMIC_RELAXED);
    return frames > 0 || batch->last;
}

/* --- opening and closing ---------------------------------------------------------------------- */

/* Called by the last reader. Packets of the scan may still be in return rings. */
static void partition_free(struct flow_partition *part)
{
    struct timespec pause = { .tv_nsec = 100000 };

    decoder_free(part->decoder);
    while (packet_pool_out(part->pool) > 0)
        nanosleep(&pause, NULL);
    packet_pool_collect(part->pool);
    if (part->queue != NULL)
        part->ctx->capture->queue_close(part->queue);
    part->ctx->partition = NULL;
    seq_batches_free(part->batches);
    counters_free(part->counters);
    packet_pool_free(part->pool);
    free(part->decoded.packet);
    free(part);
}

static struct flow_partition *partition_new(const struct module_env *env, struct err *err)
{
    struct run_context *ctx = env->context;
    struct flow_partition *part = xcalloc(1, sizeof(*part));

    part->ctx = ctx;
    part->threads = env->thread_count;
    part->batches = seq_batches_new(part->threads, scan, part);
    part->hosts = ctx->seq != NULL ? sequencer_hosts(ctx->seq) : NULL;
    part->pool = packet_pool_new(SCAN_POOL, env->thread_count_all);
    part->counters = counters_new("scan");
    part->decoder = decoder_new(ctx->decode, part->pool, part->counters);
    checksum_sample_begin(&part->sample, ctx, true);
    vector_grow(&part->decoded, VECTOR_FILL);
    part->queue = ctx->capture->queue_open(ctx->capture_handle, CAPTURE_SCAN, part->pool,
                                           part->counters, err);
    if (part->queue == NULL) {
        partition_free(part);
        return NULL;
    }
    ctx->queues[ctx->queue_count++] = (struct run_queue){ part->pool, part->queue };
    return part;
}

/* At open, one thread after another; the first one creates the partition. */
struct partition_reader *partition_join(const struct module_env *env, void *queue,
                                        struct err *err)
{
    struct run_context *ctx = env->context;
    struct partition_reader *r;

    if (!ctx->shares_file)
        return NULL;
    if (ctx->partition == NULL)
        ctx->partition = partition_new(env, err);
    if (ctx->partition == NULL)
        return NULL;
    r = xcalloc(1, sizeof(*r));
    r->part = ctx->partition;
    r->queue = queue;
    r->pool = env->pool;
    r->thread = env->thread;
    r->at_once = ctx->is_inline ? 1 : VECTOR_FILL;
    r->engine = env->seq_thread;
    __atomic_fetch_add(&r->part->users, 1, __ATOMIC_RELAXED);
    return r;
}

void partition_leave(struct partition_reader *r)
{
    if (r == NULL)
        return;
    if (__atomic_sub_fetch(&r->part->users, 1, __ATOMIC_ACQ_REL) == 0)
        partition_free(r->part);
    free(r);
}

/* --- the threads ------------------------------------------------------------------------------ */

/* NULL: the pool is empty for now. */
static struct packet *take_entry(struct partition_reader *r, const struct seq_entry *e)
{
    struct packet *p = e->packet;

    if (UNLIKELY(p != NULL))
        return p;
    p = packet_pool_get(r->pool);
    if (p == NULL)
        return NULL;
    r->part->ctx->capture->take(r->queue, &e->frame, p);
    if (UNLIKELY(r->batch->no_checksum))
        p->flags |= PACKET_NO_CHECKSUM;
    return p;
}

/* Sets the vector's watermark: no packet of this thread before its next one can come. */
static void set_end(struct partition_reader *r, struct packet_vector *v)
{
    const struct seq_entry *e;

    if (r->list.at == r->list.end) {
        v->seqno_at = r->batch->end;
        v->now_us = MAX(v->now_us, r->batch->now_us);
        return;
    }
    e = &r->batch->entry[*r->list.at];
    v->seqno_at = e->packet != NULL ? e->packet->seqno : e->frame.seqno;
    v->seqno_sub = e->packet != NULL ? e->packet->seqno_sub : 0;
}

/* Goes on to the next entry. An entry, and the bytes of its frame, come from the cache of the CPU
 * that scanned it, or from the memory: so they are asked for some entries ahead. */
static void go_on(struct partition_reader *r)
{
    const struct seq_entry *entry = r->batch->entry, *e;
    const uint16_t *at = r->list.at++;

    if (r->list.end - at > 2 * FETCH_AHEAD)
        PREFETCH_ALL(&entry[at[2 * FETCH_AHEAD]], sizeof(*entry));
    if (r->list.end - at <= FETCH_AHEAD)
        return;
    e = &entry[at[FETCH_AHEAD]];
    if (e->packet == NULL)
        PREFETCH_ALL(e->frame.data, MIN(e->frame.len, FETCH_MAX));
}

static enum capture_status take(struct partition_reader *r, struct packet_vector *v)
{
    enum capture_status status = CAPTURE_OK;

    while (r->list.at < r->list.end && v->count < r->at_once) {
        const struct seq_entry *e = &r->batch->entry[*r->list.at];
        struct packet *p = take_entry(r, e);

        if (p == NULL)
            break;
        vector_push(v, p);
        v->now_us = MAX(v->now_us, p->time_us);
        go_on(r);
    }
    set_end(r, v);
    seq_batches_took(r->part->batches, r->thread, v->count);
    if (r->list.at < r->list.end)
        return CAPTURE_OK;
    r->end = r->batch->end;
    if (r->batch->last)
        status = r->batch->failed ? CAPTURE_FAILED : CAPTURE_END;
    r->batch = NULL;
    seq_batches_leave(r->part->batches, r->thread);
    return status;
}

/* A half-full vector must leave this thread before it sleeps. So the thread reports that it is
 * idle first, and sleeps at the next call. */
static struct seq_batch *wait_for_batch(struct partition_reader *r)
{
    struct seq_batches *batches = r->part->batches;
    struct seq_batch *batch;

    if (!r->is_idle) {
        r->is_idle = true;
        return NULL;
    }
    r->engine.sleeps(r->engine.self);
    seq_batches_wait(batches, r->thread, SLEEP_NS,
                     __atomic_load_n(&r->part->pause_ns, __ATOMIC_RELAXED));
    r->engine.wakes(r->engine.self);
    batch = seq_batches_next(batches, r->thread);
    if (batch == NULL)
        packet_pool_collect(r->pool);   /* files are deleted when their packets are back */
    return batch;
}

enum capture_status partition_receive(struct partition_reader *r, struct packet_vector *v)
{
    if (r->batch == NULL) {
        r->batch = seq_batches_next(r->part->batches, r->thread);
        if (r->batch == NULL)
            r->batch = wait_for_batch(r);
        if (r->batch == NULL) {
            v->seqno_at = r->end;
            return CAPTURE_IDLE;
        }
        r->is_idle = false;
        r->list = seq_batch_list(r->batch, r->thread);
    }
    return take(r, v);
}

/* From any thread. */
void partition_interrupt(struct partition_reader *r)
{
    if (r->part->ctx->capture->interrupt != NULL)
        r->part->ctx->capture->interrupt(r->part->queue);
    seq_batches_wake(r->part->batches);
}

void partition_tell_hosts(const struct flow_partition *part, struct seq_handle *handle,
                          unsigned thread)
{
    if (part != NULL && handle != NULL && part->hosts != NULL)
        seq_handle_set_hosts(handle, part->hosts, thread);
}

bool partition_decoded(const struct flow_partition *part, const struct packet *p)
{
    return p->pool == part->pool;
}
