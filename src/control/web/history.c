/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/history.c - what the engine did in each of the last 900 seconds.
 *
 * The listener's thread samples the counters once a second, with or without readers, so that a page
 * opened after an incident shows it. Packet threads take no part: their counters are read with
 * relaxed loads. */
#include "control/web/web_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/report/counters.h"
#include "base/report/json.h"
#include "base/system/clock.h"
#include "control/limits.h"
#include "control/private.h"

#define SAMPLED_MAX 256

/* Counters that the page draws as a curve. rate: per second; else the value. */
static const struct { const char *key, *counter; bool rate; } drawn[] = {
    { "pkts", "decoder.pkts", true },
    { "bytes", "decoder.bytes", true },
    { "drops", "capture.kernel_drops", true },
    { "flows", "flow.active", false },
    { "alerts", "detect.alert", true },
};
#define DRAWN ARRAY_LEN(drawn)

/* Those of them that the page also draws for one thread or interface; all are rates. */
static const struct { const char *key, *counter; } by_thread[] = {
    { "pkts", "decoder.pkts" },
    { "bytes", "decoder.bytes" },
    { "drops", "capture.kernel_drops" },
};
#define BY_THREAD ARRAY_LEN(by_thread)

/* Memory limits that are drawn; there are fewer. */
#define LIMITS_MAX 32

struct thread_past {
    bool captures;
    uint64_t total[BY_THREAD], last[BY_THREAD];         /* at this sample, at the one before */
    uint64_t value[BY_THREAD][HISTORY_SECONDS];
    uint16_t busy[HISTORY_SECONDS];                     /* per mille */
};

struct web_history {
    uint64_t count;                     /* samples taken; the newest is at count - 1, modulo */
    uint64_t time[HISTORY_SECONDS];     /* seconds since 1970 */
    uint64_t value[DRAWN][HISTORY_SECONDS];
    uint64_t last[DRAWN];               /* totals at the newest sample */
    counter_id id[DRAWN];
    bool has_last, has_ids;
    unsigned threads;
    struct history_thread thread[SAMPLED_MAX];
    struct thread_past *past;           /* SAMPLED_MAX of them */
    counter_id thread_id[BY_THREAD];
    uint64_t memory[LIMITS_MAX][HISTORY_SECONDS];       /* by number of the limit; bytes */
    struct engine_load *load;           /* scratch of the listener's thread */
    uint64_t sampled_ns;
};

struct web_history *history_new(void)
{
    struct web_history *h = xcalloc(1, sizeof(*h));

    h->past = xcalloc(SAMPLED_MAX, sizeof(*h->past));
    h->load = xcalloc(SAMPLED_MAX, sizeof(*h->load));
    return h;
}

void history_free(struct web_history *h)
{
    if (h == NULL)
        return;
    free(h->past);
    free(h->load);
    free(h);
}

void history_clear(struct web_history *h)
{
    h->count = 0;
    h->has_last = false;
    h->threads = 0;
}

/* Names that no module has registered yet are registered here, with the kind they will have. */
static void find_counters(struct web_history *h)
{
    for (unsigned i = 0; i < DRAWN; i++)
        h->id[i] = counter_register(drawn[i].counter,
                                    drawn[i].rate ? COUNTER_SUM : COUNTER_GAUGE);
    for (unsigned i = 0; i < BY_THREAD; i++)
        h->thread_id[i] = counter_register(by_thread[i].counter, COUNTER_SUM);
    h->has_ids = true;
}

static void sample_counters(struct web_history *h, unsigned at)
{
    for (unsigned i = 0; i < DRAWN; i++) {
        uint64_t now = counter_total(h->id[i]);

        if (!drawn[i].rate)
            h->value[i][at] = now;
        else
            h->value[i][at] = h->has_last && now >= h->last[i] ? now - h->last[i] : 0;
        h->last[i] = now;
    }
    h->has_last = true;
}

/* The share of a span, in per mille; clocks of several CPUs may differ a little. */
static uint16_t share(uint64_t now, uint64_t before, uint64_t span_ns)
{
    uint64_t part = now > before ? now - before : 0;

    return (uint16_t)(span_ns > 0 ? MIN(part * 1000 / span_ns, 1000u) : 0);
}

static void sample_threads(struct web_history *h, unsigned at, const struct engine *engine)
{
    struct engine_load *load = h->load;
    uint64_t now = clock_ns(), span = now - h->sampled_ns;
    unsigned count = engine != NULL ? engine_loads(engine, load, SAMPLED_MAX) : 0;

    for (unsigned i = 0; i < count; i++) {
        struct history_thread *t = &h->thread[i];
        bool known = i < h->threads && strcmp(t->name, load[i].name) == 0;

        if (!known) {
            *t = (struct history_thread){ .busy_ns = load[i].busy_ns, .wait_ns = load[i].wait_ns,
                                          .blocked_ns = load[i].blocked_ns };
            memset(&h->past[i], 0, sizeof(h->past[i]));
        }
        snprintf(t->name, sizeof(t->name), "%s", load[i].name);
        t->busy = share(load[i].busy_ns, t->busy_ns, span);
        t->wait = share(load[i].wait_ns, t->wait_ns, span);
        t->blocked = share(load[i].blocked_ns, t->blocked_ns, span);
        t->packets = load[i].packets;
        t->busy_ns = load[i].busy_ns;
        t->wait_ns = load[i].wait_ns;
        t->blocked_ns = load[i].blocked_ns;
        h->past[i].busy[at] = t->busy;
    }
    h->threads = count;
    h->sampled_ns = now;
}

/* --- by thread and interface ------------------------------------------------------------------ */

/* A thread has a block of counters for each of its modules. */
static void add_block(const struct counters *c, void *arg)
{
    struct web_history *h = arg;

    for (unsigned i = 0; i < h->threads; i++)
        if (strcmp(h->thread[i].name, c->thread_name) == 0)
            for (unsigned k = 0; k < BY_THREAD; k++)
                h->past[i].total[k] += __atomic_load_n(&c->value[h->thread_id[k]],
                                                       __ATOMIC_RELAXED);
}

static bool captures(const struct plan *plan, const char *name)
{
    for (unsigned i = 0; plan != NULL && i < plan->packet_threads; i++)
        if (strcmp(plan->threads[i].name, name) == 0)
            return plan->threads[i].source != NULL;
    return false;
}

/* A thread that the last sample did not know begins with 0, whatever it has done before. */
static void sample_traffic(struct web_history *h, unsigned at, const struct plan *plan)
{
    for (unsigned i = 0; i < h->threads; i++) {
        memcpy(h->past[i].last, h->past[i].total, sizeof(h->past[i].last));
        memset(h->past[i].total, 0, sizeof(h->past[i].total));
    }
    counters_each(add_block, h);
    for (unsigned i = 0; i < h->threads; i++) {
        struct thread_past *past = &h->past[i];

        for (unsigned k = 0; k < BY_THREAD; k++)
            past->value[k][at] = past->captures && past->total[k] > past->last[k]
                                     ? past->total[k] - past->last[k] : 0;
        past->captures = captures(plan, h->thread[i].name);
    }
}

static void sample_memory(struct web_history *h, unsigned at, const struct run_context *ctx)
{
    struct memory_limit limit;

    for (unsigned i = 0; i < LIMITS_MAX && memory_limit_at(i, &limit); i++)
        h->memory[i][at] = memory_limit_used(&limit, ctx);
}

/* Times only rise: a page asks for what is newer than the last that it has. Two samples may fall
 * into one second, and the clock may be set back. */
static uint64_t time_of_sample(const struct web_history *h)
{
    uint64_t now = clock_wall_us() / 1000000;
    uint64_t last = h->count > 0 ? h->time[(h->count - 1) % HISTORY_SECONDS] : 0;

    return MAX(now, last + 1);
}

void history_sample(struct web_history *h, struct control *control)
{
    unsigned at = (unsigned)(h->count % HISTORY_SECONDS);

    if (control->engine == NULL)
        return;
    if (!h->has_ids)
        find_counters(h);
    h->time[at] = time_of_sample(h);
    sample_counters(h, at);
    sample_threads(h, at, control->engine);
    sample_traffic(h, at, control->plan);
    sample_memory(h, at, control->conf.context);
    h->count++;
}

const struct history_thread *history_thread(const struct web_history *h, const char *name)
{
    for (unsigned i = 0; i < h->threads; i++)
        if (strcmp(h->thread[i].name, name) == 0)
            return &h->thread[i];
    return NULL;
}

/* Number of the first sample that is newer than `since`. */
static uint64_t first_after(const struct web_history *h, uint64_t since)
{
    uint64_t at = h->count > HISTORY_SECONDS ? h->count - HISTORY_SECONDS : 0;

    while (at < h->count && h->time[at % HISTORY_SECONDS] <= since)
        at++;
    return at;
}

static void series(const struct web_history *h, struct json *j, const char *key,
                   const uint64_t *values, uint64_t first)
{
    json_array(j, key);
    for (uint64_t at = first; at < h->count; at++)
        json_u64(j, NULL, values[at % HISTORY_SECONDS]);
    json_array_end(j);
}

static void busy_json(const struct web_history *h, struct json *j, uint64_t first)
{
    json_object(j, "busy");
    for (unsigned i = 0; i < h->threads; i++) {
        json_array(j, h->thread[i].name);
        for (uint64_t at = first; at < h->count; at++)
            json_u64(j, NULL, h->past[i].busy[at % HISTORY_SECONDS]);
        json_array_end(j);
    }
    json_object_end(j);
}

/* Only threads that capture: others see the same packets again. */
static void traffic_json(const struct web_history *h, struct json *j, uint64_t first)
{
    json_object(j, "by_thread");
    for (unsigned i = 0; i < h->threads; i++) {
        if (!h->past[i].captures)
            continue;
        json_object(j, h->thread[i].name);
        for (unsigned k = 0; k < BY_THREAD; k++)
            series(h, j, by_thread[k].key, h->past[i].value[k], first);
        json_object_end(j);
    }
    json_object_end(j);
}

static void memory_json(const struct web_history *h, struct json *j, uint64_t first)
{
    struct memory_limit limit;

    json_object(j, "memory");
    for (unsigned i = 0; i < LIMITS_MAX && memory_limit_at(i, &limit); i++)
        series(h, j, limit.name, h->memory[i], first);
    json_object_end(j);
}

void history_json(const struct web_history *h, uint64_t since, struct json *j)
{
    uint64_t first = first_after(h, since);

    series(h, j, "time", h->time, first);
    for (unsigned i = 0; i < DRAWN; i++)
        series(h, j, drawn[i].key, h->value[i], first);
    busy_json(h, j, first);
    traffic_json(h, j, first);
    memory_json(h, j, first);
}
