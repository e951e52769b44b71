/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/bench/micro.c - how long the parts take, each alone and with the same input every time.
 *
 *     micro [-t MILLISECONDS] [NAME...]
 *
 * A line for each: its name, nanoseconds of CPU time for one piece of work (the least of several
 * rounds, as the others were disturbed), and what a piece is. Names never change their meaning, so
 * that figures of two commits can be compared (qa/bench/compare). */
#include "base/array.h"
#include "base/memory/buf.h"
#include "base/system/clock.h"
#include "base/containers/hash.h"
#include "base/report/json.h"
#include "flow/flow_export.h"
#include "flow/flow_match.h"
#include "flow/flow_table.h"
#include "match/mpm_ngram.h"
#include "packet/decode/peek.h"
#include "packet/pool.h"
#include "stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 7

struct bench {
    const char *name, *piece;
    void *(*open)(void);
    /* Does a round's work and returns how many pieces it was. */
    uint64_t (*run)(void *self);
    void (*close)(void *self);
};

static void give_up(const char *what)
{
    fprintf(stderr, "micro: %s\n", what);
    exit(2);
}

/* --- frames -------------------------------------------------------------------------------- */

struct frame {
    uint8_t *data;
    uint32_t len;
};

struct frames {
    struct frame *at;
    unsigned count, cap;
};

static void frame_add(struct frames *fs, const uint8_t *data, uint32_t len)
{
    if (fs->count == fs->cap) {
        fs->cap = MAX(2 * fs->cap, 64u);
        fs->at = xrealloc(fs->at, fs->cap * sizeof(fs->at[0]));
    }
    fs->at[fs->count].data = xmalloc(len);
    fs->at[fs->count].len = len;
    memcpy(fs->at[fs->count++].data, data, len);
}

static void frames_free(struct frames *fs)
{
    for (unsigned i = 0; i < fs->count; i++)
        free(fs->at[i].data);
    free(fs->at);
}

static void put16(uint8_t *at, unsigned v)
{
    at[0] = (uint8_t)(v >> 8);
    at[1] = (uint8_t)v;
}

static void put32(uint8_t *at, uint32_t v)
{
    put16(at, v >> 16);
    put16(at + 2, v & 0xffff);
}

struct segment {
    uint32_t client;                /* number of the flow */
    bool back;                      /* from the server */
    uint8_t flags;
    uint32_t seq, ack, len;
};

/* Checksums are not looked at: the packets say so. */
static void segment_add(struct frames *fs, const struct segment *s)
{
    uint8_t f[1600] = { [12] = 8, [14] = 0x45 }, *ip = f + 14, *tcp = ip + 20;
    uint32_t client = 0x0a000000 + s->client, server = 0xc0a80001;

    put16(ip + 2, 40 + s->len);
    ip[8] = 64;
    ip[9] = 6;
    put32(ip + 12, s->back ? server : client);
    put32(ip + 16, s->back ? client : server);
    put16(tcp, s->back ? 80 : 1024 + s->client % 60000);
    put16(tcp + 2, s->back ? 1024 + s->client % 60000 : 80);
    put32(tcp + 4, s->seq);
    put32(tcp + 8, s->ack);
    tcp[12] = 0x50;
    tcp[13] = s->flags;
    put16(tcp + 14, 65535);
    for (uint32_t i = 0; i < s->len; i++)
        tcp[20 + i] = (uint8_t)('a' + i % 26);
    frame_add(fs, f, 54 + s->len);
}

static void datagram_add(struct frames *fs, uint32_t client, uint32_t len, bool tagged)
{
    uint8_t f[1600] = { [12] = 8 }, *ip = f + (tagged ? 18 : 14), *udp = ip + 20;

    if (tagged) {
        put16(f + 12, 0x8100);
        put16(f + 14, 7);
        put16(f + 16, 0x0800);
    }
    ip[0] = 0x45;
    put16(ip + 2, 28 + len);
    ip[8] = 64;
    ip[9] = 17;
    put32(ip + 12, 0x0a000000 + client);
    put32(ip + 16, 0xc0a80001);
    put16(udp, 1024 + client % 60000);
    put16(udp + 2, 5353);
    put16(udp + 4, 8 + len);
    memset(udp + 8, 'x', len);
    frame_add(fs, f, (uint32_t)(udp - f) + 8 + len);
}

/* Mostly TCP with and without data, some UDP, some with a VLAN tag. */
static void frames_mixed(struct frames *fs)
{
    for (uint32_t i = 0; i < 4096; i++) {
        uint32_t flow = (uint32_t)hash_mix(i, 1) % 1000;

        if (i % 8 == 7)
            datagram_add(fs, flow, 40 + i % 400, i % 16 == 15);
        else
            segment_add(fs, &(struct segment){ .client = flow, .flags = 0x10, .seq = i, .ack = 1,
                                               .len = i % 2 == 0 ? 0 : 100 + i % 1300 });
    }
}

/* --- decode -------------------------------------------------------------------------------- */

struct decoding {
    struct conf *yaml;
    struct decode_conf *conf;
    struct counters *counters;
    struct packet_pool *pool;
    struct decoder *decoder;
    struct packet_vector vector;
    struct frames frames;
};

static void decoding_open(struct decoding *d)
{
    struct err err = { 0 };

    d->yaml = conf_new();
    d->conf = decode_conf_new(conf_root(d->yaml), &err);
    if (d->conf == NULL)
        give_up(err.text);
    d->counters = counters_new("bench");
    d->pool = packet_pool_new(8 * VECTOR_FILL, 1);
    d->decoder = decoder_new(d->conf, d->pool, d->counters);
    vector_grow(&d->vector, 4 * VECTOR_FILL);
}

static void decoding_close(struct decoding *d)
{
    frames_free(&d->frames);
    free(d->vector.packet);
    decoder_free(d->decoder);
    packet_pool_free(d->pool);
    counters_free(d->counters);
    decode_conf_free(d->conf);
    conf_free(d->yaml);
}

static void *decode_open(void)
{
    struct decoding *d = xcalloc(1, sizeof(*d));

    decoding_open(d);
    frames_mixed(&d->frames);
    return d;
}

/* The next vector of frames from `at` on, one microsecond apart. */
static void fill_vector(struct decoding *d, unsigned at, uint64_t base_us)
{
    d->vector.count = 0;
    for (unsigned i = at; i < d->frames.count && i < at + VECTOR_FILL; i++) {
        struct packet *p = packet_pool_get(d->pool);

        p->data = d->frames.at[i].data;
        p->len = p->wire_len = d->frames.at[i].len;
        p->datalink = DATALINK_ETHERNET;
        p->source = PACKET_WIRE;
        p->flags |= PACKET_NO_CHECKSUM;
        p->time_us = d->vector.now_us = base_us + i;
        vector_push(&d->vector, p);
    }
}

static void release_vector(struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++)
        packet_release(v->packet[i], PACKET_THREAD_OWNER);
    v->count = 0;
}

static uint64_t decode_run(void *self)
{
    struct decoding *d = self;

    for (unsigned at = 0; at < d->frames.count; at += VECTOR_FILL) {
        fill_vector(d, at, 1000000);
        decode_vector(d->decoder, &d->vector);
        release_vector(&d->vector);
    }
    return d->frames.count;
}

static void decode_close(void *self)
{
    decoding_close(self);
    free(self);
}

static uint64_t peek_run(void *self)
{
    struct decoding *d = self;
    uint32_t sum = 0;

    for (unsigned i = 0; i < d->frames.count; i++) {
        struct packet_peek peek;

        if (packet_peek(d->conf, DATALINK_ETHERNET, d->frames.at[i].data, d->frames.at[i].len,
                        &peek))
            sum += peek.flow_hash;
    }
    __asm__ volatile("" : : "r"(sum));
    return d->frames.count;
}

/* --- flows --------------------------------------------------------------------------------- */

struct lookups {
    struct conf *yaml;
    struct flow_conf *conf;
    struct counters *counters;
    struct flow_table *table;
    struct packet *packets;
    unsigned count;
};

/* One packet of each flow, in an order without a pattern. */
static void *lookups_open(unsigned flows)
{
    struct lookups *l = xcalloc(1, sizeof(*l));
    struct err err = { 0 };
    bool made, memcap;

    l->yaml = conf_new();
    conf_set(l->yaml, "flow.memcap", "4gb");
    l->conf = flow_conf_new(conf_root(l->yaml), 1, &err);
    l->counters = counters_new("bench");
    l->table = flow_table_new(l->conf, l->counters, &err);
    if (l->table == NULL)
        give_up(err.text);
    l->count = flows;
    l->packets = xcalloc(flows, sizeof(l->packets[0]));
    for (unsigned i = 0; i < flows; i++) {
        struct packet *p = &l->packets[(uint64_t)i * 7919 % flows];
        uint8_t address[4] = { 10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i };
        static uint8_t header[40] = { 0x45, [8] = 64 };

        p->data = p->l3 = header;
        p->l4 = header + 20;
        p->src = ip_v4(address);
        p->dst = ip_v4((const uint8_t[4]){ 192, 168, 0, 1 });
        p->ip_proto = 6;
        p->src_port = (uint16_t)(1024 + i % 60000);
        p->dst_port = 80;
        p->time_us = 1000000;
        p->flow_hash = (uint32_t)hash_mix(i + 1, 99) | 1;
        if (flow_table_get(l->table, p, &made, &memcap) == NULL)
            give_up("no flow");
    }
    return l;
}

static void *lookups_25k_open(void) { return lookups_open(25000); }
static void *lookups_500k_open(void) { return lookups_open(500000); }

static uint64_t lookups_run(void *self)
{
    struct lookups *l = self;

    for (unsigned i = 0; i < l->count; i++) {
        if (i + 16 < l->count)
            flow_table_prefetch(l->table, l->packets[i + 16].flow_hash);
        if (i + 8 < l->count)
            PREFETCH(flow_table_prefetch_flow(l->table, l->packets[i + 8].flow_hash));
        if (flow_table_find(l->table, &l->packets[i]) == NULL)
            give_up("a flow is lost");
    }
    return l->count;
}

static void lookups_close(void *self)
{
    struct lookups *l = self;
    struct flow *f;

    flow_table_end_all(l->table, 0);
    while ((f = flow_table_take_finished(l->table)) != NULL)
        flow_table_release(l->table, f);
    flow_table_free(l->table);
    counters_free(l->counters);
    flow_conf_free(l->conf);
    conf_free(l->yaml);
    free(l->packets);
    free(l);
}

/* --- streams ------------------------------------------------------------------------------- */

#define STREAM_FLOWS 50
#define STREAM_SEGMENTS 40
#define SEGMENT_LEN 1400

struct streaming {
    struct decoding d;
    struct flow_conf *flows;
    struct stream_conf *conf;
    struct stream_thread *thread;
    uint64_t base_us;
};

static void shake_hands(struct frames *fs, uint32_t flow)
{
    segment_add(fs, &(struct segment){ .client = flow, .flags = 2, .seq = 99 });
    segment_add(fs, &(struct segment){ .client = flow, .back = true, .flags = 0x12, .seq = 499,
                                       .ack = 100 });
    segment_add(fs, &(struct segment){ .client = flow, .flags = 0x10, .seq = 100, .ack = 500 });
}

/* Whole connections, ended by a reset so that each round begins anew. */
static void connection(struct frames *fs, uint32_t flow, bool in_order)
{
    uint32_t seq = 500;

    shake_hands(fs, flow);
    for (unsigned i = 0; i < STREAM_SEGMENTS; i++) {
        unsigned place = in_order ? i : i ^ 1;

        segment_add(fs, &(struct segment){ .client = flow, .back = true, .flags = 0x18,
                                           .seq = 500 + place * SEGMENT_LEN, .ack = 100,
                                           .len = SEGMENT_LEN });
        if (i % 2 == 0)
            continue;
        seq = 500 + (i + 1) * SEGMENT_LEN;
        segment_add(fs, &(struct segment){ .client = flow, .flags = 0x10, .seq = 100,
                                           .ack = seq });
    }
    segment_add(fs, &(struct segment){ .client = flow, .flags = 0x14, .seq = 100, .ack = seq });
}

static void *streaming_open(bool in_order)
{
    struct streaming *s = xcalloc(1, sizeof(*s));
    struct err err = { 0 };

    decoding_open(&s->d);
    s->flows = flow_conf_new(conf_root(s->d.yaml), 1, &err);
    s->conf = stream_conf_new(conf_root(s->d.yaml), false, &err);
    s->thread = stream_thread_new(&(struct stream_env){
        .conf = s->conf, .flows = s->flows, .pool = s->d.pool, .counters = s->d.counters }, &err);
    if (s->thread == NULL)
        give_up(err.text);
    for (uint32_t flow = 0; flow < STREAM_FLOWS; flow++)
        connection(&s->d.frames, flow, in_order);
    return s;
}

static void *in_order_open(void) { return streaming_open(true); }
static void *reordered_open(void) { return streaming_open(false); }

static uint64_t streaming_run(void *self)
{
    struct streaming *s = self;
    bool more;

    for (unsigned at = 0; at < s->d.frames.count; at += VECTOR_FILL) {
        fill_vector(&s->d, at, s->base_us);
        decode_vector(s->d.decoder, &s->d.vector);
        do {
            more = stream_vector(s->thread, &s->d.vector);
            release_vector(&s->d.vector);
        } while (more);
    }
    s->base_us += 3600ull * 1000000;
    return s->d.frames.count;
}

static void streaming_close(void *self)
{
    struct streaming *s = self;
    bool more;

    do {
        more = stream_flush(s->thread, &s->d.vector, s->base_us, 0);
        release_vector(&s->d.vector);
    } while (more);
    stream_thread_free(s->thread);
    stream_conf_free(s->conf);
    flow_conf_free(s->flows);
    decoding_close(&s->d);
    free(s);
}

/* --- patterns ------------------------------------------------------------------------------ */

#define PATTERNS 5000
#define TEXT_LEN (1u << 20)

struct scanning {
    struct mpm_ngram *set;
    uint8_t *text;
};

static const char *const syllables[] = { "ad", "min", "lo", "gin", "php", "cmd", "ex", "ec", "sh",
                                         "ell", "up", "da", "te", "/", ".", "=", "%20", "co" };

static size_t word(uint8_t *out, uint64_t seed, unsigned parts)
{
    size_t n = 0;

    for (unsigned i = 0; i < parts; i++) {
        const char *s = syllables[hash_mix(seed, i) % ARRAY_LEN(syllables)];

        memcpy(out + n, s, strlen(s));
        n += strlen(s);
    }
    return n;
}

/* Words of any letters, and now and then one that patterns are made of. */
static size_t text_word(uint8_t *out, uint64_t n)
{
    size_t len = 3 + hash_mix(n, 7) % 9;

    if (n % 32 == 0)
        return word(out, n + 1000000, 4);
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)('a' + hash_mix(n, i + 100) % 26);
    out[len] = ' ';
    return len + 1;
}

static void *scanning_open(void)
{
    struct scanning *s = xcalloc(1, sizeof(*s));
    struct literal_pattern *patterns = xcalloc(PATTERNS, sizeof(patterns[0]));
    uint8_t *words = xmalloc(PATTERNS * 64);

    for (unsigned i = 0; i < PATTERNS; i++) {
        patterns[i].bytes = words + 64 * i;
        patterns[i].len = (uint16_t)word(words + 64 * i, i, 3 + i % 5);
        patterns[i].nocase = i % 2 == 0;
    }
    s->set = mpm_ngram_new(patterns, PATTERNS);
    s->text = xmalloc(TEXT_LEN + 64);
    for (size_t at = 0, n = 0; at < TEXT_LEN; n++)
        at += text_word(s->text + at, n);
    free(patterns);
    free(words);
    return s;
}

static void count_hit(unsigned id, void *arg)
{
    (void)id;
    ++*(uint64_t *)arg;
}

static uint64_t scanning_run(void *self)
{
    struct scanning *s = self;
    uint64_t hits = 0;

    for (uint32_t at = 0; at < TEXT_LEN; at += 1024)
        mpm_ngram_scan(s->set, s->text + at, 1024, count_hit, &hits);
    if (hits == 0)
        give_up("no pattern is found");
    return TEXT_LEN / 1024;
}

static void scanning_close(void *self)
{
    struct scanning *s = self;

    mpm_ngram_free(s->set);
    free(s->text);
    free(s);
}

/* --- records ------------------------------------------------------------------------------- */

static void *records_open(void)
{
    return xcalloc(1, sizeof(struct buf));
}

/* What an HTTP record of EVE is made of. */
static void record(struct buf *out, uint64_t n)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    json_string(&j, "timestamp", "2024-01-31T12:00:00.123456+0000");
    json_u64(&j, "flow_id", 1234567890123456 + n);
    json_string(&j, "event_type", "http");
    json_string(&j, "src_ip", "10.1.2.3");
    json_u64(&j, "src_port", 40000 + n % 1000);
    json_string(&j, "dest_ip", "192.168.100.200");
    json_u64(&j, "dest_port", 80);
    json_string(&j, "proto", "TCP");
    json_object(&j, "http");
    json_string(&j, "hostname", "www.example.org");
    json_string(&j, "url", "/a/rather/usual/path/to/something.html?id=17&name=\"quoted\"");
    json_string(&j, "http_user_agent", "Mozilla/5.0 (X11; Linux x86_64) like Gecko");
    json_string(&j, "http_content_type", "text/html");
    json_string(&j, "http_method", "GET");
    json_u64(&j, "status", 200);
    json_u64(&j, "length", n);
    json_object_end(&j);
    json_object_end(&j);
    buf_add_u8(out, '\n');
}

static uint64_t records_run(void *self)
{
    struct buf *out = self;

    for (uint64_t n = 0; n < 10000; n++) {
        if (n % 64 == 0)
            buf_clear(out);
        record(out, n);
    }
    return 10000;
}

static void records_close(void *self)
{
    buf_fini(self);
    free(self);
}

/* --- flows that move ------------------------------------------------------------------------ */

/* What moving flows to another thread would cost at least: each is written and taken with the
 * numbers of its TCP session. Data of reassembly, parsers and rules would come on top. */
#define MOVING 1024u

struct moving {
    struct conf *yaml;
    struct flow_conf *conf;
    struct flow *flow;
    struct buf records;
};

static void *moving_open(void)
{
    struct moving *m = xcalloc(1, sizeof(*m));
    struct err err = { 0 };

    m->yaml = conf_new();
    m->conf = flow_conf_new(conf_root(m->yaml), 1, &err);
    if (m->conf == NULL)
        give_up(err.text);
    m->flow = xaligned(CACHE_LINE, MOVING * sizeof(m->flow[0]));
    for (unsigned i = 0; i < MOVING; i++) {
        struct flow *f = &m->flow[i];

        f->key = (struct flow_key){ .src = ip_v4((const uint8_t[4]){ 10, 0, 0, 1 }), .proto = 6,
                                    .dst = ip_v4((const uint8_t[4]){ 10, 0, 0, 2 }),
                                    .src_port = (uint16_t)(1024 + i), .dst_port = 80 };
        f->hash = flow_match_hash(m->conf, &f->key, 0);
    }
    return m;
}

static uint64_t moving_run(void *self)
{
    static const struct tcp_export tcp = { .has_session = 1 };
    static const struct app_export app = { .proto = { "http", "http", "http" } };
    struct moving *m = self;
    struct flow_imports *imports;
    struct flow_import from;
    struct err err = { 0 };

    buf_clear(&m->records);
    for (unsigned i = 0; i < MOVING; i++)
        flow_export_add(&m->records, &m->flow[i], &tcp, &app);
    imports = flow_imports_new(m->conf, &m->records, NULL, &err);
    if (imports == NULL)
        give_up(err.text);
    for (unsigned i = 0; i < MOVING; i++) {
        if (!flow_imports_take(imports, &m->flow[i], &from))
            give_up("a flow is lost");
        flow_import(&m->flow[i], &from);
    }
    flow_imports_free(imports);
    return MOVING;
}

static void moving_close(void *self)
{
    struct moving *m = self;

    buf_fini(&m->records);
    free(m->flow);
    flow_conf_free(m->conf);
    conf_free(m->yaml);
    free(m);
}

/* --------------------------------------------------------------------------------------------- */

static const struct bench benches[] = {
    { "decode", "packet", decode_open, decode_run, decode_close },
    { "peek", "packet", decode_open, peek_run, decode_close },
    { "flow-25k", "lookup", lookups_25k_open, lookups_run, lookups_close },
    { "flow-500k", "lookup", lookups_500k_open, lookups_run, lookups_close },
    { "flow-move", "flow", moving_open, moving_run, moving_close },
    { "stream", "packet", in_order_open, streaming_run, streaming_close },
    { "stream-reordered", "packet", reordered_open, streaming_run, streaming_close },
    { "patterns", "KiB", scanning_open, scanning_run, scanning_close },
    { "records", "record", records_open, records_run, records_close },
};

/* At least `enough_ns` for a round; the best of all rounds. */
static void measure(const struct bench *b, uint64_t enough_ns)
{
    void *self = b->open();
    double best = 0;

    b->run(self);                               /* caches and pools are warm then */
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t start = clock_thread_cpu_ns(), spent, pieces = 0;
        double each;

        do {
            pieces += b->run(self);
            spent = clock_thread_cpu_ns() - start;
        } while (spent < enough_ns);
        each = (double)spent / (double)pieces;
        best = round == 0 || each < best ? each : best;
    }
    printf("%-18s %10.2f ns a %s\n", b->name, best, b->piece);
    fflush(stdout);
    b->close(self);
}

int main(int argc, char **argv)
{
    unsigned long milliseconds = 50;
    int first = 1;

    if (argc > 2 && strcmp(argv[1], "-t") == 0) {
        milliseconds = strtoul(argv[2], NULL, 10);
        first = 3;
    }
    hash_seed_fix(1);
    for (unsigned i = 0; i < ARRAY_LEN(benches); i++) {
        bool expected = first >= argc;

        for (int a = first; a < argc; a++)
            expected = expected || strcmp(argv[a], benches[i].name) == 0;
        if (expected)
            measure(&benches[i], milliseconds * 1000000);
    }
    return 0;
}
