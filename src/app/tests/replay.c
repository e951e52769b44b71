/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/replay.h"

#include "app/core/detect_proto.h"
#include "app/core/file.h"
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/frames.h"
#include "app/log.h"
#include "app/rules.h"
#include "app/session.h"
#include "flow/flow_export.h"
#include "stream/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the world -------------------------------------------------------------------------------- */

/* Rules have seen all there is: files are inspected as far as they go. */
static bool inspected(const struct app_tx *tx)
{
    for (unsigned d = 0; d < 2; d++)
        for (struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            file->inspected = file->size;
    return true;
}

int app_fixture_open(struct app_fixture *fixture, const char *yaml,
                    const struct app_proto *const *extra)
{
    static const struct app_hooks hooks = { .tx_inspected = inspected };
    struct err err = { 0 };

    app_protos_init();
    *fixture = (struct app_fixture){ .yaml = conf_new(), .counters = counters_new("play") };
    if (conf_load_string(fixture->yaml, yaml != NULL ? yaml : "%YAML 1.1\n---\na: b\n", "test",
                         &err) == 0)
        fixture->conf = app_conf_new_extra(conf_root(fixture->yaml), false, extra, &err);
    if (fixture->conf == NULL) {
        fprintf(stderr, "play: %s\n", err.text);
        app_fixture_close(fixture);
        return -1;
    }
    fixture->thread = app_thread_new(fixture->conf, fixture->counters, &hooks);
    return 0;
}

void app_fixture_close(struct app_fixture *fixture)
{
    app_thread_free(fixture->thread);
    app_conf_free(fixture->conf);
    counters_free(fixture->counters);
    conf_free(fixture->yaml);
    *fixture = (struct app_fixture){ 0 };
}

/* --- what was seen ---------------------------------------------------------------------------- */

/* text: NULL where its buffer found no memory; tests make requests fail. */
static void add_line(struct replay *replay, uint64_t order, const char *text)
{
    if (!replay->quiet && text != NULL)
        ARRAY_PUSH(&replay->lines, (struct replay_line){ order, xstrdup(text) });
}

static void add_once(struct replay *replay, uint64_t order, const char *text)
{
    if (text == NULL || map_get_string(&replay->once, text) != NULL)
        return;
    map_put_string(&replay->once, text, replay);
    add_line(replay, order, text);
}

static const char *event_name(const struct app_name *names, unsigned id)
{
    for (; names != NULL && names->name != NULL; names++)
        if (names->value == id)
            return names->name;
    return "?";
}

static bool log_record(struct replay *replay, struct app_tx *tx, const struct app_log *log,
                       enum direction d, unsigned n, void *settings)
{
    struct buf *out = &replay->scratch;
    struct json j;

    buf_clear(out);
    if (!replay->quiet)
        buf_printf(out, "tx %llu %s ", (unsigned long long)tx->id, log->event_type);
    json_init(&j, out);
    json_object(&j, NULL);
    if (log->key != NULL)
        json_object(&j, log->key);
    if (log->log_nth != NULL ? !log->log_nth(&j, tx, n, settings)
                             : n > 0 || !log->log(&j, tx, d, settings))
        return false;
    if (log->key != NULL)
        json_object_end(&j);
    json_object_end(&j);
    buf_add_u8(out, '\0');
    add_line(replay, tx->id * 8, (const char *)out->data);
    return true;
}

static UNCOVERED bool is_due(const struct app_tx *tx, const struct app_log *log, enum direction d)
{
    return tx->progress[d] >= log->progress[d] || app_tx_done(tx, d, tx->flow->proto);
}

/* This test is the output here, and so has its slot. */
struct replay_tx { uint32_t records, events; };

static struct replay_tx *logged_of(const struct app_tx *tx)
{
    return (struct replay_tx *)(uintptr_t)tx->slot.output;
}

static void log_records(struct replay *replay, struct app_tx *tx, const struct app_log *log,
                        enum direction d)
{
    struct err err = { 0 };
    void *settings = log->configure != NULL ? log->configure(NULL, &err) : NULL;

    bool is_off = log->is_off != NULL && log->is_off(settings);

    for (unsigned n = 0; !is_off && log_record(replay, tx, log, d, n, settings); n++)
        ;
    free(settings);
}

static UNCOVERED void log_one(struct replay *replay, struct app_tx *tx, unsigned i)
{
    const struct app_log *log = tx->flow->proto->logs[i];

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        uint32_t bit = 1u << (i * 2 + d);

        if ((logged_of(tx)->records & bit) != 0 || !is_due(tx, log, d))
            continue;
        if (!log->each_direction && !is_due(tx, log, OTHER_DIRECTION(d)))
            continue;
        if (log->each_direction && (tx->unidirectional[d] || tx->progress[d] == 0))
            continue;
        logged_of(tx)->records |= log->each_direction ? bit : 3u << (i * 2);
        log_records(replay, tx, log, d);
    }
}

static void log_events(struct replay *replay, struct app_tx *tx)
{
    char text[128];

    if (replay->quiet)
        logged_of(tx)->events = tx->event_count;
    for (; logged_of(tx)->events < tx->event_count; logged_of(tx)->events++) {
        snprintf(text, sizeof(text), "tx %llu event %s", (unsigned long long)tx->id,
                 event_name(tx->flow->proto->events, app_tx_event_at(tx, logged_of(tx)->events)));
        add_line(replay, tx->id * 8 + 1, text);
    }
}

static void log_file(struct replay *replay, struct app_file *file)
{
    static const char *const states[] = { "open", "closed", "truncated", "error" };
    char text[512], hash[65] = "-";

    file->slot.output[0] = 1;    /* "logged": the replay is the output */
    if (replay->quiet)
        return;
    for (unsigned i = 0; file->sha256 != NULL && i < 32; i++)
        snprintf(hash + 2 * i, 3, "%02x", file->sha256[i]);
    snprintf(text, sizeof(text), "tx %llu file %.*s %s %llu %s", (unsigned long long)file->tx->id,
             (int)MIN(file->name.len, 200), (const char *)file->name.data, states[file->state],
             (unsigned long long)file->size, hash);
    add_line(replay, file->tx->id * 8 + 2, text);
}

/* Touches each byte, for the sanitizers. Only the sum is volatile, so that the compiler may take
 * many bytes at a time: fuzzers spend much of their time here. */
static UNCOVERED void read_slice(struct slice s)
{
    volatile uint8_t seen;
    uint8_t sum = 0;

    for (uint32_t i = 0; i < s.len; i++)
        sum = (uint8_t)(sum + s.data[i]);
    seen = sum;
    (void)seen;
}

static UNCOVERED void read_buffers(struct app_tx *tx, const struct app_proto *proto, enum direction d)
{
    struct slice s;
    uint64_t n;

    for (unsigned i = 0; proto->buffers != NULL && proto->buffers[i] != NULL; i++) {
        const struct app_buffer *b = proto->buffers[i];

        if ((b->directions & APP_DIRECTION_BIT(d)) == 0 || tx->progress[d] < b->progress[d])
            continue;
        for (unsigned k = 0; (k == 0 || b->multi) && app_buffer_get(b, tx, d, k, &s); k++)
            read_slice(s);
    }
    for (unsigned i = 0; proto->integers != NULL && proto->integers[i] != NULL; i++) {
        const struct app_integer *v = proto->integers[i];

        if ((v->directions & APP_DIRECTION_BIT(d)) == 0 || tx->progress[d] < v->progress[d])
            continue;
        for (unsigned k = 0; (k == 0 || v->multi) && app_integer_get(v, tx, d, k, &n); k++)
            ;
    }
}

/* An alert may come with any packet. To write what it shows of each open transaction with each of
 * them took 15 % of the time of a fuzzer, so of four packets one is chosen, and the last one. */
static bool is_alert_due(const struct replay *replay, const struct app_tx *tx)
{
    const struct app_proto *proto = tx->flow->proto;

    return !replay->quiet || (replay->looks + tx->id) % 4 == 0 ||
           (app_tx_done(tx, TO_SERVER, proto) && app_tx_done(tx, TO_CLIENT, proto));
}

static void read_tx(struct replay *replay, struct app_tx *tx)
{
    const struct app_proto *proto = tx->flow->proto;
    struct json j;

    read_buffers(tx, proto, TO_SERVER);
    read_buffers(tx, proto, TO_CLIENT);
    for (unsigned d = 0; d < 2; d++)
        for (struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            read_slice(buf_slice(&file->window));
    if (proto->alert_metadata == NULL || !is_alert_due(replay, tx))
        return;
    buf_clear(&replay->scratch);
    json_init(&j, &replay->scratch);
    json_object(&j, NULL);
    proto->alert_metadata(&j, tx);
    json_object_end(&j);
}

/* Every instance of the buffers of one direction that the test asks for. */
static void show_buffers(struct replay *replay, struct app_tx *tx, enum direction d)
{
    const struct app_buffer *const *b = tx->flow->proto->buffers;
    struct slice s;

    for (; b != NULL && *b != NULL; b++) {
        if (strncmp((*b)->name, replay->show, strlen(replay->show)) != 0 ||
            ((*b)->directions & APP_DIRECTION_BIT(d)) == 0 || tx->progress[d] < (*b)->progress[d])
            continue;
        for (unsigned k = 0; (k == 0 || (*b)->multi) && app_buffer_get(*b, tx, d, k, &s); k++) {
            char text[256];

            snprintf(text, sizeof(text), "tx %llu buffer %s %s %u %.*s",
                     (unsigned long long)tx->id, d == TO_SERVER ? "ts" : "tc", (*b)->name, k,
                     (int)MIN(s.len, 120), (const char *)s.data);
            add_once(replay, tx->id * 8 + 3, text);
        }
    }
}

static UNCOVERED void log_tx(struct replay *replay, struct app_tx *tx)
{
    const struct app_proto *proto = tx->flow->proto;

    if (replay->inspect)
        read_tx(replay, tx);
    for (unsigned d = 0; replay->show != NULL && d < 2; d++)
        show_buffers(replay, tx, (enum direction)d);
    for (unsigned i = 0; !tx->no_log && proto->logs != NULL && proto->logs[i] != NULL; i++)
        log_one(replay, tx, i);
    if (!tx->no_inspect[TO_SERVER] || !tx->no_inspect[TO_CLIENT])
        log_events(replay, tx);
    for (unsigned d = 0; d < 2; d++)
        for (struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            if (file->state != FILE_OPEN && file->slot.output[0] == 0)
                log_file(replay, file);
}

static bool log_frame(const struct app_frame_view *frame, void *arg)
{
    struct replay *replay = arg;
    char text[160];

    if (frame->len < 0 || replay->quiet)
        return true;
    snprintf(text, sizeof(text), "frame %s %s %llu %lld", frame->direction == TO_SERVER ? "ts"
                                                                                       : "tc",
             replay->flow->app->proto->frames[frame->type], (unsigned long long)frame->offset,
             (long long)frame->len);
    if (replay->udp)
        add_line(replay, UINT64_MAX - 2, text);
    else
        add_once(replay, UINT64_MAX - 2, text);
    return true;
}

/* As the outputs do, between detect and cleanup. */
static UNCOVERED void look(struct replay *replay)
{
    struct app_flow *af = replay->flow->app;
    char text[128];

    if (af == NULL)
        return;
    for (unsigned event = 1; !replay->quiet && event <= APP_LAYER_EVENT_MAX; event++) {
        if (!app_flow_has_event(af, event))
            continue;
        snprintf(text, sizeof(text), "layer %s", app_layer_event_name(event));
        add_once(replay, UINT64_MAX - 1, text);
    }
    replay->looks++;
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        log_tx(replay, tx);
    if (replay->frames && af->proto != NULL && af->proto->frames != NULL)
        for (unsigned d = 0; d < 2; d++)
            app_frames_each(af, (enum direction)d, log_frame, replay);
}

/* --- packets ---------------------------------------------------------------------------------- */

void replay_begin(struct replay *replay, struct app_fixture *fixture, bool udp, uint16_t port)
{
    static const uint8_t client[4] = { 10, 0, 0, 1 }, server[4] = { 10, 0, 0, 2 };
    struct flow *f = aligned_alloc(CACHE_LINE, sizeof(*f));

    memset(f, 0, sizeof(*f));
    f->key = (struct flow_key){ .src = ip_v4(client), .dst = ip_v4(server), .src_port = 40000,
                                .dst_port = port, .proto = udp ? 17 : 6 };
    f->id = 1;
    *replay = (struct replay){ .fixture = fixture, .flow = f, .udp = udp,
                           .packet = xcalloc(1, sizeof(struct packet)) };
}

void replay_force(struct replay *replay, enum app_proto_id id)
{
    struct flow *f = replay->flow;
    struct app_session *s = app_session_new(replay->fixture->thread, f,
                                            replay->udp ? TRANSPORT_UDP : TRANSPORT_TCP);

    f->app_proto = f->app_proto_dir[0] = f->app_proto_dir[1] = (uint16_t)id;
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        app_dir_of(s, d)->detected = true;
    s->first_sender = FIRST_SENDER_PARSED;
}

static void make_packet(struct replay *replay, enum direction d, const void *data, uint32_t len)
{
    const struct flow_key *key = &replay->flow->key;
    struct packet *p = replay->packet;
    static uint8_t header[20];

    memset(p, 0, sizeof(*p));
    p->flow = replay->flow;
    p->ip_proto = key->proto;
    p->l4 = header;
    p->time_us = UINT64_C(1700000000000000);
    p->flags = d == TO_CLIENT ? PACKET_TO_CLIENT : 0;
    p->flags |= replay->midstream ? PACKET_MIDSTREAM : 0;
    p->flags |= replay->udp ? 0 : PACKET_STREAM_OPEN;     /* the stream engine took it */
    p->src = d == TO_SERVER ? key->src : key->dst;
    p->dst = d == TO_SERVER ? key->dst : key->src;
    p->src_port = d == TO_SERVER ? key->src_port : key->dst_port;
    p->dst_port = d == TO_SERVER ? key->dst_port : key->src_port;
    p->payload = (uint8_t *)(uintptr_t)data;
    p->payload_len = data != NULL ? len : 0;
}

static UNCOVERED void run_packet(struct replay *replay)
{
    struct packet *p = replay->packet;
    struct inspection in = {
        .packet = p, .flow = p->flow, .chunk = stream_slot(p)->chunk, .chunk_count = stream_slot(p)->chunk_count,
        .reason = p->flags & PACKET_FLOW_END ? INSPECT_FLOW_END : INSPECT_PACKET,
        .hands_over = replay->hands_over,
    };

    app_packet(replay->fixture->thread, &in);
    look(replay);
    app_cleanup(replay->fixture->thread, &in);
}

void replay_data(struct replay *replay, enum direction d, const void *data, uint32_t len)
{
    struct packet *p = replay->packet;
    uint8_t *copy = NULL;

    /* In memory of its own size, so that reading beyond it is noticed, and gone afterwards. */
    if (data != NULL && len > 0) {
        copy = xmalloc(len);
        memcpy(copy, data, len);
    }
    make_packet(replay, d, copy, len);
    if (!replay->udp) {
        stream_slot(p)->chunk_count = 1;
        stream_slot(p)->chunk[0] = (struct stream_chunk){ .data = copy, .len = len,
                                             .offset = replay->offset[d],
                                             .direction = (uint8_t)d,
                                             .kind = data == NULL ? CHUNK_GAP : CHUNK_DATA };
        replay->offset[d] += len;
    }
    run_packet(replay);
    free(copy);
}

static const char *proto_name(const struct replay *replay, uint16_t id)
{
    const struct app_proto *proto = replay->fixture->conf->proto[id].proto;

    return proto != NULL ? proto->name : app_proto_name((enum app_proto_id)id);
}

void replay_end(struct replay *replay)
{
    struct flow *f = replay->flow;
    char text[128];

    make_packet(replay, TO_SERVER, NULL, 0);
    replay->packet->flags |= PACKET_PSEUDO | PACKET_FLOW_END;
    run_packet(replay);
    app_flow_free(f);
    if (replay->quiet)
        return;
    snprintf(text, sizeof(text), "flow %s %s %s", proto_name(replay, f->app_proto),
             proto_name(replay, f->app_proto_dir[TO_SERVER]),
             proto_name(replay, f->app_proto_dir[TO_CLIENT]));
    add_line(replay, UINT64_MAX, text);
}

void replay_imported(struct replay *replay, const char *proto, struct slice heard)
{
    struct flow *f = replay->flow;

    f->app_proto = f->app_proto_dir[TO_SERVER] = f->app_proto_dir[TO_CLIENT] =
        app_exported_proto(proto);
    f->app_resume = heard.len > 0 ? FLOW_APP_REPLAYS : FLOW_APP_RESUMES;
    if (heard.len > 0)
        (void)flow_replay_set(f, heard);
}

void replay_hand_over(struct replay *from, struct replay *to)
{
    struct flow *f = from->flow;
    struct app_export app;
    struct slice heard;

    make_packet(from, TO_SERVER, NULL, 0);
    from->packet->flags |= PACKET_PSEUDO | PACKET_FLOW_END;
    from->hands_over = true;
    run_packet(from);
    app_export(f, &app, &heard);
    replay_imported(to, app.proto[0], heard);
    for (unsigned d = 0; d < 2; d++)
        to->flow->app_proto_dir[d] = app_exported_proto(app.proto[1 + d]);
    if (app.is_over)
        to->flow->app_resume = FLOW_APP_OVER;
    app_flow_free(f);
}

static int compare_lines(const void *a, const void *b)
{
    const struct replay_line *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return strcmp(x->text, y->text);
}

char *replay_text(struct replay *replay)
{
    struct buf out = { 0 };

    if (replay->lines.count > 0)
        qsort(replay->lines.at, replay->lines.count, sizeof(replay->lines.at[0]), compare_lines);
    for (size_t i = 0; i < replay->lines.count; i++) {
        buf_add_string(&out, replay->lines.at[i].text);
        buf_add_u8(&out, '\n');
    }
    buf_add_u8(&out, '\0');
    return (char *)out.data;
}

void replay_free(struct replay *replay)
{
    for (size_t i = 0; i < replay->lines.count; i++)
        free(replay->lines.at[i].text);
    ARRAY_FREE(&replay->lines);
    map_fini(&replay->once);
    buf_fini(&replay->scratch);
    flow_ext_free(replay->flow);
    free(replay->flow);
    free(replay->packet);
}
