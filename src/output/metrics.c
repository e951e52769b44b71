/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/metrics.c - counters and other metrics in the text formats of Prometheus.
 *
 * All samples of a family must be together, so the text is written family by family, not in the
 * order in which the counters were registered. */
#include "output/metrics.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/report/counters.h"
#include "output/metric_families.h"

/* Bytes, with the 0. Names of counters are shorter; a longer one would be cut. */
#define NAME_MAX_SIZE 160
#define PER_MILLE "_permille"
#define TOTAL "_total"

const char *metrics_content_type(enum metrics_format format)
{
    return format == METRICS_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

/* --- text ------------------------------------------------------------------------------------- */

void metrics_family(struct metrics_text *m, const char *name, enum metrics_kind kind,
                    const char *help)
{
    const char *total = kind == METRICS_COUNTER && m->format == METRICS_PROMETHEUS ? TOTAL : "";

    m->name = name;
    m->kind = kind;
    buf_printf(m->out, "# HELP ids_%s%s %s.\n# TYPE ids_%s%s %s\n", name, total, help, name, total,
               kind == METRICS_COUNTER ? "counter" : "gauge");
}

/* Writes integers without a point: a counter of 2^53 keeps its digits. */
void metrics_sample(struct metrics_text *m, const char *labels, double value)
{
    buf_printf(m->out, "ids_%s%s", m->name, m->kind == METRICS_COUNTER ? TOTAL : "");
    if (labels != NULL && labels[0] != '\0')
        buf_printf(m->out, "{%s}", labels);
    if (value == floor(value) && fabs(value) < 1e15)
        buf_printf(m->out, " %.0f\n", value);
    else
        buf_printf(m->out, " %.6f\n", value);
}

void metrics_end(struct metrics_text *m)
{
    if (m->format == METRICS_OPENMETRICS)
        BUF_LITERAL(m->out, "# EOF\n");
}

static void add_escaped(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n')
            BUF_LITERAL(out, "\\n");
        else if (text[i] == '"' || text[i] == '\\')
            buf_printf(out, "\\%c", text[i]);
        else
            buf_add_u8(out, (uint8_t)text[i]);
    }
}

/* The list ends in a zero byte that is not counted. */
static void add_label(struct buf *labels, const char *name, const struct metric_part *value)
{
    buf_printf(labels, "%s%s=\"", labels->len > 0 ? "," : "", name);
    add_escaped(labels, value->at, value->len);
    BUF_LITERAL(labels, "\"\0");
    labels->len--;
}

void metrics_label(struct buf *labels, const char *name, const char *value)
{
    add_label(labels, name, &(struct metric_part){ value, strlen(value) });
}

/* --- counters --------------------------------------------------------------------------------- */

/* A counter, and the row of the table that it belongs to. */
struct placed {
    counter_id id;
    const struct metric_family *family;         /* NULL: not in the table */
    struct metric_part part[METRIC_LABELS_MAX];
};

/* Shares are counted in per mille; Prometheus' convention is ratios from 0 to 1. */
static bool is_share(const char *counter)
{
    size_t len = strlen(counter), end = sizeof(PER_MILLE) - 1;

    return len > end && strcmp(counter + len - end, PER_MILLE) == 0;
}

static double scaled(counter_id id, uint64_t value)
{
    return is_share(counter_name(id)) ? (double)value / 1000 : (double)value;
}

/* Letters, digits and underscores; "_total" is not doubled where the counter is called so. */
static void family_name(const struct placed *p, char out[NAME_MAX_SIZE])
{
    const char *counter = counter_name(p->id);
    bool named = p->family != NULL && p->family->name != NULL, share = !named && is_share(counter);
    const char *from = named ? p->family->name : counter;
    size_t n = 0, len = strlen(from) - (share ? sizeof(PER_MILLE) - 1 : 0);

    for (; n < len && n < NAME_MAX_SIZE - sizeof("_ratio"); n++)
        out[n] = isalnum((unsigned char)from[n]) ? from[n] : '_';
    memcpy(out + n, share ? "_ratio" : "", share ? sizeof("_ratio") : 1);
    if (!named && n > sizeof(TOTAL) && strcmp(out + n - (sizeof(TOTAL) - 1), TOTAL) == 0)
        out[n - (sizeof(TOTAL) - 1)] = '\0';
}

static void part_labels(const struct placed *p, struct buf *labels)
{
    for (unsigned i = 0; p->family != NULL && i < METRIC_LABELS_MAX; i++)
        if (p->family->label[i] != NULL)
            add_label(labels, p->family->label[i], &p->part[i]);
}

struct by_thread {
    struct metrics_text *m;
    const struct metrics_sources *sources;
    const struct placed *placed;
};

/* "Global" holds figures of no thread. */
static void thread_sample(const struct counters *c, void *arg)
{
    const struct by_thread *t = arg;
    uint64_t value = __atomic_load_n(&c->value[t->placed->id], __ATOMIC_RELAXED);
    struct buf labels = { 0 };
    const char *source = NULL;

    if (strcmp(c->thread_name, "Global") == 0)
        return;
    metrics_label(&labels, "thread", c->thread_name);
    if (t->sources != NULL && t->sources->source != NULL)
        source = t->sources->source(c->thread_name, t->sources->arg);
    if (source != NULL)
        metrics_label(&labels, "interface", source);
    part_labels(t->placed, &labels);
    metrics_sample(t->m, (const char *)labels.data, scaled(t->placed->id, value));
    buf_fini(&labels);
}

/* Metrics of the engine itself are useful only by thread, for instance how busy each is. */
static void counter_samples(struct metrics_text *m, const struct metrics_sources *sources,
                            const struct placed *p)
{
    struct by_thread by_thread = { m, sources, p };
    struct buf labels = { 0 };

    if (p->family != NULL && p->family->by_thread) {
        counters_each(thread_sample, &by_thread);
        return;
    }
    part_labels(p, &labels);
    metrics_sample(m, (const char *)labels.data, scaled(p->id, counter_total(p->id)));
    buf_fini(&labels);
}

/* A sum that counts current objects may shrink; such counters are gauges. A family with sums and
 * other counters, such as averages, cannot be a counter. */
static enum metrics_kind kind_of(const struct placed *all, unsigned count,
                                 const struct placed *first)
{
    for (unsigned i = 0; i < count; i++)
        if ((&all[i] == first || (first->family != NULL && all[i].family == first->family)) &&
            counter_kind(all[i].id) != COUNTER_SUM)
            return METRICS_GAUGE;
    return METRICS_COUNTER;
}

static void write_family(struct metrics_text *m, const struct metrics_sources *sources,
                         const struct placed *all, unsigned count, unsigned first)
{
    const struct placed *p = &all[first];
    char name[NAME_MAX_SIZE], help[NAME_MAX_SIZE + 32];

    family_name(p, name);
    snprintf(help, sizeof(help), "Counter %s of the statistics", counter_name(p->id));
    metrics_family(m, name, kind_of(all, count, p), p->family != NULL ? p->family->help : help);
    counter_samples(m, sources, p);
    for (unsigned i = first + 1; p->family != NULL && i < count; i++)
        if (all[i].family == p->family)
            counter_samples(m, sources, &all[i]);
}

static bool is_first(const struct placed *all, unsigned at)
{
    for (unsigned i = 0; all[at].family != NULL && i < at; i++)
        if (all[i].family == all[at].family)
            return false;
    return true;
}

void output_metrics(struct metrics_text *m, const struct metrics_sources *sources)
{
    unsigned count = counter_count();
    struct placed *all = xcalloc(count + 1, sizeof(*all));

    for (unsigned id = 0; id < count; id++) {
        all[id].id = (counter_id)id;
        all[id].family = metric_family_find(counter_name((counter_id)id), all[id].part);
    }
    for (unsigned i = 0; i < count; i++)
        if (is_first(all, i))
            write_family(m, sources, all, count, i);
    free(all);
}
