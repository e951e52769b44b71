/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/stats_log.c - `stats`: counters as a table, for people. */
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/report/counters.h"
#include "output/logger.h"

/* As wide as Suricata's. */
#define RULER                                                                                  \
    "----------------------------------------------------------------------------------------" \
    "-----------\n"

/* One for the run; only the statistics thread uses it. */
struct stats_log {
    struct sink *sink;
    bool totals, threads, zeros;
};

static void *stats_log_open(const struct output_request *request, struct output_conf *conf,
                            const struct conf_node *node, struct err *err)
{
    struct sink *sink = sink_open(request, conf, node, "stats.log", err);
    struct stats_log *s;

    if (sink == NULL)
        return NULL;
    s = xcalloc(1, sizeof(*s));
    s->sink = sink;
    s->totals = conf_bool(node, "totals", true);
    s->threads = conf_bool(node, "threads", false);
    s->zeros = conf_bool(node, "null-values", false);
    return s;
}

/* who: the thread, or "Total". The columns are Suricata's, because scripts parse them. */
static void stats_line(struct buf *out, counter_id id, const char *who, uint64_t value)
{
    buf_printf(out, "%-60s | %-25s | %-llu\n", counter_name(id), who, (unsigned long long)value);
}

struct thread_table {
    const struct stats_log *s;
    struct buf *out;
};

/* Reads the counters of a thread while it counts: a relaxed load is enough. */
static void stats_thread(const struct counters *c, void *arg)
{
    struct thread_table *t = arg;

    for (unsigned id = 0; id < counter_count(); id++) {
        uint64_t value = __atomic_load_n(&c->value[id], __ATOMIC_RELAXED);

        if (value != 0 || t->s->zeros)
            stats_line(t->out, (counter_id)id, c->thread_name, value);
    }
}

/* The dates are local time, month first. */
static void stats_head(struct buf *out, uint64_t now_us, uint64_t uptime_s)
{
    time_t t = (time_t)(now_us / 1000000);
    struct tm tm;
    char date[32];

    localtime_r(&t, &tm);
    strftime(date, sizeof(date), "%m/%d/%Y -- %H:%M:%S", &tm);
    BUF_LITERAL(out, RULER);
    buf_printf(out, "Date: %s (uptime: %ud, %02uh %02um %02us)\n", date,
               (unsigned)(uptime_s / 86400), (unsigned)(uptime_s / 3600 % 24),
               (unsigned)(uptime_s / 60 % 60), (unsigned)(uptime_s % 60));
    BUF_LITERAL(out, RULER);
    buf_printf(out, "%-60s | %-25s | %-s\n", "Counter", "TM Name", "Value");
    BUF_LITERAL(out, RULER);
}

/* Counters of value 0 are left out unless `null-values` is set. */
static void stats_log_round(struct render *r, void *self, uint64_t now_us, uint64_t uptime_s)
{
    const struct stats_log *s = self;

    record_begin(r, s->sink);
    stats_head(r->out, now_us, uptime_s);
    for (unsigned id = 0; s->totals && id < counter_count(); id++) {
        uint64_t value = counter_total((counter_id)id);

        if (value != 0 || s->zeros)
            stats_line(r->out, (counter_id)id, "Total", value);
    }
    if (s->threads) {
        struct thread_table t = { .s = s, .out = r->out };

        counters_each(stats_thread, &t);
    }
    record_end(r);
}

static void stats_log_close(void *self)
{
    free(self);
}

const struct logger_ops logger_stats_log = {
    .name = "stats",
    .doc = "counters as a table",
    .open = stats_log_open,
    .close = stats_log_close,
    .stats = stats_log_round,
};
