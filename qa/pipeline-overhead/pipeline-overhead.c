/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/pipeline-overhead/pipeline-overhead.c - what the engine itself costs, and how evenly it deals:
 * receive and decode for real, then modules that do nothing (or spin for a while on each packet),
 * in any run mode.
 *
 *     carry FILE MODE WORKERS [SCHEDULER [SPIN]]
 *
 * Prints the wall time, the imbalance (largest share over the even share) and the engine's
 * report. */
#include "base/array.h"
#include "base/system/clock.h"
#include "capture/pcap/file.h"
#include "engine/engine.h"
#include "modules/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct thread_module module_receive, module_decode;

static unsigned spin;

static void *idle_open(const struct module_env *env, struct err *err)
{
    (void)env;
    (void)err;
    return NULL;
}

static enum module_status idle_process(void *self, struct packet_vector *v)
{
    (void)self;
    (void)v;
    return MODULE_OK;
}

static enum module_status spin_process(void *self, struct packet_vector *v)
{
    (void)self;
    for (unsigned i = 0; i < v->count * spin; i++)
        __asm__ volatile("" ::: "memory");
    return MODULE_OK;
}

static const struct thread_module idle_modules[] = {
    { .name = "stream", .open = idle_open, .process = idle_process },
    { .name = "detect", .open = idle_open, .process = spin_process },
    { .name = "verdict", .open = idle_open, .process = idle_process },
    { .name = "output", .open = idle_open, .process = idle_process },
};
static const struct thread_module *const table[] = {
    &module_receive, &module_decode, &idle_modules[0], &idle_modules[1], &idle_modules[2],
    &idle_modules[3], NULL
};

static int fail(const struct err *err)
{
    fprintf(stderr, "carry: %s\n", err->text);
    return 1;
}

static int carry(struct run_context *ctx, const struct plan *plan)
{
    struct engine_conf conf = { .flow_idle_s = 3660 };
    struct err err = { 0 };
    struct engine *engine = engine_new(&conf, plan, table, ctx, &err);
    struct buf report = { 0 };
    uint64_t start, end;

    start = clock_ns();
    if (engine == NULL || engine_start(engine, &err) < 0)
        return fail(&err);
    engine_wait(engine);
    end = clock_ns();
    engine_report(engine, &report);
    printf("%.3f s, imbalance %.3f\n%.*s", (double)(end - start) / 1e9,
           (double)engine_imbalance(engine) / 1000, (int)report.len, (const char *)report.data);
    buf_fini(&report);
    engine_free(engine);
    return 0;
}

int main(int argc, char **argv)
{
    static struct run_context ctx;
    const char *sources[] = { argc > 1 ? argv[1] : NULL, NULL };
    struct plan_source source = { .name = sources[0] };
    struct conf *conf = conf_new();
    struct err err = { 0 };
    struct run_modes *modes;
    struct topology *topology;
    struct plan *plan;
    char pus[32];

    if (argc < 4) {
        fprintf(stderr, "usage: carry FILE MODE WORKERS [SCHEDULER [SPIN]]\n");
        return 1;
    }
    if (argc > 4)
        conf_set(conf, "autofp-scheduler", argv[4]);
    spin = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
    snprintf(pus, sizeof(pus), "pu:%s", argv[3]);
    modes = run_modes_new(conf_root(conf), &err);
    topology = topology_described(pus, &err);
    if (topology == NULL || run_modes_find(modes, argv[2]) == NULL)
        return fail(&err);
    plan = plan_new(&(struct plan_request){
        .root = conf_root(conf), .mode = run_modes_find(modes, argv[2]), .topology = topology,
        .method = "pcap-file", .sources = &source, .source_count = 1 }, &err);
    if (plan == NULL)
        return fail(&err);
    ctx.conf = conf_root(conf);
    ctx.offline = true;
    ctx.shares_file = plan->shares_file;
    ctx.capture = &capture_pcap_file;
    ctx.decode = decode_conf_new(ctx.conf, &err);
    ctx.capture_handle = ctx.capture->open(&(struct capture_request){
        .sources = sources, .threads = plan->stages[0].count, .conf = ctx.conf,
        .is_shared = plan->shares_file }, &err);
    if (ctx.decode == NULL || ctx.capture_handle == NULL)
        return fail(&err);
    return carry(&ctx, plan);
}
