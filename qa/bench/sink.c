/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/bench/sink.c - how many records a second one file takes, from several threads, through the
 * queue and without it.
 *
 *     sink [-n RECORDS] [-s BYTES] [-t THREADS] FILE
 *
 * Each thread hands over batches as output threads do. Nothing may be lost: the queue blocks.
 * Prints records and megabytes a second by the clock on the wall, and the CPU time of all
 * threads. */
#include "base/array.h"
#include "base/system/clock.h"
#include "output/sinks/queue.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BATCH (32u << 10)               /* bytes of a hand-over */
#define QUEUE (64u << 20)

extern const struct sink_ops sink_file;

struct load {
    const struct sink_ops *ops;
    void *self;
    unsigned long records;              /* of one thread */
    unsigned size;                      /* of a record, in bytes */
    uint64_t lost;
};

static void give_up(const char *what)
{
    fprintf(stderr, "sink: %s\n", what);
    exit(2);
}

static void *write_all(void *arg)
{
    struct load *load = arg;
    unsigned each = MAX(BATCH / load->size, 1u);
    char *batch = malloc((size_t)each * load->size);

    if (batch == NULL)
        give_up("no memory");
    memset(batch, 'r', (size_t)each * load->size);
    for (unsigned i = 1; i <= each; i++)
        batch[i * load->size - 1] = '\n';
    for (unsigned long left = load->records; left > 0;) {
        unsigned long now = MIN(left, each);

        load->lost += load->ops->write(load->self, (const uint8_t *)batch, now * load->size);
        left -= now;
    }
    free(batch);
    return NULL;
}

static double cpu_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void measure(const char *name, const struct sink_ops *ops, void *self, struct load load,
                    unsigned threads)
{
    pthread_t thread[64];
    struct load loads[64];
    double cpu = cpu_seconds(), seconds;
    uint64_t start = clock_ns(), lost = 0;

    load.ops = ops;
    load.self = self;
    for (unsigned i = 0; i < threads; i++) {
        loads[i] = load;
        if (pthread_create(&thread[i], NULL, write_all, &loads[i]) != 0)
            give_up("cannot start a thread");
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        lost += loads[i].lost;
    }
    lost += ops->finish != NULL ? ops->finish(self) : 0;
    seconds = (double)(clock_ns() - start) / 1e9;
    printf("%-7s %10.0f records/s %7.0f MB/s  CPU %.2f s of %.2f s  lost %llu\n", name,
           (double)(load.records * threads) / seconds,
           (double)load.records * threads * load.size / seconds / 1e6, cpu_seconds() - cpu, seconds,
           (unsigned long long)lost);
    ops->close(self);
}

static void *open_file(const char *path)
{
    struct output_request request = { .offline = true };
    struct err err = { 0 };
    void *self = sink_file.open(&request, NULL, path, &err);

    if (self == NULL)
        give_up(err.text);
    return self;
}

int main(int argc, char **argv)
{
    struct load load = { .records = 4000000, .size = 400 };
    struct queue_conf conf = { .size = QUEUE, .policy = QUEUE_BLOCK };
    unsigned threads = 1;
    int option;

    while ((option = getopt(argc, argv, "n:s:t:")) >= 0) {
        if (option == 'n')
            load.records = strtoul(optarg, NULL, 10);
        else if (option == 's')
            load.size = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 't')
            threads = (unsigned)strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    if (optind != argc - 1 || load.records == 0 || load.size < 2 || threads < 1 || threads > 64)
        give_up("sink [-n RECORDS] [-s BYTES] [-t THREADS] FILE");
    load.records /= threads;
    measure("direct", &sink_file, open_file(argv[optind]), load, threads);
    unlink(argv[optind]);
    measure("queue", &sink_queue, queue_new(&conf, &sink_file, open_file(argv[optind])), load,
            threads);
    unlink(argv[optind]);
    return 0;
}
