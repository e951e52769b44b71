/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine with modules of straw: nothing is lost, flows keep their order, all returns to the pool. */
#include "base/array.h"
#include "base/test.h"
#include "engine/engine_private.h"
#include "engine/liveness.h"
#include "sequencer/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLOWS 97
#define PACKETS 20000
#define RECEIVERS_MAX 8

struct stub_run {
    unsigned per_receiver;
    uint64_t seen, flushed, idle, decoded;      /* atomic */
    uint64_t last_of_flow[RECEIVERS_MAX][FLOWS];
    uint64_t out_of_order, finished_at, returned;
    int fail_open;                              /* thread whose detect refuses; -1: none */
    bool fail_capture, endless;
    bool silent;                                /* nothing comes, until it is stopped */
    bool drops, waits;                          /* at a full ring; packets that are not dropped */
    bool receive_sleeps;                        /* inside of its calls, as for another thread */
    bool receive_polls;                         /* and in the kernel, as for frames */
    uint64_t polls;
    int sent_all;                               /* atomic */
    int hang;                                   /* atomic; 1: the next detect does; 2: it does */
    int stop;
};

struct stub_receive {
    struct stub_run *run;
    struct packet_pool *pool;
    unsigned thread, sent, idles, returned;
    struct seq_thread seq_thread;
};

static void count_return(struct packet *p, void *arg)
{
    struct stub_receive *r = arg;

    (void)p;
    r->returned++;
}

static void *stub_receive_open(const struct module_env *env, struct err *err)
{
    struct stub_receive *r = xcalloc(1, sizeof(*r));

    (void)err;
    *r = (struct stub_receive){ .run = env->context, .pool = env->pool, .thread = env->thread,
                                 .seq_thread = env->seq_thread };
    packet_pool_on_return(r->pool, count_return, r);
    return r;
}

static void stub_receive_sleep(struct stub_receive *r)
{
    struct timespec pause = { .tv_nsec = 100000 };

    r->seq_thread.sleeps(r->seq_thread.self);
    nanosleep(&pause, NULL);
    r->seq_thread.wakes(r->seq_thread.self);
}

static void stub_receive_poll(struct stub_receive *r, struct packet_vector *v)
{
    struct timespec pause = { .tv_nsec = 100000 };

    vector_sleeps(v);
    nanosleep(&pause, NULL);
    vector_wakes(v);
    __atomic_fetch_add(&r->run->polls, 1, __ATOMIC_RELAXED);
}

static enum module_status stub_receive_process(void *self, struct packet_vector *v)
{
    struct stub_receive *r = self;

    if (r->run->receive_sleeps)
        stub_receive_sleep(r);
    if (r->run->receive_polls)
        stub_receive_poll(r, v);
    if (r->run->silent)
        return __atomic_load_n(&r->run->stop, __ATOMIC_RELAXED) ? MODULE_END : MODULE_IDLE;
    if (r->sent % 7 == 3 && r->idles++ % 2 == 0) {
        __atomic_fetch_add(&r->run->idle, 1, __ATOMIC_RELAXED);
        r->sent++;
        return MODULE_IDLE;
    }
    v->waits = r->run->waits;
    while (v->count < VECTOR_FILL && (r->sent < r->run->per_receiver || r->run->endless)) {
        struct packet *p = packet_pool_get(r->pool);

        if (p == NULL)
            break;
        r->sent++;
        p->number = r->sent;
        p->time_us = r->sent;
        p->mark = r->thread;
        p->flow_hash = r->sent % FLOWS * 0x01234567u;      /* one of them is 0: no flow */
        v->now_us = p->time_us;
        vector_push(v, p);
    }
    if (r->run->fail_capture && r->sent > r->run->per_receiver / 2)
        return MODULE_FAILED;
    if (__atomic_load_n(&r->run->stop, __ATOMIC_RELAXED))
        return MODULE_END;
    if (r->sent < r->run->per_receiver || r->run->endless)
        return MODULE_OK;
    __atomic_store_n(&r->run->sent_all, 1, __ATOMIC_RELAXED);
    return MODULE_END;
}

static void stub_receive_close(void *self)
{
    struct stub_receive *r = self;

    __atomic_fetch_add(&r->run->returned, r->returned, __ATOMIC_RELAXED);
    free(r);
}

static void stub_receive_interrupt(void *self)
{
    struct stub_receive *r = self;

    __atomic_store_n(&r->run->stop, 1, __ATOMIC_RELAXED);
}

struct stub_stage {
    struct stub_run *run;
    struct packet_pool *pool;
    unsigned to_flush;
};

static void *stub_open(const struct module_env *env, struct err *err)
{
    struct stub_stage *s = xcalloc(1, sizeof(*s));

    (void)err;
    *s = (struct stub_stage){ .run = env->context, .pool = env->pool, .to_flush = 1000 };
    return s;
}

static void *stub_detect_open(const struct module_env *env, struct err *err)
{
    struct stub_run *run = env->context;

    if (run->fail_open == (int)env->thread) {
        err_set(err, "straw refuses");
        return NULL;
    }
    return stub_open(env, err);
}

static enum module_status stub_pass(void *self, struct packet_vector *v)
{
    (void)self;
    (void)v;
    return MODULE_OK;
}

/* Every 50th packet grows an inner one, as tunnels do. */
static enum module_status stub_decode(void *self, struct packet_vector *v)
{
    struct stub_stage *s = self;

    for (unsigned i = 0; i < v->count; i++) {
        struct packet *root = v->packet[i], *p;

        if ((root->flags & PACKET_TUNNEL) != 0 || root->number % 50 != 0)
            continue;
        p = packet_pool_get(s->pool);
        if (p == NULL)
            continue;
        p->flags |= PACKET_TUNNEL;
        p->root = root;
        p->flow_hash = root->flow_hash * 31 + 1;
        __atomic_fetch_add(&root->children, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&s->run->decoded, 1, __ATOMIC_RELAXED);
        vector_insert(v, i, p);
    }
    return MODULE_OK;
}

static bool stub_flush(void *self, struct packet_vector *v)
{
    struct stub_stage *s = self;

    for (; s->to_flush > 0 && v->count < VECTOR_FILL; s->to_flush--) {
        struct packet *p = packet_pool_get(s->pool);

        if (p == NULL)
            return true;
        p->flags |= PACKET_PSEUDO;
        p->flow_hash = s->to_flush;
        vector_push(v, p);
        __atomic_fetch_add(&s->run->flushed, 1, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&s->run->finished_at, v->now_us, __ATOMIC_RELAXED);
    return s->to_flush > 0;
}

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

static void hang(struct stub_run *run)
{
    int expected = 1;

    if (!__atomic_compare_exchange_n(&run->hang, &expected, 2, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    while (__atomic_load_n(&run->hang, __ATOMIC_RELAXED) == 2)
        nap();
}

static enum module_status stub_detect(void *self, struct packet_vector *v)
{
    struct stub_stage *s = self;

    hang(s->run);
    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i];
        uint64_t *last;

        __atomic_fetch_add(&s->run->seen, 1, __ATOMIC_RELAXED);
        if ((p->flags & (PACKET_PSEUDO | PACKET_TUNNEL)) != 0 || p->mark >= RECEIVERS_MAX)
            continue;
        last = &s->run->last_of_flow[p->mark][p->number % FLOWS];
        /* Not atomic on purpose: one thread owns a flow, and the thread sanitizer checks it. */
        if (p->number <= *last)
            __atomic_fetch_add(&s->run->out_of_order, 1, __ATOMIC_RELAXED);
        *last = p->number;
    }
    return MODULE_OK;
}

static void stub_close(void *self)
{
    free(self);
}

static const struct thread_module stub_modules[] = {
    { .name = "receive", .makes_packets = true, .open = stub_receive_open,
      .process = stub_receive_process, .close = stub_receive_close,
      .interrupt = stub_receive_interrupt },
    { .name = "decode", .makes_packets = true, .open = stub_open, .process = stub_decode,
      .close = stub_close },
    { .name = "stream", .makes_packets = true, .open = stub_open, .process = stub_pass,
      .flush = stub_flush, .close = stub_close },
    { .name = "detect", .open = stub_detect_open, .process = stub_detect,
      .close = stub_close },
    { .name = "verdict", .open = stub_open, .process = stub_pass, .close = stub_close },
    { .name = "output", .open = stub_open, .process = stub_pass, .close = stub_close },
};
static const struct thread_module *const stub_table[] = {
    &stub_modules[0], &stub_modules[1], &stub_modules[2], &stub_modules[3],
    &stub_modules[4], &stub_modules[5], NULL
};

struct stub_fixture {
    struct conf *conf;
    struct run_modes *modes;
    struct topology *topology;
    struct plan *plan;
    struct engine *engine;
};

static void fixture_make(struct test *t, struct stub_fixture *fixture, const char *mode, unsigned threads,
                     const char *more, struct stub_run *run)
{
    char yaml[900];
    struct err err = { 0 };
    struct plan_source source = { .name = "straw", .threads = strcmp(mode, "workers") == 0
                                                              ? threads : 0 };
    struct engine_conf conf = { .drop_when_full = run->drops };

    snprintf(yaml, sizeof(yaml), "%%YAML 1.1\n---\n"
             "runmodes:\n  mine:\n"
             "    - modules: [receive]\n"
             "    - modules: [decode, stream]\n"
             "    - modules: [detect, verdict]\n      threads: %u\n      balance: ippair\n"
             "    - modules: [output]\n      threads: 2\n"
             "threading:\n  detect-thread-ratio: 1.0\n%s", threads, more);
    memset(fixture, 0, sizeof(*fixture));
    fixture->conf = conf_new();
    CHECK_INT(conf_load_string(fixture->conf, yaml, "straw.yaml", &err), 0);
    fixture->modes = run_modes_new(conf_root(fixture->conf), &err);
    CHECK_STRING(err.text, "");
    snprintf(yaml, sizeof(yaml), "pu:%u", threads);
    fixture->topology = topology_described(yaml, &err);
    fixture->plan = plan_new(&(struct plan_request){
        .root = conf_root(fixture->conf), .mode = run_modes_find(fixture->modes, mode),
        .topology = fixture->topology, .method = "straw", .live = run->drops, .sources = &source,
        .source_count = 1 }, &err);
    CHECK(fixture->plan != NULL);
    CHECK_STRING(err.text, "");
    if (fixture->plan == NULL)
        return;
    fixture->engine = engine_new(&conf, fixture->plan, stub_table, run, &err);
    CHECK(fixture->engine != NULL);
}

static void fixture_free(struct stub_fixture *fixture)
{
    engine_free(fixture->engine);
    plan_free(fixture->plan);
    topology_free(fixture->topology);
    run_modes_free(fixture->modes);
    conf_free(fixture->conf);
}

TEST(engine_takes_a_clock_that_was_measured_before)
{
    struct clock_fast clock = { .has_counter = true, .start_ns = 7, .ns_per_tick = 9 };
    struct stub_run *run = xcalloc(1, sizeof(*run));
    struct stub_fixture fixture;
    struct err err = { 0 };
    struct engine *engine;

    fixture_make(t, &fixture, "single", 1, "", run);
    engine = engine_new(&(struct engine_conf){ .clock = &clock }, fixture.plan, stub_table, run,
                        &err);
    CHECK(engine != NULL);
    CHECK_INT(engine->clock.start_ns, 7);
    CHECK_INT(engine->clock.ns_per_tick, 9);
    engine_free(engine);
    fixture_free(&fixture);
    free(run);
}

static void run_all(struct test *t, const char *mode, unsigned threads, const char *more)
{
    struct stub_run *run = xcalloc(1, sizeof(*run));
    struct stub_fixture fixture;
    struct err err = { 0 };
    struct buf report = { 0 };
    unsigned receivers;

    run->per_receiver = PACKETS;
    run->fail_open = -1;
    fixture_make(t, &fixture, mode, threads, more, run);
    if (fixture.engine == NULL)
        return;
    receivers = fixture.plan->stages[0].count;
    CHECK_INT(engine_start(fixture.engine, &err), 0);
    CHECK_INT(engine_wait(fixture.engine), 0);
    CHECK(!engine_is_running(fixture.engine));
    CHECK_INT(run->out_of_order, 0);
    CHECK_INT(run->seen, receivers * (uint64_t)PACKETS + run->flushed + run->decoded - run->idle);
    CHECK(run->flushed > 0 && run->flushed % 1000 == 0);
    CHECK_INT(run->finished_at, PACKETS);
    CHECK(run->returned >= receivers * (uint64_t)PACKETS - run->idle);      /* all came home */
    engine_report(fixture.engine, &report);
    buf_add_u8(&report, '\0');
    CHECK(strstr((char *)report.data, "threads busy at once") != NULL);
    if (getenv("STRAW_REPORT") != NULL)
        printf("%s %u:\n%s\n", mode, threads, (char *)report.data);
    buf_fini(&report);
    fixture_free(&fixture);
    free(run);
}

/* A sleep inside of receive was taken from the time of the next module, which then was below 0. */
TEST(engine_charges_sleeps_of_receive_as_blocked)
{
    struct stub_run *run = xcalloc(1, sizeof(*run));
    struct engine_load load = { 0 };
    struct stub_fixture fixture;
    struct err err = { 0 };
    uint64_t begin = clock_ns(), span;

    run->per_receiver = PACKETS;
    run->fail_open = -1;
    run->receive_sleeps = true;
    fixture_make(t, &fixture, "single", 1, "", run);
    CHECK_INT(engine_start(fixture.engine, &err), 0);
    CHECK_INT(engine_wait(fixture.engine), 0);
    span = clock_ns() - begin;
    CHECK_INT(engine_loads(fixture.engine, &load, 1), 1);
    CHECK(load.blocked_ns >= 10 * 100000 && load.blocked_ns <= span);
    CHECK(load.busy_ns <= span);
    for (unsigned i = 0; i < fixture.engine->threads[0].module_count; i++)
        CHECK(fixture.engine->threads[0].modules[i].busy_ns <= span);
    fixture_free(&fixture);
    free(run);
}

/* A receive sleeps in the kernel and returns frames: that is waiting for the thread, for its module
 * and for the number of busy threads, so that all parts of the report agree. */
TEST(engine_charges_polls_of_receive_as_waiting)
{
    struct stub_run *run = xcalloc(1, sizeof(*run));
    const struct engine_thread *thread;
    struct engine_load load = { 0 };
    struct stub_fixture fixture;
    struct err err = { 0 };
    uint64_t begin = clock_ns(), span, modules = 0, slept;

    run->per_receiver = PACKETS;
    run->fail_open = -1;
    run->receive_polls = true;
    fixture_make(t, &fixture, "single", 1, "", run);
    CHECK_INT(engine_start(fixture.engine, &err), 0);
    CHECK_INT(engine_wait(fixture.engine), 0);
    span = clock_ns() - begin;
    slept = run->polls * 100000;
    CHECK(run->polls > PACKETS / VECTOR_FILL);
    CHECK_INT(engine_loads(fixture.engine, &load, 1), 1);
    thread = &fixture.engine->threads[0];
    for (unsigned i = 0; i < thread->module_count; i++)
        modules += thread->modules[i].busy_ns;
    CHECK_INT(load.busy_ns, modules);
    CHECK(load.wait_ns >= slept && load.wait_ns + load.busy_ns <= span);
    CHECK(fixture.engine->busy_ns[0] + run->polls * 2 * 1024 >= slept);
    CHECK(fixture.engine->busy_ns[0] + fixture.engine->busy_ns[1] <= span);
    fixture_free(&fixture);
    free(run);
}

/* A sleep that goes on is in the sums; those never go back. */
TEST(engine_time_of_a_sleep_that_goes_on)
{
    uint64_t total = 1000;

    open_time(&total, 500);
    CHECK((total & OPEN_TIME) != 0);
    CHECK_INT(passed_time(total, 500), 1000);
    CHECK_INT(passed_time(total, 800), 1300);
    close_time(&total, 900);
    CHECK_INT(total, 1400);
    total = 0;
    open_time(&total, 500);
    CHECK_INT(passed_time(total, 499), 0);      /* the clock of another CPU */
    close_time(&total, 600);
    CHECK_INT(total, 100);
}

TEST(engine_single)
{
    run_all(t, "single", 1, "");
}

TEST(engine_workers_1_to_8)
{
    for (unsigned n = 1; n <= 8; n++)
        run_all(t, "workers", n, "");
}

TEST(engine_autofp_1_to_8)
{
    for (unsigned n = 1; n <= 8; n++)
        run_all(t, "autofp", n, "");
}

TEST(engine_pipeline_1_to_8)
{
    for (unsigned n = 1; n <= 8; n++)
        run_all(t, "pipeline", n, "");
}

TEST(engine_own_mode_1_to_8)
{
    for (unsigned n = 1; n <= 8; n++)
        run_all(t, "mine", n, "");
}

TEST(engine_every_scheduler)
{
    static const char *const names[] = { "ippair", "ftp-hash", "xor-251", "round-robin",
                                         "least-loaded" };
    char more[64];

    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(more, sizeof(more), "autofp-scheduler: %s\n", names[i]);
        run_all(t, "autofp", 3, more);
    }
}

TEST(engine_small_pool)
{
    run_all(t, "autofp", 2, "max-pending-packets: 1\n");
}

TEST(engine_open_fails)
{
    struct stub_run *run = xcalloc(1, sizeof(*run));
    struct stub_fixture fixture;
    struct err err = { 0 };

    run->per_receiver = PACKETS;
    run->fail_open = 1;
    fixture_make(t, &fixture, "autofp", 3, "", run);
    CHECK_INT(engine_start(fixture.engine, &err), -1);
    CHECK_STRING(err.text, "straw refuses");
    CHECK_INT(run->seen, 0);
    fixture_free(&fixture);
    free(run);
}

struct opened {
    struct stub_run *run;
    unsigned calls, seen;       /* packets that had been seen at the last call */
    bool fails;
};

static int note_opened(void *arg, struct err *err)
{
    struct opened *opened = arg;

    opened->calls++;
    opened->seen = opened->run->seen;
    return opened->fails ? err_set(err, "not with this user") : 0;
}

TEST(engine_calls_between_open_and_the_first_packet)
{
    for (int fails = 0; fails < 2; fails++) {
        struct stub_run *run = xcalloc(1, sizeof(*run));
        struct opened opened = { .run = run, .fails = fails != 0 };
        struct stub_fixture fixture;
        struct err err = { 0 };

        run->per_receiver = PACKETS;
        run->fail_open = -1;
        fixture_make(t, &fixture, "autofp", 3, "", run);
        fixture.engine->conf.when_open = note_opened;
        fixture.engine->conf.arg = &opened;
        CHECK_INT(engine_start(fixture.engine, &err), fails ? -1 : 0);
        CHECK_STRING(err.text, fails ? "not with this user" : "");
        CHECK_INT(engine_wait(fixture.engine), 0);
        CHECK_INT(opened.calls, 1);
        CHECK_INT(opened.seen, 0);
        CHECK_INT(run->seen > 0, !fails);
        fixture_free(&fixture);
        free(run);
    }
}

TEST(engine_capture_breaks)
{
    struct stub_run *run = xcalloc(1, sizeof(*run));
    struct stub_fixture fixture;
    struct err err = { 0 };

    run->per_receiver = PACKETS;
    run->fail_open = -1;
    run->fail_capture = true;
    fixture_make(t, &fixture, "autofp", 2, "", run);
    CHECK_INT(engine_start(fixture.engine, &err), 0);
    CHECK_INT(engine_wait(fixture.engine), -1);
    CHECK(run->flushed > 0);
    CHECK_INT(run->out_of_order, 0);
    fixture_free(&fixture);
    free(run);
}

/* Until nothing moves any more, or all has been sent. */
static void wait_for_full_ring(struct stub_run *run)
{
    uint64_t before = 0, now;

    for (unsigned still = 0; still < 50 && __atomic_load_n(&run->sent_all, __ATOMIC_RELAXED) == 0;
         before = now) {
        nap();
        now = __atomic_load_n(&run->seen, __ATOMIC_RELAXED);
        still = now == before && __atomic_load_n(&run->hang, __ATOMIC_RELAXED) == 2 ? still + 1 : 0;
    }
}

/* Packets that are lost while one of two inspecting threads hangs. */
static uint64_t lost_at_full_ring(struct test *t, bool waits)
{
    struct stub_run *run = xcalloc(1, sizeof(*run));
    struct stub_fixture fixture;
    struct err err = { 0 };
    uint64_t lost;

    run->per_receiver = PACKETS;
    run->fail_open = -1;
    run->hang = 1;
    run->drops = true;
    run->waits = waits;
    fixture_make(t, &fixture, "autofp", 2, "", run);
    CHECK_INT(fixture.plan->stages[0].count, 1);
    CHECK_INT(engine_start(fixture.engine, &err), 0);
    wait_for_full_ring(run);
    __atomic_store_n(&run->hang, 0, __ATOMIC_RELAXED);
    CHECK_INT(engine_wait(fixture.engine), 0);
    lost = PACKETS + run->flushed + run->decoded - run->idle - run->seen;
    fixture_free(&fixture);
    free(run);
    return lost;
}

/* What has waited in the kernel waits on; what has just come is dropped for a thread that hangs. */
TEST(engine_waits_or_drops_at_a_full_ring)
{
    CHECK(lost_at_full_ring(t, false) > 0);
    CHECK_INT(lost_at_full_ring(t, true), 0);
}

TEST(engine_stops)
{
    static const char *const modes[] = { "single", "workers", "autofp", "pipeline" };

    for (unsigned i = 0; i < ARRAY_LEN(modes); i++) {
        struct stub_run *run = xcalloc(1, sizeof(*run));
        struct stub_fixture fixture;
        struct err err = { 0 };

        run->fail_open = -1;
        run->endless = true;
        fixture_make(t, &fixture, modes[i], 2, "", run);
        CHECK_INT(engine_start(fixture.engine, &err), 0);
        while (__atomic_load_n(&run->seen, __ATOMIC_RELAXED) < 1000)
            ;
        CHECK(engine_is_running(fixture.engine));
        engine_update_gauges(fixture.engine);
        engine_stop(fixture.engine);
        CHECK_INT(engine_wait(fixture.engine), 0);
        CHECK_INT(run->out_of_order, 0);
        fixture_free(&fixture);
        free(run);
    }
}

/* A running engine in each run mode, and what `look` says of its threads. */
static void each_mode_live(struct test *t, const struct stub_run *settings, unsigned threads,
                           void (*look)(struct test *t, struct stub_run *run,
                                        struct liveness *liveness))
{
    static const char *const modes[] = { "single", "workers", "autofp", "pipeline" };

    for (unsigned i = 0; i < ARRAY_LEN(modes); i++) {
        struct stub_run *run = xcalloc(1, sizeof(*run));
        struct liveness *liveness;
        struct stub_fixture fixture;
        struct err err = { 0 };

        *run = *settings;
        run->fail_open = -1;
        fixture_make(t, &fixture, modes[i], threads, "", run);
        CHECK_INT(engine_start(fixture.engine, &err), 0);
        liveness = liveness_new(fixture.engine);
        look(t, run, liveness);
        liveness_free(liveness);
        engine_stop(fixture.engine);
        CHECK_INT(engine_wait(fixture.engine), 0);
        fixture_free(&fixture);
        free(run);
    }
}

static void look_at_hanging(struct test *t, struct stub_run *run, struct liveness *liveness)
{
    unsigned looks = 0;

    __atomic_store_n(&run->hang, 1, __ATOMIC_RELAXED);
    while (liveness_check(liveness, 100) == NULL && looks++ < 5000)
        nap();
    CHECK(looks < 5000);
    CHECK_INT(__atomic_load_n(&run->hang, __ATOMIC_RELAXED), 2);
    __atomic_store_n(&run->hang, 0, __ATOMIC_RELAXED);
    for (looks = 0; liveness_check(liveness, 100) != NULL && looks < 5000; looks++)
        nap();
    CHECK(looks < 5000);
}

/* While packets flow no thread is said to be stuck; when one hangs it is found, and no more once it
 * goes on. */
TEST(liveness_finds_a_thread_that_hangs)
{
    each_mode_live(t, &(struct stub_run){ .endless = true }, 2, look_at_hanging);
}

static void look_at_waiting(struct test *t, struct stub_run *run, struct liveness *liveness)
{
    for (unsigned look = 0; look < 30; look++) {
        uint64_t polls = __atomic_load_n(&run->polls, __ATOMIC_RELAXED);

        while (__atomic_load_n(&run->polls, __ATOMIC_RELAXED) < polls + 2)
            nap();
        CHECK(liveness_check(liveness, 2) == NULL);
    }
}

/* A link without traffic is no fault: the thread goes from one sleep to the next. */
TEST(liveness_lets_threads_wait_for_packets)
{
    each_mode_live(t, &(struct stub_run){ .silent = true, .receive_polls = true }, 1,
                   look_at_waiting);
}

static uint32_t idle_of(struct test *t, const char *yaml)
{
    struct conf *conf = conf_new();
    struct err err = { 0 };
    uint32_t idle;

    CHECK_INT(conf_load_string(conf, yaml, "t.yaml", &err), 0);
    idle = engine_flow_idle_s(conf_root(conf));
    conf_free(conf);
    return idle;
}

/* A scheduler assigns a bucket to another thread only when no flow of it can be alive. */
TEST(engine_flow_idle_is_longer_than_any_timeout)
{
    char complete[600];
    static const char all[] =
        "%YAML 1.1\n---\nflow-timeouts:\n"
        "  default: { new: 30, established: 300, closed: 0, bypassed: 100 }\n"
        "  tcp: { new: 60, established: 600, closed: 60, bypassed: 100 }\n"
        "  udp: { new: 30, established: 300, bypassed: 100 }\n";

    CHECK_INT(idle_of(t, "%YAML 1.1\n---\na: b\n"), 3660);
    CHECK_INT(idle_of(t, all), 3660);               /* icmp is built in */
    snprintf(complete, sizeof(complete), "%s  icmp: { new: 30, established: 300, bypassed: %d }\n",
             all, 100);
    CHECK_INT(idle_of(t, complete), 660);
    snprintf(complete, sizeof(complete), "%s  icmp: { new: 30, established: 300, bypassed: %d }\n",
             all, 9000);
    CHECK_INT(idle_of(t, complete), 9060);
}
