/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/engine.c - builds the threads of a plan, starts, stops and joins them. */
#include "engine/engine.h"

#include "base/array.h"
#include "engine/engine_private.h"
#include "engine/thread_affinity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>


/* Keys that are missing have built-in timeouts; no built-in one is longer than this, in seconds. */
#define LONGEST_BUILT_IN 3600

/* Schedulers that remember flows keep a bucket for this long. It must outlive any flow, or a flow
 * could move to another thread. So it is the longest timeout plus a minute. */
uint32_t engine_flow_idle_s(const struct conf_node *root)
{
    static const char *const needed[] = {
        "default.new", "default.established", "default.closed", "default.bypassed", "tcp.new",
        "tcp.established", "tcp.closed", "tcp.bypassed", "udp.new", "udp.established",
        "udp.bypassed", "icmp.new", "icmp.established", "icmp.bypassed",
    };
    const struct conf_node *timeouts = conf_find(root, "flow-timeouts");
    uint64_t longest = 0;

    for (unsigned i = 0; i < ARRAY_LEN(needed); i++)
        longest = MAX(longest, conf_u64(timeouts, needed[i], LONGEST_BUILT_IN));
    CONF_EACH(proto, timeouts)
        CONF_EACH(state, proto)
            longest = MAX(longest, conf_u64(state, NULL, 0));
    return (uint32_t)MIN(longest + 60, (uint64_t)UINT32_MAX);
}

/* IPS mode never drops at a full ring: each packet needs a verdict. */
void engine_conf_read(struct engine_conf *conf, const struct conf_node *root, bool live,
                      bool is_inline)
{
    *conf = (struct engine_conf){
        .flow_idle_s = engine_flow_idle_s(root),
        .drop_when_full = live && !is_inline,
    };
}

/* Packets in flight to a consumer, summed over its producers; arg is the stage's first thread. Read
 * without a lock: least-loaded needs an estimate, not a snapshot. */
static uint64_t consumer_load(void *arg, unsigned consumer)
{
    const struct engine_thread *t = (const struct engine_thread *)arg + consumer;
    uint64_t load = 0;

    for (unsigned i = 0; i < t->in_count; i++)
        load += metric_get(&t->in[i].sent) - metric_get(&t->in[i].done);
    return load;
}

/* One scheduler for each stage with several threads. All producers of the stage share it, so it
 * must be safe for concurrent picks. */
static void make_schedulers(struct engine *e)
{
    for (unsigned i = 1; i < e->plan->stage_count; i++) {
        const struct plan_stage *pp = &e->plan->stages[i];
        struct scheduler_conf conf = {
            .scheduler = pp->scheduler, .consumers = pp->count, .idle_s = e->conf.flow_idle_s,
            .load = consumer_load, .load_arg = &e->threads[pp->first],
            .pools = e->pools, .pool_count = e->plan->stages[0].count,
        };

        /* `capture` finds the thread by the packet's pool. Packets that the scan of a shared file
         * has decoded come from another pool, so hash replaces it. */
        if (e->plan->shares_file && conf.scheduler != NULL &&
            strcmp(conf.scheduler, "capture") == 0)
            conf.scheduler = "hash";
        if (pp->count > 1)
            e->scheduler[i] = scheduler_new(&conf);
    }
}

/* Only the array and what the plan knows. Each thread makes its own memory in thread_open(), so
 * that its pages are on its node. */
static void make_threads(struct engine *e)
{
    const struct plan *plan = e->plan;

    e->thread_count = plan->packet_threads;
    e->threads = xaligned(CACHE_LINE, e->thread_count * sizeof(e->threads[0]));
    e->pools = xcalloc(plan->stages[0].count, sizeof(e->pools[0]));
    e->busy_ns = xcalloc(e->thread_count + 1, sizeof(e->busy_ns[0]));
    for (unsigned i = 0; i < e->thread_count; i++) {
        struct engine_thread *t = &e->threads[i];

        t->engine = e;
        t->number = i;
        t->plan = &plan->threads[i];
        if (t->plan->sender > 0)
            t->sender.name = plan->threads[t->plan->sender].name;
        t->stage = &plan->stages[t->plan->stage];
        t->out_count = t->plan->rings_out;
        t->out = xcalloc(t->out_count + 1, sizeof(t->out[0]));
    }
}

/* A plan may come from a configuration with a module that this build lacks. */
static int check_modules(const struct engine *e, struct err *err)
{
    for (unsigned i = 0; i < e->plan->stage_count; i++) {
        struct text rest = text_of(e->plan->stages[i].stage->modules), name;

        while (text_split(&rest, ' ', &name)) {
            unsigned j = 0;

            while (e->modules[j] != NULL && !text_equal(name, e->modules[j]->name))
                j++;
            if (e->modules[j] == NULL)
                return err_at(err, e->plan->mode->at, "run mode %s: module %.*s is not built in",
                              e->plan->mode->name, TEXT(name));
        }
    }
    return 0;
}

/* engine_free() accepts a half-built engine. */
struct engine *engine_new(const struct engine_conf *conf, const struct plan *plan,
                          const struct thread_module *const *modules, void *context,
                          struct err *err)
{
    struct engine *e = xaligned(CACHE_LINE, sizeof(*e));

    e->conf = *conf;
    e->plan = plan;
    e->modules = modules;
    e->context = context;
    account_register(e);
    e->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->balance_lock, NULL);
    pthread_cond_init(&e->changed, NULL);
    make_threads(e);
    make_schedulers(e);
    if (conf->clock != NULL)
        e->clock = *conf->clock;
    else
        clock_fast_init(&e->clock);
    if (check_modules(e, err) < 0) {
        engine_free(e);
        return NULL;
    }
    return e;
}

/* The configured size, or as glibc does the soft limit of RLIMIT_STACK; 8 MiB without a limit. */
static size_t stack_bytes(const struct plan *plan)
{
    struct rlimit limit;

    if (plan->stack_size > 0)
        return (size_t)plan->stack_size;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return MAX((size_t)limit.rlim_cur, (size_t)AFFINITY_STACK_LEAST);
    return (size_t)8 << 20;
}

/* Threads that were created before a failure see the aborted state in thread_join_start() and end.
 * 4096: pthread_attr_setstacksize(3) may reject sizes that are not whole pages. */
static int spawn(struct engine *e, struct err *err)
{
    pthread_attr_t attr;
    int status = 0;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (stack_bytes(e->plan) + 4095) & ~(size_t)4095);
    for (unsigned i = 0; i < e->thread_count && status == 0; i++) {
        struct engine_thread *t = &e->threads[i];

        __atomic_fetch_add(&e->alive, 1, __ATOMIC_RELAXED);
        status = pthread_create(&t->id, &attr, engine_thread_main, t);
        t->is_started = status == 0;
        if (status != 0)
            __atomic_fetch_sub(&e->alive, 1, __ATOMIC_RELAXED);
    }
    pthread_attr_destroy(&attr);
    return status == 0 ? 0 : err_set(err, "cannot make a thread: %s", strerror(status));
}

/* The caller holds the lock, with which threads wait for `changed`. */
static void set_state(struct engine *e, enum engine_state state)
{
    e->state = state;
    pthread_cond_broadcast(&e->changed);
}

/* Threads open from the last to 0; each decrements `opening`, and 0 wraps around. */
static bool all_open(const struct engine *e)
{
    return e->opening == UINT32_MAX;
}

/* Returns when all threads have opened their modules and run, or after all have ended. */
int engine_start(struct engine *e, struct err *err)
{
    int status;

    e->state = ENGINE_OPENING;
    e->opening = e->thread_count - 1;
    status = spawn(e, err);
    pthread_mutex_lock(&e->lock);
    while (status == 0 && !all_open(e) && !e->open_failed)
        pthread_cond_wait(&e->changed, &e->lock);
    if (e->open_failed && err != NULL)
        *err = e->open_error;
    if (e->open_failed)
        status = -1;
    /* Every thread waits for the state now, so nothing changes without the lock. */
    pthread_mutex_unlock(&e->lock);
    if (status == 0 && e->conf.when_open != NULL)
        status = e->conf.when_open(e->conf.arg, err);
    pthread_mutex_lock(&e->lock);
    if (status == 0) {
        account_start(e);
        out_of_memory_waits();
    }
    set_state(e, status == 0 ? ENGINE_RUNNING : ENGINE_ABORTED);
    pthread_mutex_unlock(&e->lock);
    if (status != 0)
        engine_wait(e);
    return status;
}

/* Any thread may call this, several times. The lock orders it against close: module_end() clears
 * is_open under the same lock before the module's state is freed. */
void engine_stop(struct engine *e)
{
    __atomic_store_n(&e->stop, 1, __ATOMIC_RELAXED);
    engine_drain(e);
}

void engine_drain(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    for (unsigned i = 0; i < e->plan->stages[0].count; i++) {
        struct module_slot *s = &e->threads[i].modules[0];

        if (s->is_open && s->module->interrupt != NULL)
            s->module->interrupt(s->self);
    }
    pthread_mutex_unlock(&e->lock);
}

/* The lock keeps the modules open meanwhile. */
int engine_hand_over(struct engine *e, void *to, struct err *err)
{
    int status = 0;

    pthread_mutex_lock(&e->lock);
    for (unsigned i = 0; i < e->plan->stages[0].count && status == 0; i++) {
        struct module_slot *s = &e->threads[i].modules[0];

        if (!s->is_open || s->module->hand_over == NULL)
            status = err_set(err, "a thread of the capture does not run");
        else
            status = s->module->hand_over(s->self, to, err);
    }
    pthread_mutex_unlock(&e->lock);
    return status;
}

/* Acquire pairs with the last thread's decrement: after false, all its writes are visible. */
bool engine_is_running(const struct engine *e)
{
    return __atomic_load_n(&e->alive, __ATOMIC_ACQUIRE) > 0;
}

bool engine_is_complete(const struct engine *e)
{
    return __atomic_load_n(&e->alive, __ATOMIC_ACQUIRE) == e->thread_count &&
           !__atomic_load_n(&e->failed, __ATOMIC_RELAXED);
}

int engine_end_fd(const struct engine *e)
{
    return e->end_fd;
}

/* Join before reading `failed`: pthread_join() makes the threads' writes visible. */
int engine_wait(struct engine *e)
{
    for (unsigned i = 0; i < e->thread_count; i++)
        if (e->threads[i].is_started) {
            pthread_join(e->threads[i].id, NULL);
            e->threads[i].is_started = false;
        }
    return __atomic_load_n(&e->failed, __ATOMIC_RELAXED) ? -1 : 0;
}

/* After engine_wait(). Frees what threads have made, so no packet may be in flight. */
void engine_free(struct engine *e)
{
    if (e == NULL)
        return;
    for (unsigned i = 0; i < e->thread_count; i++) {
        struct engine_thread *t = &e->threads[i];

        handoff_queues_free(t);
        packet_pool_free(t->pool);
        if (t->counters != NULL)
            counters_free(t->counters);
        free(t->work.packet);
        free(t->out);
    }
    for (unsigned i = 0; i < STAGES_MAX; i++)
        scheduler_free(e->scheduler[i]);
    pthread_mutex_destroy(&e->lock);
    pthread_mutex_destroy(&e->balance_lock);
    pthread_cond_destroy(&e->changed);
    if (e->end_fd >= 0)
        close(e->end_fd);
    free(e->threads);
    free(e->pools);
    free(e->busy_ns);
    free(e->loads);
    free(e->balance.before_ns);
    free(e->balance.lately);
    free(e);
}

/* For threads that the engine does not start itself. It changes the calling thread. */
void engine_place_management(const struct plan *plan, const char *name)
{
    for (unsigned i = plan->packet_threads; i < plan->thread_count; i++)
        if (strcmp(plan->threads[i].name, name) == 0)
            thread_apply_affinity(plan, &plan->threads[i]);
}

/* Suricata logs the same line at start: "Threads created -> RX: 1 W: 2 ...". */
const char *engine_thread_summary(const struct plan *plan, char *buf, size_t size)
{
    static const char *const prefixes[] = { "RX", "DE", "ST", "W", "TX", "OUT" };
    size_t at = 0;

    buf[0] = '\0';
    for (unsigned i = 0; i < ARRAY_LEN(prefixes) && at < size; i++) {
        size_t n = strlen(prefixes[i]);
        unsigned count = 0;

        for (unsigned j = 0; j < plan->packet_threads; j++)
            if (strncmp(plan->threads[j].name, prefixes[i], n) == 0 &&
                plan->threads[j].name[n] == '#')
                count++;
        if (count > 0)
            at += (size_t)snprintf(buf + at, size - at, "%s%s: %u", at > 0 ? " " : "",
                                   prefixes[i], count);
    }
    return buf;
}
