/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/detect.c - the inspection state of each flow: parsers, rules, and what is to be logged of
 * them, which is rendered here because only this thread may look at the flow. */
#include <stdlib.h>
#include <string.h>

#include "app/session.h"
#include "base/array.h"
#include "flow/rate.h"
#include "flow/vars.h"
#include "modules/context.h"
#include "modules/detectlog_flush.h"
#include "modules/tenant_threads.h"

struct detect_module {
    struct run_context *ctx;
    struct app_thread *app;
    struct detect_thread *detect;           /* rules for everybody */
    struct tenant_threads tenants;
    struct output_thread *output;
    struct seq_handle *handle;                 /* NULL: nobody to wait for */
    unsigned rules_generation, quiescent_round;
    struct counters *counters;
    bool joined;
    counter_id bypassed_packets, bypassed_bytes, pseudo_packets, elephants;
    struct flow_rate_conf rate;
    struct detectlog_flush flush;
};

static void detect_module_close(void *self)
{
    struct detect_module *m = self;

    if (m == NULL)
        return;
    if (m->joined)
        qsbr_leave(m->ctx, &m->quiescent_round);
    output_thread_free(m->output);
    tenant_threads_fini(&m->tenants);
    if (m->detect != NULL)
        detect_thread_free(m->detect);
    if (m->app != NULL)
        app_thread_free(m->app);
    detectlog_flush_fini(&m->flush);
    free(m);
}

static const struct app_hooks hooks = {
    .tx_inspected = detect_tx_inspected,
    .tx_released = detect_tx_free,
    .file_released = output_file_released,
};

static int open_tenants(struct detect_module *m, struct ruleset *rules, struct err *err)
{
    m->tenants.counters = m->counters;
    m->tenants.alert_payload_size = output_payload_size(m->ctx->conf);
    return tenant_threads_take(&m->tenants, m->ctx, m->detect, rules, m->rules_generation, err);
}

static void *detect_module_open(const struct module_env *env, struct err *err)
{
    struct detect_module *m = xcalloc(1, sizeof(*m));
    struct ruleset *rules;

    m->ctx = env->context;
    m->rate = flow_conf_rate(m->ctx->flow);
    m->app = app_thread_new(m->ctx->app, env->counters, &hooks);
    rules = run_context_rules(m->ctx, &m->rules_generation);
    m->detect = detect_thread_new(rules, m->ctx->conf, env->counters, m->ctx->is_inline, err);
    m->counters = env->counters;
    if (m->detect == NULL || open_tenants(m, rules, err) < 0) {
        ruleset_unref(rules);
        detect_module_close(m);
        return NULL;
    }
    ruleset_unref(rules);
    detect_thread_keep_alert_payload(m->detect, m->tenants.alert_payload_size);
    m->output = output_thread_new(m->ctx->output, env->counters);
    if (m->ctx->seq != NULL)
        m->handle = seq_handle_new(m->ctx->seq, &env->seq_thread);
    m->bypassed_packets = counter_register("flow_bypassed.local_pkts", COUNTER_SUM);
    m->pseudo_packets = counter_register("tcp.pseudo", COUNTER_SUM);
    m->bypassed_bytes = counter_register("flow_bypassed.local_bytes", COUNTER_SUM);
    m->elephants = counter_register("flow.elephant", COUNTER_SUM);
    qsbr_join(m->ctx, &m->quiescent_round);
    m->joined = true;
    return m;
}

static COLD void take_new_rules(struct detect_module *m)
{
    struct ruleset *rules = run_context_rules(m->ctx, &m->rules_generation);
    struct err err = { 0 };

    detect_thread_set_rules(m->detect, rules);
    (void)tenant_threads_take(&m->tenants, m->ctx, m->detect, rules, m->rules_generation, &err);
    ruleset_unref(rules);
}

static void run_rules(struct detect_module *m, struct packet *p)
{
    detect_packet(LIKELY(m->tenants.table == NULL)
                      ? m->detect : tenant_thread_of(&m->tenants, p, m->detect), p);
}

static void note_icmp(struct flow *f, const struct packet *p)
{
    if (f->packets[TO_SERVER] == 0 && f->packets[TO_CLIENT] == 0)
        f->icmp_code = p->icmp.code;
}

/* The flow's own count, as the packets pass here. */
static void count_packet(struct detect_module *m, struct packet *p)
{
    struct flow *f = p->flow;
    enum direction d = packet_direction(p);

    if (f == NULL || (p->flags & PACKET_PSEUDO))
        return;
    if (p->ip_proto == 1 || p->ip_proto == 58)
        note_icmp(f, p);
    f->packets[d]++;
    f->bytes[d] += p->len;
    if (UNLIKELY(m->rate.seconds != 0) &&
        flow_rate_add(&m->rate, f, d, p->time_us, p->len))
        counter_inc(m->counters, m->elephants);
    if (p->time_us > f->inspect_last_us)
        f->inspect_last_us = p->time_us;
    if (p->flags & PACKET_ESTABLISHED)
        f->inspect_flags |= FLOW_INSPECT_ESTABLISHED;
}

/* A bypass counts from the next packet on, also when that had left the stream module before. */
static void apply_bypass(struct detect_module *m, struct packet *p)
{
    if (p->flow == NULL || (p->flags & (PACKET_PSEUDO | PACKET_NO_INSPECT)) ||
        LIKELY(!(flow_requests(p->flow) & FLOW_REQ_BYPASS)))
        return;
    p->flags |= PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_STREAM_NO_APP;
    p->chunk_count = 0;
    counter_inc(m->counters, m->bypassed_packets);
    counter_add(m->counters, m->bypassed_bytes, p->len);
}

/* So does a drop of the flow: what is dropped is neither parsed nor inspected. */
static void apply_drop(struct packet *p)
{
    if (p->flow == NULL || LIKELY(!(p->flow->action & ACTION_DROP)) || (p->flags & PACKET_PSEUDO))
        return;
    packet_drop(p, (enum drop_reason)p->flow->drop_reason);
    p->flags |= PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_STREAM_NO_APP;
    p->chunk_count = 0;
}

/* And so does that no more payload is to be looked at. */
static void apply_switched_off(struct packet *p)
{
    if (p->flow == NULL || LIKELY(p->flow->switched_off == 0))
        return;
    if (p->flow->switched_off & FLOW_NO_PAYLOAD_INSPECTION)
        p->flags |= PACKET_NO_PAYLOAD_INSPECT;
    if (p->flow->switched_off & FLOW_NO_REASSEMBLY)
        p->chunk_count = 0;
}

/* The chunks go with the first of the made packets, as they are due with it; inline they stay with
 * the packet that brought them, which is verdict_count by them. The records go where p's go. */
static void look(struct detect_module *m, struct packet *p, bool same)
{
    struct packet *pseudo = detectlog_flush_packet(&m->flush, p, same);

    counter_inc(m->counters, m->pseudo_packets);
    if (!m->ctx->is_inline) {
        pseudo->chunk_count = p->chunk_count;
        memcpy(pseudo->chunk, p->chunk, p->chunk_count * sizeof(p->chunk[0]));
        p->chunk_count = 0;
    }
    run_rules(m, pseudo);
    pseudo->records = p->records;
    p->records = (struct buf){ 0 };
    output_render(m->output, pseudo);
    p->records = pseudo->records;
    pseudo->records = (struct buf){ 0 };
}

static void COLD detectlog_flush_run(struct detect_module *m, struct packet *p)
{
    bool to_flow = p->flow->action & ACTION_DROP;

    detect_flush_stream(p->flow);
    look(m, p, !m->ctx->is_inline);
    look(m, p, m->ctx->is_inline);
    if (!to_flow && (p->flow->action & ACTION_DROP) && !(p->flags & PACKET_PSEUDO) &&
        app_is_changing(p->flow))
        packet_drop(p, (enum drop_reason)p->flow->drop_reason);
}

static unsigned chunks_sort(struct packet *p, struct stream_chunk *behind)
{
    unsigned retained = 0, count = 0;

    for (unsigned i = 0; i < p->chunk_count; i++) {
        if (p->chunk[i].direction == TO_SERVER)
            p->chunk[retained++] = p->chunk[i];
        else
            behind[count++] = p->chunk[i];
    }
    p->chunk_count = (uint8_t)retained;
    return count;
}

#define LAST_BOTH (PACKET_LAST_TO_SERVER | PACKET_LAST_TO_CLIENT)

/* The last data of a flow came from both sides: as if there were a packet from each. This is the
 * client's; what remains of p is the server's. */
static void COLD split_end(struct detect_module *m, struct packet *p)
{
    struct stream_chunk behind[PACKET_CHUNKS_MAX];
    unsigned count = chunks_sort(p, behind);
    uint32_t was = p->flags;

    p->flags &= ~(uint32_t)(PACKET_LAST_TO_CLIENT | PACKET_FLOW_END);
    p->flags |= PACKET_END_TO_SERVER;
    app_packet(m->app, p);
    p->flags &= ~(uint32_t)PACKET_END_TO_SERVER;
    p->flags |= was & PACKET_FLOW_END;
    run_rules(m, p);
    p->flags &= ~(uint32_t)PACKET_FLOW_END;
    output_render(m->output, p);
    app_cleanup(m->app, p);
    p->alert.count = 0;
    for (unsigned i = 0; i < count; i++)
        behind[i].direction ^= ((was ^ p->flags) & PACKET_TO_CLIENT) != 0;
    memcpy(p->chunk, behind, count * sizeof(behind[0]));
    p->chunk_count = (uint8_t)count;
    p->flags |= was & PACKET_FLOW_END;
    p->flags = (p->flags & ~(uint32_t)PACKET_LAST_TO_SERVER) | PACKET_LAST_TO_CLIENT;
}

static void detect_module_packet(struct detect_module *m, struct packet *p)
{
    apply_bypass(m, p);
    apply_drop(p);
    apply_switched_off(p);
    if (UNLIKELY(p->flags & PACKET_FLOW_END) && p->flow != NULL)
        detect_flow_ends(p);
    if (UNLIKELY((p->flags & LAST_BOTH) == LAST_BOTH) && p->chunk_count > 0 && p->flow != NULL)
        split_end(m, p);
    if (p->flow != NULL && (p->chunk_count > 0 || !(p->flags & PACKET_STREAM_NO_APP)))
        app_packet(m->app, p);      /* first: it may turn the packet's direction */
    if (UNLIKELY(app_wants_detectlog_flush(p)))
        detectlog_flush_run(m, p);
    count_packet(m, p);
    run_rules(m, p);
    output_render(m->output, p);
    if (p->flow == NULL)
        return;
    if (UNLIKELY(detect_keeps_alert_payload(m->detect)))
        detect_clear_alert_payload(m->detect, p);
    app_cleanup(m->app, p);
    if (p->flags & PACKET_FLOW_END) {
        if (m->handle != NULL && p->flow->app != NULL)
            expectation_parent_remove(m->ctx->app, p);
        detect_flow_free(p->flow);
        app_flow_free(p->flow);
        flow_ext_free(p->flow);
        flow_vars_free(p->flow->vars);
        p->flow->vars = NULL;
    }
}

static void COLD wake_streams(const struct run_context *ctx)
{
    for (unsigned i = 0; i < ctx->stream_count; i++)
        eventcount_wake(ctx->stream_eventcount[i]);
}

/* What the packet has changed is there to be seen by the stream module. */
static void answer(struct detect_module *m, const struct packet *p)
{
    struct flow *f = p->flow;

    if (f == NULL || (p->flags & PACKET_PSEUDO))
        return;
    __atomic_store_n(&f->inspected, f->inspected + 1, __ATOMIC_RELEASE);
    if (UNLIKELY(__atomic_load_n(&m->ctx->streams_asleep, __ATOMIC_RELAXED) > 0))
        wake_streams(m->ctx);
}

/* Somebody waits for us to come this far, if we were further than he thinks. */
static void begin_packet(struct detect_module *m, struct packet_vector *v, struct packet *p)
{
    v->at_work = p;
    p->handle = m->handle;
    seq_passes(m->handle, p->order, p->order_sub);
}

/* NULL also where the packet before is one of the same flow, and had it fetched. */
static inline const struct flow *flow_ahead(const struct packet_vector *v, unsigned at)
{
    if (at >= v->count || (at > 0 && v->packet[at - 1]->flow == v->packet[at]->flow))
        return NULL;
    return v->packet[at]->flow;
}

#define AHEAD_FLOW 9
#define AHEAD_STATE 7
#define AHEAD_TX 5
#define AHEAD_PARSER 3

/* Another thread or a thousand flows may have been here since. What hangs off a flow is called for
 * some packets before its turn, each thing when the one that leads to it has come. */
static void look_ahead(const struct packet_vector *v, unsigned at)
{
    const struct flow *f;

    if ((f = flow_ahead(v, at + AHEAD_FLOW)) != NULL)
        PREFETCH_ALL(&f->app, sizeof(*f) - offsetof(struct flow, app));
    if ((f = flow_ahead(v, at + AHEAD_STATE)) != NULL) {
        app_prefetch_flow(f->app);
        detect_prefetch_flow(f);
    }
    if ((f = flow_ahead(v, at + AHEAD_TX)) != NULL) {
        app_prefetch_tx(f->app);
        detect_prefetch_lists(f);
    }
    if ((f = flow_ahead(v, at + AHEAD_PARSER)) != NULL)
        app_prefetch_parser(f->app);
    if ((f = flow_ahead(v, at + 1)) != NULL && f->app != NULL && f->app->last != NULL) {
        app_prefetch_files(f->app);
        detect_prefetch_tx(f->app->last);
    }
    if (at + 1 < v->count)
        PREFETCH(v->packet[at + 1]->payload);
}

static COLD void report_quiescent(struct detect_module *m)
{
    detect_thread_follow_profile(m->detect);
    tenant_threads_follow_profile(&m->tenants);
    qsbr_report_quiescent(m->ctx, NULL, &m->quiescent_round);
}

static enum module_status detect_module_process(void *self, struct packet_vector *v)
{
    struct detect_module *m = self;

    if (UNLIKELY(m->rules_generation !=
                 __atomic_load_n(&m->ctx->rules_generation, __ATOMIC_ACQUIRE)))
        take_new_rules(m);
    if (qsbr_has_new_round(m->ctx, m->quiescent_round))
        report_quiescent(m);
    /* for the first packets: the places before them count from below 0 */
    for (unsigned at = 0u - AHEAD_FLOW; at != 0; at++)
        look_ahead(v, at);
    for (v->done = 0; v->done < v->count; v->done++) {
        struct packet *p = v->packet[v->done];

        look_ahead(v, v->done);
        if (m->handle != NULL)
            begin_packet(m, v, p);
        detect_module_packet(m, p);
        answer(m, p);
    }
    v->at_work = NULL;
    if (m->handle != NULL && v->order_at != 0)
        seq_publish(m->handle, v->order_at, v->order_sub);
    return MODULE_OK;
}

/* Nothing comes any more: the others need not wait for us. */
static bool detect_module_flush(void *self, struct packet_vector *v)
{
    struct detect_module *m = self;

    (void)v;
    if (m->handle != NULL)
        seq_publish(m->handle, ORDER_END, ORDER_END);
    return false;
}

const struct thread_module module_detect = {
    .name = "detect",
    .doc = "application protocols, rules, and the records to be logged",
    .open = detect_module_open,
    .process = detect_module_process,
    .flush = detect_module_flush,
    .close = detect_module_close,
};
