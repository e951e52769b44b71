/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/queue.c - records wait here for a sink that is slower than the traffic. */
#include "output/sinks/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/memory/buf.h"
#include "base/report/log.h"

#define SIZE_DEFAULT (64u << 20)
#define SIZE_MIN (1u << 20)
#define SIZE_MAX_BYTES (16ull << 30)
#define WRITE_ENOUGH (128u << 10)       /* bytes that a sink gets at once, or a little more */
#define STOP_LOOK_MS 100                /* how often a blocked writer looks at `stop` */

/* Precedes each batch of entire records in the ring. */
struct batch {
    uint32_t len;
    uint32_t records;
};

struct queue {
    struct queue_conf conf;
    const struct sink_ops *inner;
    void *inner_self;
    pthread_mutex_t lock;               /* guards what follows */
    pthread_cond_t filled, emptied;
    uint8_t *ring;                      /* conf.size bytes, from the first record on */
    uint64_t head, tail;                /* bytes put in and taken out in all */
    uint64_t lost;                      /* records since they were last reported */
    bool has_thread, has_cpus, ending, warned;
    pthread_t thread;
    cpu_set_t cpus;                     /* of the thread, with has_cpus */
};

/* --- the ring: bytes go round its end --------------------------------------------------------- */

static void ring_put(struct queue *q, const void *data, size_t len)
{
    size_t at = (size_t)(q->head % q->conf.size), first = MIN(len, q->conf.size - at);

    memcpy(q->ring + at, data, first);
    memcpy(q->ring, (const uint8_t *)data + first, len - first);
    q->head += len;
}

static void ring_get(struct queue *q, void *data, size_t len)
{
    size_t at = (size_t)(q->tail % q->conf.size), first = MIN(len, q->conf.size - at);

    memcpy(data, q->ring + at, first);
    memcpy((uint8_t *)data + first, q->ring, len - first);
    q->tail += len;
}

static bool has_space(const struct queue *q, size_t len)
{
    return q->conf.size - (q->head - q->tail) >= len;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* One hand-over, to the end of what was taken so far. One for which there is no memory is lost. */
static void take_one(struct queue *q, struct buf *data)
{
    struct batch batch;

    ring_get(q, &batch, sizeof(batch));
    if (buf_reserve(data, batch.len)) {
        ring_get(q, data->data + data->len, batch.len);
        data->len += batch.len;
    } else {
        q->tail += batch.len;
        q->lost += batch.records;
    }
}

/* What waits, as far as the sink likes to have it at once, copied out, so that writers go on while
 * the sink works. */
static bool take(struct queue *q, struct buf *data)
{
    while (q->head == q->tail && !q->ending)
        pthread_cond_wait(&q->filled, &q->lock);
    if (q->head == q->tail)
        return false;
    buf_clear(data);
    while (q->head != q->tail && data->len < WRITE_ENOUGH)
        take_one(q, data);
    /* An empty ring begins at its start: one that is never full stays in the cache, and takes no
     * more memory than it needs. */
    if (q->head == q->tail)
        q->head = q->tail = 0;
    pthread_cond_broadcast(&q->emptied);
    return true;
}

static void *queue_main(void *arg)
{
    struct queue *q = arg;
    struct buf data = { 0 };

    pthread_setname_np(pthread_self(), "Sink");
    pthread_mutex_lock(&q->lock);
    while (take(q, &data)) {
        uint64_t lost;

        pthread_mutex_unlock(&q->lock);
        lost = data.len > 0 ? q->inner->write(q->inner_self, data.data, data.len) : 0;
        pthread_mutex_lock(&q->lock);
        q->lost += lost;
    }
    pthread_mutex_unlock(&q->lock);
    buf_fini(&data);
    return NULL;
}

/* --- writers ---------------------------------------------------------------------------------- */

static bool is_stopped(const struct queue *q)
{
    return q->conf.stop != NULL && __atomic_load_n(q->conf.stop, __ATOMIC_RELAXED) != 0;
}

static void wait_for_space(struct queue *q, size_t need)
{
    while (!has_space(q, need) && !is_stopped(q)) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += STOP_LOOK_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&q->emptied, &q->lock, &until);
    }
}

static void drop_oldest(struct queue *q, size_t need)
{
    while (!has_space(q, need)) {
        struct batch batch;

        ring_get(q, &batch, sizeof(batch));
        q->tail += batch.len;
        q->lost += batch.records;
    }
}

static void make_space(struct queue *q, size_t need)
{
    if (has_space(q, need))
        return;
    if (!q->warned && q->conf.policy != QUEUE_BLOCK)
        log_warning("output", "the queue of %s is full: records are dropped, and counted",
                    q->inner->name);
    q->warned = true;
    if (q->conf.policy == QUEUE_BLOCK)
        wait_for_space(q, need);
    else if (q->conf.policy == QUEUE_DROP_OLDEST)
        drop_oldest(q, need);
}

/* The first writer is a packet thread, whose CPU is not for the queue's. */
static void place(struct queue *q)
{
    if (q->has_thread && q->has_cpus)
        (void)pthread_setaffinity_np(q->thread, sizeof(q->cpus), &q->cpus);
}

/* False: there is no memory or no thread, and so no way through the ring. */
static bool start(struct queue *q)
{
    if (q->has_thread)
        return true;
    if (q->ring == NULL)
        q->ring = malloc(q->conf.size);
    if (q->ring == NULL)
        return false;
    q->has_thread = pthread_create(&q->thread, NULL, queue_main, q) == 0;
    place(q);
    return q->has_thread;
}

static void queue_run_here(void *self)
{
    struct queue *q = self;

    pthread_mutex_lock(&q->lock);
    q->has_cpus = sched_getaffinity(0, sizeof(q->cpus), &q->cpus) == 0;
    place(q);
    pthread_mutex_unlock(&q->lock);
}

static void queue_fill(void *self, uint64_t *used, uint64_t *size)
{
    struct queue *q = self;

    pthread_mutex_lock(&q->lock);
    *used = q->head - q->tail;
    pthread_mutex_unlock(&q->lock);
    *size = q->conf.size;
}

/* Reports lost records to the next writer, even if another one lost them. */
static uint64_t queue_write(void *self, const uint8_t *data, size_t len)
{
    struct queue *q = self;
    struct batch batch = { .len = (uint32_t)len, .records = (uint32_t)sink_records(data, len) };
    size_t need = sizeof(batch) + len;
    uint64_t lost;

    pthread_mutex_lock(&q->lock);
    if (need <= q->conf.size && start(q))
        make_space(q, need);
    if (q->has_thread && need <= q->conf.size && has_space(q, need)) {
        ring_put(q, &batch, sizeof(batch));
        ring_put(q, data, len);
        pthread_cond_signal(&q->filled);
    } else {
        q->lost += batch.records;
    }
    lost = q->lost;
    q->lost = 0;
    pthread_mutex_unlock(&q->lock);
    return lost;
}

static void queue_rotate(void *self)
{
    struct queue *q = self;

    if (q->inner->rotate != NULL)
        q->inner->rotate(q->inner_self);
}

/* Empties the ring first; then the sink reports its last lost records. */
static uint64_t queue_finish(void *self)
{
    struct queue *q = self;
    uint64_t lost;

    pthread_mutex_lock(&q->lock);
    q->ending = true;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
    if (q->has_thread)
        pthread_join(q->thread, NULL);
    q->has_thread = false;
    lost = q->lost + (q->inner->finish != NULL ? q->inner->finish(q->inner_self) : 0);
    q->lost = 0;
    return lost;
}

static void queue_close(void *self)
{
    struct queue *q = self;

    (void)queue_finish(q);
    q->inner->close(q->inner_self);
    pthread_cond_destroy(&q->filled);
    pthread_cond_destroy(&q->emptied);
    pthread_mutex_destroy(&q->lock);
    free(q->ring);
    free(q);
}

const struct sink_ops sink_queue = {
    .name = "queue", .write = queue_write, .rotate = queue_rotate, .run_here = queue_run_here,
    .fill = queue_fill, .finish = queue_finish, .close = queue_close,
};

void *queue_new(const struct queue_conf *c, const struct sink_ops *inner, void *inner_self)
{
    struct queue *q = xcalloc(1, sizeof(*q));

    q->conf = *c;
    q->inner = inner;
    q->inner_self = inner_self;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->filled, NULL);
    pthread_cond_init(&q->emptied, NULL);
    return q;
}

/* --- settings --------------------------------------------------------------------------------- */

/* A capture file waits for its sink. Live traffic does not wait for any, so all have a queue. */
static bool is_wanted(const struct output_request *request, const struct conf_node *output,
                      const struct conf_node *node, bool needed)
{
    if (node == NULL)
        return needed || !request->offline;
    return node->kind != CONF_SCALAR || conf_bool(output, "queue", true);
}

bool queue_conf_read(struct queue_conf *c, const struct output_request *request,
                     const struct conf_node *output, bool needed)
{
    static const char *const policies[] = {
        [QUEUE_DROP_NEWEST] = "drop-newest", [QUEUE_DROP_OLDEST] = "drop-oldest",
        [QUEUE_BLOCK] = "block", [QUEUE_BLOCK + 1] = NULL,
    };
    const struct conf_node *node = conf_find(output, "queue");
    uint64_t size = conf_size(node, "size", SIZE_DEFAULT);

    if (!is_wanted(request, output, node, needed))
        return false;
    if (size < SIZE_MIN || size > SIZE_MAX_BYTES) {
        conf_error(conf_find(node, "size"), "queue.size: want 1mb to 16gb");
        size = SIZE_DEFAULT;
    }
    c->size = (size_t)size;
    c->policy = (enum queue_policy)conf_choice_or_end(
        node, "when-full", policies, request->offline ? QUEUE_BLOCK : QUEUE_DROP_NEWEST);
    c->stop = request->stop;
    return true;
}
