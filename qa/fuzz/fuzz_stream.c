/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_stream.c - bytes as a TCP conversation: the first byte chooses the settings, then
 * each segment is direction and flags, steps of sequence and acknowledgment numbers around where
 * the sides are, options, and a length; payload bytes tell their place in the stream.
 *
 * What is handed on must be in order, say where it stands, and be looked back upon as it was; what
 * is shown again must be there. All packets, flows, sessions and blocks must come home. */
#include "packet/pool.h"
#include "stream/slot.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);

#define HEADERS 40
#define PAYLOAD_MAX 2000
#define RETAINED 70000

static const char *const settings[] = {
    "stream: { checksum-validation: no }",
    "stream: { checksum-validation: no, midstream: yes, async-oneside: yes }",
    "stream: { checksum-validation: no, reassembly: { depth: 4kb, toserver-chunk-size: 100 } }",
    "stream: { checksum-validation: no, memcap: 4kb, reassembly: { memcap: 16kb, "
    "check-overlap-different-data: yes } }",
};

struct stream_dir {
    uint64_t next;                      /* offset that must come next */
    uint8_t retained[RETAINED];                 /* the last bytes handed on */
    uint32_t retained_len;
};

/* What a flow has brought. A flow's end may come after the start of one that replaces it. */
struct seen_flow {
    const struct flow *flow;    /* its id may be another one's that began in the same microsecond */
    struct stream_dir ds[2];
};
#define FLOWS 4

struct fixture {
    struct conf *yaml;
    struct flow_conf *flows;
    struct stream_conf *conf;
    struct packet_pool *pool;
    struct counters *counters;
    struct stream_thread *st;
    counter_id sessions_memuse, data_memuse;
    struct packet_vector vector;
    uint32_t seq[2];
    struct seen_flow seen[FLOWS];
    unsigned flow_starts;
    uint64_t time_us;
};

/* One for each choice, and kept: to make one takes a hundred times as long as an input does. */
static struct fixture *fixture(uint8_t choice)
{
    static struct fixture *kept[16];
    struct fixture *w = kept[choice & 15];
    struct err err;

    if (w != NULL)
        return w;
    w = kept[choice & 15] = calloc(1, sizeof(*w));
    if (w == NULL)
        abort();
    w->yaml = conf_new();
    if (conf_load_string(w->yaml, settings[choice & 3], "fuzz", &err) < 0)
        abort();
    conf_set(w->yaml, "flow.hash-size", "256");
    conf_set(w->yaml, "flow.prealloc", "16");
    w->flows = flow_conf_new(conf_root(w->yaml), 1, &err);
    w->conf = stream_conf_new(conf_root(w->yaml), (choice & 4) != 0, &err);
    w->pool = packet_pool_new(256, 0);
    w->counters = counters_new("fuzz");
    w->st = stream_thread_new(&(struct stream_env){
        .conf = w->conf, .flows = w->flows, .pool = w->pool, .counters = w->counters,
        .copy_chunks = (choice & 8) != 0 }, &err);
    w->sessions_memuse = counter_register("tcp.memuse", COUNTER_GAUGE);
    w->data_memuse = counter_register("tcp.reassembly_memuse", COUNTER_GAUGE);
    return w;
}

static void fixture_reset(struct fixture *w)
{
    w->seq[0] = w->seq[1] = 0;
    for (unsigned i = 0; i < FLOWS; i++)
        w->seen[i].flow = NULL;
    w->time_us = 1000000;
    w->vector.now_us = 0;
}

static void keep(struct stream_dir *s, const uint8_t *data, uint32_t len)
{
    if (len > RETAINED / 2) {
        data += len - RETAINED / 2;
        len = RETAINED / 2;
    }
    if (s->retained_len + len > RETAINED) {
        uint32_t rest = RETAINED / 2 < s->retained_len ? RETAINED / 2 : s->retained_len;

        memmove(s->retained, s->retained + s->retained_len - rest, rest);
        s->retained_len = rest;
    }
    memcpy(s->retained + s->retained_len, data, len);
    s->retained_len += len;
}

/* It may stand anywhere, but has to be readable. */
static UNCOVERED void check_again(const struct stream_chunk *c)
{
    volatile uint8_t seen;
    uint8_t sum = 0;

    for (const uint8_t *at = c->data - c->lookbehind; at < c->data + c->len; at++)
        sum ^= *at;
    seen = sum;
    (void)seen;
}

static struct seen_flow *find_flow(struct fixture *w, const struct flow *flow)
{
    for (unsigned i = 0; flow != NULL && i < FLOWS; i++)
        if (w->seen[i].flow == flow)
            return &w->seen[i];
    return NULL;
}

static struct seen_flow *flow_of(struct fixture *w, const struct packet *p)
{
    struct seen_flow *seen = find_flow(w, p->flow);

    if (!(p->flags & PACKET_FLOW_START))
        return seen;
    if (seen == NULL)
        seen = &w->seen[w->flow_starts++ % FLOWS];
    seen->flow = p->flow;
    for (unsigned d = 0; d < 2; d++)
        seen->ds[d].next = seen->ds[d].retained_len = 0;
    return seen;
}

/* seen NULL: too many flows have begun since. */
static void check_chunk(struct seen_flow *seen, const struct stream_chunk *c)
{
    struct stream_dir *s;

    if (c->kind == CHUNK_REINSPECT || seen == NULL) {
        if (c->kind != CHUNK_GAP)
            check_again(c);
        return;
    }
    s = &seen->ds[c->direction];
    if (c->offset != s->next)
        abort();
    s->next += c->len;
    if (c->kind == CHUNK_GAP) {
        s->retained_len = 0;
        return;
    }
    if (c->lookbehind > s->retained_len ||
        memcmp(c->data - c->lookbehind, s->retained + s->retained_len - c->lookbehind,
               c->lookbehind) != 0)
        abort();
    keep(s, c->data, c->len);
}

static UNCOVERED void consume(struct fixture *w)
{
    for (unsigned i = 0; i < w->vector.count; i++) {
        struct packet *p = w->vector.packet[i];
        struct seen_flow *seen = flow_of(w, p);

        for (unsigned k = 0; k < stream_slot(p)->chunk_count; k++)
            check_chunk(seen, &stream_slot(p)->chunk[k]);
    }
    for (unsigned i = 0; i < w->vector.count; i++)
        packet_release(w->vector.packet[i], PACKET_THREAD_OWNER);
    w->vector.count = 0;
}

static UNCOVERED struct packet *segment(struct fixture *w, unsigned dir, uint32_t len)
{
    static const uint8_t ends[2][4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 } };
    struct packet *p = packet_pool_get(w->pool);

    if (p == NULL)
        abort();
    buf_clear(&p->frame);
    (void)!buf_reserve(&p->frame, HEADERS + PAYLOAD_MAX);
    memset(p->frame.data, 0, HEADERS);
    p->data = p->l3 = p->frame.data;
    p->l3[0] = 0x45;
    p->l3[8] = 64;
    p->l4 = p->l3 + 20;
    p->l4_header_len = 20;
    p->payload = p->l4 + 20;
    p->payload_len = len;
    p->len = p->wire_len = HEADERS + len;
    p->ip_proto = 6;
    p->src = ip_v4(ends[dir]);
    p->dst = ip_v4(ends[!dir]);
    p->src_port = dir == 0 ? 1025 : 80;
    p->dst_port = dir == 0 ? 80 : 1025;
    p->flow_hash = 77;
    p->time_us = w->time_us;
    return p;
}

static void options(struct packet *p, struct bytes *in)
{
    uint8_t which = take_u8(in);

    if (which & 1) {
        p->tcp_options.has |= TCP_HAS_TS;
        p->tcp_options.ts_value = take_u8(in);
        p->tcp_options.ts_echo = take_u8(in);
    }
    if (which & 2) {
        p->tcp_options.has |= TCP_HAS_WSCALE;
        p->tcp_options.window_scale = take_u8(in) % 15;
    }
    if (which & 4)
        p->tcp_options.has |= TCP_HAS_FASTOPEN;
    if (which & 8)
        p->l4[19] = take_u8(in);
    if ((which & 16) && bytes_have(in, 8)) {
        p->tcp_options.has |= TCP_HAS_SACK | TCP_HAS_SACK_OK;
        p->tcp_options.sack_count = 1;
        p->tcp_options.sack = take_bytes(in, 8);
    }
    p->tcp.window = (which & 32) ? take_u8(in) : 65535;
}

/* Each byte tells its place in the stream, or one more. */
static void fill_payload(struct packet *p, uint32_t first, uint32_t len)
{
    static uint8_t count_up[256 + PAYLOAD_MAX];

    if (count_up[1] == 0)
        for (uint32_t i = 0; i < sizeof(count_up); i++)
            count_up[i] = (uint8_t)i;
    memcpy(p->payload, count_up + (uint8_t)first, len);
}

static UNCOVERED void one_segment(struct fixture *w, struct bytes *in)
{
    uint8_t head = take_u8(in);
    unsigned dir = head >> 7;
    int8_t seq_step = (int8_t)take_u8(in), ack_step = (int8_t)take_u8(in);
    uint32_t len = take_u8(in) * 7u;
    struct packet *p = segment(w, dir, len);

    p->tcp.flags = head & 0x3f;
    p->tcp.seq = w->seq[dir] + (uint32_t)(seq_step * 5);
    p->tcp.ack = w->seq[!dir] + (uint32_t)(ack_step * 5);
    options(p, in);
    fill_payload(p, p->tcp.seq + ((head & 0x40) ? 1u : 0u), len);
    w->seq[dir] = p->tcp.seq + len + ((p->tcp.flags & (TCP_SYN | TCP_FIN)) ? 1 : 0);
    w->time_us += (uint64_t)(seq_step & 3) * 1000;
    vector_push(&w->vector, p);
}

/* The flows end with the input, and what follows is as after a start. */
static void finish(struct fixture *w)
{
    stream_vector(w->st, &w->vector);
    consume(w);
    while (stream_flush(w->st, &w->vector, w->time_us, 0))
        consume(w);
    stream_vector(w->st, &w->vector);       /* empty: counts */
    if (packet_pool_out(w->pool) != 0 || w->counters->value[w->sessions_memuse] != 0 ||
        w->counters->value[w->data_memuse] != 0)
        abort();
}

int fuzz_input(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size);
    uint8_t choice = take_u8(&in);
    struct fixture *w = fixture(choice);

    if (size < 2)
        return 0;
    fixture_reset(w);
    while (bytes_have(&in, 1) && in.next < data + 4096) {
        one_segment(w, &in);
        if ((choice & 16) == 0 || w->vector.count >= 16) {
            w->vector.now_us = w->time_us;
            stream_vector(w->st, &w->vector);
            consume(w);
        }
    }
    finish(w);
    return 0;
}
