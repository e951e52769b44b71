/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/stream.c - the transport state of each flow, as a thread module. Rules with hooks before
 * the flow table or the stream run here, if there are any. If they use state that other flows can
 * change, each packet of a file passes alone and waits in the sequencer. */
#include <stdlib.h>

#include "app/conf.h"
#include "base/array.h"
#include "detect/explain/life.h"
#include "flow/elephant.h"
#include "modules/context.h"
#include "sequencer/setup.h"

struct stream_module {
    struct run_context *ctx;
    struct stream_thread *stream;
    struct counters *counters;
    struct detect_thread *early;             /* NULL: no rule has these hooks */
    struct seq_handle *handle;                 /* NULL: no thread to wait for */
    bool waits_in_sequence;                       /* hooks use state that other flows change */
    struct watermark done;                 /* position of the last vector */
    struct ruleset *rules, *rules_before;   /* packets with their alerts may be in flight */
    unsigned rules_generation, quiescent_round;
    bool joined;
    struct seq_thread thread;
    struct eventcount *eventcount;             /* the context's */
};

/* A sleeping stream thread is woken by detect threads: see answer() in detect.c. */
static void sleeps(void *self)
{
    struct stream_module *m = self;

    __atomic_fetch_add(&m->ctx->streams_asleep, 1, __ATOMIC_SEQ_CST);
    m->thread.sleeps(m->thread.self);
}

static void wakes(void *self)
{
    struct stream_module *m = self;

    m->thread.wakes(m->thread.self);
    __atomic_fetch_sub(&m->ctx->streams_asleep, 1, __ATOMIC_RELAXED);
}

/* Whether the general rules or those of a tenant affect the stream. */
static bool rules_affect_stream(const struct stream_module *m)
{
    struct tenants *tenants = run_context_tenants(m->ctx);
    bool affect = ruleset_affects_stream(m->rules) || tenants_any(tenants, ruleset_affects_stream);

    tenants_unref(tenants);
    return affect;
}

/* Live, a drop or bypass may reach the stream some packets later; offline and in IPS mode the
 * result must not depend on that. */
static void configure_inflight(struct stream_module *m)
{
    const struct run_context *ctx = m->ctx;
    const struct stream_inflight how = { m->eventcount, sleeps, wakes, m };
    bool answers_count = ctx->is_inline || rules_affect_stream(m) || app_bypasses(ctx->app) ||
                         flow_conf_elephant(ctx->flow)->action == ELEPHANT_BYPASS;

    stream_configure_inflight(m->stream, &how, ctx->offline,
                          ruleset_has_early_hook(m->rules, EARLY_HOOK_PRE_STREAM) ||
                              (ctx->offline && answers_count));
}

static bool early_hook_passes(const struct stream_module *m, struct packet *p,
                              enum detect_early_hook hook)
{
    bool goes;

    sequencer_slot(p)->handle = m->waits_in_sequence ? m->handle : NULL;
    goes = detect_early_hook(m->early, p, hook);
    sequencer_slot(p)->handle = NULL;
    return goes;
}

static bool pre_flow(void *arg, struct packet *p)
{
    return early_hook_passes(arg, p, EARLY_HOOK_PRE_FLOW);
}

static bool pre_stream(void *arg, struct packet *p)
{
    return early_hook_passes(arg, p, EARLY_HOOK_PRE_STREAM);
}

/* ids --explain-flow: the session as it is before the packet. */
static bool pre_stream_observed(void *arg, struct packet *p)
{
    struct stream_module *m = arg;

    life_before_stream(m->ctx->life, p);
    return !ruleset_has_early_hook(m->rules, EARLY_HOOK_PRE_STREAM) || pre_stream(arg, p);
}

/* A reload may bring the first such rules, or remove the last. Only a thread that waits in sequence
 * has a watermark that others wait for. */
static void sequencer_open(struct stream_module *m)
{
    bool waits_in_sequence = m->handle != NULL && ruleset_early_hooks_share_state(m->rules);

    if (waits_in_sequence && !m->waits_in_sequence)
        seq_handle_enter(m->handle, m->done);
    if (!waits_in_sequence && m->waits_in_sequence)
        seq_handle_leave(m->handle);
    m->waits_in_sequence = waits_in_sequence;
}

/* Rules of tenants do not run here: those with these hooks run with their other rules. */
static int early_hooks_open(struct stream_module *m, struct err *err)
{
    bool flow = ruleset_has_early_hook(m->rules, EARLY_HOOK_PRE_FLOW);
    bool stream = ruleset_has_early_hook(m->rules, EARLY_HOOK_PRE_STREAM);
    struct stream_early_hooks hooks = { flow ? pre_flow : NULL, stream ? pre_stream : NULL, m,
                                  ruleset_early_hooks_share_state(m->rules) };

    if (flow || stream) {
        if (m->early == NULL)
            m->early = detect_thread_new(m->rules, m->ctx->conf, m->counters, m->ctx->is_inline,
                                        err);
        else
            detect_thread_set_rules(m->early, m->rules);
        if (m->early == NULL)
            return -1;
    }
    if (m->ctx->life != NULL) {
        hooks.pre_stream = pre_stream_observed;
        hooks.alone = true;
    }
    stream_thread_set_early_hooks(m->stream, &hooks);
    sequencer_open(m);
    configure_inflight(m);
    return 0;
}

static void stream_module_close(void *self)
{
    struct stream_module *m = self;

    if (m == NULL)
        return;
    if (m->joined)
        qsbr_leave(m->ctx, &m->quiescent_round);
    if (m->early != NULL)
        detect_thread_free(m->early);
    ruleset_unref(m->rules);
    ruleset_unref(m->rules_before);
    stream_thread_free(m->stream);
    free(m);
}

static void *stream_module_open(const struct module_env *env, struct err *err)
{
    struct stream_module *m = xcalloc(1, sizeof(*m));

    m->ctx = env->context;
    m->counters = env->counters;
    m->thread = env->seq_thread;
    m->eventcount = run_stream_join(m->ctx, err);
    if (m->eventcount == NULL) {
        free(m);
        return NULL;
    }
    /* Detection runs on another thread: chunks must not point into buffers of this one. */
    m->stream = stream_thread_new(&(struct stream_env){
        .conf = m->ctx->stream, .flows = m->ctx->flow, .pool = env->pool,
        .counters = env->counters, .copy_chunks = !env->same_thread_as_next }, err);
    m->rules = run_context_rules(m->ctx, &m->rules_generation);
    if (m->ctx->seq != NULL) {
        m->handle = seq_handle_new(m->ctx->seq, &env->seq_thread);
        seq_handle_leave(m->handle);
    }
    if (m->stream == NULL || early_hooks_open(m, err) < 0) {
        stream_module_close(m);
        return NULL;
    }
    qsbr_join(m->ctx, &m->quiescent_round);
    m->joined = true;
    return m;
}

static COLD void take_new_rules(struct stream_module *m)
{
    struct err err = { 0 };

    ruleset_unref(m->rules_before);
    m->rules_before = m->rules;
    m->rules = run_context_rules(m->ctx, &m->rules_generation);
    (void)early_hooks_open(m, &err);
}

static COLD void report_quiescent(struct stream_module *m)
{
    if (m->early != NULL)
        detect_thread_follow_profile(m->early);
    qsbr_report_quiescent(m->ctx, m->stream, &m->quiescent_round);
}

static void go_on(struct stream_module *m, const struct packet_vector *v)
{
    m->done = (struct watermark){ v->seqno_at, v->seqno_sub };
    if (UNLIKELY(m->waits_in_sequence))
        seq_publish(m->handle, v->seqno_at, v->seqno_sub);
}

static enum module_status stream_module_process(void *self, struct packet_vector *v)
{
    struct stream_module *m = self;
    bool more;

    if (UNLIKELY(m->rules_generation !=
                 __atomic_load_n(&m->ctx->rules_generation, __ATOMIC_ACQUIRE)))
        take_new_rules(m);
    if (qsbr_has_new_round(m->ctx, m->quiescent_round))
        report_quiescent(m);
    more = stream_vector(m->stream, v);
    if (m->handle != NULL && v->seqno_at != 0)
        go_on(m, v);
    return more ? MODULE_MORE : MODULE_OK;
}

static bool stream_module_flush(void *self, struct packet_vector *v)
{
    struct stream_module *m = self;

    if (m->waits_in_sequence)
        seq_publish(m->handle, SEQNO_END, SEQNO_END);
    return stream_flush(m->stream, v, v->now_us,
                        __atomic_load_n(&m->ctx->last_frame_us, __ATOMIC_RELAXED));
}

const struct thread_module module_stream = {
    .name = "stream",
    .doc = "flows found, TCP followed, data put in order",
    .makes_packets = true,
    .open = stream_module_open,
    .process = stream_module_process,
    .flush = stream_module_flush,
    .close = stream_module_close,
};
