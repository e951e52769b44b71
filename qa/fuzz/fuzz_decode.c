/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_decode.c - any bytes as a frame: the first byte chooses the link type. What decode
 * points at must lie within the frame, and every packet must come home. */
#include "packet/decode.h"

#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);

struct fixture {
    struct conf *yaml;
    struct packet_pool *pool;
    struct decoder *decoder;
    struct packet_vector vector;
    uint64_t time_us;
};

static struct fixture *fixture(void)
{
    static struct fixture w;
    struct err err;

    if (w.decoder == NULL) {
        struct decode_conf *conf;

        w.yaml = conf_new();
        conf = decode_conf_new(conf_root(w.yaml), &err);
        w.pool = packet_pool_new(64, 0);
        w.decoder = decoder_new(conf, w.pool, counters_new("fuzz"));
    }
    return &w;
}

static bool within(const struct packet *p, const uint8_t *at, size_t len)
{
    return at == NULL || (at >= p->data && at + len <= p->data + p->len);
}

static void check(const struct packet *p)
{
    if (!within(p, p->eth, 14) || !within(p, p->l3, p->l3_len) || !within(p, p->l4, p->l4_len) ||
        !within(p, p->payload, p->payload_len) ||
        !within(p, p->tcp_options.sack, p->tcp_options.sack_count * 8u) ||
        p->event_count > PACKET_EVENTS_MAX || p->vlan_count > PACKET_VLANS_MAX)
        abort();
    packet_l4_checksum_ok(p);
    packet_ip_checksum_ok(p);
    packet_hop_limit(p);
    packet_tos(p);
}

int fuzz_input(const uint8_t *data, size_t size)
{
    struct fixture *w = fixture();
    struct packet *p;
    uint8_t *frame;

    if (size < 1)
        return 0;
    frame = malloc(size);
    if (frame == NULL)
        return 0;
    memcpy(frame, data + 1, size - 1);
    p = packet_pool_get(w->pool);
    p->data = frame;
    p->len = p->wire_len = (uint32_t)size - 1;
    p->datalink = DATALINK_ETHERNET + data[0] % DATALINK_GRE_OVER_IP;
    p->time_us = w->vector.now_us = w->time_us += 1000;
    vector_push(&w->vector, p);
    decode_vector(w->decoder, &w->vector);
    for (unsigned i = 0; i < w->vector.count; i++)
        check(w->vector.packet[i]);
    for (unsigned i = 0; i < w->vector.count; i++)
        packet_release(w->vector.packet[i], PACKET_THREAD_OWNER);
    w->vector.count = 0;
    if (packet_pool_out(w->pool) != 0)
        abort();
    free(frame);
    return 0;
}
