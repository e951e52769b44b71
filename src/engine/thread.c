/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/thread.c - the life of a packet thread: move to its CPU, open its modules, carry vectors
 * through them, flush them at the end, wait until its packets are back in the pool, close. */
#include "engine/engine_private.h"

#include "base/array.h"
#include "base/report/log.h"
#include "engine/thread_affinity.h"

#include <string.h>
#include <sys/eventfd.h>

/* Credit of a thread without a next stage: its packets are free after each vector, so it never
 * needs to count them. */
#define FREE_ENOUGH UINT32_MAX

/* Takes the time that a module has slept, which is charged already. */
static COLD uint64_t take_slept(struct engine_thread *t)
{
    uint64_t slept = (int64_t)t->slept_ns > 0 ? t->slept_ns : 0;

    t->slept_ns = 0;
    return slept;
}

/* The time since `before` in which a module of the thread did not sleep. Clocks of two CPUs may
 * differ by a hair. */
static uint64_t worked_ns(struct engine_thread *t, uint64_t before, uint64_t now)
{
    if (UNLIKELY(t->slept_ns != 0))
        before += take_slept(t);
    return now > before ? now - before : 0;
}

/* Called before a module sleeps. A consumer that merges our packets with those of others holds
 * these back until it knows that ours are later. The others may have no other packets left, and
 * this thread may be about to wait for exactly those. So finished packets of this vector leave
 * early, with a watermark at the current packet. */
static COLD void hand_off_done(struct engine_thread *t)
{
    struct packet_vector *v = t->carried, *early = &t->early;

    if (v == NULL || v->at_work == NULL || t->out_count == 0 || !t->out[0]->to->merges)
        return;
    early->count = 0;
    while (early->count < v->done && vector_push(early, v->packet[early->count]))
        continue;
    v->done = early->count;
    v->count -= v->done;
    memmove(v->packet, v->packet + v->done, v->count * sizeof(v->packet[0]));
    v->done = 0;
    early->now_us = v->now_us;
    early->seqno_at = v->at_work->seqno;
    early->seqno_sub = v->at_work->seqno_sub;
    for (unsigned i = t->at_module + 1; i < t->module_count; i++)
        (void)t->modules[i].module->process(t->modules[i].self, early);
    hand_off(t, early);
}

/* The sequencer calls this before it waits. Nothing that this thread holds may stay back while it
 * sleeps. */
static void module_sleeps(void *thread)
{
    hand_off_done(thread);
    hand_off_pending(thread);
    account_module_sleeps(thread);
}

/* Runs the vector through the modules from `first` on. Time never goes back on a thread: a vector
 * with an older time takes the thread's. One reading of the clock per module is the price of the
 * accounting. */
static void run_modules(struct engine_thread *t, unsigned first, struct packet_vector *v)
{
    uint64_t before = t->stamp_ns, now;

    if (v->now_us > t->now_us)
        t->now_us = v->now_us;
    v->now_us = t->now_us;
    t->carried = v;
    for (unsigned i = first; i < t->module_count; i++) {
        struct module_slot *s = &t->modules[i];

        t->at_module = i;
        if (UNLIKELY(s->module->process(s->self, v) == MODULE_MORE))
            t->more |= 1u << i;
        now = engine_clock_ns(t->engine);
        metric_add(&s->busy_ns, worked_ns(t, before, now));
        metric_add(&s->vectors, 1);
        metric_add(&s->packets, v->count);
        before = now;
    }
    __atomic_store_n(&t->stamp_ns, before, __ATOMIC_RELAXED);
}

/* Charges the time of a receive: a call that found nothing, or that ended an idle time, waited. */
static void receive_account(struct engine_thread *t, enum module_status status, unsigned count)
{
    struct module_slot *s = &t->modules[0];
    uint64_t now = engine_clock_ns(t->engine), worked = worked_ns(t, t->stamp_ns, now);

    if (t->receive_idle)
        close_time(&t->wait_ns, now);
    else if (status == MODULE_IDLE && count == 0)
        metric_add(&t->wait_ns, worked);
    else
        metric_add(&s->busy_ns, worked);
    if (count > 0) {
        metric_add(&s->vectors, 1);
        metric_add(&s->packets, count);
    }
    __atomic_store_n(&t->stamp_ns, now, __ATOMIC_RELAXED);
}

/* A receive that found nothing counts as waiting until one returns something. A capture reports
 * other sleeps in the kernel by `sleeper`. */
static enum module_status receive(struct engine_thread *t)
{
    struct module_slot *s = &t->modules[0];
    enum module_status status;
    bool was_idle = t->receive_idle;

    t->work.count = 0;
    t->work.seqno_at = t->work.seqno_sub = 0;
    t->work.last = t->work.tick = false;
    if (was_idle)
        open_time(&t->wait_ns, t->stamp_ns);
    t->work.sleeper = &t->sleeper;
    status = s->module->process(s->self, &t->work);
    t->work.sleeper = NULL;
    receive_account(t, status, t->work.count);
    t->receive_idle = status == MODULE_IDLE && t->work.count == 0;
    if (was_idle != t->receive_idle)
        account_busy(t->engine, t->receive_idle ? -1 : 1);
    t->work.tick = t->receive_idle;
    return status;
}

/* A packet may be in flight without being in the vector: outer packets of tunnels, fragments of a
 * datagram. So the credit falls by the number that the pool has allocated, not by the vector's
 * size. */
static void spend_credit(struct engine_thread *t)
{
    unsigned taken;

    if (t->out_count == 0 || t->pool == NULL)
        return;
    taken = packet_pool_taken(t->pool);
    if ((int)(taken - t->pool_taken) > 0)
        t->pool_credit -= MIN(t->pool_credit, taken - t->pool_taken);
    t->pool_taken = taken;
}

/* Passes one vector through the modules from `first` on and to the next stage. Then modules that
 * returned MODULE_MORE are called again with an empty vector, the one nearest to the end first,
 * which bounds the packets in flight. */
static void carry(struct engine_thread *t, unsigned first, struct packet_vector *v)
{
    if (v->seqno_at != 0) {
        t->seqno_at = v->seqno_at;
        t->seqno_sub = v->seqno_sub;
    }
    for (;;) {
        run_modules(t, first, v);
        spend_credit(t);
        hand_off(t, v);
        if (LIKELY(t->more == 0))
            return;
        first = 31 - (unsigned)__builtin_clz(t->more);
        t->more &= ~(1u << first);
        t->pool_credit = 0;
        pool_wait(t);
        v->count = 0;
        v->seqno_at = v->seqno_sub = 0;
    }
}

/* At the end each module, in chain order, emits its remaining packets, which then pass through the
 * modules after it. */
static void flush_module(struct engine_thread *t, unsigned number)
{
    struct module_slot *s = &t->modules[number];
    bool more = s->module->flush != NULL;

    while (more) {
        uint64_t before = engine_clock_ns(t->engine);

        t->pool_credit = 0;
        pool_wait(t);
        t->work.count = 0;
        t->work.last = t->work.tick = false;
        t->work.now_us = t->now_us;
        t->work.seqno_at = t->seqno_at;
        t->work.seqno_sub = t->seqno_sub;
        more = s->module->flush(s->self, &t->work);
        t->work.seqno_at = t->work.seqno_sub = 0;
        __atomic_store_n(&t->stamp_ns, engine_clock_ns(t->engine), __ATOMIC_RELAXED);
        metric_add(&s->busy_ns, worked_ns(t, before, t->stamp_ns));
        metric_add(&s->packets, t->work.count);
        carry(t, number + 1, &t->work);
    }
}

/* One capture file ends and another begins with its own time: flush everything and start the clock
 * over. */
static COLD void cut(struct engine_thread *t)
{
    for (unsigned i = 0; i < t->module_count; i++)
        flush_module(t, i);
    t->now_us = t->work.now_us = 0;
    t->seqno_at = t->seqno_sub = 0;
}

/* Ends at the end of the capture, on a failure, or after engine_stop(). */
static void loop_receive(struct engine_thread *t)
{
    enum module_status status = MODULE_OK;

    while (status < MODULE_END && !engine_is_stopping(t->engine)) {
        pool_wait(t);
        status = receive(t);
        carry(t, 1, &t->work);
        if (status == MODULE_IDLE)
            hand_off_tick(t);
        else if (UNLIKELY(status == MODULE_CUT))
            cut(t);
    }
    if (t->receive_idle)
        account_busy(t->engine, 1);
    if (status == MODULE_FAILED)
        __atomic_store_n(&t->engine->failed, 1, __ATOMIC_RELAXED);
}

/* A consumer's loop. `done` is counted after the vector's packets have been handed off, so that
 * sent == done means that nothing is in flight. */
static void loop_rings(struct engine_thread *t)
{
    struct packet_vector *v;
    struct handoff_queue *from;

    while ((v = take_in(t, &from)) != NULL) {
        unsigned count = v->count;

        pool_wait(t);
        carry(t, 0, v);
        if (v->tick)
            hand_off_tick(t);
        if (from == NULL)
            continue;
        metric_add(&from->done, count);
        return_vector(t, from, v);
    }
}

static const struct thread_module *module_find(const struct engine *e, struct text name)
{
    for (unsigned i = 0; e->modules[i] != NULL; i++)
        if (text_equal(name, e->modules[i]->name))
            return e->modules[i];
    return NULL;
}

/* A thread that merges or is fed by others can be kicked; one that captures advances by itself. */
static int module_open(struct engine_thread *t, struct module_slot *s, bool is_last,
                        struct err *err)
{
    struct module_env env = {
        .context = t->engine->context,
        .counters = t->counters,
        .pool = t->pool,
        .thread = t->plan->index,
        .thread_count = t->stage->count,
        .thread_index = t->number,
        .thread_count_all = t->engine->thread_count,
        .thread_name = t->plan->name,
        .sender = t->sender.name != NULL ? &t->sender : NULL,
        .same_thread_as_next = !is_last,
        .seq_thread = { t, t->plan->stage > 0 ? kick : NULL, module_sleeps,
                         account_module_wakes },
    };

    err->text[0] = '\0';
    s->self = s->module->open(&env, err);
    /* open() of a module without state may return NULL. A message in *err makes it a failure. */
    if (s->self == NULL && err->text[0] != '\0')
        return -1;
    s->is_open = true;
    return 0;
}

/* The last module of a stage learns that the next one runs on another thread. */
static int modules_open(struct engine_thread *t, struct err *err)
{
    struct text rest = text_of(t->stage->stage->modules), name;

    while (text_split(&rest, ' ', &name)) {
        struct module_slot *s = &t->modules[t->module_count];

        s->module = module_find(t->engine, name);
        if (s->module == NULL)
            return err_set(err, "no module %.*s", TEXT(name));
        t->module_count++;
        if (module_open(t, s, rest.n == 0, err) < 0)
            return -1;
    }
    return 0;
}

/* After this no thread calls the module's interrupt() any more, so its state can be freed. */
static bool module_end(struct engine_thread *t, struct module_slot *s)
{
    bool was_open;

    pthread_mutex_lock(&t->engine->lock);
    was_open = s->is_open;
    s->is_open = false;
    pthread_mutex_unlock(&t->engine->lock);
    return was_open;
}

/* In chain order; leaves out modules that never opened. */
static void modules_close(struct engine_thread *t)
{
    for (unsigned i = 0; i < t->module_count; i++)
        if (module_end(t, &t->modules[i]) && t->modules[i].module->close != NULL)
            t->modules[i].module->close(t->modules[i].self);
}

/* First touch: the memory that the thread works on is allocated here, after it is on its own
 * CPU. */
static int thread_open(struct engine_thread *t, struct err *err)
{
    struct engine *e = t->engine;

    t->counters = counters_new(t->plan->name);
    eventcount_init(&t->eventcount);
    vector_grow(&t->work, 4 * VECTOR_FILL);
    vector_grow(&t->early, VECTOR_FILL);
    vector_grow(&t->merged, VECTOR_FILL);
    if (t->stage->makes_packets) {
        t->pool = packet_pool_new(t->stage->pool_size, e->thread_count);
        packet_pool_set_owner(t->pool, t->number);
        if (t->plan->stage == 0)
            e->pools[t->plan->index] = t->pool;
    }
    handoff_queues_make(t);
    return modules_open(t, err);
}

/* Opens when it is this thread's turn, then waits for all others. False: another thread failed, or
 * this one, and the run does not start. */
static COLD bool thread_join_start(struct engine_thread *t)
{
    struct engine *e = t->engine;
    bool go;

    pthread_mutex_lock(&e->lock);
    while (e->opening != t->number && e->state == ENGINE_OPENING)
        pthread_cond_wait(&e->changed, &e->lock);
    if (e->state == ENGINE_OPENING && !e->open_failed &&
        thread_open(t, &e->open_error) < 0)
        e->open_failed = true;
    e->opening--;
    pthread_cond_broadcast(&e->changed);
    while (e->state == ENGINE_OPENING)
        pthread_cond_wait(&e->changed, &e->lock);
    go = e->state == ENGINE_RUNNING;
    pthread_mutex_unlock(&e->lock);
    return go;
}

/* The life between open and close. The order at the end matters: flush, then `last` to the
 * consumers, then wait for packets, which may point into memory of the modules that close next. */
static void thread_run(struct engine_thread *t)
{
    account_busy(t->engine, 1);
    t->scheduler = t->plan->stage + 1 < (int)t->engine->plan->stage_count
            ? t->engine->scheduler[t->plan->stage + 1] : NULL;
    __atomic_store_n(&t->stamp_ns, engine_clock_ns(t->engine), __ATOMIC_RELAXED);
    __atomic_store_n(&t->start_ns, t->stamp_ns, __ATOMIC_RELAXED);
    if (t->plan->stage == 0) {
        t->pool_credit = t->out_count == 0 ? FREE_ENOUGH : 0;
        loop_receive(t);
    } else {
        t->pool_credit = 0;
        loop_rings(t);
    }
    for (unsigned i = 0; i < t->module_count; i++)
        flush_module(t, i);
    hand_off_last(t);
    pool_wait_all_returned(t);
    __atomic_store_n(&t->end_ns, engine_clock_ns(t->engine), __ATOMIC_RELAXED);
    __atomic_store_n(&t->cpu_ns, clock_thread_cpu_ns(), __ATOMIC_RELAXED);
    account_busy(t->engine, -1);
}

/* The last thread to end signals end_fd; its decrement releases all threads' writes to
 * engine_is_running(). */
void *engine_thread_main(void *arg)
{
    struct engine_thread *t = arg;

    t->sleeper = (struct vector_sleeper){ account_receive_sleeps, account_receive_wakes, t };
    thread_apply_affinity(t->engine->plan, t->plan);
    if (thread_join_start(t))
        thread_run(t);
    modules_close(t);
    if (__atomic_sub_fetch(&t->engine->alive, 1, __ATOMIC_ACQ_REL) == 0)
        eventfd_write(t->engine->end_fd, 1);
    return NULL;
}
