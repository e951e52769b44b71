/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of output/sinks/queue: each policy, with a sink that stands still until it is told. */
#include "output/sinks/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/test.h"

#define SIZE (1u << 20)
#define RECORD 1024u                    /* bytes, the end of the line included */
#define BATCH 32u                       /* records of a hand-over */
#define BATCHES 64u                     /* twice what the queue holds */

/* Takes records once the gate is open; each carries its number. */
struct slow_sink {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
    unsigned records, disorder, cpus;
    int last;
};

static unsigned cpus_of_thread(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 0;
}

static uint64_t slow_write(void *self, const uint8_t *data, size_t len)
{
    struct slow_sink *s = self;

    pthread_mutex_lock(&s->lock);
    while (!s->open)
        pthread_cond_wait(&s->opened, &s->lock);
    for (size_t at = 0; at < len; at += RECORD) {
        int number = (int)strtol((const char *)data + at, NULL, 10);

        s->disorder += number <= s->last;
        s->last = number;
        s->records++;
    }
    s->cpus = cpus_of_thread();
    pthread_mutex_unlock(&s->lock);
    return 0;
}

static void slow_open(struct slow_sink *s)
{
    pthread_mutex_lock(&s->lock);
    s->open = true;
    pthread_cond_broadcast(&s->opened);
    pthread_mutex_unlock(&s->lock);
}

static void slow_close(void *self)
{
    (void)self;
}

static const struct sink_ops slow_ops = { .name = "slow", .write = slow_write,
                                          .close = slow_close };

static uint64_t write_batch(void *queue, unsigned number)
{
    static const char fill[RECORD];
    char data[BATCH * RECORD];

    for (unsigned i = 0; i < BATCH; i++) {
        char *record = data + i * RECORD;

        memcpy(record, fill, RECORD);
        memset(record, ' ', RECORD - 1);
        snprintf(record, RECORD - 1, "%u", number * BATCH + i);
        record[strlen(record)] = ' ';
        record[RECORD - 1] = '\n';
    }
    return sink_queue.write(queue, (const uint8_t *)data, sizeof(data));
}

struct result {
    uint64_t lost;
    unsigned records, disorder;
    int last;
};

static struct result run(enum queue_policy policy, const int *stop)
{
    struct slow_sink slow = { .last = -1, .lock = PTHREAD_MUTEX_INITIALIZER,
                              .opened = PTHREAD_COND_INITIALIZER };
    struct queue_conf conf = { .size = SIZE, .policy = policy, .stop = stop };
    void *queue = queue_new(&conf, &slow_ops, &slow);
    uint64_t lost = 0;

    if (policy == QUEUE_BLOCK && stop == NULL)
        slow_open(&slow);
    for (unsigned i = 0; i < BATCHES; i++)
        lost += write_batch(queue, i);
    slow_open(&slow);
    lost += sink_queue.finish(queue);
    sink_queue.close(queue);
    return (struct result){ lost, slow.records, slow.disorder, slow.last };
}

TEST(queue_drop_newest)
{
    struct result r = run(QUEUE_DROP_NEWEST, NULL);

    CHECK(r.lost > 0 && r.records > 0 && r.disorder == 0);
    CHECK_INT(r.records + r.lost, BATCHES * BATCH);
    CHECK(r.last < (int)(BATCHES * BATCH - 1));
}

TEST(queue_drop_oldest)
{
    struct result r = run(QUEUE_DROP_OLDEST, NULL);

    CHECK(r.lost > 0 && r.records > 0 && r.disorder == 0);
    CHECK_INT(r.records + r.lost, BATCHES * BATCH);
    CHECK_INT(r.last, BATCHES * BATCH - 1);
}

TEST(queue_block)
{
    struct result r = run(QUEUE_BLOCK, NULL);

    CHECK_INT(r.lost, 0);
    CHECK_INT(r.records, BATCHES * BATCH);
    CHECK_INT(r.disorder, 0);
}

/* Who wants an end is not held by a sink that stands still. */
TEST(queue_block_stopped)
{
    static const int stop = 1;
    struct result r = run(QUEUE_BLOCK, &stop);

    CHECK(r.lost > 0);
    CHECK_INT(r.records + r.lost, BATCHES * BATCH);
}

TEST(queue_unused)
{
    struct slow_sink slow = { .last = -1 };
    struct queue_conf conf = { .size = SIZE };
    void *queue = queue_new(&conf, &slow_ops, &slow);

    CHECK_INT(sink_queue.finish(queue), 0);
    sink_queue.close(queue);
    CHECK_INT(slow.records, 0);
}

/* What waits, for reports: nothing at first, and never more than fits. */
TEST(queue_fill)
{
    struct slow_sink slow = { .last = -1, .lock = PTHREAD_MUTEX_INITIALIZER,
                              .opened = PTHREAD_COND_INITIALIZER };
    struct queue_conf conf = { .size = SIZE, .policy = QUEUE_DROP_NEWEST };
    void *queue = queue_new(&conf, &slow_ops, &slow);
    uint64_t used = 1, size = 0;

    sink_queue.fill(queue, &used, &size);
    CHECK_INT(used, 0);
    CHECK_INT(size, SIZE);
    for (unsigned i = 0; i < BATCHES; i++)
        (void)write_batch(queue, i);
    sink_queue.fill(queue, &used, &size);
    CHECK(used > SIZE / 2 && used <= SIZE);
    slow_open(&slow);
    (void)sink_queue.finish(queue);
    sink_queue.fill(queue, &used, &size);
    CHECK_INT(used, 0);
    sink_queue.close(queue);
}

/* The thread that has the first record may be bound to a CPU of its own. */
TEST(queue_runs_where_it_is_told)
{
    struct slow_sink slow = { .last = -1, .open = true, .lock = PTHREAD_MUTEX_INITIALIZER,
                              .opened = PTHREAD_COND_INITIALIZER };
    struct queue_conf conf = { .size = SIZE };
    void *queue = queue_new(&conf, &slow_ops, &slow);
    unsigned before = cpus_of_thread();
    cpu_set_t all, one;

    sched_getaffinity(0, sizeof(all), &all);
    sink_queue.run_here(queue);
    CPU_ZERO(&one);
    for (unsigned i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof(one), &one);
    write_batch(queue, 0);
    CHECK_INT(sink_queue.finish(queue), 0);
    CHECK_INT(slow.cpus, before);
    sched_setaffinity(0, sizeof(all), &all);
    sink_queue.close(queue);
}

static bool has_queue(const char *yaml, bool offline)
{
    struct conf *conf = conf_new();
    struct output_request request = { .offline = offline };
    struct queue_conf queue;
    struct err err = { 0 };
    bool has;

    (void)conf_load_string(conf, yaml, "queue.yaml", &err);
    has = queue_conf_read(&queue, &request, conf_root(conf), false);
    conf_free(conf);
    return has;
}

TEST(queue_settings)
{
    CHECK(has_queue("filename: eve.json", false));
    CHECK(!has_queue("filename: eve.json", true));
    CHECK(!has_queue("queue: no", false));
    CHECK(has_queue("queue: yes", true));
    CHECK(has_queue("queue: {size: 1mb}", true));
}
