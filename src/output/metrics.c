/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/metrics.c - counters in Prometheus' text format. */
#include "output/metrics.h"

#include <ctype.h>
#include <string.h>

#include "base/report/counters.h"

/* Bytes, with the 0. Names of counters are shorter; a longer one would be cut. */
#define NAME_MAX_SIZE 160

#define PER_MILLE "_permille"

/* Shares are counted in per mille; Prometheus' convention is ratios from 0 to 1. */
static bool is_share(const char *counter)
{
    size_t len = strlen(counter), end = sizeof(PER_MILLE) - 1;

    return len > end && strcmp(counter + len - end, PER_MILLE) == 0;
}

/* "decoder.pkts" becomes ids_decoder_pkts: Prometheus allows letters, digits, underscores
 * and colons, and colons are for its recording rules. */
static void metric_name(const char *counter, char out[NAME_MAX_SIZE])
{
    size_t n, len = strlen(counter);
    bool share = is_share(counter);

    if (share)
        len -= sizeof(PER_MILLE) - 1;
    memcpy(out, "ids_", 4);
    for (n = 4; len > 0 && n < NAME_MAX_SIZE - sizeof("_ratio"); counter++, len--)
        out[n++] = isalnum((unsigned char)*counter) ? *counter : '_';
    memcpy(out + n, share ? "_ratio" : "", share ? sizeof("_ratio") : 1);
}

/* The argument of thread_line(). */
struct of_thread {
    struct buf *out;
    const char *name;
    counter_id id;
};

/* One line for one thread. Its counters are read while it adds to them: a relaxed load is
 * enough. */
static void thread_line(const struct counters *c, void *arg)
{
    const struct of_thread *t = arg;

    uint64_t value = __atomic_load_n(&c->value[t->id], __ATOMIC_RELAXED);

    buf_printf(t->out, "%s{thread=\"%s\"} ", t->name, c->thread_name);
    if (is_share(counter_name(t->id)))
        buf_printf(t->out, "%llu.%03u\n", (unsigned long long)(value / 1000),
                   (unsigned)(value % 1000));
    else
        buf_printf(t->out, "%llu\n", (unsigned long long)value);
}

/* Figures of the engine itself say something only by thread, for instance how busy each
 * is. */
static void write_metric(struct buf *out, counter_id id)
{
    const char *counter = counter_name(id);
    char name[NAME_MAX_SIZE];
    struct of_thread by_thread = { .out = out, .name = name, .id = id };

    metric_name(counter, name);
    buf_printf(out, "# TYPE %s %s\n", name, counter_kind(id) == COUNTER_SUM ? "counter" : "gauge");
    if (strncmp(counter, "engine.", 7) == 0)
        counters_each(thread_line, &by_thread);
    else
        buf_printf(out, "%s %llu\n", name, (unsigned long long)counter_total(id));
}

void output_metrics(struct buf *out)
{
    unsigned count = counter_count();

    for (unsigned id = 0; id < count; id++)
        write_metric(out, (counter_id)id);
}
