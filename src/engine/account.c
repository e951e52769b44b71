/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/account.c - where the time went.
 *
 * Each thread charges its time to the module that ran, to waiting for input or to waiting for
 * space; that costs one clock reading for each module and vector. The number of busy threads only
 * changes when one goes to sleep or wakes, which costs microseconds anyway. So the exact histogram
 * of concurrency is one compare-and-swap there, and nothing elsewhere. */
#include "engine/engine_private.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* busy_now holds the time since the start and the number of busy threads in one word. 14 bits count
 * more threads than a plan may have. The other 50 count ticks of 1,024 ns, which is 36 years. */
#define COUNT_BITS 14
#define TICK_BITS 10
#define COUNT_MASK ((1u << COUNT_BITS) - 1)

/* Once per engine: all threads use the same ids. */
void account_register(struct engine *e)
{
    e->dropped_id = counter_register_own("engine.dropped", COUNTER_SUM);
    e->gauges = (struct engine_gauges){
        .busy = counter_register_own("engine.busy_permille", COUNTER_GAUGE),
        .wait = counter_register_own("engine.wait_permille", COUNTER_GAUGE),
        .blocked = counter_register_own("engine.blocked_permille", COUNTER_GAUGE),
        .queued = counter_register_own("engine.queued", COUNTER_GAUGE),
        .share = counter_register_own("engine.share_permille", COUNTER_GAUGE),
        .imbalance = counter_register_own("engine.imbalance_permille", COUNTER_MAX),
        .cpu_imbalance = counter_register_own("engine.cpu_imbalance_permille", COUNTER_MAX),
    };
}

/* The stage that decides the throughput: the one with detect. Every valid mode has one. */
static const struct plan_stage *inspecting_stage(const struct engine *e)
{
    for (unsigned i = 0; i < e->plan->stage_count; i++)
        if (stage_has(e->plan->stages[i].stage, "detect"))
            return &e->plan->stages[i];
    return &e->plan->stages[0];
}

static void balance_start(struct engine *e)
{
    const struct plan_stage *pp = inspecting_stage(e);
    struct cpu_set used = { 0 };

    for (unsigned i = 0; i < pp->count; i++)
        cpu_set_or(&used, &e->plan->threads[pp->first + i].cpus);
    e->inspecting_cpus = cpu_set_count(&used);
    e->loads = xcalloc(pp->count, sizeof(e->loads[0]));
    e->balance.before_ns = xcalloc(pp->count, sizeof(e->balance.before_ns[0]));
    e->balance.lately = xcalloc(pp->count, sizeof(e->balance.lately[0]));
}

/* The histogram starts at 0 busy threads; each thread adds itself in thread_run(). No thread runs
 * yet. */
void account_start(struct engine *e)
{
    balance_start(e);
    e->start_ns = engine_clock_ns(e);
    __atomic_store_n(&e->busy_now, 0, __ATOMIC_RELAXED);
}

/* Adds `delta` threads and charges the time since the last change to the number before it. The
 * interval and its length must belong together, so both are in the word that is swapped. Relaxed is
 * enough: no thread reads other data because of it. */
void account_busy(struct engine *e, int delta)
{
    uint64_t was = __atomic_load_n(&e->busy_now, __ATOMIC_RELAXED), is, now;

    do {
        now = (engine_clock_ns(e) - e->start_ns) >> TICK_BITS;
        now = MAX(now, was >> COUNT_BITS);      /* clocks of two CPUs may differ by a hair */
        is = now << COUNT_BITS | (((was & COUNT_MASK) + (uint64_t)(int64_t)delta) & COUNT_MASK);
    } while (!__atomic_compare_exchange_n(&e->busy_now, &was, is, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    __atomic_fetch_add(&e->busy_ns[MIN(was & COUNT_MASK, (uint64_t)e->thread_count)],
                       (now - (was >> COUNT_BITS)) << TICK_BITS, __ATOMIC_RELAXED);
}

/* Between these two the thread sleeps by itself, on an eventcount or for its pool. */
void account_sleep(struct engine_thread *t, enum wait_kind kind)
{
    account_busy(t->engine, -1);
    __atomic_store_n(&t->stamp_ns, engine_clock_ns(t->engine), __ATOMIC_RELAXED);
    open_time(kind == WAIT_INPUT ? &t->wait_ns : &t->blocked_ns, t->stamp_ns);
}

void account_awake(struct engine_thread *t, enum wait_kind kind)
{
    uint64_t now = engine_clock_ns(t->engine);

    close_time(kind == WAIT_INPUT ? &t->wait_ns : &t->blocked_ns, now);
    __atomic_store_n(&t->stamp_ns, now, __ATOMIC_RELAXED);
    account_busy(t->engine, 1);
}

/* Its time is waiting from end to end, and the thread does not count as busy. */
static bool is_idle_receive(const struct engine_thread *t)
{
    return t->receive_idle && t->work.sleeper != NULL;
}

/* A sleep inside a module: run_modules() and receive() take it from the module's own time. */
static void sleep_inside(struct engine_thread *t, uint64_t *charged)
{
    uint64_t now;

    if (!t->receive_idle)
        account_busy(t->engine, -1);
    now = engine_clock_ns(t->engine);
    if (is_idle_receive(t))
        close_time(&t->wait_ns, now);
    open_time(charged, now);
    t->slept_ns -= now;
}

static void wake_inside(struct engine_thread *t, uint64_t *charged)
{
    uint64_t now = engine_clock_ns(t->engine);

    close_time(charged, now);
    if (is_idle_receive(t))
        open_time(&t->wait_ns, now);
    t->slept_ns += now;
    if (!t->receive_idle)
        account_busy(t->engine, 1);
}

/* A module calls these two through the sequencer, while it waits for packets of other threads. */
void account_module_sleeps(void *thread)
{
    struct engine_thread *t = thread;

    hand_off_pending(t);
    sleep_inside(t, &t->blocked_ns);
}

void account_module_wakes(void *thread)
{
    struct engine_thread *t = thread;

    wake_inside(t, &t->blocked_ns);
}

/* A capture calls these two. */
void account_receive_sleeps(void *thread)
{
    struct engine_thread *t = thread;

    if (!is_idle_receive(t))
        sleep_inside(t, &t->wait_ns);
}

void account_receive_wakes(void *thread)
{
    struct engine_thread *t = thread;

    if (!is_idle_receive(t))
        wake_inside(t, &t->wait_ns);
}

/* Nanoseconds of one thread. */
struct thread_time {
    uint64_t span, busy, wait, blocked;
};

/* CPU time of the thread: until its end if it has ended, else until now. 0 means that it is
 * unknown. */
static uint64_t cpu_ns_of(const struct engine_thread *t)
{
    uint64_t ns = metric_get(&t->cpu_ns);
    struct timespec now;
    clockid_t clock;

    if (ns == 0 && metric_get(&t->start_ns) != 0 && pthread_getcpuclockid(t->id, &clock) == 0 &&
        clock_gettime(clock, &now) == 0)
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return ns;
}

/* The time at which the last thread ended; now, while any thread runs. */
static uint64_t engine_end_ns(const struct engine *e)
{
    uint64_t latest = 0;

    for (unsigned i = 0; i < e->thread_count; i++) {
        uint64_t end = metric_get(&e->threads[i].end_ns);

        if (end == 0)
            return engine_clock_ns(e);
        latest = MAX(latest, end);
    }
    return latest;
}

/* A total with the part of a sleep that has passed. */
static uint64_t total_of(const struct engine *e, const uint64_t *total)
{
    uint64_t value = metric_get(total);

    return (value & OPEN_TIME) != 0 ? passed_time(value, engine_clock_ns(e)) : value;
}

/* Times of a thread over the complete run: one that ended before the others counts as waiting from
 * then on. */
static struct thread_time time_of(const struct engine_thread *t)
{
    struct thread_time time = { 0 };
    uint64_t end = metric_get(&t->end_ns), start = metric_get(&t->start_ns);
    uint64_t run_end = engine_end_ns(t->engine);

    if (start == 0)
        return time;
    time.span = run_end > start ? run_end - start : 0;
    for (unsigned i = 0; i < t->module_count; i++)
        time.busy += metric_get(&t->modules[i].busy_ns);
    time.wait = total_of(t->engine, &t->wait_ns) + (end != 0 && run_end > end ? run_end - end : 0);
    time.blocked = total_of(t->engine, &t->blocked_ns);
    return time;
}

static double percent(uint64_t part, uint64_t complete)
{
    return complete > 0 ? 100.0 * (double)part / (double)complete : 0;
}

/* Packets that a thread has to inspect: those that came by rings, or those that its own capture
 * gave it. */
static uint64_t assigned_to(const struct engine_thread *t)
{
    uint64_t packets = 0;

    for (unsigned i = 0; i < t->in_count; i++)
        packets += metric_get(&t->in[i].sent);
    if (t->in_count == 0 && t->module_count > 0)
        packets = metric_get(&t->modules[t->module_count - 1].packets);
    return packets;
}

/* The busiest module's count. Where threads share a file, receive also counts frames that it scans
 * for others, so there the thread's own share counts. */
static uint64_t packets_of(const struct engine_thread *t)
{
    uint64_t packets = 0;

    if (t->engine->plan->shares_file && t->plan->stage == 0 && t->out_count == 0)
        return assigned_to(t);
    for (unsigned i = 0; i < t->module_count; i++)
        packets = MAX(packets, metric_get(&t->modules[i].packets));
    return packets;
}

/* Mean occupancy of the rings towards a thread, as its producers found it, in percent. */
static double fill_of(const struct engine_thread *t)
{
    uint64_t sum = 0, samples = 0;

    for (unsigned i = 0; i < t->in_count; i++) {
        sum += metric_get(&t->in[i].queue_sum);
        samples += metric_get(&t->in[i].queue_samples);
    }
    return samples > 0 ? 100.0 * (double)sum / (double)(samples * t->engine->plan->ring_depth) : 0;
}

/* CPU time in seconds. It is less than the busy time where threads share CPUs. */
static double cpu_seconds(const struct engine_thread *t)
{
    return (double)cpu_ns_of(t) / 1e9;
}

/* One row: modules in chain order, each with its part of the thread's life. */
static void report_thread(const struct engine_thread *t, struct buf *out)
{
    struct thread_time time = time_of(t);
    char ring[16] = "-";

    if (t->in_count > 0)
        snprintf(ring, sizeof(ring), "%.0f%%", fill_of(t));
    buf_printf(out, "%-15s %10llu %8.2f %6.1f%% %6.1f%% %6.1f%% %6s  ", t->plan->name,
               (unsigned long long)packets_of(t), cpu_seconds(t), percent(time.busy, time.span),
               percent(time.wait, time.span), percent(time.blocked, time.span), ring);
    for (unsigned i = 0; i < t->module_count; i++)
        buf_printf(out, "%s%s %.1f%%", i > 0 ? ", " : "", t->modules[i].module->name,
                   percent(metric_get(&t->modules[i].busy_ns), time.span));
    buf_printf(out, "\n");
}

/* A helper thread has no modules: all time that it gets no CPU counts as waiting. */
static void report_sender(const struct engine_thread *t, struct buf *out)
{
    double busy = percent(helper_thread_cpu_ns(&t->sender), time_of(t).span);

    buf_printf(out, "%-15s %10llu %8.2f %6.1f%% %6.1f%% %6.1f%% %6s  send %.1f%%\n",
               t->sender.name, (unsigned long long)metric_get(&t->sender.jobs),
               (double)helper_thread_cpu_ns(&t->sender) / 1e9, busy, MAX(100 - busy, 0.0), 0.0, "-",
               busy);
}

/* Leaves out numbers of threads that were busy for less than 0.1 % of the time. */
static void report_concurrency(const struct engine *e, struct buf *out)
{
    uint64_t total = 0;

    for (unsigned i = 0; i <= e->thread_count; i++)
        total += metric_get(&e->busy_ns[i]);
    buf_printf(out, "threads busy at once:");
    for (unsigned i = 0; i <= e->thread_count; i++)
        if (metric_get(&e->busy_ns[i]) * 1000 >= total && total > 0)
            buf_printf(out, " %u: %.1f%%", i, percent(metric_get(&e->busy_ns[i]), total));
    buf_printf(out, "\n");
}

/* NULL without threads. */
static const struct engine_thread *busiest(const struct engine *e)
{
    const struct engine_thread *best = NULL;
    double most = -1;

    for (unsigned i = 0; i < e->thread_count; i++) {
        struct thread_time time = time_of(&e->threads[i]);

        if (percent(time.busy, time.span) > most) {
            most = percent(time.busy, time.span);
            best = &e->threads[i];
        }
    }
    return best;
}

static const struct module_slot *busiest_module(const struct engine_thread *t)
{
    const struct module_slot *best = &t->modules[0];

    for (unsigned i = 1; i < t->module_count; i++)
        if (metric_get(&t->modules[i].busy_ns) > metric_get(&best->busy_ns))
            best = &t->modules[i];
    return best;
}

/* Busy share of a stage, over all its threads. */
static double stage_busy(const struct engine *e, const struct plan_stage *pp)
{
    struct thread_time sum = { 0 };

    for (unsigned i = 0; i < pp->count; i++) {
        struct thread_time time = time_of(&e->threads[pp->first + i]);

        sum.busy += time.busy;
        sum.span += time.span;
    }
    return percent(sum.busy, sum.span);
}

/* The next step for an operator: what to change when this thread limits the run. */
static const char *advice_for(const struct engine *e, const struct engine_thread *t)
{
    const struct plan_stage *pp = t->stage;

    if (e->plan->stage_count == 1)
        return pp->count == 1 ? "use run mode workers or autofp to share the work"
                              : "add worker threads, as far as there are CPUs";
    if (t->plan->stage == 0)
        return "add capture threads or use workers";
    if (stage_has(pp->stage, "detect"))
        return "add worker threads";
    return "join it with a neighbour, or use workers";
}

/* Names the thread that limits the run, or reports that none does: below 50 % busy there is no
 * bottleneck. If the thread's stage is busy less than 70 % of that on average, the distribution is
 * the problem, not the number of threads. */
static void report_bottleneck(const struct engine *e, struct buf *out)
{
    const struct engine_thread *t = busiest(e);
    struct thread_time time;
    double share, mean;

    if (t == NULL || t->module_count == 0)
        return;
    time = time_of(t);
    share = percent(time.busy, time.span);
    mean = stage_busy(e, t->stage);
    if (share < 50) {
        buf_printf(out, "no bottleneck: the busiest thread, %s, works %.0f %% of the time\n",
                   t->plan->name, share);
        return;
    }
    if (t->stage->count > 1 && mean < share * 0.7) {
        buf_printf(out, "%s is busy %.0f %% of the time, the %u threads of its kind "
                        "%.0f %% on average: "
                   "flows are distributed unevenly (imbalance %.2f), %s\n", t->plan->name, share,
                   t->stage->count, mean, (double)engine_imbalance(e) / 1000,
                   e->plan->stage_count == 1 ? "one of them may carry most of the traffic"
                                             : "try another autofp-scheduler");
        return;
    }
    buf_printf(out, "`%s` on %s is busy %.0f %% of the time, most of it in %s: %s\n",
               t->stage->stage->modules, t->plan->name, share,
               busiest_module(t)->module->name, advice_for(e, t));
}

/* A distribution that is even over the run may have been uneven in each of its seconds. Several
 * threads to a CPU, which the kernel moves, are the remedy: doc/internals/load-balancing.md. */
static void report_balance(const struct engine *e, struct buf *out)
{
    uint64_t worst = metric_get(&e->worst_balance);

    if (worst >> 32 <= 1200)
        return;
    buf_printf(out, "a CPU was busy %.0f %% of an interval, %.2f times the even share: more "
                    "threads than CPUs and `mode: balanced` spread such load\n",
               (double)(uint32_t)worst / 10, (double)(worst >> 32) / 1000);
}

void engine_report(const struct engine *e, struct buf *out)
{
    buf_printf(out, "%-15s %10s %8s %7s %7s %7s %6s  %s\n", "thread", "packets", "CPU s", "busy",
               "waiting", "blocked", "ring", "busy by module");
    for (unsigned i = 0; i < e->thread_count; i++)
        report_thread(&e->threads[i], out);
    for (unsigned i = 0; i < e->thread_count; i++)
        if (e->threads[i].sender.name != NULL)
            report_sender(&e->threads[i], out);
    report_concurrency(e, out);
    report_bottleneck(e, out);
    report_balance(e, out);
}

/* In per mille: 1,000 when each thread has the same number of packets, and with no packets at
 * all. */
uint64_t engine_imbalance(const struct engine *e)
{
    const struct plan_stage *pp = inspecting_stage(e);
    uint64_t most = 0, total = 0;

    for (unsigned i = 0; i < pp->count; i++) {
        uint64_t packets = assigned_to(&e->threads[pp->first + i]);

        most = MAX(most, packets);
        total += packets;
    }
    return total > 0 ? most * pp->count * 1000 / total : 1000;
}

static uint64_t stage_total(const struct engine *e, const struct plan_stage *pp)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < pp->count; i++)
        total += assigned_to(&e->threads[pp->first + i]);
    return total;
}

/* Called by the thread that makes statistics. Reads metrics of running threads without a lock, so
 * values of one row may be some vectors apart. */
unsigned engine_loads(const struct engine *e, struct engine_load *out, unsigned max)
{
    unsigned count = MIN(e->thread_count, max);

    for (unsigned i = 0; i < count; i++) {
        const struct engine_thread *t = &e->threads[i];
        struct thread_time time = time_of(t);
        uint64_t total = stage_total(e, t->stage);

        out[i] = (struct engine_load){
            .name = t->plan->name, .packets = packets_of(t), .busy_ns = time.busy,
            .wait_ns = time.wait, .blocked_ns = time.blocked,
            .dropped = metric_get(&t->dropped),
            .share_permille = total > 0 ? (unsigned)(assigned_to(t) * 1000 / total) : 0,
        };
        for (unsigned j = 0; j < t->in_count; j++)
            out[i].queued += ring_count(t->in[j].full);
    }
    return count;
}

/* Writes the counters of another thread: no other writer uses these ids, and gauges are words. */
static void thread_gauges(struct engine *e, struct engine_thread *t, const struct engine_load *l,
                          unsigned cpu_imbalance)
{
    struct thread_time time = time_of(t);

    counter_set(t->counters, e->gauges.busy, (uint64_t)(percent(time.busy, time.span) * 10));
    counter_set(t->counters, e->gauges.wait, (uint64_t)(percent(time.wait, time.span) * 10));
    counter_set(t->counters, e->gauges.blocked,
                (uint64_t)(percent(time.blocked, time.span) * 10));
    counter_set(t->counters, e->gauges.queued, l->queued);
    counter_set(t->counters, e->gauges.share, l->share_permille);
    counter_set(t->counters, e->gauges.imbalance, engine_imbalance(e));
    counter_set(t->counters, e->gauges.cpu_imbalance, cpu_imbalance);
}

/* Several threads ask: that of statistics, and those that answer for metrics. */
static unsigned balance_update(struct engine *e)
{
    const struct plan_stage *pp = inspecting_stage(e);
    struct cpu_balance last, worst;

    pthread_mutex_lock(&e->balance_lock);
    for (unsigned i = 0; i < pp->count; i++)
        e->loads[i] = (struct cpu_load){ cpu_ns_of(&e->threads[pp->first + i]),
                                         e->plan->threads[pp->first + i].cpu };
    cpu_balance_sample(&e->balance, e->loads, pp->count, e->inspecting_cpus, engine_clock_ns(e));
    last = e->balance.last;
    worst = e->balance.worst;
    pthread_mutex_unlock(&e->balance_lock);
    __atomic_store_n(&e->worst_balance, (uint64_t)worst.imbalance << 32 | worst.busiest,
                     __ATOMIC_RELAXED);
    return MAX(last.imbalance, 1000u);
}

void engine_update_gauges(struct engine *e)
{
    struct engine_load *loads = xcalloc(e->thread_count, sizeof(loads[0]));
    unsigned count = engine_loads(e, loads, e->thread_count);
    unsigned cpu_imbalance = balance_update(e);

    for (unsigned i = 0; i < count; i++)
        thread_gauges(e, &e->threads[i], &loads[i], cpu_imbalance);
    free(loads);
}
