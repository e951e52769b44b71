/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/detect.c - the inspection state of each flow: parsers, rules, and the records to log.
 * These are rendered here, because only this thread may read the flow. */
#include <stdlib.h>
#include <string.h>

#include "app/session.h"
#include "base/array.h"
#include "base/report/log.h"
#include "base/system/cpu.h"
#include "detect/explain/explain.h"
#include "detect/explain/life.h"
#include "detect/explain/live.h"
#include "detect/explain/matched.h"
#include "flow/elephant.h"
#include "flow/rate.h"
#include "flow/vars.h"
#include "modules/context.h"
#include "modules/detectlog_flush.h"
#include "modules/flow_partition.h"
#include "modules/tenant_threads.h"
#include "plugins/watch.h"
#include "sequencer/setup.h"

/* State of one packet thread. */
struct detect_module {
    struct run_context *ctx;
    struct app_thread *app;
    struct detect_thread *detect;           /* rules for all traffic */
    struct tenant_threads tenants;
    struct output_thread *output;
    struct seq_handle *handle;                 /* NULL: no thread to wait for */
    unsigned rules_generation, quiescent_round;
    struct counters *counters;
    bool joined;
    counter_id bypassed_packets, bypassed_bytes, pseudo_packets, elephants;
    struct flow_rate_conf rate;
    const struct elephant_conf *elephant;
    struct elephant_counters { counter_id flows[4], skipped_packets, skipped_bytes, ahead; }
        elephant_id;
    bool watches_size;                      /* flow.rate-tracking or flow.elephant is in use */
    struct detectlog_flush flush;
    struct matched *matched;                /* NULL: alerts do not say where rules match */
    struct explain_part *explain;           /* of a live question; NULL: none */
    struct plugin_watch *watch;             /* NULL: no plugin watches packets */
    bool one_ruleset;                       /* no tenants, no watchers, nothing to be explained */
    bool has_helper;                        /* flow.elephant.action: spread */
};

static bool is_one_ruleset(const struct detect_module *m)
{
    return m->tenants.table == NULL && m->ctx->explain == NULL && m->ctx->life == NULL &&
           m->matched == NULL && m->explain == NULL && m->watch == NULL;
}

/* A question comes and goes in a round. The thread has joined the rounds, so while it looks at the
 * question none ends. */
static void explain_live_follow(struct detect_module *m)
{
    struct explain_live *live = __atomic_load_n(&m->ctx->explain_live, __ATOMIC_ACQUIRE);

    if (m->explain != NULL || live == NULL)
        return;
    m->explain = explain_live_join(live);
    m->one_ruleset = is_one_ruleset(m);
}

/* The thread has no part in the question any more. */
static COLD void explain_live_end(struct detect_module *m)
{
    if (m->explain == NULL)
        return;
    explain_part_leave(m->explain);
    m->explain = NULL;
    m->one_ruleset = is_one_ruleset(m);
}

static void detect_module_close(void *self)
{
    struct detect_module *m = self;

    if (m == NULL)
        return;
    if (m->joined) {
        __atomic_fetch_sub(&m->ctx->inspecting, 1, __ATOMIC_RELAXED);
        explain_live_end(m);
        qsbr_leave(m->ctx, &m->quiescent_round);
    }
    output_thread_free(m->output);
    tenant_threads_fini(&m->tenants);
    if (m->ctx->explain != NULL)
        explain_end(m->ctx->explain);
    matched_free(m->matched);
    if (m->detect != NULL)
        detect_thread_free(m->detect);
    if (m->app != NULL)
        app_thread_free(m->app);
    detectlog_flush_fini(&m->flush);
    plugin_watch_close(m->watch);
    free(m);
}

static const struct app_hooks hooks = {
    .tx_inspected = detect_tx_inspected,
    .tx_renewed = detect_tx_renew,
    .tx_released = detect_tx_free,
    .file_released = output_file_released,
};

static int open_tenants(struct detect_module *m, struct ruleset *rules, struct err *err)
{
    m->tenants.ctx = m->ctx;
    m->tenants.everybody = m->detect;
    m->tenants.counters = m->counters;
    m->tenants.alert_payload_size = output_payload_size(m->ctx->conf);
    if (tenant_threads_take(&m->tenants, rules, m->rules_generation, err) < 0)
        return -1;
    m->one_ruleset = is_one_ruleset(m);
    return 0;
}

static void register_elephants(struct elephant_counters *id)
{
    id->flows[ELEPHANT_SPREAD] = counter_register_own("flow_elephants.spread", COUNTER_SUM);
    id->ahead = counter_register_own("flow_elephants.searched_ahead", COUNTER_SUM);
    id->flows[ELEPHANT_BYPASS] = counter_register_own("flow_elephants.bypassed", COUNTER_SUM);
    id->flows[ELEPHANT_SAMPLE] = counter_register_own("flow_elephants.sampled", COUNTER_SUM);
    id->skipped_packets = counter_register_own("flow_elephants.skipped_pkts", COUNTER_SUM);
    id->skipped_bytes = counter_register_own("flow_elephants.skipped_bytes", COUNTER_SUM);
}

/* A helper that takes a CPU from a packet thread costs more than it saves: with two packet threads
 * on two CPUs the elephant trace took 0.98 s instead of 0.60. So helpers only get CPUs that are
 * left over, the first threads first. */
static COLD void start_helper(struct detect_module *m, const struct module_env *env)
{
    if (env->thread + env->thread_count_all >= cpu_count())
        log_info("detect", "%s: no CPU is left for a thread that searches ahead (flow.elephant)",
                 env->thread_name);
    else if (!detect_thread_start_helper(m->detect))
        log_warning("detect", "flow.elephant: no thread can be started to search ahead");
    else
        m->has_helper = true;
}

static void *detect_module_open(const struct module_env *env, struct err *err)
{
    struct detect_module *m = xcalloc(1, sizeof(*m));
    struct ruleset *rules;

    m->ctx = env->context;
    m->rate = flow_conf_rate(m->ctx->flow);
    m->elephant = flow_conf_elephant(m->ctx->flow);
    m->watches_size = m->rate.seconds != 0 || m->elephant->action != ELEPHANT_INSPECT;
    m->app = app_thread_new(m->ctx->app, env->counters, &hooks);
    m->watch = plugin_watch_open();
    rules = run_context_rules(m->ctx, &m->rules_generation);
    m->detect = detect_thread_new(rules, m->ctx->conf, env->counters, m->ctx->is_inline, err);
    m->counters = env->counters;
    m->matched = output_shows_places(m->ctx->conf) ? matched_new() : NULL;
    if (m->detect == NULL || open_tenants(m, rules, err) < 0 ||
        (m->ctx->explain != NULL &&
         explain_begin(m->ctx->explain, m->ctx->conf, env->counters, err) < 0)) {
        ruleset_unref(rules);
        detect_module_close(m);
        return NULL;
    }
    ruleset_unref(rules);
    detect_thread_keep_alert_payload(m->detect, m->tenants.alert_payload_size);
    if (m->elephant->action == ELEPHANT_SPREAD)
        start_helper(m, env);
    m->output = output_thread_new(m->ctx->output, env->counters);
    if (m->ctx->seq != NULL)
        m->handle = seq_handle_new(m->ctx->seq, &env->seq_thread);
    partition_tell_hosts(m->ctx->partition, m->handle, env->thread);
    m->bypassed_packets = counter_register("flow_bypassed.local_pkts", COUNTER_SUM);
    m->pseudo_packets = counter_register("tcp.pseudo", COUNTER_SUM);
    m->bypassed_bytes = counter_register("flow_bypassed.local_bytes", COUNTER_SUM);
    m->elephants = counter_register("flow.elephant", COUNTER_SUM);
    register_elephants(&m->elephant_id);
    qsbr_join(m->ctx, &m->quiescent_round);
    __atomic_fetch_add(&m->ctx->inspecting, 1, __ATOMIC_RELAXED);
    m->joined = true;
    explain_live_follow(m);             /* it may have been asked before this capture */
    return m;
}

/* At the start of a vector, so a packet is inspected with one set of rules. */
static COLD void take_new_rules(struct detect_module *m)
{
    struct ruleset *rules = run_context_rules(m->ctx, &m->rules_generation);
    struct err err = { 0 };

    detect_thread_set_rules(m->detect, rules);
    (void)tenant_threads_take(&m->tenants, rules, m->rules_generation, &err);
    if (m->matched != NULL)
        matched_clear(m->matched);
    m->one_ruleset = is_one_ruleset(m);
    ruleset_unref(rules);
}

/* Traffic of a tenant only meets the tenant's rules. */
static COLD void run_rules_of(struct detect_module *m, const struct inspection *in)
{
    struct detect_thread *detect = m->detect;

    if (m->watch != NULL && in->reason != INSPECT_LAST_DATA)    /* the packet comes once more */
        plugin_watch_packet(m->watch, in->packet);
    if (m->tenants.table != NULL)
        detect = tenant_thread_of(&m->tenants, in->packet);
    if (m->explain != NULL) {
        if (!explain_part_inspect(m->explain, m->matched, detect, in))
            explain_live_end(m);
        return;
    }
    if (m->ctx->explain != NULL)
        explain_inspect(m->ctx->explain, detect, in);
    else if (m->ctx->life != NULL)
        life_inspect(m->ctx->life, detect, in);
    else if (m->matched != NULL)
        matched_inspect(m->matched, detect, in);
    else
        detect_inspect(detect, in);
}

static void run_rules(struct detect_module *m, const struct inspection *in)
{
    if (LIKELY(m->one_ruleset))
        detect_inspect(m->detect, in);
    else
        run_rules_of(m, in);
}

static void note_icmp(struct flow *f, const struct packet *p)
{
    if (f->packets[TO_SERVER] == 0 && f->packets[TO_CLIENT] == 0)
        f->icmp_code = p->icmp.code;
}

/* Payload between two searched parts of a sampled flow. Parsers have read it, and rules on
 * transactions still run. Nothing needs to be skipped where no payload would be searched. */
static void skip_unsampled(struct detect_module *m, struct inspection *in)
{
    const struct packet *p = in->packet;
    struct flow_elephant *e = flow_elephant(in->flow);

    if ((p->flags & (PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT)) ||
        (p->payload_len == 0 && in->chunk_count == 0))
        return;
    in->unsampled = true;
    e->skipped_packets++;
    e->skipped_bytes += p->payload_len;
    counter_inc(m->counters, m->elephant_id.skipped_packets);
    counter_add(m->counters, m->elephant_id.skipped_bytes, p->payload_len);
}

/* flow.rate-tracking and flow.elephant; off by default. */
static COLD void watch_size(struct detect_module *m, struct inspection *in)
{
    struct packet *p = in->packet;
    struct flow *f = in->flow;

    if (m->rate.seconds != 0 &&
        flow_rate_add(&m->rate, f, packet_direction(p), p->time_us, p->len))
        counter_inc(m->counters, m->elephants);
    if (m->elephant->action == ELEPHANT_INSPECT)
        return;
    if (elephant_count(m->elephant, f, p->time_us, p->len)) {
        counter_inc(m->counters, m->elephant_id.flows[m->elephant->action]);
        if (m->elephant->action == ELEPHANT_BYPASS)
            flow_request(f, FLOW_REQ_BYPASS);
    }
    if (elephant_skips(m->elephant, f))
        skip_unsampled(m, in);
}

/* Counts for the flow's records, when the packet passes here. */
static void count_packet(struct detect_module *m, struct inspection *in)
{
    struct packet *p = in->packet;
    struct flow *f = p->flow;
    enum direction d = packet_direction(p);

    if (f == NULL || (p->flags & PACKET_PSEUDO))
        return;
    if (p->ip_proto == 1 || p->ip_proto == 58)
        note_icmp(f, p);
    f->packets[d]++;
    f->bytes[d] += p->len;
    if (UNLIKELY(m->watches_size))
        watch_size(m, in);
    if (p->time_us > f->inspect_last_us)
        f->inspect_last_us = p->time_us;
    if (p->flags & PACKET_ESTABLISHED)
        f->inspect_flags |= FLOW_INSPECT_ESTABLISHED;
}

/* A bypass takes effect with the flow's next packet, even if the stream module has already passed
 * it on. */
static void apply_bypass(struct detect_module *m, struct packet *p)
{
    if ((p->flags & (PACKET_PSEUDO | PACKET_NO_INSPECT)) ||
        !(flow_requests(p->flow) & FLOW_REQ_BYPASS))
        return;
    p->flags |= PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_STREAM_NO_APP;
    stream_slot(p)->chunk_count = 0;
    counter_inc(m->counters, m->bypassed_packets);
    counter_add(m->counters, m->bypassed_bytes, p->len);
}

/* The same for a drop of the flow: dropped packets are neither parsed nor inspected. */
static void apply_drop(struct packet *p)
{
    if (!(p->flow->action & ACTION_DROP) || (p->flags & PACKET_PSEUDO))
        return;
    packet_drop(p, (enum drop_reason)p->flow->drop_reason);
    p->flags |= PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT | PACKET_STREAM_NO_APP;
    stream_slot(p)->chunk_count = 0;
}

/* The same for flows without payload inspection. */
static void apply_switched_off(struct packet *p)
{
    if (p->flow->switched_off & FLOW_NO_PAYLOAD_INSPECTION)
        p->flags |= PACKET_NO_PAYLOAD_INSPECT;
    if (p->flow->switched_off & FLOW_NO_REASSEMBLY)
        stream_slot(p)->chunk_count = 0;
}

/* What earlier packets of the flow have brought about. */
static inline void apply_earlier(struct detect_module *m, struct packet *p)
{
    const struct flow *f = p->flow;

    if (f == NULL || LIKELY(((flow_requests(f) & FLOW_REQ_BYPASS) |
                             (uint32_t)(f->action & ACTION_DROP) | f->switched_off) == 0))
        return;
    apply_bypass(m, p);
    apply_drop(p);
    apply_switched_off(p);
}

static void inspect_and_log(struct detect_module *m, const struct inspection *in)
{
    run_rules(m, in);
    output_render(m->output, in);
}

/* The first of the pseudo packets takes the chunks, which are due with it. In IPS mode they stay
 * with the packet that brought them, because they decide its verdict. Log records stay with p. */
static void flush_one(struct detect_module *m, struct inspection *in, bool same)
{
    struct packet *p = in->packet;
    struct packet *pseudo = detectlog_flush_packet(&m->flush, p, same);
    struct inspection flush = { .packet = pseudo, .flow = in->flow,
                                .direction = packet_direction(pseudo),
                                .reason = INSPECT_DETECTLOG_FLUSH,
                                .chunk = in->chunk };

    counter_inc(m->counters, m->pseudo_packets);
    if (!m->ctx->is_inline) {
        flush.chunk_count = in->chunk_count;
        in->chunk_count = 0;
    }
    pseudo->memory[PACKET_MEMORY_RECORDS] = p->memory[PACKET_MEMORY_RECORDS];
    p->memory[PACKET_MEMORY_RECORDS] = (struct buf){ 0 };
    inspect_and_log(m, &flush);
    p->memory[PACKET_MEMORY_RECORDS] = pseudo->memory[PACKET_MEMORY_RECORDS];
    pseudo->memory[PACKET_MEMORY_RECORDS] = (struct buf){ 0 };
}

/* Rules and logs run for both directions before a parser changes or stops, as Suricata's
 * StreamTcpDetectLogFlush() does. */
static void COLD detectlog_flush_run(struct detect_module *m, struct inspection *in)
{
    struct packet *p = in->packet;
    bool to_flow = p->flow->action & ACTION_DROP;

    detect_flush_stream(p->flow);
    flush_one(m, in, !m->ctx->is_inline);
    flush_one(m, in, m->ctx->is_inline);
    if (!to_flow && (p->flow->action & ACTION_DROP) && !(p->flags & PACKET_PSEUDO) &&
        app_is_changing(p->flow))
        packet_drop(p, (enum drop_reason)p->flow->drop_reason);
}

/* The client's chunks first, each side's in order. How many are the client's. */
static uint8_t chunks_sort(struct stream_slot *slot)
{
    struct stream_chunk behind[PACKET_CHUNKS_MAX];
    unsigned first = 0, count = 0;

    for (unsigned i = 0; i < slot->chunk_count; i++) {
        if (slot->chunk[i].direction == TO_SERVER)
            slot->chunk[first++] = slot->chunk[i];
        else
            behind[count++] = slot->chunk[i];
    }
    memcpy(slot->chunk + first, behind, count * sizeof(behind[0]));
    return (uint8_t)first;
}

#define LAST_BOTH (PACKET_LAST_TO_SERVER | PACKET_LAST_TO_CLIENT)

/* The last data of a flow came from both sides: as if there were a packet from each. This is the
 * client's; what remains of the inspection is the server's. */
static void COLD process_client_side(struct detect_module *m, struct inspection *in)
{
    struct packet *p = in->packet;
    struct inspection client = *in;

    client.chunk_count = chunks_sort(stream_slot(p));
    client.last_sides = INSPECT_OWN_SIDE;
    if (inspection_ends_flow(in))
        client.reason = INSPECT_LAST_DATA;
    app_packet(m->app, &client);
    inspect_and_log(m, &client);
    app_cleanup(m->app, &client);
    detect_slot(p)->alert_count = 0;
    in->chunk += client.chunk_count;
    in->chunk_count = (uint8_t)(in->chunk_count - client.chunk_count);
    in->last_sides = INSPECT_OTHER_SIDE;
}

/* What the server's parser has not taken yet is parsed at the flow's end, and what that finds is
 * the server's. If the server's side had ended before, its files are logged before its rules have
 * their last inspection, as in Suricata: its first packet at the end of a flow is the client's. */
static bool has_two_sides(const struct inspection *in)
{
    const struct app_flow *af = in->flow->app;

    if (in->chunk_count > 0)
        return true;
    if (!inspection_ends_flow(in) || af == NULL)
        return false;
    return (app_data_waits(af, TO_CLIENT) && !app_data_waits(af, TO_SERVER)) ||
           app_files_wait(af, TO_CLIENT);
}

/* At the end of a flow, the stream module may send data of a direction in earlier packets; flags
 * of these packets name the directions. */
static uint8_t last_sides(const struct packet *p)
{
    if (p->flags & PACKET_FLOW_END)
        return detect_last_sides(p);
    return (uint8_t)((p->flags & PACKET_LAST_TO_SERVER ? INSPECT_OWN_SIDE : 0) |
                     (p->flags & PACKET_LAST_TO_CLIENT ? INSPECT_OTHER_SIDE : 0));
}

static struct inspection inspection_of(const struct run_context *ctx, struct packet *p)
{
    struct stream_slot *slot = stream_slot(p);
    struct inspection in = { .packet = p, .flow = p->flow, .direction = packet_direction(p),
                             .chunk = slot->chunk, .chunk_count = slot->chunk_count };

    if (LIKELY(!(p->flags & (PACKET_FLOW_END | LAST_BOTH))) || p->flow == NULL)
        return in;
    if (p->flags & PACKET_FLOW_END)
        in.reason = INSPECT_FLOW_END;
    in.last_sides = last_sides(p);
    in.hands_over = __atomic_load_n(&ctx->exports, __ATOMIC_ACQUIRE) != NULL &&
                    p->flow->end_reason == FLOW_END_SHUTDOWN;
    return in;
}

/* At the end all threads add their flows, so a lock costs no packet anything. */
static COLD void export_flow(struct run_exports *exports, const struct flow *f)
{
    struct flow_export_parts parts;

    if (f->end_reason != FLOW_END_SHUTDOWN)
        return;
    stream_export(f, &parts.tcp);
    app_export(f, &parts.app, &parts.heard);
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        parts.tail[d] = stream_tail(f, d, detect_tail(f, d));
    pthread_mutex_lock(&exports->lock);
    if (flow_export_add(&exports->records, f, &parts))
        exports->count++;
    else
        exports->lost++;
    pthread_mutex_unlock(&exports->lock);
}

static void flow_state_free(struct detect_module *m, const struct packet *p)
{
    struct run_exports *exports = __atomic_load_n(&m->ctx->exports, __ATOMIC_ACQUIRE);
    struct flow *f = p->flow;

    if (UNLIKELY(exports != NULL))
        export_flow(exports, f);
    if (m->handle != NULL && f->app != NULL)
        expectation_parent_remove(m->ctx->app, p);
    detect_flow_free(f);
    app_flow_free(f);
    plugin_watch_flow_free(f);
    flow_ext_free(f);
    flow_vars_free(f->vars);
    f->vars = NULL;
}

/* The order is fixed: requests of earlier packets first, then parsers, rules, records, cleanup. */
static void detect_module_packet(struct detect_module *m, struct packet *p)
{
    struct inspection in;

    apply_earlier(m, p);
    in = inspection_of(m->ctx, p);
    if (UNLIKELY(in.last_sides == (INSPECT_OWN_SIDE | INSPECT_OTHER_SIDE)) && has_two_sides(&in))
        process_client_side(m, &in);
    if (p->flow != NULL && (in.chunk_count > 0 || !(p->flags & PACKET_STREAM_NO_APP)))
        app_packet(m->app, &in);        /* first: it may turn the packet's direction */
    count_packet(m, &in);
    if (UNLIKELY(app_wants_detectlog_flush(p)))
        detectlog_flush_run(m, &in);
    if (UNLIKELY(in.unsampled))         /* not earlier: a parser that stops looks at the flag */
        p->flags |= PACKET_NO_PAYLOAD_INSPECT;
    inspect_and_log(m, &in);
    if (p->flow == NULL)
        return;
    if (UNLIKELY(detect_keeps_alert_payload(m->detect)))
        detect_clear_alert_payload(m->detect, p);
    app_cleanup(m->app, &in);
    if (inspection_ends_flow(&in))
        flow_state_free(m, p);
}

static void COLD wake_streams(const struct run_context *ctx)
{
    for (unsigned i = 0; i < ctx->stream_count; i++)
        eventcount_wake(ctx->stream_eventcount[i]);
}

/* Tells the stream module that the packet's changes are visible: release pairs with its wait for
 * in-flight packets. */
static void answer(struct detect_module *m, const struct packet *p)
{
    struct flow *f = p->flow;

    if (f == NULL || (p->flags & PACKET_PSEUDO))
        return;
    __atomic_store_n(&f->inspected, f->inspected + 1, __ATOMIC_RELEASE);
    if (UNLIKELY(__atomic_load_n(&m->ctx->streams_asleep, __ATOMIC_RELAXED) > 0))
        wake_streams(m->ctx);
}

/* Publishes progress up to this packet, for threads that wait in the sequencer. */
static void begin_packet(struct detect_module *m, struct packet_vector *v, struct packet *p)
{
    v->at_work = p;
    sequencer_slot(p)->handle = m->handle;
    seq_passes(m->handle, p->seqno, p->seqno_sub);
}

/* Distances in packets: each level needs the memory that the level before has prefetched. All
 * levels together took flows-25k from 5.0 to 3.9 s (doc/internals/performance-log.md). */
#define AHEAD_FLOW 9
#define AHEAD_STATE 7
#define AHEAD_TX 5
#define AHEAD_PARSER 3
#define AHEAD_FILES 1

#define AHEAD_RING 16                   /* a power of two above all distances */

/* The flows of the next packets, each found once. `fresh` has a bit for each of these packets, the
 * furthest in bit 0: its flow is not that of the packet before it, which has prefetched it. */
struct ahead {
    struct detect_thread *detect;
    const struct flow *flow[AHEAD_RING];
    const struct flow *last;
    uint32_t fresh;
};

#define FRESH(distance) (1u << (AHEAD_FLOW - (distance)))

/* NULL: there is nothing to be prefetched at this distance. */
static inline const struct flow *flow_ahead(const struct ahead *a, unsigned at, unsigned distance)
{
    return (a->fresh & FRESH(distance)) != 0 ? a->flow[(at + distance) % AHEAD_RING] : NULL;
}

/* What hangs off the flows that have been prefetched. */
static void look_deeper(const struct ahead *a, unsigned at)
{
    const struct flow *f;

    if ((f = flow_ahead(a, at, AHEAD_STATE)) != NULL) {
        app_prefetch_flow(f->app);
        detect_prefetch_flow(f);
    }
    if ((f = flow_ahead(a, at, AHEAD_TX)) != NULL) {
        app_prefetch_tx(f->app);
        detect_prefetch_lists(f);
    }
    if ((f = flow_ahead(a, at, AHEAD_PARSER)) != NULL) {
        app_prefetch_parser(f->app);
        if (f->app != NULL && f->app->last != NULL)
            detect_prefetch_tx(f->app->last);
    }
    if ((f = flow_ahead(a, at, AHEAD_FILES)) != NULL && f->app != NULL && f->app->last != NULL) {
        app_prefetch_files(f->app);
        detect_prefetch_tx_rules(f->app->last);
    }
}

/* Other threads or a thousand flows may have evicted the flow from the cache. This prefetches what
 * hangs off a flow some packets ahead, level by level. `at` counts packets; `place` is where the
 * packet is in the vector by now. */
static inline void look_ahead(struct ahead *a, const struct packet_vector *v, unsigned at,
                              unsigned place)
{
    const struct flow *f = place + AHEAD_FLOW < v->count ? v->packet[place + AHEAD_FLOW]->flow
                                                         : NULL;

    a->fresh <<= 1;
    if (f != NULL && f != a->last) {
        a->flow[(at + AHEAD_FLOW) % AHEAD_RING] = f;
        a->fresh |= 1;
        PREFETCH_ALL(&f->app, sizeof(*f) - offsetof(struct flow, app));
    }
    a->last = f;
    if ((a->fresh & (FRESH(AHEAD_STATE) | FRESH(AHEAD_TX) | FRESH(AHEAD_PARSER) |
                     FRESH(AHEAD_FILES))) != 0)
        look_deeper(a, at);
    if (place + 1 < v->count) {
        PREFETCH(v->packet[place + 1]->payload);
        detect_prefetch_chunks(a->detect, v->packet[place + 1]);
    }
}

/* Before the thread answers, so that after the round no thread looks at the question before it. */
static void follow_explain_live(struct detect_module *m)
{
    struct explain_live *live = __atomic_load_n(&m->ctx->explain_live, __ATOMIC_ACQUIRE);

    if (m->explain != NULL && (live == NULL || explain_part_is_over(m->explain)))
        explain_live_end(m);
    explain_live_follow(m);
}

/* Between two vectors: this thread has no reference to rules. */
static COLD void report_quiescent(struct detect_module *m)
{
    detect_thread_follow_profile(m->detect);
    tenant_threads_follow_profile(&m->tenants);
    follow_explain_live(m);
    qsbr_report_quiescent(m->ctx, NULL, &m->quiescent_round);
}

static COLD void end_search(struct detect_module *m)
{
    counter_set(m->counters, m->elephant_id.ahead, detect_search_end(m->detect));
}

static enum module_status detect_module_process(void *self, struct packet_vector *v)
{
    struct detect_module *m = self;
    struct ahead ahead;
    bool searches_ahead;
    unsigned at = 0;    /* of the packet in this vector, even if some are handed on during a wait */

    if (UNLIKELY(m->rules_generation !=
                 __atomic_load_n(&m->ctx->rules_generation, __ATOMIC_ACQUIRE)))
        take_new_rules(m);
    if (qsbr_has_new_round(m->ctx, m->quiescent_round))
        report_quiescent(m);
    searches_ahead = m->has_helper && m->one_ruleset;
    if (UNLIKELY(searches_ahead))
        detect_search_ahead(m->detect, v);
    ahead.detect = m->detect;
    ahead.last = NULL;
    ahead.fresh = 0;
    /* Looks ahead for the first packets of a vector. Positions below 0 wrap, which is intended. */
    for (unsigned i = 0u - AHEAD_FLOW; i != 0; i++)
        look_ahead(&ahead, v, i, i);
    for (v->done = 0; v->done < v->count; v->done++, at++) {
        struct packet *p = v->packet[v->done];

        look_ahead(&ahead, v, at, v->done);
        if (UNLIKELY(searches_ahead))
            detect_search_reach(m->detect, at);
        if (m->handle != NULL)
            begin_packet(m, v, p);
        detect_module_packet(m, p);
        answer(m, p);
    }
    v->at_work = NULL;
    if (UNLIKELY(searches_ahead))
        end_search(m);
    if (m->handle != NULL && v->seqno_at != 0)
        seq_publish(m->handle, v->seqno_at, v->seqno_sub);
    return MODULE_OK;
}

/* No packet follows, so no thread needs to wait for this one. */
static bool detect_module_flush(void *self, struct packet_vector *v)
{
    struct detect_module *m = self;

    (void)v;
    if (m->handle != NULL)
        seq_publish(m->handle, SEQNO_END, SEQNO_END);
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
