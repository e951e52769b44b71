/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/decode.c - drives the decoders over a vector.
 *
 * Each decoding thread has one decoder. A malformed packet gets an event, stays in the vector and
 * gets its verdict like any other. */
#include "packet/decode/decode_private.h"

#include "base/array.h"

#include <stdlib.h>

/* Number of packets ahead of which the first cache line of a frame is prefetched. */
#define PREFETCH_AHEAD 3u

enum datalink datalink_from_pcap(int dlt)
{
    switch (dlt) {
#define X(number, name) \
    case number:        \
        return DATALINK_##name;
    DATALINK_PCAP_LIST(X)
#undef X
    default:
        return DATALINK_NONE;
    }
}

struct decoder *decoder_new(const struct decode_conf *conf, struct packet_pool *pool,
                            struct counters *counters)
{
    struct decoder *d = xcalloc(1, sizeof(*d));

    d->conf = conf;
    d->pool = pool;
    d->counters = counters;
    d->defrag = defrag_new(conf->defrag, counters);
    return d;
}

void decoder_free(struct decoder *d)
{
    if (d == NULL)
        return;
    defrag_free(d->defrag);
    free(d);
}

void decoder_clear(struct decoder *d)
{
    defrag_clear(d->defrag);
}

/* The usual link type first; the others are a switch that the compiler makes a jump table. */
static void decode_link(struct decoder *d, struct packet *p)
{
    if (LIKELY(p->datalink == DATALINK_ETHERNET)) {
        decode_ethernet(d, p, p->data, p->len);
        return;
    }
    switch (p->datalink) {
#define X(link, name)                        \
    case DATALINK_##link:                    \
        decode_##name(d, p, p->data, p->len); \
        break;
    DATALINK_LIST(X)
#undef X
    default:
        break;
    }
}

/* From `from` on: the caller may have counted earlier events. */
void packet_events_count(const struct decode_conf *conf, struct counters *counters,
                         const struct packet *p, unsigned from)
{
    for (unsigned i = from; i < p->event_count; i++)
        if (conf->event_counted[p->event[i]])
            counter_inc(counters, conf->event_id[p->event[i]]);
}

/* Handles a vector that could not grow. */
static COLD void inner_lost(struct decoder *d, struct packet *p)
{
    __atomic_fetch_sub(&p->root->children, 1, __ATOMIC_RELAXED);
    p->root = NULL;
    packet_release(p, PACKET_THREAD_OWNER);
    COUNT(d, inner_lost);
}

static COLD void insert_inner(struct decoder *d, struct packet_vector *v, unsigned at)
{
    for (unsigned i = 0; i < d->inner_count; i++) {
        packet_events_count(d->conf, d->counters, d->inner[i], 0);
        d->inner[i]->seqno_sub = i + 1;
        if (!vector_insert(v, at + i, d->inner[i]))
            inner_lost(d, d->inner[i]);
    }
}

/* Suricata's decoder.pkts, bytes, avg_pkt_size and max_pkt_size. */
static void count_frame(struct decoder *d, const struct packet *p)
{
    const struct decode_counters *id = &d->conf->id;

    counter_inc(d->counters, id->pkts);
    counter_add(d->counters, id->bytes, p->len);
    counter_sample(d->counters, id->avg_pkt_size, p->len);
    counter_max(d->counters, id->max_pkt_size, p->len);
}

/* Returns how many inner packets were inserted after position `at`. */
unsigned decode_packet(struct decoder *d, struct packet_vector *v, unsigned at)
{
    struct packet *p = v->packet[at];

    count_frame(d, p);
    d->inner_count = 0;
    decode_link(d, p);
    if (UNLIKELY(p->flags & PACKET_INVALID))
        counter_inc(d->counters, d->conf->id.invalid);
    if (UNLIKELY(p->event_count > 0))
        packet_events_count(d->conf, d->counters, p, 0);
    if (UNLIKELY(d->inner_count > 0))
        insert_inner(d, v, at);
    return d->inner_count;
}

/* Timeouts of fragments depend on packet time, so they run once per vector. */
void decode_end(struct decoder *d, const struct packet_vector *v)
{
    defrag_expire(d->defrag, v->now_us);
}

/* Packets that one thread decodes for another are counted by the thread that owns them. */
void decoder_count_into(struct decoder *d, struct counters *counters)
{
    d->counters = counters;
}

/* ---- the usual frame ---- */

#define TIMESTAMP_OPTIONS 12u
#define FRAGMENT_BITS 0x3fff
#define COUNTED_FLAGS (TCP_SYN | TCP_RST | TCP_URG)

static void take_ip(struct packet *p, uint8_t *ip)
{
    p->eth = p->data;
    p->ethertype = ETHERTYPE_IPV4;
    p->layers = 2;
    p->l3 = ip;
    p->l3_len = IPV4_HEADER_MIN;
    p->src = ip_v4(ip + 12);
    p->dst = ip_v4(ip + 16);
}

/* Ethernet, IPv4 without options, not a fragment, TCP without options or with its timestamps alone,
 * in one step: it has nothing that raises an event, and every other frame goes through the decoders
 * of its layers. The lengths are checked before anything behind them is read. */
bool decode_usual(const struct decoder *d, struct packet *p)
{
    uint8_t *ip = p->data + ETHERNET_HEADER, *tcp = ip + IPV4_HEADER_MIN;
    uint32_t len, header;

    if (p->datalink != DATALINK_ETHERNET ||
        p->len < ETHERNET_HEADER + IPV4_HEADER_MIN + TCP_HEADER || d->conf->max_layers <= 2)
        return false;
    len = get_be16(ip + 2);
    header = (tcp[12] >> 4) * 4u;
    if (get_be16(ip - 2) != ETHERTYPE_IPV4 || ip[0] != 0x45 || ip[9] != 6 ||
        (get_be16(ip + 6) & FRAGMENT_BITS) != 0 || (tcp[13] & COUNTED_FLAGS) != 0)
        return false;
    if (len > p->len - ETHERNET_HEADER || len < IPV4_HEADER_MIN + header)
        return false;
    if (header == TCP_HEADER + TIMESTAMP_OPTIONS) {
        if (!decode_only_timestamp(p, tcp + TCP_HEADER, TIMESTAMP_OPTIONS))
            return false;
    } else if (header != TCP_HEADER) {
        return false;
    }
    take_ip(p, ip);
    decode_take_tcp(p, tcp, len - IPV4_HEADER_MIN, header);
    decode_set_flow(d, p);
    return true;
}

/* Frames of the usual kind in one vector. */
struct usual_frames {
    uint64_t count, bytes;
    uint32_t longest;
};

static void count_usual(struct decoder *d, const struct usual_frames *usual)
{
    const struct decode_counters *id = &d->conf->id;

    counter_add(d->counters, id->pkts, usual->count);
    counter_add(d->counters, id->bytes, usual->bytes);
    counter_sample_all(d->counters, id->avg_pkt_size, usual->bytes, usual->count);
    counter_max(d->counters, id->max_pkt_size, usual->longest);
    counter_add(d->counters, id->ethernet, usual->count);
    counter_add(d->counters, id->ipv4, usual->count);
    counter_add(d->counters, id->tcp, usual->count);
}

/* Pseudo packets have been through a decoder's work already. */
void decode_vector(struct decoder *d, struct packet_vector *v)
{
    struct usual_frames usual = { 0 };

    for (unsigned i = 0; i < v->count; i++) {
        if (i + PREFETCH_AHEAD < v->count)
            PREFETCH(v->packet[i + PREFETCH_AHEAD]->data);
        if (UNLIKELY(v->packet[i]->flags & PACKET_PSEUDO))
            continue;
        if (LIKELY(decode_usual(d, v->packet[i]))) {
            usual.count++;
            usual.bytes += v->packet[i]->len;
            usual.longest = MAX(usual.longest, v->packet[i]->len);
        } else {
            i += decode_packet(d, v, i);
        }
    }
    count_usual(d, &usual);
    decode_end(d, v);
}

/* --- decoders that plugins add ------------------------------------------------------------ */

#define REGISTERED_MAX 16

/* Filled while plugins load; then only read. */
static struct {
    struct { uint8_t by; uint16_t number; const struct decode_registered *what; }
        at[REGISTERED_MAX];
    unsigned count;
} registered;

static const struct decode_registered *find(enum decode_by by, uint16_t number)
{
    for (unsigned i = 0; i < registered.count; i++)
        if (registered.at[i].by == by && registered.at[i].number == number)
            return registered.at[i].what;
    return NULL;
}

static bool has_ethertype(uint16_t number)
{
    switch (number) {
#define X(listed, name) case listed:
    ETHERTYPE_LIST(X)
#undef X
        return true;
    default:
        return number < 0x0600;         /* a length, not a type (IEEE 802.3) */
    }
}

/* 0 to 255; those of the lists, and extension headers of IPv6. */
static bool has_ip_protocol(uint16_t number)
{
    static const uint8_t extensions[] = { 0, 43, 44, 51, 59, 60, 135, 139, 140 };

    for (unsigned i = 0; i < sizeof(extensions); i++)
        if (extensions[i] == number)
            return true;
    switch (number) {
#define X(listed, name) case listed:
    IPV4_PROTOCOL_LIST(X)
#undef X
        return true;
    default:
        return number > UINT8_MAX;
    }
}

int decode_register(enum decode_by by, uint16_t number, const struct decode_registered *what,
                    struct err *err)
{
    const char *name = by == DECODE_BY_ETHERTYPE ? "EtherType" : "IP protocol";

    if (find(by, number) != NULL ||
        (by == DECODE_BY_ETHERTYPE ? has_ethertype(number) : has_ip_protocol(number)))
        return err_set(err, "%s 0x%04x has a decoder already", name, number);
    if (registered.count == REGISTERED_MAX)
        return err_set(err, "at most %d decoders can be added", REGISTERED_MAX);
    registered.at[registered.count].by = (uint8_t)by;
    registered.at[registered.count].number = number;
    registered.at[registered.count++].what = what;
    return 0;
}

/* The layer counts, so that decoders that lead to themselves come to an end. */
bool decode_by_registered(enum decode_by by, struct decoder *d, struct packet *p,
                          uint16_t number, struct slice in)
{
    const struct decode_registered *what = find(by, number);

    if (LIKELY(what == NULL))
        return false;
    if (decode_layer(d, p))
        what->decode(what, d, p, in);
    return true;
}

/* A second IP header in one packet would replace the first. */
bool decode_next_ethertype(struct decoder *d, struct packet *p, uint16_t type, struct slice in)
{
    return p->l3 == NULL && decode_ethertype(d, p, type, in.data, in.len);
}

bool decode_tunnelled_ip(struct decoder *d, struct packet *p, struct slice in)
{
    bool is_ipv6 = in.len > 0 && in.data[0] >> 4 == 6;

    return decode_inner(d, p, in, is_ipv6 ? decode_ipv6 : decode_ipv4,
                        PACKET_PLUGIN_TUNNEL) != NULL;
}
