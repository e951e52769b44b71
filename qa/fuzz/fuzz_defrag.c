/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_defrag.c - any bytes as a run of fragments. Each is four bytes of description
 * (version and last, datagram, offset, length), its content is made up. What comes out must have
 * the length that goes with it, and memory must stay within the memcap. */
#include "base/text/bytes.h"
#include "packet/decode.h"

#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);

#define MEMCAP (256u * 1024)
#define IP4 20u
#define IP6 48u         /* with the fragment header */

static const char settings[] =
    "defrag: { memcap: 256kb, hash-size: 16, max-frags: 200 }\n"
    "host-os-policy: { bsd: [10.0.0.0], linux: [10.0.0.1], windows: [10.0.0.2],\n"
    "                  solaris: [10.0.0.3], bsd-right: [10.0.0.4], last: [10.0.0.5],\n"
    "                  first: [10.0.0.6] }\n";

struct fixture {
    struct conf *yaml;
    struct counters *counters;
    struct packet_pool *pool;
    struct decoder *decoder;
    counter_id memuse;
    struct packet_vector vector;
};

static size_t make_frame(struct bytes *in, uint8_t frame[1024])
{
    uint8_t kind = take_u8(in), which = take_u8(in), block = take_u8(in), len = take_u8(in);
    unsigned header = kind & 1 ? IP6 : IP4, more = kind & 2 ? 0 : 1;

    memset(frame, 0, 1024);
    memset(frame + header, block ^ len, len);
    if (kind & 1) {
        frame[0] = 0x60;
        frame[4] = (uint8_t)((len + 8) >> 8);
        frame[5] = (uint8_t)(len + 8);
        frame[6] = 44;
        frame[39] = which % 7;
        frame[40] = 59;
        frame[42] = (uint8_t)(block >> 5);
        frame[43] = (uint8_t)(block << 3 | more);
    } else {
        frame[0] = 0x45;
        frame[2] = (uint8_t)((len + IP4) >> 8);
        frame[3] = (uint8_t)(len + IP4);
        frame[6] = (uint8_t)(more << 5);
        frame[7] = block;
        frame[9] = 254;
        frame[16] = 10;
        frame[19] = which % 7;
    }
    return header + len;
}

static struct fixture *fixture(void)
{
    static struct fixture w;
    struct err err;

    if (w.decoder != NULL)
        return &w;
    w.yaml = conf_new();
    if (conf_load_string(w.yaml, settings, "fuzz", &err) < 0)
        abort();
    w.memuse = counter_register("defrag.memuse", COUNTER_GAUGE);
    w.counters = counters_new("fuzz");
    w.pool = packet_pool_new(8, 0);
    w.decoder = decoder_new(decode_conf_new(conf_root(w.yaml), &err), w.pool, w.counters);
    return &w;
}

static void one_fragment(struct fixture *w, struct bytes *in)
{
    uint8_t frame[1024];
    struct packet *p = packet_pool_get(w->pool);
    struct packet_vector *v = &w->vector;

    p->len = p->wire_len = (uint32_t)make_frame(in, frame);
    p->data = frame;
    p->datalink = DATALINK_RAW;
    p->time_us = v->now_us += 1000;
    vector_push(v, p);
    decode_vector(w->decoder, v);
    if (v->count > 1 && (v->packet[1]->l3 == NULL || v->packet[1]->len > 65535))
        abort();
    for (unsigned i = 0; i < v->count; i++)
        packet_release(v->packet[i], PACKET_THREAD_OWNER);
    v->count = 0;
    if (packet_pool_out(w->pool) != 0 || w->counters->value[w->memuse] > MEMCAP + (1u << 18))
        abort();
}

int fuzz_input(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size);
    struct fixture *w = fixture();

    w->vector.now_us = 0;
    while (bytes_have(&in, 4))
        one_fragment(w, &in);
    decoder_clear(w->decoder);
    return 0;
}
