/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/play.h"

#include "app/file.h"
#include "app/private.h"

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

static void add_line(struct play *play, uint64_t order, const char *text)
{
    if (!play->quiet)
        ARRAY_PUSH(&play->lines, (struct play_line){ order, xstrdup(text) });
}

static void add_once(struct play *play, uint64_t order, const char *text)
{
    for (size_t i = 0; i < play->lines.count; i++)
        if (strcmp(play->lines.at[i].text, text) == 0)
            return;
    add_line(play, order, text);
}

static const char *event_name(const struct app_name *names, unsigned id)
{
    for (; names != NULL && names->name != NULL; names++)
        if (names->value == id)
            return names->name;
    return "?";
}

static bool log_record(struct play *play, struct app_tx *tx, const struct app_log *log,
                       enum direction d, unsigned n, void *settings)
{
    struct buf *out = &play->scratch;
    struct json j;

    buf_clear(out);
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
    add_line(play, tx->id * 8, (const char *)out->data);
    return true;
}

static bool is_due(const struct app_tx *tx, const struct app_log *log, enum direction d)
{
    return tx->progress[d] >= log->progress[d] || app_tx_done(tx, d, tx->flow->proto);
}

static void log_one(struct play *play, struct app_tx *tx, unsigned i)
{
    const struct app_log *log = tx->flow->proto->logs[i];
    struct err err = { 0 };
    void *settings = log->configure != NULL ? log->configure(NULL, &err) : NULL;

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        uint32_t bit = 1u << (i * 2 + d);

        if ((tx->logged & bit) != 0 || !is_due(tx, log, d))
            continue;
        if (!log->each_direction && !is_due(tx, log, OTHER_DIRECTION(d)))
            continue;
        if (log->each_direction && (tx->unidirectional[d] || tx->progress[d] == 0))
            continue;
        tx->logged |= log->each_direction ? bit : 3u << (i * 2);
        for (unsigned n = 0; log_record(play, tx, log, d, n, settings); n++)
            ;
    }
    free(settings);
}

static void log_events(struct play *play, struct app_tx *tx)
{
    char text[128];

    for (; tx->events_logged[0] < tx->event_count; tx->events_logged[0]++) {
        snprintf(text, sizeof(text), "tx %llu event %s", (unsigned long long)tx->id,
                 event_name(tx->flow->proto->events, app_tx_event_at(tx, tx->events_logged[0])));
        add_line(play, tx->id * 8 + 1, text);
    }
}

static void log_file(struct play *play, struct app_file *file)
{
    static const char *const states[] = { "open", "closed", "truncated", "error" };
    char text[512], hash[65] = "-";

    for (unsigned i = 0; file->sha256_done && i < 32; i++)
        snprintf(hash + 2 * i, 3, "%02x", file->sha256[i]);
    file->logged = 1;
    snprintf(text, sizeof(text), "tx %llu file %.*s %s %llu %s", (unsigned long long)file->tx->id,
             (int)MIN(file->name.len, 200), (const char *)file->name.data, states[file->state],
             (unsigned long long)file->size, hash);
    add_line(play, file->tx->id * 8 + 2, text);
}

/* Touches each byte, for the sanitizers. */
static void read_slice(struct slice s)
{
    volatile uint8_t sum = 0;

    for (uint32_t i = 0; i < s.len; i++)
        sum = (uint8_t)(sum + s.data[i]);
}

static void read_buffers(struct app_tx *tx, const struct app_proto *proto, enum direction d)
{
    struct slice s;
    uint64_t n;

    for (unsigned i = 0; proto->buffers != NULL && proto->buffers[i] != NULL; i++) {
        const struct app_buffer *b = proto->buffers[i];

        if ((b->directions & APP_DIRECTION_BIT(d)) == 0 || tx->progress[d] < b->progress[d])
            continue;
        for (unsigned k = 0; (k == 0 || b->multi) && b->get(tx, d, k, &s); k++)
            read_slice(s);
    }
    for (unsigned i = 0; proto->integers != NULL && proto->integers[i] != NULL; i++) {
        const struct app_integer *v = proto->integers[i];

        if ((v->directions & APP_DIRECTION_BIT(d)) == 0 || tx->progress[d] < v->progress[d])
            continue;
        for (unsigned k = 0; (k == 0 || v->multi) && v->get(tx, d, k, &n); k++)
            ;
    }
}

static void read_tx(struct play *play, struct app_tx *tx)
{
    const struct app_proto *proto = tx->flow->proto;
    struct json j;

    read_buffers(tx, proto, TO_SERVER);
    read_buffers(tx, proto, TO_CLIENT);
    for (unsigned d = 0; d < 2; d++)
        for (struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            read_slice(buf_slice(&file->window));
    if (proto->alert_metadata == NULL)
        return;
    buf_clear(&play->scratch);
    json_init(&j, &play->scratch);
    json_object(&j, NULL);
    proto->alert_metadata(&j, tx);
    json_object_end(&j);
}

static void log_tx(struct play *play, struct app_tx *tx)
{
    const struct app_proto *proto = tx->flow->proto;

    if (play->inspect)
        read_tx(play, tx);
    for (unsigned i = 0; !tx->no_log && proto->logs != NULL && proto->logs[i] != NULL; i++)
        log_one(play, tx, i);
    log_events(play, tx);
    for (unsigned d = 0; d < 2; d++)
        for (struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            if (file->state != FILE_OPEN && !file->logged)
                log_file(play, file);
}

static bool log_frame(const struct app_frame_view *frame, void *arg)
{
    struct play *play = arg;
    char text[160];

    if (frame->len < 0)
        return true;
    snprintf(text, sizeof(text), "frame %s %s %llu %lld", frame->direction == TO_SERVER ? "ts"
                                                                                       : "tc",
             play->flow->app->proto->frames[frame->type], (unsigned long long)frame->offset,
             (long long)frame->len);
    if (play->udp)
        add_line(play, UINT64_MAX - 2, text);
    else
        add_once(play, UINT64_MAX - 2, text);
    return true;
}

/* As the outputs do, between detect and cleanup. */
static void look(struct play *play)
{
    struct app_flow *af = play->flow->app;
    char text[128];

    if (af == NULL)
        return;
    for (const struct app_name *n = app_layer_events; n->name != NULL; n++) {
        if (!app_flow_has_event(af, (unsigned)n->value))
            continue;
        snprintf(text, sizeof(text), "layer %s", n->name);
        add_once(play, UINT64_MAX - 1, text);
    }
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        log_tx(play, tx);
    if (play->frames && af->proto != NULL && af->proto->frames != NULL)
        for (unsigned d = 0; d < 2; d++)
            app_frames_each(af, (enum direction)d, log_frame, play);
}

/* --- packets ---------------------------------------------------------------------------------- */

void play_begin(struct play *play, struct app_fixture *fixture, bool udp, uint16_t port)
{
    static const uint8_t client[4] = { 10, 0, 0, 1 }, server[4] = { 10, 0, 0, 2 };
    struct flow *f = aligned_alloc(CACHE_LINE, sizeof(*f));

    memset(f, 0, sizeof(*f));
    f->key = (struct flow_key){ .src = ip_v4(client), .dst = ip_v4(server), .src_port = 40000,
                                .dst_port = port, .proto = udp ? 17 : 6 };
    f->id = 1;
    *play = (struct play){ .fixture = fixture, .flow = f, .udp = udp,
                           .packet = xcalloc(1, sizeof(struct packet)) };
}

void play_force(struct play *play, enum app_proto_id id)
{
    struct flow *f = play->flow;
    struct app_session *s = app_session_new(play->fixture->thread, f,
                                            play->udp ? TRANSPORT_UDP : TRANSPORT_TCP);

    f->app_proto = f->app_proto_dir[0] = f->app_proto_dir[1] = (uint16_t)id;
    s->ds[0].detected = s->ds[1].detected = true;
    s->first_sender = FIRST_SENDER_PARSED;
}

static void make_packet(struct play *play, enum direction d, const void *data, uint32_t len)
{
    const struct flow_key *key = &play->flow->key;
    struct packet *p = play->packet;
    static uint8_t header[20];

    memset(p, 0, sizeof(*p));
    p->flow = play->flow;
    p->ip_proto = key->proto;
    p->l4 = header;
    p->time_us = UINT64_C(1700000000000000);
    p->flags = d == TO_CLIENT ? PACKET_TO_CLIENT : 0;
    p->flags |= play->midstream ? PACKET_MIDSTREAM : 0;
    p->src = d == TO_SERVER ? key->src : key->dst;
    p->dst = d == TO_SERVER ? key->dst : key->src;
    p->src_port = d == TO_SERVER ? key->src_port : key->dst_port;
    p->dst_port = d == TO_SERVER ? key->dst_port : key->src_port;
    p->payload = (uint8_t *)(uintptr_t)data;
    p->payload_len = data != NULL ? len : 0;
}

static void run_packet(struct play *play)
{
    app_packet(play->fixture->thread, play->packet);
    look(play);
    app_cleanup(play->fixture->thread, play->packet);
}

void play_data(struct play *play, enum direction d, const void *data, uint32_t len)
{
    struct packet *p = play->packet;
    uint8_t *copy = NULL;

    /* In memory of its own size, so that reading beyond it is noticed, and gone afterwards. */
    if (data != NULL && len > 0) {
        copy = xmalloc(len);
        memcpy(copy, data, len);
    }
    make_packet(play, d, copy, len);
    if (!play->udp) {
        p->chunk_count = 1;
        p->chunk[0] = (struct stream_chunk){ .data = copy, .len = len,
                                             .offset = play->offset[d],
                                             .direction = (uint8_t)d,
                                             .kind = data == NULL ? CHUNK_GAP : CHUNK_DATA };
        play->offset[d] += len;
    }
    run_packet(play);
    free(copy);
}

static const char *proto_name(const struct play *play, uint16_t id)
{
    const struct app_proto *proto = play->fixture->conf->proto[id].proto;

    return proto != NULL ? proto->name : app_proto_name((enum app_proto_id)id);
}

void play_end(struct play *play)
{
    struct flow *f = play->flow;
    char text[128];

    make_packet(play, TO_SERVER, NULL, 0);
    play->packet->flags |= PACKET_PSEUDO | PACKET_FLOW_END;
    run_packet(play);
    app_flow_free(f);
    snprintf(text, sizeof(text), "flow %s %s %s", proto_name(play, f->app_proto),
             proto_name(play, f->app_proto_dir[TO_SERVER]),
             proto_name(play, f->app_proto_dir[TO_CLIENT]));
    add_line(play, UINT64_MAX, text);
}

static int compare_lines(const void *a, const void *b)
{
    const struct play_line *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return strcmp(x->text, y->text);
}

char *play_text(struct play *play)
{
    struct buf out = { 0 };

    if (play->lines.count > 0)
        qsort(play->lines.at, play->lines.count, sizeof(play->lines.at[0]), compare_lines);
    for (size_t i = 0; i < play->lines.count; i++) {
        buf_add_string(&out, play->lines.at[i].text);
        buf_add_u8(&out, '\n');
    }
    buf_add_u8(&out, '\0');
    return (char *)out.data;
}

void play_free(struct play *play)
{
    for (size_t i = 0; i < play->lines.count; i++)
        free(play->lines.at[i].text);
    ARRAY_FREE(&play->lines);
    buf_fini(&play->scratch);
    free(play->flow);
    free(play->packet);
}
