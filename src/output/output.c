/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/output.c - the set of outputs, its rendering half and its writing half (see
 * output.h). */
#include "output/output.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/report/json.h"
#include "base/report/log.h"
#include "detect/compile/tenants.h"
#include "output/list.h"
#include "output/logger.h"
#include "output/merge.h"
#include "output/output_private.h"

#define COUNT(name) + 1
#define REGISTERED_MAX 16
/* The list, and what is registered while plugins load; NULL ends it. */
static const struct logger_ops *logger_table[LOGGER_LIST(COUNT) + REGISTERED_MAX + 1];

/* Bytes that a writer collects for one sink, which means few system calls under load.
 * output_write() passes on less when there is little to do. Offline no reader waits for records,
 * and of a longer write() the kernel makes fewer and larger folios of the file. */
#define WRITER_BATCH_LIVE (64 * 1024)
#define WRITER_BATCH_OFFLINE (256 * 1024)

/* Precedes each record in packet.records, so that the writer can split them by sink. */
struct record_head {
    uint32_t len;
    uint16_t sink;
    uint16_t alert_at;          /* of an alert in EVE, which a tap wants to see: where its JSON
                                 * begins, behind the prefix, and 1; else 0 */
};

/* Owned by its inspecting thread; no other thread looks at it. */
struct output_thread {
    struct render render;
    struct merge_input *input;        /* NULL: records go with their packet */
};

/* Owned by one writing thread. The sinks are shared and have locks if they need them. */
struct output_writer {
    struct output_conf *conf;
    struct buf *pending;            /* by sink id */
    unsigned *pending_records;      /* parallel to pending */
    unsigned sink_count;
    size_t batch;                   /* WRITER_BATCH_LIVE or WRITER_BATCH_OFFLINE */
};

char *output_path(const struct output_request *request, const char *name)
{
    struct buf b = { 0 };

    if (name[0] != '/') {
        buf_add_string(&b, request->log_dir);
        if (b.len == 0 || b.data[b.len - 1] != '/')
            buf_add_u8(&b, '/');
    }
    buf_add_string(&b, name);
    buf_add_u8(&b, 0);
    return (char *)b.data;
}

/* --- set-up ------------------------------------------------------------------------------- */

/* Finds by the name in `outputs:`; NULL: no such output. */
static const struct logger_ops *logger_find(const char *name)
{
    for (unsigned i = 0; logger_table[i] != NULL; i++)
        if (strcmp(logger_table[i]->name, name) == 0)
            return logger_table[i];
    return NULL;
}

void logger_put(unsigned at, const struct logger_ops *ops)
{
    logger_table[at] = ops;
}

int logger_register(const struct logger_ops *ops, struct err *err)
{
    size_t count = 0;

    if (logger_find(ops->name) != NULL)
        return err_set(err, "there is an output \"%s\" already", ops->name);
    while (logger_table[count] != NULL)
        count++;
    if (count + 1 == ARRAY_LEN(logger_table))
        return err_set(err, "at most %d outputs can be added", REGISTERED_MAX);
    logger_table[count] = ops;
    return 0;
}

const char *const *output_settings_keys(struct arena *arena, const char *const *others)
{
    ARRAY_OF(const char *) lines = { 0 };
    const char *const *copy;

    while (*others != NULL)
        ARRAY_PUSH(&lines, *others++);
    ARRAY_PUSH(&lines, "outputs");
    for (unsigned i = 0; logger_table[i] != NULL; i++)
        if (logger_table[i]->settings_keys != NULL)
            ARRAY_PUSH(&lines, arena_printf(arena, "  %s: %s", logger_table[i]->name,
                                            logger_table[i]->settings_keys));
    ARRAY_PUSH(&lines, NULL);
    copy = arena_copy(arena, lines.at, lines.count * sizeof(*lines.at));
    ARRAY_FREE(&lines);
    return copy;
}

/* An early logger precedes all others: eve-log's `stored` depends on what file-store has done with
 * the same packet. */
static void output_add(struct output_conf *conf, const struct logger_ops *ops, void *self)
{
    size_t at;

    ARRAY_PUSH(&conf->loggers, (struct logger){ .ops = ops, .self = self });
    for (at = conf->loggers.count - 1; ops->early && at > 0; at--)
        conf->loggers.at[at] = conf->loggers.at[at - 1];
    conf->loggers.at[at] = (struct logger){ .ops = ops, .self = self };
    conf->packet_writers |= ops->write_packet != NULL;
    conf->streamers |= ops->stream != NULL;
    if (ops->packet != NULL)
        conf->packets_wanted = MAX(conf->packets_wanted, ops->wants_packets != NULL
                                                             ? ops->wants_packets(self)
                                                             : PACKETS_ALL);
}

/* Suricata once had these outputs, and older configurations still name them. Only a
 * warning: the engine can run without them. */
static COLD void report_missing(const struct conf_node *node)
{
    static const struct { const char *name, *instead; } removed[] = {
        { "dns-log", "the type `dns` of eve-log" }, { "drop", "the type `drop` of eve-log" },
        { "file-log", "the type `files` of eve-log" },
        { "pcap-info", "the type `alert` of eve-log, with `packet`" },
        { "unified2-alert", "eve-log" }, { "alert-prelude", "eve-log" },
    };

    for (unsigned i = 0; i < ARRAY_LEN(removed); i++)
        if (strcmp(node->name, removed[i].name) == 0) {
            conf_warning(node, "there is no output \"%s\" any more; it is left out. Want %s",
                         node->name, removed[i].instead);
            return;
        }
    conf_warning(node, "there is no output \"%s\"; it is left out", node->name);
}

/* An output that cannot open is an error, and the engine starts without it, as Suricata
 * does. Only an output whose files are evidence (pcap-log) prevents the start. */
static void output_open(struct output_conf *conf, const struct conf_node *node)
{
    const struct logger_ops *ops = logger_find(node->name);
    struct err err = { 0 };
    void *self;

    if (!conf_bool(node, "enabled", false))
        return;
    if (ops == NULL) {
        report_missing(node);
        return;
    }
    self = ops->open_registered != NULL
               ? ops->open_registered(ops, &conf->request, conf, node, &err)
               : ops->open(&conf->request, conf, node, &err);
    if (self != NULL)
        output_add(conf, ops, self);
    else if (err.text[0] != '\0' && ops->is_evidence)
        conf_fatal(node, "%s: %s", node->name, err.text);
    else if (err.text[0] != '\0')
        conf_error(node, "%s: %s", node->name, err.text);
}

/* Called once, before threads start. `outputs:` is a list of maps with one key each. */
struct output_conf *output_conf_new(const struct output_request *request, struct err *err)
{
    struct output_conf *conf = xcalloc(1, sizeof(*conf));

    (void)err;
    conf->request = *request;
    pthread_mutex_init(&conf->rules_lock, NULL);
    log_limit_init(&conf->log_limit, request->conf);
    CONF_EACH (item, conf_find(request->conf, "outputs")) {
        if (item->child != NULL)
            output_open(conf, item->child);
    }
    conf->stats_interval = conf_bool(request->conf, "stats.enabled", true)
                               ? (unsigned)conf_u64(request->conf, "stats.interval", 8) : 0;
    conf->stats.conf = conf;
    conf->stats.out = &conf->stats_out;
    return conf;
}

static void write_left_out(struct output_conf *conf, uint64_t now_us);

/* Sinks write the merged records, so they are closed last. */
void output_conf_free(struct output_conf *conf)
{
    if (conf == NULL)
        return;
    merge_free(conf->merge);
    output_writer_free(conf->merged);
    write_left_out(conf, UINT64_MAX);
    if (conf->log_limit.total > 0)
        log_warning("output", "%llu records were left out: they had reached log-limit",
                    (unsigned long long)conf->log_limit.total);
    tenants_unref(conf->tenants);
    for (size_t i = 0; i < conf->loggers.count; i++)
        if (conf->loggers.at[i].ops->close != NULL)
            conf->loggers.at[i].ops->close(conf->loggers.at[i].self);
    for (size_t i = 0; i < conf->sinks.count; i++) {
        struct sink *sink = conf->sinks.at[i];

        if (sink->ops->finish != NULL)
            sink->lost += sink->ops->finish(sink->self);
        if (sink->lost > 0)
            log_warning("output", "%s: %llu records could not be written", conf->sink_paths.at[i],
                        (unsigned long long)sink->lost);
        sink->ops->close(sink->self);
        free(sink->thread_sink);
        free(sink);
        free(conf->sink_paths.at[i]);
    }
    ARRAY_FREE(&conf->loggers);
    ARRAY_FREE(&conf->sinks);
    ARRAY_FREE(&conf->sink_paths);
    log_limit_fini(&conf->log_limit);
    buf_fini(&conf->stats_out);
    buf_fini(&conf->stats.scratch);
    free(conf);
}

void output_run_here(struct output_conf *conf)
{
    for (size_t i = 0; i < conf->sinks.count; i++)
        if (conf->sinks.at[i]->ops->run_here != NULL)
            conf->sinks.at[i]->ops->run_here(conf->sinks.at[i]->self);
}

/* Sinks that know no files have no rotate(). */
void output_rotate(struct output_conf *conf)
{
    for (size_t i = 0; i < conf->sinks.count; i++)
        if (conf->sinks.at[i]->ops->rotate != NULL)
            conf->sinks.at[i]->ops->rotate(conf->sinks.at[i]->self);
    for (size_t i = 0; i < conf->loggers.count; i++)
        if (conf->loggers.at[i].ops->rotate != NULL)
            conf->loggers.at[i].ops->rotate(conf->loggers.at[i].self);
}

/* --- records ------------------------------------------------------------------------------ */

/* The length is not known yet; record_end() sets it. One record at a time for each struct
 * render. */
void record_begin(struct render *r, struct sink *sink)
{
    struct record_head head = { .sink = sink_of_thread(sink, r->thread)->id };

    r->record_at = r->out->len;
    buf_add(r->out, &head, sizeof(head));
}

/* Without memory for its head the record is lost anyway. With a prefix that is too long the tap
 * does not see it. */
void record_is_alert(struct render *r, size_t json_at)
{
    size_t at = r->record_at + offsetof(struct record_head, alert_at);
    const uint16_t alert_at = (uint16_t)(json_at < UINT16_MAX ? json_at + 1 : 0);

    if (LIKELY(r->out->len >= at + sizeof(alert_at)))
        memcpy(r->out->data + at, &alert_at, sizeof(alert_at));
}

/* Without memory for all of it there is no record: no half lines. */
void record_end(struct render *r)
{
    struct record_head head;

    if (UNLIKELY(!buf_cut_failed(r->out, r->record_at))) {
        __atomic_fetch_add(&r->conf->records_lost, 1, __ATOMIC_RELAXED);
        return;
    }
    memcpy(&head, r->out->data + r->record_at, sizeof(head));
    head.len = (uint32_t)(r->out->len - r->record_at - sizeof(head));
    memcpy(r->out->data + r->record_at, &head, sizeof(head));
}

/* Drops the record that record_begin() began, as if it had never been. */
void record_cancel(struct render *r)
{
    r->out->len = r->record_at;
    r->out->failed = false;
}

COLD static void cancel_line(struct render *r, const struct packet *p)
{
    record_cancel(r);
    log_limit_count(r, p, LEFT_OUT_LINE, NULL);
}

void record_end_line(struct render *r, const struct packet *p)
{
    record_end(r);
    if (UNLIKELY(!log_limit_take(r, p, record_slice(r).len)))
        cancel_line(r, p);
}

/* Also called right before record_end(): returns all bytes since record_begin(). */
struct slice record_slice(const struct render *r)
{
    size_t at = r->record_at + sizeof(struct record_head);

    if (r->out->len < at)               /* it was lost */
        return (struct slice){ 0 };
    return (struct slice){ .data = r->out->data + at, .len = (uint32_t)(r->out->len - at) };
}

/* localtime_r() and strftime() are slow, so the texts for a minute are kept, and for another second
 * of it two digits change. A struct render of zeros has no text yet. */
static void render_second(struct render *r, uint64_t second)
{
    time_t t = (time_t)second;
    struct tm tm;

    if (second >= r->time_minute && second - r->time_minute < 60 && r->time_prefix[0] != '\0') {
        memcpy(r->time_prefix + r->time_prefix_len - 2,
               json_two_digits + 2 * (second - r->time_minute), 2);
        r->time_second = second;
        return;
    }
    localtime_r(&t, &tm);
    strftime(r->time_prefix, sizeof(r->time_prefix), "%Y-%m-%dT%H:%M:%S", &tm);
    strftime(r->time_suffix, sizeof(r->time_suffix), "%z", &tm);
    r->time_prefix_len = (uint8_t)strlen(r->time_prefix);
    r->time_suffix_len = (uint8_t)strlen(r->time_suffix);
    r->time_second = second;
    r->time_minute = second - (uint64_t)tm.tm_sec;
}

size_t render_time(struct render *r, uint64_t time_us, char out[EVE_TIME_SIZE])
{
    uint64_t second = time_us / 1000000;
    unsigned us = (unsigned)(time_us % 1000000);

    if (UNLIKELY(second != r->time_second || r->time_prefix[0] == '\0'))
        render_second(r, second);
    size_t n = r->time_prefix_len;

    memcpy(out, r->time_prefix, sizeof(r->time_prefix));
    out[n++] = '.';
    memcpy(out + n, json_two_digits + us / 10000 * 2, 2);
    memcpy(out + n + 2, json_two_digits + us / 100 % 100 * 2, 2);
    memcpy(out + n + 4, json_two_digits + us % 100 * 2, 2);
    n += 6;
    memcpy(out + n, r->time_suffix, sizeof(r->time_suffix));
    return n + r->time_suffix_len;
}

void output_time(struct json *j, const char *key, uint64_t time_us)
{
    struct render r = { 0 };
    char text[EVE_TIME_SIZE];

    json_bytes(j, key, text, render_time(&r, time_us, text));
}

/* --- rendering ---------------------------------------------------------------------------- */

/* Numbers threads from 1, in the order in which they start. */
struct output_thread *output_thread_new(struct output_conf *conf, struct counters *counters)
{
    struct output_thread *ot = xcalloc(1, sizeof(*ot));

    ot->render.conf = conf;
    ot->render.counters = counters;
    ot->render.thread = __atomic_add_fetch(&conf->threads, 1, __ATOMIC_RELAXED);
    if (conf->merge != NULL)
        ot->input = merge_input_new(conf->merge);
    return ot;
}

void output_thread_free(struct output_thread *ot)
{
    if (ot == NULL)
        return;
    buf_fini(&ot->render.scratch);
    free(ot);
}

/* All transactions of the flow, on each packet: each logger knows from its marks in the
 * transaction whether it has something to log. */
static void render_txs(struct output_thread *ot, struct packet *p)
{
    struct output_conf *conf = ot->render.conf;
    const struct app_flow *af = p->flow->app;

    for (struct app_tx *tx = af->due; tx != NULL; tx = tx->due_next)
        for (size_t i = 0; i < conf->loggers.count; i++)
            if (conf->loggers.at[i].ops->tx != NULL)
                conf->loggers.at[i].ops->tx(&ot->render, conf->loggers.at[i].self, p, tx);
}

/* At the end of a flow the transactions are only logged if a direction has its last
 * inspection now; otherwise an earlier packet has logged all there is. */
static bool may_have_txs(const struct inspection *in)
{
    return !inspection_ends_flow(in) || in->last_sides != 0;
}

/* On the last packet of the flow, which may be a pseudo packet. */
static void render_flow(struct output_thread *ot, struct packet *p)
{
    struct output_conf *conf = ot->render.conf;

    for (size_t i = 0; i < conf->loggers.count; i++)
        if (conf->loggers.at[i].ops->flow != NULL)
            conf->loggers.at[i].ops->flow(&ot->render, conf->loggers.at[i].self, p, p->flow);
}

static inline bool is_notable(const struct packet *p)
{
    const struct detect_slot *slot = detect_slot(p);

    return slot->alert_count > 0 || slot->vars != NULL || p->event_count > 0 ||
           (p->flags & PACKET_TAGGED) != 0 || (p->action & (ACTION_DROP | ACTION_REJECT)) != 0;
}

static void render_packet(struct output_thread *ot, struct packet *p)
{
    struct output_conf *conf = ot->render.conf;

    for (size_t i = 0; i < conf->loggers.count; i++)
        if (conf->loggers.at[i].ops->packet != NULL)
            conf->loggers.at[i].ops->packet(&ot->render, conf->loggers.at[i].self, p);
}

/* Most packets are not notable. Asking each type of record took as long as all else here. */
static inline bool packet_is_wanted(const struct output_conf *conf, const struct packet *p)
{
    return conf->packets_wanted == PACKETS_ALL ||
           (conf->packets_wanted == PACKETS_NOTABLE && is_notable(p));
}

/* Alerts come before the transactions of the same packet, and those before the flow. */
static void render_all(struct output_thread *ot, struct packet *p)
{
    struct output_conf *conf = ot->render.conf;

    if (packet_is_wanted(conf, p))
        render_packet(ot, p);
    if (p->flow == NULL)
        return;
    if (UNLIKELY(conf->streamers))
        output_stream(conf, &ot->render, p);
    if (p->flow->app != NULL && p->flow->app->due != NULL && may_have_txs(ot->render.inspection))
        render_txs(ot, p);
    if (inspection_ends_flow(ot->render.inspection))
        render_flow(ot, p);
}

/* A thread that is ahead of the others keeps its records until they have passed them. */
static void merge_records(struct output_thread *ot, struct packet *p)
{
    struct buf *records = &p->memory[PACKET_MEMORY_RECORDS];

    if (UNLIKELY(merge_is_full(ot->input)))
        packet_seq_wait(p);
    if (!merge_add(ot->input, p, records))
        __atomic_fetch_add(&ot->render.conf->records_lost, 1, __ATOMIC_RELAXED);
    buf_clear(records);
}

/* r->left_out, by each logger that writes it. */
static COLD void render_left_out(struct output_conf *conf, struct render *r)
{
    for (size_t i = 0; i < conf->loggers.count; i++)
        if (conf->loggers.at[i].ops->left_out != NULL)
            conf->loggers.at[i].ops->left_out(r, conf->loggers.at[i].self, r->left_out);
    left_out_free(r->left_out);
    r->left_out = NULL;
}

/* Called on the inspecting thread that owns the flow, for each packet. */
void output_render(struct output_thread *ot, const struct inspection *in)
{
    struct packet *p = in->packet;

    ot->render.inspection = in;
    ot->render.out = &p->memory[PACKET_MEMORY_RECORDS];
    ot->render.packet_bytes = 0;
    render_all(ot, p);
    if (UNLIKELY(ot->render.left_out != NULL))
        render_left_out(ot->render.conf, &ot->render);
    if (UNLIKELY(ot->input != NULL) && p->memory[PACKET_MEMORY_RECORDS].len > 0)
        merge_records(ot, p);
}

/* --- writing ------------------------------------------------------------------------------ */

/* Sinks are all opened before, so their number does not change. */
struct output_writer *output_writer_new(struct output_conf *conf, struct counters *counters)
{
    struct output_writer *w = xcalloc(1, sizeof(*w));

    (void)counters;
    w->conf = conf;
    w->sink_count = (unsigned)conf->sinks.count;
    w->batch = conf->request.offline ? WRITER_BATCH_OFFLINE : WRITER_BATCH_LIVE;
    w->pending = xcalloc(w->sink_count + 1, sizeof(*w->pending));
    w->pending_records = xcalloc(w->sink_count + 1, sizeof(*w->pending_records));
    return w;
}

/* Passes the collected records to the sink. Records that the sink cannot write are lost and
 * counted. */
static void writer_enqueue(struct output_writer *w, unsigned id)
{
    struct sink *sink = w->conf->sinks.at[id];
    struct buf *b = &w->pending[id];
    uint64_t lost;

    if (b->len == 0)
        return;
    lost = sink->ops->write(sink->self, b->data, b->len);
    if (UNLIKELY(lost > 0))
        __atomic_fetch_add(&sink->lost, lost, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sink->written, w->pending_records[id], __ATOMIC_RELAXED);
    w->pending_records[id] = 0;
    buf_clear(b);
}

void output_writer_flush(struct output_writer *w)
{
    for (unsigned i = 0; i < w->sink_count; i++)
        writer_enqueue(w, i);
}

/* Also writes pending records. */
void output_writer_free(struct output_writer *w)
{
    if (w == NULL)
        return;
    output_writer_flush(w);
    for (unsigned i = 0; i < w->sink_count; i++)
        buf_fini(&w->pending[i]);
    free(w->pending);
    free(w->pending_records);
    free(w);
}

/* A record without space after the pending ones is written separately. */
static void writer_add(struct output_writer *w, unsigned id, const uint8_t *data, size_t len)
{
    struct sink *sink = w->conf->sinks.at[id];
    uint64_t lost;

    w->pending_records[id]++;
    if (LIKELY(buf_add(&w->pending[id], data, len)))
        return;
    writer_enqueue(w, id);
    buf_clear(&w->pending[id]);
    lost = sink->ops->write(sink->self, data, len);
    if (lost > 0)
        __atomic_fetch_add(&sink->lost, lost, __ATOMIC_RELAXED);
}

static void write_records(struct output_writer *w, const struct buf *records)
{
    struct output_tap *tap = __atomic_load_n(&w->conf->tap, __ATOMIC_ACQUIRE);
    bool tapped = tap != NULL && __atomic_load_n(&tap->is_on, __ATOMIC_RELAXED);
    size_t at = 0;

    while (at < records->len) {
        struct record_head head;

        memcpy(&head, records->data + at, sizeof(head));
        at += sizeof(head);
        writer_add(w, head.sink, records->data + at, head.len);
        if (UNLIKELY(tapped && head.alert_at > 0 && head.alert_at < head.len))
            tap->put(tap->arg, head.sink, records->data + at + head.alert_at - 1,
                     head.len - head.alert_at + 1);
        at += head.len;
        if (w->pending[head.sink].len >= w->batch)
            writer_enqueue(w, head.sink);
    }
}

/* merge.c calls this under its lock, so conf->merged is used by one thread at a time. */
static void write_merged(void *arg, const uint8_t *records, size_t len)
{
    struct buf all = { .data = (uint8_t *)records, .len = len, .cap = len };

    write_records(arg, &all);
}

void output_conf_merge(struct output_conf *conf, const struct sequencer *seq)
{
    conf->merged = output_writer_new(conf, NULL);
    conf->merge = merge_new(seq, write_merged, conf->merged);
}

/* Called on the writing thread, which may be another one than rendered the records. */
void output_write(struct output_writer *w, struct packet_vector *v)
{
    struct output_conf *conf = w->conf;

    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i];

        if (p->memory[PACKET_MEMORY_RECORDS].len > 0) {
            write_records(w, &p->memory[PACKET_MEMORY_RECORDS]);
            buf_clear(&p->memory[PACKET_MEMORY_RECORDS]);
        }
        if (UNLIKELY(conf->packet_writers))
            for (size_t k = 0; k < conf->loggers.count; k++)
                if (conf->loggers.at[k].ops->write_packet != NULL)
                    conf->loggers.at[k].ops->write_packet(conf->loggers.at[k].self, p);
    }
    /* A vector that is not even a quarter full means little traffic: then records of a live
     * capture should be visible at once. */
    if (v->tick || v->last || (!conf->request.offline && v->count < VECTOR_FILL / 4))
        output_writer_flush(w);
}

void output_set_tap(struct output_conf *conf, struct output_tap *tap)
{
    __atomic_store_n(&conf->tap, tap, __ATOMIC_RELEASE);
}

unsigned output_sink_count(const struct output_conf *conf)
{
    return (unsigned)conf->sinks.count;
}

void output_sink_report(const struct output_conf *conf, unsigned i,
                        struct output_sink_report *report)
{
    const struct sink *sink = conf->sinks.at[i];

    *report = (struct output_sink_report){
        .path = conf->sink_paths.at[i], .type = sink->kind->name,
        .written = __atomic_load_n(&sink->written, __ATOMIC_RELAXED),
        .lost = __atomic_load_n(&sink->lost, __ATOMIC_RELAXED),
    };
    if (sink->ops->fill != NULL)
        sink->ops->fill(sink->self, &report->queued, &report->queue_size);
}

/* --- statistics --------------------------------------------------------------------------- */

/* A reload calls this on the thread that reloads, while the statistics thread may read. */
void output_set_rules(struct output_conf *conf, const struct ruleset_report *report,
                      uint64_t loaded_at_us)
{
    pthread_mutex_lock(&conf->rules_lock);
    conf->rules = *report;
    conf->rules_loaded_us = loaded_at_us;
    pthread_mutex_unlock(&conf->rules_lock);
}

void output_rules(struct output_conf *conf, struct ruleset_report *report, uint64_t *loaded_at_us)
{
    pthread_mutex_lock(&conf->rules_lock);
    *report = conf->rules;
    *loaded_at_us = conf->rules_loaded_us;
    pthread_mutex_unlock(&conf->rules_lock);
}

/* Takes a reference to the new tenants and drops that to the old ones. */
void output_set_tenants(struct output_conf *conf, struct tenants *tenants)
{
    struct tenants *old;

    pthread_mutex_lock(&conf->rules_lock);
    old = conf->tenants;
    conf->tenants = tenants_ref(tenants);
    pthread_mutex_unlock(&conf->rules_lock);
    tenants_unref(old);
}

struct tenants *output_tenants(struct output_conf *conf)
{
    struct tenants *tenants;

    pthread_mutex_lock(&conf->rules_lock);
    tenants = tenants_ref(conf->tenants);
    pthread_mutex_unlock(&conf->rules_lock);
    return tenants;
}

unsigned output_stats_interval(const struct output_conf *conf)
{
    return conf->stats_interval;
}

/* What no packet has written: at the end, and of a live capture when the minute is over. In a
 * capture file the next packet that needs the burst writes it, so that runs are equal. */
static void write_left_out(struct output_conf *conf, uint64_t now_us)
{
    struct output_writer *w;

    conf->stats.left_out = log_limit_collect(&conf->log_limit, now_us);
    if (conf->stats.left_out == NULL)
        return;
    buf_clear(&conf->stats_out);
    render_left_out(conf, &conf->stats);
    w = output_writer_new(conf, NULL);
    write_records(w, &conf->stats_out);
    output_writer_free(w);
}

/* Called on the statistics thread. The writer lives for one round only: statistics are
 * few, and nothing stays in a buffer. */
void output_stats(struct output_conf *conf, uint64_t now_us, uint64_t uptime_s)
{
    struct output_writer *w;

    if (conf->stats_interval == 0)
        return;
    if (!conf->request.offline)
        write_left_out(conf, now_us);
    buf_clear(&conf->stats_out);
    for (size_t i = 0; i < conf->loggers.count; i++)
        if (conf->loggers.at[i].ops->stats != NULL)
            conf->loggers.at[i].ops->stats(&conf->stats, conf->loggers.at[i].self, now_us,
                                           uptime_s);
    w = output_writer_new(conf, NULL);
    write_records(w, &conf->stats_out);
    output_writer_free(w);
}
